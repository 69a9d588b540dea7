// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "cpu/cases.hpp"

namespace berth::cpu::test {
namespace {

/// How a random program is drawn.
struct Program {
  int operations = 0;
  std::size_t longest = 0;  ///< elements
  bool with_delays = true;  ///< ranks dawdle now and then, so that others run ahead
};

using model::Collective;

/// One operation, the same on every rank. Mostly short; all collectives, types, designs occur.
Case draw(std::mt19937& shared, Program const& program, int ranks) {
  constexpr Collective kinds[] = {Collective::barrier,    Collective::all_reduce,
                                  Collective::all_reduce, Collective::broadcast,
                                  Collective::broadcast,  Collective::reduce,
                                  Collective::all_gather, Collective::reduce_scatter,
                                  Collective::all_to_all, Collective::send_recv};
  Case call;
  call.collective = kinds[shared() % std::size(kinds)];
  call.count = shared() % (shared() % 16 == 0 ? program.longest : 24);
  call.type = all_types[shared() % std::size(all_types)];
  call.op = all_ops[shared() % std::size(all_ops)];
  call.root = static_cast<int>(shared() % static_cast<unsigned>(ranks));
  call.is_in_place = shared() % 2 == 0;
  call.shift = shared() % 64;
  call.salt = shared();
  return call;
}

/// The same random program on every rank, drawn from one seed. Every result is checked.
void play(Job& job, Program const& program, unsigned seed) {
  auto const errors = job.run([&](Rank& rank) {
    std::mt19937 shared(seed);
    std::mt19937 own(seed * 977 + static_cast<unsigned>(rank.rank));
    for (int i = 0; i < program.operations; ++i) {
      Case const call = draw(shared, program, rank.size);
      if (program.with_delays && own() % 16 == 0) {
        for (auto pause = own() % 4000; pause > 0; --pause) ledger::Watch::relax();
      }
      if (!run_case(rank, call)) break;
    }
  });
  for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
}

coll::Tuning tight() {
  coll::Tuning tuning;
  tuning.flat_bytes_max_2 = 4096;
  tuning.flat_bytes_max_4 = 4096;
  tuning.flat_bytes_max_many = 4096;
  tuning.slice_bytes = 512;
  tuning.slot_bytes = 4096;
  tuning.host_small_bytes = 256;
  return tuning;
}

/// The thread sanitizer makes everything twenty times slower.
#ifdef __SANITIZE_THREAD__
constexpr int shorter = 20;
#else
constexpr int shorter = 1;
#endif

TEST(MixedOperations, KeepTheirSlotsApartOverAHundredThousandOperations) {
  for (int ranks : {2, 3}) {
    Job job({ranks}, tight());
    play(job, {45000 / shorter, 1000, true}, static_cast<unsigned>(ranks));
  }
  Job job({5}, tight());
  play(job, {10000 / shorter, 1000, true}, 5);
}

TEST(MixedOperations, KeepTheirSlotsApartOverAMillionOperations) {
  Job few({2}, tight());
  play(few, {400000 / shorter, 1000, true}, 21);
  Job odd({3}, tight());
  play(odd, {400000 / shorter, 1000, true}, 22);
  Job crowded({7}, tight());
  play(crowded, {100000 / shorter, 1000, false}, 23);
  Job apart({2, 1}, tight());
  play(apart, {100000 / shorter, 1000, true}, 24);
}

TEST(MixedOperations, WorkBetweenHostsWithEveryKindOfNetwork) {
  for (bool is_rendezvous : {true, false}) {
    std::vector<std::vector<int>> const layouts = {
        {2, 1}, {1, 2, 1}, {3, 2}, {1, 1, 1, 1, 1}, {1, 3}};
    for (auto const& hosts : layouts) {
      Job job(hosts, tight(), hosts.size() == 3, is_rendezvous);
      play(job, {400, 2000, true}, 7);
    }
  }
}

}  // namespace
}  // namespace berth::cpu::test
