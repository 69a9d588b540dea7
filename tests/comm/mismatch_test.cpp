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
  enum Kind {
    all_reduce,
    reduce,
    broadcast,
    all_gather,
    reduce_scatter,
    all_to_all,
    barrier,
    skip
  } kind = all_reduce;
  std::size_t count = 0;
  Type type = Type::float32;
  Op op = Op::sum;
  int root = 0;
};

bool reduces(Action const& action) {
  return action.kind == Action::all_reduce || action.kind == Action::reduce ||
         action.kind == Action::reduce_scatter;
}

bool has_root(Action const& action) {
  return action.kind == Action::reduce || action.kind == Action::broadcast;
}

char const* name_of(Action::Kind kind) {
  constexpr char const* names[] = {"all_reduce",     "reduce",     "broadcast", "all_gather",
                                   "reduce_scatter", "all_to_all", "barrier",   "barrier"};
  return names[kind];
}

/// Runs it on buffers of the right size that notice when something is written beside them.
void perform(Communicator& comm, Action const& action, bool& intact) {
  auto const [kind, count, type, op, root] = action;
  std::size_t const part = count * size_of(type);
  std::size_t const all = part * static_cast<std::size_t>(comm.size());
  bool const in_parts = kind == Action::reduce_scatter || kind == Action::all_to_all;
  bool const out_parts = kind == Action::all_gather || kind == Action::all_to_all;
  Guarded in(in_parts ? all : part, 0);
  Guarded out(out_parts ? all : part, 8);
  void const* const from = in.data();
  void* const to = out.data();
  if (kind == Action::all_reduce) comm.all_reduce(from, to, count, type, op);
  if (kind == Action::reduce) comm.reduce(from, to, count, type, op, root);
  if (kind == Action::broadcast) comm.broadcast(to, count, type, root);
  if (kind == Action::all_gather) comm.all_gather(from, to, count, type);
  if (kind == Action::reduce_scatter) comm.reduce_scatter(from, to, count, type, op);
  if (kind == Action::all_to_all) comm.all_to_all(from, to, count, type);
  if (kind == Action::barrier) comm.barrier();
  intact = intact && in.intact() && out.intact();
}

/// What must be in the text about `action`.
std::vector<std::string> words(Action const& action) {
  if (action.kind == Action::barrier || action.kind == Action::skip) return {"barrier"};
  std::vector<std::string> list = {name_of(action.kind), std::to_string(action.count),
                                   text_of(action.type)};
  if (reduces(action)) list.push_back(text_of(action.op));
  if (has_root(action)) list.push_back("rank " + std::to_string(action.root));
  return list;
}

struct Case {
  char const* what;
  Action common;
  Action odd;
};

/// Wrong calls with all_reduce, broadcast and barrier.
std::vector<Case> cases() {
  using enum Type;
  constexpr auto all_reduce = Action::all_reduce;
  constexpr auto broadcast = Action::broadcast;
  constexpr auto barrier = Action::barrier;
  return {
      {"count", {all_reduce, 771, float32, Op::sum}, {all_reduce, 913, float32, Op::sum}},
      {"count, one element", {all_reduce, 1, int64, Op::sum}, {all_reduce, 2, int64, Op::sum}},
      {"nothing and something", {all_reduce, 0, int32, Op::max}, {all_reduce, 5, int32, Op::max}},
      {"large counts",
       {all_reduce, 300001, float64, Op::sum},
       {all_reduce, 300002, float64, Op::sum}},
      {"small and large",
       {all_reduce, 5, float32, Op::min},
       {all_reduce, 700001, float32, Op::min}},
      {"type of equal size", {all_reduce, 64, float32, Op::sum}, {all_reduce, 64, int32, Op::sum}},
      {"equal bytes", {all_reduce, 128, float32, Op::sum}, {all_reduce, 64, float64, Op::sum}},
      {"operation", {all_reduce, 70001, int32, Op::sum}, {all_reduce, 70001, int32, Op::max}},
      {"root", {broadcast, 77, int32, Op::sum, 0}, {broadcast, 77, int32, Op::sum, 1}},
      {"large root", {broadcast, 90001, int64, Op::sum, 1}, {broadcast, 90001, int64, Op::sum, 0}},
      {"broadcast count", {broadcast, 77, int32}, {broadcast, 78, int32}},
      {"collective", {all_reduce, 33, float32, Op::sum}, {broadcast, 33, float32}},
      {"large collective", {all_reduce, 200003, int32, Op::sum}, {broadcast, 200003, int32}},
      {"barrier", {all_reduce, 33, float64, Op::prod}, {barrier}},
      {"skipped call", {all_reduce, 44, float32, Op::sum}, {Action::skip}},
      {"large skipped call", {all_reduce, 400009, float32, Op::sum}, {Action::skip}},
      {"skipped broadcast", {broadcast, 44, float32, Op::sum, 0}, {Action::skip}},
  };
}

