// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings.hpp"

namespace berth::standin {

/// "" where the variable is not set.
std::string environment(char const* variable);
/// The text between the separators, blanks around it removed; none of "".
std::vector<std::string> pieces(std::string_view text, char separator);
std::optional<unsigned long> whole_number(std::string_view text);

/// Reads STANDIN_CUDA_FAULTS="RANK:fault[;RANK:fault...]".
Faults faults_of_this_rank();

}  // namespace berth::standin
