// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <berth/types.hpp>
#include <model/descriptor.hpp>

/// Texts of the command line as values. Each throws Error invalid_argument naming the option, the
/// value, the rule and the fix.
namespace berth::cli {

[[noreturn]] void refuse(std::string const& option, std::string const& value,
                         std::string const& rule);

std::chrono::milliseconds duration(std::string const& option, std::string const& text);
/// A collective's name, or "all".
std::vector<model::Collective> collectives(std::string const& option, std::string const& text);
std::size_t bytes(std::string const& option, std::string const& text);
std::vector<std::size_t> byte_list(std::string const& option, std::string const& text);
int integer(std::string const& option, std::string const& text, int low, int high);
/// on, off, 1, 0
bool on_off(std::string const& option, std::string const& text);
/// Names with commas between them, or "all". Types also by nccl-tests' names.
std::vector<Type> types(std::string const& option, std::string const& text);
std::vector<Op> ops(std::string const& option, std::string const& text);
/// One of `words`.
std::string word(std::string const& option, std::string const& text,
                 std::vector<std::string> const& words);

}  // namespace berth::cli
