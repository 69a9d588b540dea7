// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <base/names.hpp>

namespace berth::base {

std::string_view name(Type type) {
  switch (type) {
    case Type::int8:
      return "int8";
    case Type::uint8:
      return "uint8";
    case Type::int32:
      return "int32";
    case Type::uint32:
      return "uint32";
    case Type::int64:
      return "int64";
    case Type::uint64:
      return "uint64";
    case Type::float16:
      return "float16";
    case Type::bfloat16:
      return "bfloat16";
    case Type::float32:
      return "float32";
    case Type::float64:
      return "float64";
  }
  return "unknown";
}

std::string_view name(Op op) {
  switch (op) {
    case Op::sum:
      return "sum";
    case Op::prod:
      return "prod";
    case Op::min:
      return "min";
    case Op::max:
      return "max";
    case Op::avg:
      return "avg";
  }
  return "unknown";
}

std::string_view name(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return "automatic";
    case Backend::cpu:
      return "cpu";
    case Backend::mpi:
      return "mpi";
    case Backend::nccl:
      return "nccl";
  }
  return "unknown";
}

std::string_view name(OnLost on_lost) {
  switch (on_lost) {
    case OnLost::raise:
      return "raise";
    case OnLost::exit:
      return "exit";
  }
  return "unknown";
}

std::string_view name(Binding binding) {
  switch (binding) {
    case Binding::automatic:
      return "automatic";
    case Binding::respect:
      return "respect";
    case Binding::rebind:
      return "rebind";
  }
  return "unknown";
}

template <>
std::vector<Type> const& all<Type>() {
  static std::vector<Type> const values = {
      Type::int32, Type::int64,  Type::float32, Type::float64, Type::int8,
      Type::uint8, Type::uint32, Type::uint64,  Type::float16, Type::bfloat16};
  return values;
}

template <>
std::vector<Op> const& all<Op>() {
  static std::vector<Op> const values = {Op::sum, Op::prod, Op::min, Op::max, Op::avg};
  return values;
}

template <>
std::vector<Backend> const& all<Backend>() {
  static std::vector<Backend> const values = {Backend::automatic, Backend::cpu, Backend::mpi,
                                              Backend::nccl};
  return values;
}

template <>
std::vector<OnLost> const& all<OnLost>() {
  static std::vector<OnLost> const values = {OnLost::raise, OnLost::exit};
  return values;
}

template <>
std::vector<Binding> const& all<Binding>() {
  static std::vector<Binding> const values = {Binding::automatic, Binding::respect,
                                              Binding::rebind};
  return values;
}

template <class Enum>
std::optional<Enum> parse_name(std::string_view word) {
  for (Enum const value : all<Enum>()) {
    if (name(value) == word) return value;
  }
  return std::nullopt;
}

template std::optional<Type> parse_name<Type>(std::string_view);
template std::optional<Op> parse_name<Op>(std::string_view);
template std::optional<Backend> parse_name<Backend>(std::string_view);
template std::optional<OnLost> parse_name<OnLost>(std::string_view);
template std::optional<Binding> parse_name<Binding>(std::string_view);

}  // namespace berth::base