/// The same kinds of wrong calls with the other collectives, at a small and a large count.
std::vector<Case> other_cases(std::size_t n) {
  using enum Type;
  constexpr auto gather = Action::all_gather;
  constexpr auto scatter = Action::reduce_scatter;
  constexpr auto swap = Action::all_to_all;
  constexpr auto reduce = Action::reduce;
  return {
      {"count of all_gather", {gather, n, float64}, {gather, n + 1, float64}},
      {"count 0", {scatter, n, float64}, {scatter, 0, float64}},
      {"count of another design", {scatter, n, float64}, {scatter, 50 * n, float64}},
      {"type", {swap, n, float64}, {swap, n, int64}},
      {"operation", {scatter, n, float64, Op::sum}, {scatter, n, float64, Op::avg}},
      {"operation of reduce", {reduce, n, int32, Op::sum}, {reduce, n, int32, Op::max}},
      {"root of reduce", {reduce, n, bfloat16, Op::sum, 0}, {reduce, n, bfloat16, Op::sum, 1}},
      {"gather and swap", {gather, n, uint8}, {swap, n, uint8}},
      {"reduce for all_reduce", {Action::all_reduce, n, float32}, {reduce, n, float32}},
      {"order", {gather, n, float32}, {scatter, n, float32}},
      {"skipped reduce", {reduce, n, int64}, {Action::skip}},
      {"skipped scatter", {scatter, n, int8}, {Action::skip}},
      {"barrier for swap", {swap, n, float16}, {Action::barrier}},
  };
}

/// `odd` does something else than the others. A root may leave a broadcast early, so everyone goes
/// into a barrier behind it; that is also the operation that a rank that skipped does instead.
void expect_found(Way const& way, Case const& one, int odd) {
  SCOPED_TRACE(std::string(way.name) + ": " + one.what + ", rank " + std::to_string(odd));
  constexpr int deadline = 5;
  Communicator comm = open(way, MPI_COMM_WORLD, std::chrono::seconds(deadline));
  bool intact = true;
  Outcome const mine = outcome_of([&] {
    // Inside: a slow rank may still be in one of these when it is told how the next call ended.
    for (int i = 0; i < 3; ++i) perform(comm, {Action::all_reduce, 10, Type::int32}, intact);
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

void expect_all_found(Way const& way, std::vector<Case> const& table) {
  for (Case const& one : table)
    for (int const odd : {0, world_size() - 1}) expect_found(way, one, odd);
}

TEST(Mismatch, IsFoundInSharedMemory) {
  expect_all_found(ways[0], cases());
}

TEST(Mismatch, IsFoundWithoutSharedMemory) {
  expect_all_found(ways[2], cases());
}

TEST(Mismatch, IsFoundByTheReference) {
  expect_all_found(ways[3], cases());
}

TEST(Mismatch, OfTheOtherCollectivesIsFoundInSharedMemory) {
  expect_all_found(ways[0], other_cases(100));
  expect_all_found(ways[0], other_cases(20000));
}

TEST(Mismatch, OfTheOtherCollectivesIsFoundWithoutSharedMemory) {
  expect_all_found(ways[2], other_cases(100));
  expect_all_found(ways[2], other_cases(20000));
}

TEST(Mismatch, OfTheOtherCollectivesIsFoundByTheReference) {
  expect_all_found(ways[3], other_cases(100));
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
