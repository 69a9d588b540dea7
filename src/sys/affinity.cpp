// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bitset>
#include <cerrno>
#include <memory>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <base/error.hpp>
#include <base/ranges.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <sys/affinity.hpp>
#include <sys/syscall.h>
#include <sys/threads.hpp>

namespace berth::sys {
namespace {

constexpr int highest_pu = 65535;

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeCpuSet>;

CpuSet make_cpu_set(int bits) {
  CpuSet set(CPU_ALLOC(static_cast<std::size_t>(bits)));
  if (!set) base::fail(Errc::out_of_memory, "no memory for a CPU set");
  CPU_ZERO_S(CPU_ALLOC_SIZE(bits), set.get());
  return set;
}

// Modes of <linux/mempolicy.h>; the header is not installed everywhere and old ones lack the last.
constexpr int mpol_default = 0;
constexpr int mpol_preferred = 1;
constexpr int mpol_preferred_many = 5;
constexpr std::size_t mempolicy_bits = 1024;
using NodeMask = std::array<unsigned long, mempolicy_bits / (8 * sizeof(unsigned long))>;

bool set_mempolicy(int mode, NodeMask const* mask) {
  // The kernel reads one bit less than it is told.
  return syscall(SYS_set_mempolicy, mode, mask ? mask->data() : nullptr,
                 mask ? mempolicy_bits + 1 : 0UL) == 0;
}

// A sandbox may accept a policy and drop it; one that hides the policy is believed.
bool mempolicy_is(int mode) {
  int actual = -1;
  if (syscall(SYS_get_mempolicy, &actual, nullptr, 0UL, nullptr, 0UL) != 0) return true;
  return actual == mode;
}

bool add_node(NodeMask& mask, int node) {
  constexpr int word = 8 * static_cast<int>(sizeof(unsigned long));
  if (node < 0 || node >= static_cast<int>(mempolicy_bits)) return false;
  mask[static_cast<std::size_t>(node / word)] |= 1UL << (node % word);
  return true;
}

[[noreturn]] void fail_cpulist(std::string_view text, std::string_view reason) {
  base::fail(Errc::bad_input, fmt::format("CPU list \"{}\": {}; a list is like 0-3,8",
                                          base::printable(text, 60), reason));
}

int parse_pu(std::string_view whole, std::string_view number) {
  auto const value = base::parse_integer(number, 0, highest_pu);
  if (!value) {
    fail_cpulist(
        whole, fmt::format("\"{}\" is no CPU number from 0 to 65535", base::printable(number, 20)));
  }
  return static_cast<int>(*value);
}

/// @param id 0 is the calling thread
bool move_thread(int id, model::PuSet const& pus) {
  int const bits = std::max(1024, *std::max_element(pus.begin(), pus.end()) + 1);
  CpuSet const set = make_cpu_set(bits);
  std::size_t const bytes = CPU_ALLOC_SIZE(bits);
  for (int const pu : pus) CPU_SET_S(static_cast<std::size_t>(pu), bytes, set.get());
  return sched_setaffinity(id, bytes, set.get()) == 0;
}

}  // namespace

bool set_affinity_of(int id, model::PuSet const& pus) noexcept {
  try {
    return !pus.empty() && move_thread(id, pus);
  } catch (...) {
    return false;
  }
}

model::PuSet get_affinity() {
  for (int bits = 1024; bits <= highest_pu + 1; bits *= 2) {
    CpuSet const set = make_cpu_set(bits);
    std::size_t const bytes = CPU_ALLOC_SIZE(bits);
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      if (errno == EINVAL) continue;  // the kernel knows more CPUs than this set holds
      base::fail_errno("sched_getaffinity", errno);
    }
    model::PuSet pus;
    for (int pu = 0; pu < bits; ++pu) {
      if (CPU_ISSET_S(pu, bytes, set.get())) pus.push_back(pu);
    }
    return pus;
  }
  base::fail(Errc::system, "sched_getaffinity: more than 65536 CPUs");
}

void set_affinity(model::PuSet const& pus) {
  if (pus.empty()) base::fail(Errc::system, "a thread cannot be bound to no CPU");
  int const last = *std::max_element(pus.begin(), pus.end());
  if (last > highest_pu || *std::min_element(pus.begin(), pus.end()) < 0) {
    base::fail(Errc::system, "a CPU number is outside 0 to 65535");
  }
  std::string const wanted = format_cpulist(pus);
  if (!move_thread(0, pus)) base::fail_errno("binding to CPUs " + wanted, errno);
  std::string const actual = format_cpulist(get_affinity());
  if (actual != wanted) {
    base::fail(Errc::system, "binding to CPUs " + wanted + ": the system allows only " + actual);
  }
}

bool prefer_memory(std::vector<int> const& nodes) noexcept {
  if (nodes.empty()) return set_mempolicy(mpol_default, nullptr) && mempolicy_is(mpol_default);
  NodeMask all{};
  NodeMask first{};
  for (int const node : nodes) {
    if (!add_node(all, node)) return false;
  }
  add_node(first, nodes.front());
  if (nodes.size() > 1 && set_mempolicy(mpol_preferred_many, &all)) {
    return mempolicy_is(mpol_preferred_many);
  }
  return set_mempolicy(mpol_preferred, &first) && mempolicy_is(mpol_preferred);
}

model::PuSet parse_cpulist(std::string_view text) {
  // A bitmap bounds memory and time whatever the text repeats.
  auto const seen = std::make_unique<std::bitset<highest_pu + 1>>();
  std::string_view const trimmed = base::trim(text);
  if (trimmed.empty()) return {};
  for (std::string const& piece : base::split(trimmed, ',')) {
    auto const dash = piece.find('-');
    int const from = parse_pu(text, std::string_view(piece).substr(0, dash));
    int const to =
        dash == std::string::npos ? from : parse_pu(text, std::string_view(piece).substr(dash + 1));
    if (to < from)
      fail_cpulist(text, fmt::format("\"{}\" runs backwards", base::printable(piece, 20)));
    for (int pu = from; pu <= to; ++pu) seen->set(static_cast<std::size_t>(pu));
  }
  model::PuSet pus;
  for (int pu = 0; pu <= highest_pu; ++pu) {
    if (seen->test(static_cast<std::size_t>(pu))) pus.push_back(pu);
  }
  return pus;
}

std::string format_cpulist(model::PuSet const& pus) {
  return base::format_ranges(pus);
}

}  // namespace berth::sys
