// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "call.hpp"

namespace berth::standin {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string rank_of_process() {
  for (char const* const variable :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (std::string const value = environment(variable); !value.empty()) return value;
  }
  return "0";
}

[[noreturn]] void bad_fault(std::string const& text) {
  die("STANDIN_CUDA_FAULTS: \"" + text +
      "\" is not understood; RANK:count=CODE, RANK:sticky=CODE@N, RANK:set_device_fails=CODE and "
      "RANK:malloc_fails@N are, with * for every rank");
}

unsigned long number_in(std::string_view text, unsigned long least, std::string const& whole) {
  std::optional<unsigned long> const value = whole_number(text);
  if (!value || *value < least) bad_fault(whole);
  return *value;
}

cudaError_t code_in(std::string_view text, unsigned long least, std::string const& whole) {
  unsigned long const value = number_in(text, least, whole);
  if (value > cudaErrorApiFailureBase) bad_fault(whole);
  return static_cast<cudaError_t>(value);
}

void add_fault(Faults& faults, std::string_view fault, std::string const& whole) {
  auto const rest_after = [&](std::string_view name) -> std::optional<std::string_view> {
    if (fault.substr(0, name.size()) != name) return std::nullopt;
    return fault.substr(name.size());
  };
  if (auto const count = rest_after("count=")) {
    cudaError_t const code = code_in(*count, 0, whole);
    if (code == cudaSuccess) {
      faults.count_zero = true;
    } else {
      faults.count_error = code;
    }
  } else if (auto const set = rest_after("set_device_fails=")) {
    faults.set_device_error = code_in(*set, 1, whole);
  } else if (auto const malloc = rest_after("malloc_fails@")) {
    faults.malloc_at = number_in(*malloc, 1, whole);
  } else if (auto const late = rest_after("sticky=")) {
    std::size_t const at = late->find('@');
    if (at == std::string_view::npos) bad_fault(whole);
    faults.sticky_code = code_in(late->substr(0, at), 1, whole);
    faults.sticky_at = number_in(late->substr(at + 1), 1, whole);
  } else {
    bad_fault(whole);
  }
}

}  // namespace

std::string environment(char const* variable) {
  char const* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::vector<std::string> pieces(std::string_view text, char separator) {
  std::vector<std::string> found;
  while (!text.empty()) {
    std::size_t const end = text.find(separator);
    found.emplace_back(trimmed(text.substr(0, end)));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return found;
}

std::optional<unsigned long> whole_number(std::string_view text) {
  unsigned long value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Faults faults_of_this_rank() {
  Faults faults;
  std::string const own_rank = rank_of_process();
  for (std::string const& entry : pieces(environment("STANDIN_CUDA_FAULTS"), ';')) {
    std::size_t const colon = entry.find(':');
    if (colon == std::string::npos) bad_fault(entry);
    std::string const rank = entry.substr(0, colon);
    if (rank != "*" && !whole_number(rank)) bad_fault(entry);
    // Those of other ranks are read too: a bad text has to be seen by everybody.
    Faults others;
    add_fault(rank == "*" || rank == own_rank ? faults : others,
              std::string_view(entry).substr(colon + 1), entry);
  }
  return faults;
}

void count_use() {
  Faults const& faults = Settings::get().faults;
  if (faults.sticky_at == 0) return;
  static std::atomic<unsigned long> uses{0};
  if (++uses < faults.sticky_at) return;
  make_sticky(faults.sticky_code);
  fail(faults.sticky_code);
}

void count_malloc() {
  Faults const& faults = Settings::get().faults;
  if (faults.malloc_at == 0) return;
  static std::atomic<unsigned long> allocations{0};
  require(++allocations != faults.malloc_at, cudaErrorMemoryAllocation);
}

void die(std::string const& reason) {
  std::fprintf(stderr, "stand-in CUDA runtime: %s\n", reason.c_str());
  std::abort();
}

}  // namespace berth::standin
