// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "cpu/cases.hpp"

namespace berth::cpu::test {
namespace {

using model::Collective;

constexpr Collective with_parts[] = {Collective::all_gather, Collective::all_to_all,
                                     Collective::send_recv};
constexpr Collective reducing[] = {Collective::reduce, Collective::reduce_scatter,
                                   Collective::all_reduce};

coll::Tuning tuned(coll::Design design) {
  coll::Tuning tuning;
  tuning.design = design;
  return tuning;
}

/// Small slots: many rounds, ragged ends, and every slot used again and again.
coll::Tuning tight() {
  coll::Tuning tuning = tuned(coll::Design::ring);
  tuning.flat_bytes_max_2 = tuning.flat_bytes_max_4 = tuning.flat_bytes_max_many = 4096;
  tuning.slice_bytes = 512;
  tuning.slot_bytes = 4096;
  tuning.host_small_bytes = 256;
  return tuning;
}

/// Every collective of a list with every type, operation, place and count of the others.
struct Matrix {
  std::vector<std::size_t> counts;
  std::vector<Type> types = {std::begin(all_types), std::end(all_types)};
  std::vector<Op> ops = {std::begin(all_ops), std::end(all_ops)};
};

/// One run of threads: the next case starts while others still end the last one.
void play(Job& job, std::vector<Case> const& cases) {
  auto const errors = job.run([&](Rank& rank) {
    for (Case const& call : cases) {
      if (!run_case(rank, call)) break;
    }
  });
  for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
}

void check(std::vector<int> const& hosts, coll::Tuning const& tuning, Matrix const& matrix,
           bool is_round_robin = false) {
  Job job(hosts, tuning, is_round_robin);
  std::vector<Case> cases;
  for (std::size_t count : matrix.counts) {
    for (Type type : matrix.types) {
      for (bool is_in_place : {false, true}) {
        auto const add = [&](Collective collective, Op op) {
          std::uint64_t const salt = cases.size();
          int const root = static_cast<int>(salt % static_cast<unsigned>(job.size()));
          cases.push_back({collective, count, type, op, root, is_in_place, salt * 7 % 64, salt,
                           Bytes::End::guarded});
        };
        for (Collective collective : with_parts) add(collective, Op::sum);
        for (Op op : matrix.ops) {
          for (Collective collective : reducing) add(collective, op);
        }
      }
    }
  }
  play(job, cases);
}

std::vector<std::size_t> const small_counts = {0, 1, 2, 3, 7, 64, 1023};
std::vector<Op> const some_ops = {Op::sum, Op::avg};
std::vector<Type> const some_types = {Type::int8, Type::float32, Type::bfloat16};

TEST(Collectives, AreExactForEveryTypeAndOperationOnOneHost) {
  for (int ranks : {1, 2, 3, 4, 5, 8}) check({ranks}, {}, {small_counts});
}

TEST(Collectives, AreExactInRoundsOnOneHost) {
  for (int ranks : {1, 2, 3, 5}) check({ranks}, tight(), {{0, 1, 7, 64, 1023}});
  for (int ranks : {2, 4, 8}) {
    check({ranks}, tight(), {{1024, 4097, 20001}, some_types, some_ops});
  }
}

TEST(Collectives, AreExactForLongMessages) {
  for (int ranks : {2, 3}) check({ranks}, {}, {{4097, 65537}, some_types, some_ops});
  check({2}, {}, {{600011}, {Type::float32}, {Op::sum}});
}

TEST(Collectives, AreExactBetweenHostsWithUnequalRanks) {
  std::vector<std::vector<int>> const layouts = {{1, 1}, {2, 1}, {2, 3}, {1, 1, 1}, {3, 1, 2}};
  for (auto const& hosts : layouts) {
    check(hosts, {}, {{0, 1, 7, 1023}}, hosts.size() == 3);
    check(hosts, tight(), {{1, 64, 4097}, some_types, some_ops}, hosts.size() == 2);
  }
  check({4, 1}, {}, {{3, 1024, 65537}, some_types, some_ops});
  check({1, 5, 2}, {}, {{3, 4097}, some_types, some_ops}, true);
}

TEST(Collectives, AreExactBetweenManyHosts) {
  for (int hosts : {4, 5, 7}) {
    std::vector<int> const layout(static_cast<std::size_t>(hosts), 1);
    check(layout, tight(), {{1, 1023}, some_types, some_ops});
  }
  check({2, 2, 1, 3, 1}, {}, {{5, 4097}, some_types, some_ops});
}

TEST(Collectives, AreExactForThirtyThreeRanks) {
  check({33}, {}, {{1, 100, 2049}, {Type::float16}, {Op::avg}});
  check({33}, tight(), {{65}, {Type::int8}, {Op::sum}});
  check({20, 13}, {}, {{65}, {Type::bfloat16}, {Op::avg}});
}

TEST(Collectives, StayInsideBuffersThatEndAtUnmappedPages) {
  constexpr Collective every[] = {Collective::all_reduce,     Collective::reduce,
                                  Collective::broadcast,      Collective::all_gather,
                                  Collective::reduce_scatter, Collective::all_to_all,
                                  Collective::send_recv};
  for (auto const& hosts : {std::vector{3}, {2, 1}}) {
    for (coll::Design design : {coll::Design::automatic, coll::Design::ring}) {
      Job job(hosts, tuned(design));
      std::vector<Case> cases;
      for (Collective collective : every) {
        for (Type type : {Type::int8, Type::float16, Type::float64}) {
          for (std::size_t count : {1, 13, 1023, 40001}) {
            for (bool is_in_place : {false, true}) {
              if (count > 2000 && is_in_place) continue;
              cases.push_back({collective, count, type, Op::sum, 1, is_in_place, 0, count,
                               Bytes::End::unmapped});
            }
          }
        }
      }
      play(job, cases);
    }
  }
}

TEST(Collectives, WorkAtEveryAlignment) {
  Job job({2});
  std::vector<Case> cases;
  for (std::size_t shift = 0; shift < 64; ++shift) {
    for (Collective collective : {Collective::all_reduce, Collective::reduce_scatter,
                                  Collective::all_gather, Collective::all_to_all}) {
      for (std::size_t count : {std::size_t{77}, std::size_t{shift % 8 == 1 ? 20001U : 3U}}) {
        cases.push_back({collective, count, Type::float16, Op::sum, 0, false, shift, shift,
                         Bytes::End::guarded});
      }
    }
  }
  play(job, cases);
}

/// Sums whose value depends on the order: rank order on a host, then host order.
TEST(ReduceScatter, AddsInTheDocumentedOrder) {
  auto const value = [](int rank, std::size_t index) {
    auto const x = static_cast<float>(input(rank, index, Type::float32, Op::sum, 3));
    return x * std::pow(1.7F, static_cast<float>(rank * 9 % 7)) / 3.0F;
  };
  for (auto const& hosts : {std::vector{5}, {3, 2}, {1, 3, 1}}) {
    for (coll::Tuning const& tuning : {coll::Tuning{}, tight()}) {
      std::size_t const count = 3001;
      Job job(hosts, tuning);
      auto const errors = job.run([&](Rank& rank) {
        std::size_t const all = count * static_cast<std::size_t>(rank.size);
        std::size_t const first = count * static_cast<std::size_t>(rank.rank);
        std::vector<float> in(all);
        std::vector<float> out(count);
        for (std::size_t i = 0; i < all; ++i) in[i] = value(rank.rank, i);
        rank.reduce_scatter(in.data(), out.data(), count, Type::float32, Op::sum);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
          float right = 0;
          int source = 0;
          for (std::size_t host = 0; host < hosts.size(); ++host) {
            float part = value(source++, first + i);
            for (int local = 1; local < hosts[host]; ++local) part += value(source++, first + i);
            right = host == 0 ? part : right + part;
          }
          wrong += std::memcmp(&right, &out[i], sizeof right) != 0 ? 1 : 0;
        }
        EXPECT_EQ(0U, wrong);
      });
      for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
    }
  }
}

/// A reduce gives its root what an all-reduce gives everybody, whatever the design.
TEST(Reduce, GivesBitwiseWhatAnAllReduceGives) {
  for (auto const& hosts : {std::vector{5}, {3, 2}, {1, 1, 1, 1, 1}}) {
    for (std::size_t count : {std::size_t{11}, std::size_t{3001}, std::size_t{70001}}) {
      std::vector<float> first;
      for (coll::Design design :
           {coll::Design::automatic, coll::Design::flat, coll::Design::ring}) {
        Job job(hosts, tuned(design));
        std::vector<float> result(count);
        auto const errors = job.run([&](Rank& rank) {
          std::vector<float> in(count);
          std::vector<float> all(count);
          for (std::size_t i = 0; i < count; ++i) {
            auto const x = static_cast<float>(input(rank.rank, i, Type::float32, Op::sum, 5));
            in[i] = x * std::pow(1.7F, static_cast<float>(rank.rank * 9)) / 3.0F;
          }
          rank.all_reduce(in.data(), all.data(), count, Type::float32, Op::sum);
          bool const is_root = rank.rank == 3;
          rank.reduce(in.data(), is_root ? result.data() : nullptr, count, Type::float32, Op::sum,
                      3);
          if (is_root) {
            EXPECT_EQ(0, std::memcmp(all.data(), result.data(), count * sizeof(float)));
          }
        });
        for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
        bool const is_comparable = hosts.size() == 1 || design == coll::Design::automatic;
        if (first.empty()) first = result;
        if (is_comparable) {
          EXPECT_EQ(0, std::memcmp(first.data(), result.data(), count * sizeof(float)));
        }
      }
    }
  }
}

/// What all ranks hold after a reduce_scatter and an all_reduce of any bits, NaNs among them.
std::vector<std::byte> results(std::vector<int> const& hosts, Type type, Op op,
                               kernel::Kernels const* kernels) {
  constexpr std::size_t count = 2011;
  Job job(hosts, {}, false, true, kernels);
  std::size_t const part = count * size_of(type);
  auto const ranks = static_cast<std::size_t>(job.size());
  std::vector<std::byte> all(2 * ranks * part);
  auto const errors = job.run([&](Rank& rank) {
    std::mt19937 random(static_cast<unsigned>(rank.rank) + 1);
    std::vector<std::byte> in(ranks * part);
    for (std::byte& x : in) x = static_cast<std::byte>(random());
    std::byte* const out = all.data() + 2 * static_cast<std::size_t>(rank.rank) * part;
    rank.reduce_scatter(in.data(), out, count, type, op);
    rank.all_reduce(in.data(), out + part, count, type, op);
  });
  for (auto const& error : errors) EXPECT_FALSE(error) << error->what();
  return all;
}

TEST(Collectives, GiveTheSameBitsWithEveryInstructionSet) {
  for (auto const& hosts : {std::vector{3}, {2, 1}}) {
    for (Type type : all_types) {
      for (Op op : all_ops) {
        auto const right = results(hosts, type, op, kernel::find("baseline"));
        for (char const* name : {"avx2", "avx512", "neon"}) {
          kernel::Kernels const* const kernels = kernel::find(name);
          if (kernels == nullptr) continue;
          EXPECT_EQ(right, results(hosts, type, op, kernels))
              << name << ", type " << static_cast<int>(type) << ", op " << static_cast<int>(op);
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::cpu::test
