// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <berth/options.hpp>
#include <berth/types.hpp>

namespace berth::base {

/// The word of a value as tables, the command line and JSON use it. Never empty.
std::string_view name(Type type);
std::string_view name(Op op);
std::string_view name(Backend backend);
std::string_view name(OnLost on_lost);
std::string_view name(Binding binding);

/// The value of a word, exactly as name() gives it; absent otherwise.
template <class Enum>
std::optional<Enum> parse_name(std::string_view word);
/// All values, in the order of the enumerators.
template <class Enum>
std::vector<Enum> const& all();
template <>
std::vector<Type> const& all<Type>();
template <>
std::vector<Op> const& all<Op>();
template <>
std::vector<Backend> const& all<Backend>();
template <>
std::vector<OnLost> const& all<OnLost>();
template <>
std::vector<Binding> const& all<Binding>();

}  // namespace berth::base
