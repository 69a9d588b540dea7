// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpu/cases.hpp"

namespace berth::cpu::test {
namespace {

using coll::Message;
using testing::HasSubstr;

Message send(int to, Type type, std::size_t count, void const* from) {
  return {true, to, type, count, from, nullptr};
}
Message receive(int from, Type type, std::size_t count, void* to) {
  return {false, from, type, count, nullptr, to};
}

/// What a rank sends as its `index`-th message to another.
struct Sent {
  int from;
  int to;
  std::uint64_t index;
  std::size_t count;
  Type type;
  [[nodiscard]] std::vector<std::byte> data() const {
    std::vector<std::byte> bytes(count * size_of(type));
    fill(bytes.data(), count, type, Op::sum, from, index * 101 + static_cast<unsigned>(to));
    return bytes;
  }
};

/// The messages of all ranks of one exchange, the same on every rank.
std::vector<Sent> draw(std::mt19937& random, int ranks, std::size_t longest) {
  std::vector<Sent> all;
  for (std::uint64_t index = 0; index < 3 * static_cast<std::uint64_t>(ranks); ++index) {
    auto const pick = [&] { return static_cast<int>(random() % static_cast<unsigned>(ranks)); };
    std::size_t const count = random() % (random() % 3 == 0 ? longest : 40);
    all.push_back({pick(), pick(), index, count, all_types[random() % std::size(all_types)]});
  }
  return all;
}

/// One rank's part of it. Sends and receives are in any order, but for those of one pair.
void take_part(Rank& rank, std::vector<Sent> const& all, std::mt19937& own) {
  std::vector<std::vector<std::byte>> sources;
  std::vector<std::vector<std::byte>> targets(all.size());
  std::vector<Message> messages;
  for (Sent const& sent : all) {
    if (sent.from == rank.rank) {
      sources.push_back(sent.data());
      messages.push_back(send(sent.to, sent.type, sent.count, sources.back().data()));
    }
    if (sent.to == rank.rank) {
      targets[sent.index].resize(sent.count * size_of(sent.type));
      messages.push_back(receive(sent.from, sent.type, sent.count, targets[sent.index].data()));
    }
  }
  std::vector<std::uint64_t> place(static_cast<std::size_t>(2 * rank.size));
  for (auto& x : place) x = own();
  std::stable_sort(messages.begin(), messages.end(), [&](Message const& a, Message const& b) {
    auto const of = [&](Message const& x) {
      return place[2 * static_cast<std::size_t>(x.peer) + (x.is_send ? 1 : 0)];
    };
    return of(a) < of(b);
  });
  rank.exchange(messages);
  for (Sent const& sent : all) {
    if (sent.to != rank.rank) continue;
    EXPECT_EQ(sent.data(), targets[sent.index])
        << "message " << sent.index << " from rank " << sent.from << " to rank " << sent.to;
  }
}

void play(std::vector<int> const& hosts, int exchanges, std::size_t longest, bool is_rendezvous) {
  Job job(hosts, {}, false, is_rendezvous);
  auto const errors = job.run([&](Rank& rank) {
    std::mt19937 shared(11);
    std::mt19937 own(static_cast<unsigned>(rank.rank) + 5);
    for (int i = 0; i < exchanges; ++i) {
      take_part(rank, draw(shared, rank.size, longest), own);
      if (i % 5 == 0) rank.barrier();
    }
  });
  for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
}

TEST(Exchange, DeliversAnySetOfMatchingMessagesInAnyOrder) {
  for (bool is_rendezvous : {true, false}) {
    for (auto const& hosts : {std::vector{1}, {2}, {5}, {2, 1}, {1, 3, 2}}) {
      play(hosts, 20, 2000, is_rendezvous);
    }
  }
}

TEST(Exchange, CutsLongMessagesIntoPieces) {
  play({3}, 3, 400000, true);
  play({2, 1}, 3, 400000, true);
}

TEST(Exchange, LeavesRanksAloneThatHaveNoMessages) {
  Job job({4});
  auto const errors = job.run([](Rank& rank) {
    int value = rank.rank;
    if (rank.rank == 1) rank.backend->exchange({send(2, Type::int32, 1, &value)});
    if (rank.rank == 2) rank.backend->exchange({receive(1, Type::int32, 1, &value)});
    EXPECT_EQ(rank.rank == 2 ? 1 : rank.rank, value);
    rank.barrier();
    rank.backend->exchange({});
  });
  for (auto const& error : errors) ASSERT_FALSE(error) << error->what();
}

/// Rank 1 receives something else than rank 2 sends.
void expect_refused(std::vector<int> const& hosts, Message const& wrong, std::string const& text) {
  Job job(hosts);
  std::vector<float> data(100, 7.0F);
  std::vector<float> got(200, 1.0F);
  auto const errors = job.run([&](Rank& rank) {
    Message mine = wrong;
    mine.to = got.data();
    if (rank.rank == 1) rank.exchange({mine});
    if (rank.rank == 2) rank.exchange({send(1, Type::float32, 100, data.data())});
    if (rank.rank == 0) rank.exchange({});
    rank.barrier();
  });
  for (auto const& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(Errc::mismatch, error->code()) << error->what();
    EXPECT_STREQ(errors[0]->what(), error->what());
    EXPECT_THAT(error->what(), HasSubstr("rank 2 sends 100 float32 to rank 1"));
    EXPECT_THAT(error->what(), HasSubstr(text));
  }
  EXPECT_EQ(std::vector<float>(200, 1.0F), got);
}

TEST(Exchange, ReportsAnotherCountOrTypeOnAllRanks) {
  for (auto const& hosts : {std::vector{3}, {2, 1}, {1, 2}, {1, 1, 1}}) {
    expect_refused(hosts, receive(2, Type::float32, 99, nullptr), "receives 99 float32");
    expect_refused(hosts, receive(2, Type::int32, 100, nullptr), "receives 100 int32");
  }
}

TEST(Exchange, ReportsASendToItselfThatNobodyReceives) {
  Job job({2});
  auto const errors = job.run([](Rank& rank) {
    int const value = 1;
    if (rank.rank == 1) rank.exchange({send(1, Type::int32, 1, &value)});
    rank.barrier();
  });
  for (auto const& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(Errc::mismatch, error->code());
    EXPECT_EQ(1, error->rank());
  }
}

}  // namespace
}  // namespace berth::cpu::test
