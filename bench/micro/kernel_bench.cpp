// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions and copies of every instruction set. Bytes per second count the result once.
#include <cstring>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <micro/buffer.hpp>

#include <kernel/reduce.hpp>

namespace berth::micro {
namespace {

enum class Form { plain, twice, stream };

/// One kernel of one set: arguments are the bytes of the result and the number of sources.
struct Subject {
  kernel::Kernels const* set;
  Form form;
  Type type;
  Op op;
};

void BM_reduce(benchmark::State& state, Subject const& subject) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const count = static_cast<int>(state.range(1));
  auto const out = pages(bytes, 0);
  auto const copy = pages(bytes, 0);
  std::vector<std::unique_ptr<void, Free>> owners;
  std::vector<void const*> sources;
  for (int s = 0; s < count; ++s) {
    owners.push_back(pages(bytes, 0));
    sources.push_back(owners.back().get());
  }
  auto const t = static_cast<std::size_t>(subject.type);
  auto const o = static_cast<std::size_t>(subject.op);
  std::size_t const elements = bytes / size_of(subject.type);
  kernel::Kernels const& set = *subject.set;
  for ([[maybe_unused]] auto turn : state) {
    switch (subject.form) {
      case Form::plain:
        set.reduce[t][o](out.get(), sources.data(), count, elements);
        break;
      case Form::twice:
        set.reduce_twice[t][o](out.get(), copy.get(), sources.data(), count, elements);
        break;
      case Form::stream:
        set.reduce_stream[t][o](out.get(), sources.data(), count, elements);
        break;
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void BM_stream_copy(benchmark::State& state, kernel::Kernels const* set) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const in = pages(bytes, 1);
  auto const out = pages(bytes, 0);
  for ([[maybe_unused]] auto turn : state) {
    if (set != nullptr) {
      set->stream_copy(out.get(), in.get(), bytes);
    } else {
      std::memcpy(out.get(), in.get(), bytes);
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void add(std::string const& name, Subject const& subject,
         std::vector<std::int64_t> const& source_counts) {
  auto* const family = benchmark::RegisterBenchmark(
      name.c_str(), [subject](benchmark::State& state) { BM_reduce(state, subject); });
  family->ArgNames({"bytes", "sources"})
      ->ArgsProduct({{8, 512, 8 << 10, 128 << 10, 4 << 20, 64 << 20}, source_counts});
}

bool add_all() {
  for (char const* name : {"baseline", "avx2", "avx512"}) {
    kernel::Kernels const* const set = kernel::find(name);
    if (set == nullptr) continue;
    std::string const suffix = std::string("/") + name;
    add("reduce/float32/sum" + suffix, {set, Form::plain, Type::float32, Op::sum}, {2, 3, 4, 8});
    add("reduce/float32/max" + suffix, {set, Form::plain, Type::float32, Op::max}, {2});
    add("reduce/float64/sum" + suffix, {set, Form::plain, Type::float64, Op::sum}, {2});
    add("reduce/int64/prod" + suffix, {set, Form::plain, Type::int64, Op::prod}, {2});
    add("reduce/int64/min" + suffix, {set, Form::plain, Type::int64, Op::min}, {2});
    add("reduce_twice/float32/sum" + suffix, {set, Form::twice, Type::float32, Op::sum}, {2});
    add("reduce_stream/float32/sum" + suffix, {set, Form::stream, Type::float32, Op::sum}, {2});
    benchmark::RegisterBenchmark(("stream_copy" + suffix).c_str(),
                                 [set](benchmark::State& state) { BM_stream_copy(state, set); })
        ->ArgName("bytes")
        ->RangeMultiplier(32)
        ->Range(512, 64 << 20);
  }
  benchmark::RegisterBenchmark("memcpy",
                               [](benchmark::State& state) { BM_stream_copy(state, nullptr); })
      ->ArgName("bytes")
      ->RangeMultiplier(32)
      ->Range(512, 64 << 20);
  return true;
}

[[maybe_unused]] bool const added = add_all();

}  // namespace
}  // namespace berth::micro
