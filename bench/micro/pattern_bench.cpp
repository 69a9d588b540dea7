// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// Coded data: writing a contribution and checking a result.
#include <string>

#include <benchmark/benchmark.h>
#include <micro/buffer.hpp>

#include <pattern/pattern.hpp>

namespace berth::micro {
namespace {

void BM_fill(benchmark::State& state, pattern::Code const& code) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const data = pages(bytes, 0);
  for ([[maybe_unused]] auto turn : state) {
    pattern::fill(code, 1, data.get(), 0, bytes / size_of(code.type));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void BM_check(benchmark::State& state, pattern::Code const& code) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const data = pages(bytes, 0);
  std::size_t const elements = bytes / size_of(code.type);
  pattern::fill(code, 1, data.get(), 0, elements);
  for ([[maybe_unused]] auto turn : state) {
    auto const check = pattern::check_single(code, 1, data.get(), 0, elements);
    if (check.wrong != 0) state.SkipWithError("a fill that is not right");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

bool add_all() {
  static constexpr char const* types[] = {"int32", "int64", "float32", "float64"};
  static constexpr char const* ops[] = {"sum", "prod", "min", "max"};
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t o = 0; o < 4; ++o) {
      pattern::Code const code{static_cast<Type>(t), static_cast<Op>(o), 8, 1};
      std::string const suffix = std::string("/") + types[t] + "/" + ops[o];
      for (bool const fill : {true, false}) {
        benchmark::RegisterBenchmark(((fill ? "fill" : "check") + suffix).c_str(),
                                     [code, fill](benchmark::State& state) {
                                       if (fill) {
                                         BM_fill(state, code);
                                       } else {
                                         BM_check(state, code);
                                       }
                                     })
            ->ArgName("bytes")
            ->Arg(64)
            ->Arg(128 << 10)
            ->Arg(64 << 20);
      }
    }
  }
  return true;
}

[[maybe_unused]] bool const added = add_all();

}  // namespace
}  // namespace berth::micro
