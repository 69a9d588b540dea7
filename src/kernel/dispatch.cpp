// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <kernel/reduce.hpp>
#include <kernel/sets.hpp>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace berth::kernel {
namespace {

#if defined(__x86_64__)
/// By hand: not every compiler's __builtin_cpu_supports() knows it. Its registers are those of AVX.
bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

/// Whether the processor and the operating system support what the table needs.
bool runs_here([[maybe_unused]] Kernels const& kernels) {
#if defined(__x86_64__)
  if (&kernels == &avx2_kernels) {
    return __builtin_cpu_supports("avx2") != 0 && has_f16c();
  }
  if (&kernels == &avx512_kernels) {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
           has_f16c();
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
