// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "cpu/data.hpp"
#include "cpu/thread_ranks.hpp"

namespace berth::cpu::test {
namespace {

/// How a random program is drawn.
struct Program {
  int operations = 0;
  std::size_t longest = 0;  ///< elements
  bool with_delays = true;  ///< ranks dawdle now and then, so that others run ahead
};

/// The same random program on every rank, drawn from one seed. Every result is checked.
void play(Job& job, Program const& program, unsigned seed) {
  auto const errors = job.run([&](Rank& rank) {
    std::mt19937 shared(seed);
    std::mt19937 own(seed * 977 + static_cast<unsigned>(rank.rank));
    std::vector<std::int64_t> data(program.longest);
    std::vector<std::int64_t> out(program.longest);
    std::size_t wrong = 0;
    for (int i = 0; i < program.operations; ++i) {
      auto const kind = shared() % 8;
      // Mostly short; all designs occur.
      std::size_t const count = shared() % (shared() % 4 == 0 ? program.longest : 40) + 1;
      auto const root = static_cast<int>(shared() % static_cast<unsigned>(rank.size));
      if (program.with_delays && own() % 16 == 0) {
        for (auto pause = own() % 4000; pause > 0; --pause) ledger::Watch::relax();
      }
      if (kind == 0) {
        rank.barrier();
      } else if (kind <= 4) {
        std::int64_t const value = i * 1000 + root;
        for (std::size_t k = 0; k < count; ++k) {
          data[k] = rank.rank == root ? value + static_cast<std::int64_t>(k) : -1;
        }
        rank.broadcast(data.data(), count, Type::int64, root);
        for (std::size_t k = 0; k < count; ++k) {
          wrong += data[k] != value + static_cast<std::int64_t>(k) ? 1 : 0;
        }
      } else {
        for (std::size_t k = 0; k < count; ++k) {
          data[k] = i + rank.rank * 3 + static_cast<std::int64_t>(k);
        }
        bool const is_in_place = kind == 5;
        std::int64_t* const to = is_in_place ? data.data() : out.data();
        rank.all_reduce(data.data(), to, count, Type::int64, Op::sum);
        std::int64_t const ranks = rank.size;
        for (std::size_t k = 0; k < count; ++k) {
          std::int64_t const right =
              ranks * (i + static_cast<std::int64_t>(k)) + 3 * ranks * (ranks - 1) / 2;
          wrong += to[k] != right ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(0U, wrong) << "rank " << rank.rank;
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

TEST(MixedOperations, KeepTheirSlotsApartOverTwentyThousandOperations) {
  Job job({3}, tight());
  play(job, {20000, 2000, true}, 1);
}

TEST(MixedOperations, KeepTheirSlotsApartWithTwoRanksAndFive) {
  for (int ranks : {2, 5}) {
    Job job({ranks}, tight());
    play(job, {2000, 2000, true}, static_cast<unsigned>(ranks));
  }
}

TEST(MixedOperations, WorkBetweenHostsWithEveryKindOfNetwork) {
  for (bool is_rendezvous : {true, false}) {
    std::vector<std::vector<int>> const layouts = {{2, 1}, {1, 2, 1}, {1, 1, 1, 1, 1}};
    for (auto const& hosts : layouts) {
      Job job(hosts, tight(), hosts.size() == 3, is_rendezvous);
      play(job, {300, 2000, true}, 7);
    }
  }
}

}  // namespace
}  // namespace berth::cpu::test
