// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fuzz/fuzz.hpp>

#include <berth/error.hpp>
#include <sys/affinity.hpp>

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace berth;
  try {
    model::PuSet const pus = sys::parse_cpulist(test::text_of(data, size));
    test::require(std::is_sorted(pus.begin(), pus.end()), "the set is sorted");
    test::require(std::adjacent_find(pus.begin(), pus.end()) == pus.end(), "no PU twice");
    test::require(pus.empty() || (pus.front() >= 0 && pus.back() <= 65535), "PUs are in range");
    test::require(sys::parse_cpulist(sys::format_cpulist(pus)) == pus, "the round trip");
  } catch (Error const& error) {
    test::require(error.code() == Errc::bad_input, "a refusal is bad input");
  }
  return 0;
}
