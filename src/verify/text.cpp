// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <base/names.hpp>
#include <base/units.hpp>
#include <verify/text.hpp>

namespace berth::verification {
namespace {

std::string sentence(std::string_view verb, Evidence const& evidence) {
  std::string text = evidence.is_bit
                         ? fmt::format("{} a flipped bit: element {}, bit {}", verb,
                                       base::format_count(evidence.element), evidence.bit)
                         : fmt::format("{} changed data from element {} on", verb,
                                       base::format_count(evidence.element));
  text += fmt::format(", in {} of {} rounds, seen by {} of {} ranks", evidence.seen, evidence.tries,
                      evidence.observers, evidence.ranks);
  return text;
}

}  // namespace

std::string describe(Case const& what) {
  std::string text = fmt::format("{}, {}, {}", base::name(what.type), base::name(what.op),
                                 base::format_bytes(what.bytes));
  if (what.layout != Layout::out_of_place) text += fmt::format(", {}", name(what.layout));
  return text;
}

std::string delivers(Evidence const& evidence) {
  return sentence("delivers", evidence);
}

std::string receives(Evidence const& evidence) {
  return sentence("receives", evidence);
}

}  // namespace berth::verification
