// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions and copies of every instruction set. Bytes per second count the result once.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <micro/buffer.hpp>

#include <kernel/reduce.hpp>

namespace berth::micro {
namespace {

enum class Form { plain, twice, stream, wide, average, finish };

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
  auto const out = pages(2 * bytes, 0);  // wide results take twice the room
  auto const copy = pages(bytes, 0);
  std::vector<std::unique_ptr<void, Free>> owners;
  std::vector<void const*> sources;
  for (int s = 0; s < count; ++s) {
    owners.push_back(pages(2 * bytes, 0));
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
      case Form::wide:
        set.reduce_wide[t][o](out.get(), sources.data(), count, elements);
        break;
      case Form::average:
        set.average[t](out.get(), sources.data(), count, elements, 7);
        break;
      case Form::finish:
        set.finish[t](out.get(), sources[0], elements, 7);
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
         std::vector<std::int64_t> const& source_counts,
         std::vector<std::int64_t> const& sizes = {8, 512, 8 << 10, 128 << 10, 4 << 20, 64 << 20}) {
  auto* const family = benchmark::RegisterBenchmark(
      name.c_str(), [subject](benchmark::State& state) { BM_reduce(state, subject); });
  family->ArgNames({"bytes", "sources"})->ArgsProduct({sizes, source_counts});
}

/// What the newer types cost beside float32.
void add_types(kernel::Kernels const* set, std::string const& suffix) {
  constexpr std::pair<char const*, Type> types[] = {
      {"int8", Type::int8},       {"uint8", Type::uint8},       {"int32", Type::int32},
      {"uint32", Type::uint32},   {"int64", Type::int64},       {"uint64", Type::uint64},
      {"float16", Type::float16}, {"bfloat16", Type::bfloat16}, {"float32", Type::float32},
      {"float64", Type::float64}};
  constexpr std::pair<char const*, Op> ops[] = {
      {"sum", Op::sum}, {"prod", Op::prod}, {"min", Op::min}, {"max", Op::max}};
  for (auto const& [type_name, type] : types) {
    std::string const name = type_name;
    for (auto const& [op_name, op] : ops) {
      add("types/" + name + '/' + op_name + suffix, {set, Form::plain, type, op}, {2, 4, 8},
          {64 << 10});
    }
    add("types/" + name + "/stream" + suffix, {set, Form::stream, type, Op::sum}, {2}, {64 << 20});
    add("types/" + name + "/wide" + suffix, {set, Form::wide, type, Op::sum}, {2}, {64 << 10});
    add("types/" + name + "/avg" + suffix, {set, Form::average, type, Op::avg}, {2, 8}, {64 << 10});
    add("types/" + name + "/finish" + suffix, {set, Form::finish, type, Op::avg}, {1}, {64 << 10});
  }
}

bool add_all() {
  for (char const* name : {"baseline", "avx2", "avx512", "neon"}) {
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
    add_types(set, suffix);
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
