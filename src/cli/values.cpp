// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/names.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <cli/values.hpp>

namespace berth::cli {
namespace {

/// A rule that lists words, with the nearest one.
std::string rule_of(std::string const& text, std::vector<std::string> const& words) {
  std::string rule = fmt::format("not one of {}", base::join(words, ", "));
  std::string const meant = base::nearest(text, words);
  if (!meant.empty()) rule += fmt::format("; did you mean {}?", meant);
  return rule;
}

/// The values of a list of words or "all"; every value at most once.
template <class Enum>
std::vector<Enum> list(std::string const& option, std::string const& text) {
  if (text == "all") return base::all<Enum>();
  std::vector<Enum> values;
  for (std::string const& piece : base::split(text, ',')) {
    auto const value = base::parse_name<Enum>(piece);
    if (!value) {
      std::vector<std::string> words;
      for (Enum const known : base::all<Enum>()) words.emplace_back(base::name(known));
      words.emplace_back("all");
      refuse(option, piece, rule_of(piece, words));
    }
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  return values;
}

}  // namespace

void refuse(std::string const& option, std::string const& value, std::string const& rule) {
  base::fail(Errc::invalid_argument,
             fmt::format("{} {}: {}", option, base::printable(value), rule));
}

std::chrono::milliseconds duration(std::string const& option, std::string const& text) {
  auto const value = base::parse_duration(text);
  if (!value || value->count() < 1) {
    refuse(option, text,
           "not a duration of at least 1ms such as 500ms, 3s, 2min (a bare number is seconds)");
  }
  return *value;
}

std::vector<model::Collective> collectives(std::string const& option, std::string const& text) {
  static std::vector<model::Collective> const all = {
      model::Collective::all_reduce,     model::Collective::reduce,
      model::Collective::broadcast,      model::Collective::all_gather,
      model::Collective::reduce_scatter, model::Collective::all_to_all,
      model::Collective::send_recv};
  if (text == "all") return all;
  std::vector<std::string> words;
  for (model::Collective const known : all) {
    if (model::name(known) == text) return {known};
    words.emplace_back(model::name(known));
  }
  words.emplace_back("all");
  refuse(option, text, rule_of(text, words));
}

std::size_t bytes(std::string const& option, std::string const& text) {
  auto const value = base::parse_bytes(text);
  if (!value) refuse(option, text, "not a size such as 8, 64K, 1M, 2G, 100KB, 1MiB");
  return *value;
}

std::vector<std::size_t> byte_list(std::string const& option, std::string const& text) {
  std::vector<std::size_t> values;
  for (std::string const& piece : base::split(text, ',')) values.push_back(bytes(option, piece));
  return values;
}

int integer(std::string const& option, std::string const& text, int low, int high) {
  auto const value = base::parse_integer(text, low, high);
  if (!value) refuse(option, text, fmt::format("not a whole number from {} to {}", low, high));
  return static_cast<int>(*value);
}

bool on_off(std::string const& option, std::string const& text) {
  std::string const value = word(option, text, {"on", "off", "1", "0"});
  return value == "on" || value == "1";
}

std::vector<Type> types(std::string const& option, std::string const& text) {
  std::vector<std::string> pieces = base::split(text, ',');
  for (std::string& piece : pieces) {
    if (piece == "float") piece = "float32";
    if (piece == "double") piece = "float64";
    if (piece == "int") piece = "int32";
  }
  return list<Type>(option, base::join(pieces, ","));
}

std::vector<Op> ops(std::string const& option, std::string const& text) {
  return list<Op>(option, text);
}

std::string word(std::string const& option, std::string const& text,
                 std::vector<std::string> const& words) {
  if (std::find(words.begin(), words.end(), text) == words.end())
    refuse(option, text, rule_of(text, words));
  return text;
}

}  // namespace berth::cli
