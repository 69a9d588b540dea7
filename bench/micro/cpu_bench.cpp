// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// The cpu backend between ranks that are threads: the exchange of flags (barrier), one line, flat
// buffers and the ring. Bytes per second count the buffer once.
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>
#include <micro/buffer.hpp>

#include <base/clock.hpp>
#include <base/log.hpp>
#include <cpu/backend.hpp>
#include <ledger/watch.hpp>
#include <sys/process.hpp>
#include <sys/shared_memory.hpp>

namespace berth::micro {
namespace {

/// Two ranks of one host.
class Pair {
 public:
  explicit Pair(coll::Tuning const& tuning)
      : segment_(sys::SharedMemory::anonymous(cpu::CpuBackend::segment_bytes(2, tuning))) {
    for (int rank = 0; rank < 2; ++rank) {
      ledger::WatchSetup watch;
      watch.rank = rank;
      watch.limits.deadline = std::chrono::seconds(60);
      watch.clock = &clock_;
      watch.facts = &facts_;
      watch.log = &log_;
      watch.use_handles = false;
      watches_.push_back(std::make_unique<ledger::Watch>(watch));
      cpu::Setup setup;
      setup.rank = rank;
      setup.topology = cpu::Topology::one_host(2);
      setup.segment = segment_.data();
      setup.watch = watches_.back().get();
      setup.tuning = tuning;
      backends_.push_back(std::make_unique<cpu::CpuBackend>(setup));
    }
  }
  coll::Backend& backend(int rank) { return *backends_[static_cast<std::size_t>(rank)]; }

 private:
  base::SteadyClock clock_;
  base::Log log_;
  sys::ProcFacts facts_;
  sys::SharedMemory segment_;
  std::vector<std::unique_ptr<ledger::Watch>> watches_;
  std::vector<std::unique_ptr<cpu::CpuBackend>> backends_;
};

/// The pair of the benchmark that runs: made by thread 0 before the threads meet at the first turn.
std::unique_ptr<Pair> pair;

void make_pair(coll::Design design, coll::Store store) {
  coll::Tuning tuning;
  tuning.design = design;
  tuning.store = store;
  pair = std::make_unique<Pair>(tuning);
}

model::Descriptor describe(model::Collective collective, std::size_t count) {
  model::Descriptor operation;
  operation.collective = collective;
  operation.count = count;
  operation.type = Type::float32;
  operation.backend = Backend::cpu;
  return operation;
}

void BM_flags(benchmark::State& state) {
  model::Descriptor operation = describe(model::Collective::barrier, 0);
  for ([[maybe_unused]] auto turn : state) {
    ++operation.number;
    pair->backend(state.thread_index()).barrier(operation);
  }
}

void BM_all_reduce(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const in = pages(bytes, 0);
  auto const out = pages(bytes, 0);
  model::Descriptor operation = describe(model::Collective::all_reduce, bytes / sizeof(float));
  for ([[maybe_unused]] auto turn : state) {
    ++operation.number;
    pair->backend(state.thread_index()).all_reduce(operation, in.get(), out.get());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <coll::Design design, coll::Store store>
void set_up(benchmark::State const&) {
  make_pair(design, store);
}

void tear_down(benchmark::State const&) {
  pair.reset();
}

using coll::Design;
using coll::Store;

BENCHMARK(BM_flags)
    ->Name("flags")
    ->Threads(2)
    ->UseRealTime()
    ->Setup(set_up<Design::automatic, Store::automatic>)
    ->Teardown(tear_down);
BENCHMARK(BM_all_reduce)
    ->Name("all_reduce/line")
    ->Arg(8)
    ->Arg(56)
    ->Threads(2)
    ->UseRealTime()
    ->Setup(set_up<Design::line, Store::automatic>)
    ->Teardown(tear_down);
BENCHMARK(BM_all_reduce)
    ->Name("all_reduce/flat/cached")
    ->RangeMultiplier(8)
    ->Range(64, 64 << 10)
    ->Threads(2)
    ->UseRealTime()
    ->Setup(set_up<Design::flat, Store::cached>)
    ->Teardown(tear_down);
BENCHMARK(BM_all_reduce)
    ->Name("all_reduce/flat/streamed")
    ->RangeMultiplier(4)
    ->Range(4 << 10, 64 << 10)
    ->Threads(2)
    ->UseRealTime()
    ->Setup(set_up<Design::flat, Store::streamed>)
    ->Teardown(tear_down);
BENCHMARK(BM_all_reduce)
    ->Name("all_reduce/ring/cached")
    ->RangeMultiplier(8)
    ->Range(64 << 10, 32 << 20)
    ->Threads(2)
    ->UseRealTime()
    ->Setup(set_up<Design::ring, Store::cached>)
    ->Teardown(tear_down);
BENCHMARK(BM_all_reduce)
    ->Name("all_reduce/ring/streamed")
    ->RangeMultiplier(8)
    ->Range(64 << 10, 32 << 20)
    ->Threads(2)
    ->UseRealTime()
    ->Setup(set_up<Design::ring, Store::streamed>)
    ->Teardown(tear_down);

}  // namespace
}  // namespace berth::micro
