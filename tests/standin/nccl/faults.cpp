// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "settings.hpp"

namespace standin {
namespace {

constexpr char const* variable = "STANDIN_NCCL_FAULTS";
constexpr long long most = 1000000000;

/// Which parts a fault has after its name.
struct Shape {
  std::string_view name;
  bool value;
  bool at;
};

constexpr Shape shapes[] = {
    {"init_stuck", false, false},  {"init_error", true, true},    {"stop_init", false, false},
    {"die_init", false, false},    {"late_init_ms", true, false}, {"async", true, true},
    {"die", false, true},          {"wrong_bit", false, true},    {"late_ms", true, true},
    {"abort_hangs", false, false}, {"abort_ms", true, false},     {"leak_root", false, false},
    {"id_fails", true, false},
};

/// Cuts what follows the first `mark` off `text`; false when there is none.
bool cut(std::string_view& text, char mark, std::string_view& rest) {
  std::size_t const at = text.find(mark);
  if (at == std::string_view::npos) return false;
  rest = text.substr(at + 1);
  text = text.substr(0, at);
  return true;
}

Fault parse_fault(std::string_view const whole) {
  Fault fault;
  std::string_view text = whole;
  std::string_view word;
  std::string_view part;
  if (!cut(text, ':', word)) bad_setting(variable, whole, "not RANK:FAULT");
  if (text != "*") fault.rank = static_cast<int>(strict_integer(variable, text, 0, most));
  if (cut(word, '#', part)) {
    fault.communicator = static_cast<int>(strict_integer(variable, part, 1, most));
  }
  bool const has_at = cut(word, '@', part);
  if (has_at) fault.at = strict_integer(variable, part, 0, most);
  bool const has_value = cut(word, '=', part);
  if (has_value) fault.value = strict_integer(variable, part, 0, most);
  fault.name = word;
  auto const* const shape = std::find_if(std::begin(shapes), std::end(shapes),
                                         [&](Shape const& each) { return each.name == word; });
  if (shape == std::end(shapes)) bad_setting(variable, whole, "no such fault");
  if (shape->value != has_value) {
    bad_setting(variable, whole, has_value ? "this fault has no =" : "this fault needs a = number");
  }
  if (shape->at != has_at) {
    bad_setting(variable, whole, has_at ? "this fault has no @" : "this fault needs an @ number");
  }
  bool const is_result = word == "init_error" || word == "async";
  if (is_result && (fault.value < 1 || fault.value >= ncclInProgress)) {
    bad_setting(variable, whole, "the error is to be 1 to 6");
  }
  return fault;
}

std::vector<Fault> parse() {
  std::vector<Fault> faults;
  std::string const all = setting(variable);
  std::string_view text = all;
  while (!text.empty()) {
    std::string_view rest;
    cut(text, ';', rest);
    if (!text.empty()) faults.push_back(parse_fault(text));
    text = rest;
  }
  return faults;
}

}  // namespace

Faults::Faults(int rank, int communicator) {
  for (Fault& fault : parse()) {
    bool const here = fault.rank == -1 || fault.rank == rank;
    bool const now = fault.communicator == 0 || fault.communicator == communicator;
    if (here && now) mine_.push_back(std::move(fault));
  }
}

Fault const* Faults::find(char const* name) const {
  auto const found = std::find_if(mine_.begin(), mine_.end(),
                                  [&](Fault const& fault) { return fault.name == name; });
  return found == mine_.end() ? nullptr : &*found;
}

Fault const* Faults::find(char const* name, long long operation) const {
  auto const found = std::find_if(mine_.begin(), mine_.end(), [&](Fault const& fault) {
    return fault.name == name && fault.at == operation;
  });
  return found == mine_.end() ? nullptr : &*found;
}

bool id_fails(int call) {
  std::vector<Fault> const faults = parse();
  return std::any_of(faults.begin(), faults.end(), [&](Fault const& fault) {
    return fault.name == "id_fails" && call <= fault.value;
  });
}

}  // namespace standin
