// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// Programs whose ranks do not agree on what they do: every rank is told, with both descriptors, and
// nobody waits for ever.
#include <comm/data.hpp>
#include <comm/world.hpp>

namespace berth::test {
namespace {

/// One operation as data.
struct Action {
  enum Kind { reduce, broadcast, barrier, skip } kind = reduce;
  std::size_t count = 0;
  Type type = Type::float32;
  Op op = Op::sum;
  int root = 0;
};

void perform(Communicator& comm, Action const& action, bool& intact) {
  Guarded buffer(action.count * size_of(action.type), 0);
  if (action.kind == Action::reduce)
    comm.all_reduce(static_cast<void const*>(buffer.data()), static_cast<void*>(buffer.data()),
                    action.count, action.type, action.op);
  if (action.kind == Action::broadcast)
    comm.broadcast(static_cast<void*>(buffer.data()), action.count, action.type, action.root);
  if (action.kind == Action::barrier) comm.barrier();
  intact = buffer.intact();
}

/// What must be in the text about `action`.
std::vector<std::string> words(Action const& action) {
  if (action.kind == Action::barrier || action.kind == Action::skip) return {"barrier"};
  std::vector<std::string> list = {std::to_string(action.count), text_of(action.type)};
  if (action.kind == Action::reduce) {
    list.emplace_back("all_reduce");
    list.push_back(text_of(action.op));
  } else {
    list.emplace_back("broadcast");
    list.push_back("from rank " + std::to_string(action.root));
  }
  return list;
}

struct Case {
  char const* what;
  Action common;
  Action odd;
};

std::vector<Case> cases() {
  using enum Type;
  constexpr auto reduce = Action::reduce;
  constexpr auto broadcast = Action::broadcast;
  constexpr auto barrier = Action::barrier;
  return {
      {"count", {reduce, 771, float32, Op::sum}, {reduce, 913, float32, Op::sum}},
      {"count, one element", {reduce, 1, int64, Op::sum}, {reduce, 2, int64, Op::sum}},
      {"nothing and something", {reduce, 0, int32, Op::max}, {reduce, 5, int32, Op::max}},
      {"large counts", {reduce, 300001, float64, Op::sum}, {reduce, 300002, float64, Op::sum}},
      {"small and large", {reduce, 5, float32, Op::min}, {reduce, 700001, float32, Op::min}},
      {"type of equal size", {reduce, 64, float32, Op::sum}, {reduce, 64, int32, Op::sum}},
      {"equal bytes", {reduce, 128, float32, Op::sum}, {reduce, 64, float64, Op::sum}},
      {"operation", {reduce, 70001, int32, Op::sum}, {reduce, 70001, int32, Op::max}},
      {"root", {broadcast, 77, int32, Op::sum, 0}, {broadcast, 77, int32, Op::sum, 1}},
      {"large root", {broadcast, 90001, int64, Op::sum, 1}, {broadcast, 90001, int64, Op::sum, 0}},
      {"broadcast count", {broadcast, 77, int32}, {broadcast, 78, int32}},
      {"collective", {reduce, 33, float32, Op::sum}, {broadcast, 33, float32}},
      {"large collective", {reduce, 200003, int32, Op::sum}, {broadcast, 200003, int32}},
      {"barrier", {reduce, 33, float64, Op::prod}, {barrier}},
      {"skipped call", {reduce, 44, float32, Op::sum}, {Action::skip}},
      {"large skipped call", {reduce, 400009, float32, Op::sum}, {Action::skip}},
      {"skipped broadcast", {broadcast, 44, float32, Op::sum, 0}, {Action::skip}},
  };
}

/// `odd` does something else than the others. A root may leave a broadcast early, so everyone goes
/// into a barrier behind it; that is also the operation that a rank that skipped does instead.
void expect_found(Way const& way, Case const& one, int odd) {
  SCOPED_TRACE(std::string(way.name) + ": " + one.what + ", rank " + std::to_string(odd));
  constexpr int deadline = 5;
  Communicator comm = open(way, MPI_COMM_WORLD, std::chrono::seconds(deadline));
  bool intact = true;
  for (int i = 0; i < 3; ++i) perform(comm, {Action::reduce, 10, Type::int32}, intact);
  Outcome const mine = outcome_of([&] {
    perform(comm, world_rank() == odd ? one.odd : one.common, intact);
    comm.barrier();
  });
  EXPECT_TRUE(intact) << "wrote beside a buffer";
  std::vector<Outcome> const all = gather(mine);
  if (world_rank() != 0) return;  // all ranks know the same
  ASSERT_TRUE(agreed(all, Errc::mismatch, deadline));
  std::string const text = plain_numbers(all[0].text);
  for (Action const& action : {one.common, one.odd})
    for (std::string const& word : words(action))
      EXPECT_NE(text.find(word), std::string::npos) << "no \"" << word << "\" in " << all[0].text;
  if (world_size() > 2) {
    EXPECT_NE(text.find("rank " + std::to_string(odd)), std::string::npos) << all[0].text;
  }
}

void expect_all_found(Way const& way) {
  for (Case const& one : cases())
    for (int const odd : {0, world_size() - 1}) expect_found(way, one, odd);
}

TEST(Mismatch, IsFoundInSharedMemory) {
  expect_all_found(ways[0]);
}

TEST(Mismatch, IsFoundWithoutSharedMemory) {
  expect_all_found(ways[2]);
}

TEST(Mismatch, IsFoundByTheReference) {
  expect_all_found(ways[3]);
}

TEST(Mismatch, DoesNotSpoilTheNextCommunicator) {
  Communicator comm = open(ways[0]);
  for (int i = 0; i < 50; ++i) {
    std::int64_t one = 1;
    comm.all_reduce(std::span(&one, 1));
    ASSERT_EQ(one, world_size());
  }
  comm.close();
}

/// Rank 0 closes while the others reduce once more.
void expect_end_of_wait(Way const& way) {
  SCOPED_TRACE(way.name);
  Communicator comm = open(way, MPI_COMM_WORLD, std::chrono::seconds(3));
  Outcome const mine = outcome_of([&] {
    std::int32_t one = 1;
    if (world_rank() != 0) comm.all_reduce(std::span(&one, 1));
    comm.close();
  });
  std::vector<Outcome> const all = gather(mine);
  if (world_rank() != 0) return;
  for (Outcome const& one : all) {
    EXPECT_NE(one.code, 0) << describe(all);
    EXPECT_LT(one.seconds, 5) << describe(all);
  }
}

TEST(Mismatch, AClosedRankIsNotWaitedForForEver) {
  for (int const way : {0, 1, 2}) expect_end_of_wait(ways[way]);
}

TEST(Mismatch, AClosedRankOfTheReferenceIsNotWaitedForForEver) {
  expect_end_of_wait(ways[3]);
}

}  // namespace
}  // namespace berth::test
