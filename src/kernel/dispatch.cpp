// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <kernel/reduce.hpp>
#include <kernel/sets.hpp>

namespace berth::kernel {
namespace {

/// Whether the processor and the operating system support what the table needs.
bool runs_here([[maybe_unused]] Kernels const& kernels) {
#if defined(__x86_64__)
  if (&kernels == &avx2_kernels) {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("f16c") != 0;
  }
  if (&kernels == &avx512_kernels) {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
           __builtin_cpu_supports("f16c") != 0;
  }
#endif
  return true;
}

/// Fastest first; the last one runs everywhere.
constexpr Kernels const* sets[] = {
#if defined(__x86_64__)
    &avx512_kernels,
    &avx2_kernels,
#endif
#if defined(__aarch64__)
    &neon_kernels,
#else
    &baseline_kernels,
#endif
};
constexpr std::size_t set_count = sizeof sets / sizeof sets[0];

}  // namespace

Kernels const& best() {
  for (Kernels const* set : sets) {
    if (runs_here(*set)) return *set;
  }
  return *sets[set_count - 1];
}

Kernels const* find(char const* name) {
  for (Kernels const* set : sets) {
    if (std::strcmp(set->name, name) == 0 && runs_here(*set)) return set;
  }
  return nullptr;
}

}  // namespace berth::kernel
