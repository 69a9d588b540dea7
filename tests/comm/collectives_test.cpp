// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// The three collectives through the public interface against exact references.
#include <random>
#include <thread>

#include <comm/data.hpp>
#include <comm/world.hpp>

namespace berth::test {
namespace {

/// One all_reduce with everything that can vary.
struct Call {
  std::size_t count;
  Type type;
  Op op;
  bool in_place;
  std::size_t in_offset;
  std::size_t out_offset;
  std::uint64_t seed;
};

std::string text_of(Call const& call) {
  return "all_reduce of " + std::to_string(call.count) + " " + test::text_of(call.type) + " " +
         test::text_of(call.op) + (call.in_place ? " in place" : " out of place") + ", offsets " +
         std::to_string(call.in_offset) + " and " + std::to_string(call.out_offset);
}

/// Runs `call` and returns what is wrong with its result; empty: nothing.
template <class T>
std::string check(Communicator& comm, Call const& call) {
  std::size_t const bytes = call.count * sizeof(T);
  Guarded in(bytes, call.in_offset);
  Guarded out(bytes, call.out_offset);
  Guarded& source = call.in_place ? out : in;
  for (std::size_t i = 0; i < call.count; ++i)
    source.set(i, input<T>(comm.rank(), i, call.op, call.seed));
  std::uint64_t const before = hash(in.data(), bytes);
  comm.all_reduce(static_cast<void const*>(source.data()), static_cast<void*>(out.data()),
                  call.count, call.type, call.op);
  if (!in.intact() || !out.intact()) return "wrote beside a buffer";
  if (!call.in_place && hash(in.data(), bytes) != before) return "changed its input";
  for (std::size_t i = 0; i < call.count; ++i) {
    T const wanted = expected<T>(comm.size(), i, call.op, call.seed);
    if (same(out.get<T>(i), wanted)) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(out.get<T>(i)) + ", not " +
           std::to_string(wanted);
  }
  return {};
}

std::string check_call(Communicator& comm, Call const& call) {
  std::string const wrong =
      with_type(call.type, [&](auto zero) { return check<decltype(zero)>(comm, call); });
  return wrong.empty() ? wrong : text_of(call) + ": " + wrong;
}

/// Small counts: every combination, or every `stride`-th of them.
void every_small_call(Communicator& comm, std::size_t stride) {
  std::size_t number = 0;
  for (std::size_t const count : {0, 1, 2, 3, 13, 14, 15, 1000})
    for (Type const type : all_types)
      for (Op const op : all_ops)
        for (bool const in_place : {false, true})
          for (std::size_t const offset : {0, 1, 3, 63}) {
            if (++number % stride != 0) continue;
            std::size_t const other = (offset * 7 + 5 * number) % 64;
            std::string const wrong =
                check_call(comm, {count, type, op, in_place, offset, other, number});
            ASSERT_EQ(wrong, "");
          }
}

/// Counts of many pages; offsets take turns.
void every_large_call(Communicator& comm, std::size_t stride) {
  constexpr std::size_t offsets[] = {0, 63, 1, 3, 0};
  std::size_t number = 0;
  for (std::size_t const count : {16383, 70001, 1000003})
    for (Type const type : all_types)
      for (Op const op : all_ops)
        for (bool const in_place : {false, true}) {
          if (++number % stride != 0) continue;
          std::string const wrong = check_call(
              comm, {count, type, op, in_place, offsets[number % 5], offsets[number % 3], number});
          ASSERT_EQ(wrong, "");
        }
}

std::string check_broadcast(Communicator& comm, std::size_t count, Type type, int root,
                            std::size_t offset) {
  Guarded buffer(count * size_of(type), offset);
  auto const seed = static_cast<std::uint64_t>(root) + count;
  for (std::size_t i = 0; i < buffer.bytes(); ++i)
    buffer.data()[i] = comm.rank() == root ? static_cast<unsigned char>(mix(seed, i)) : 0xAA;
  comm.broadcast(static_cast<void*>(buffer.data()), count, type, root);
  std::string const call = "broadcast of " + std::to_string(count) + " " + test::text_of(type) +
                           " from " + std::to_string(root);
  if (!buffer.intact()) return call + ": wrote beside the buffer";
  for (std::size_t i = 0; i < buffer.bytes(); ++i) {
    if (buffer.data()[i] != static_cast<unsigned char>(mix(seed, i)))
      return call + ": byte " + std::to_string(i) + " is wrong";
  }
  return {};
}

void every_broadcast(Communicator& comm, std::size_t largest) {
  constexpr std::size_t offsets[] = {0, 1, 3, 63};
  std::size_t number = 0;
  for (std::size_t const count : {0, 1, 2, 3, 13, 14, 15, 1000, 16383, 70001, 1000003}) {
    if (count > largest) break;
    for (Type const type : all_types)
      for (int root = 0; root < comm.size(); ++root) {
        if (count > 100000 && root % 3 != static_cast<int>(type) % 3) continue;
        ASSERT_EQ(check_broadcast(comm, count, type, root, offsets[number++ % 4]), "");
      }
  }
}

/// Nobody leaves a barrier before the last has entered; the last takes turns.
void every_barrier(Communicator& comm) {
  for (int round = 0; round < 20; ++round) {
    if (round % comm.size() == comm.rank())
      std::this_thread::sleep_for(std::chrono::milliseconds(round % 4));
    auto const now = [] {
      return std::chrono::steady_clock::now().time_since_epoch().count();  // one clock per host
    };
    std::int64_t entered = now();
    comm.barrier();
    std::int64_t const left = now();
    MPI_Allreduce(MPI_IN_PLACE, &entered, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    ASSERT_LE(entered, left) << "round " << round;
  }
}

/// Operations drawn at random, the same on every rank.
void random_sequence(Communicator& comm, int operations, unsigned seed) {
  std::mt19937 draw(seed);
  auto const below = [&](std::size_t bound) { return static_cast<std::size_t>(draw()) % bound; };
  for (int i = 0; i < operations; ++i) {
    std::size_t const kind = below(10);
    std::size_t const magnitude = below(16);
    std::size_t const count = below(std::size_t{1} << magnitude);
    Type const type = all_types[below(4)];
    Call const call = {count, type, all_ops[below(4)], below(2) == 1, below(64), below(64), draw()};
    int const root = static_cast<int>(below(static_cast<std::size_t>(comm.size())));
    std::string wrong;
    if (kind == 0) comm.barrier();
    if (kind > 0 && kind < 4) wrong = check_broadcast(comm, count, type, root, call.in_offset);
    if (kind >= 4) wrong = check_call(comm, call);
    ASSERT_EQ(wrong, "") << "operation " << i;
  }
}

TEST(Collectives, ReduceEverySmallCallExactly) {
  Communicator comm = open(ways[0]);
  every_small_call(comm, 1);
  comm.close();
}

TEST(Collectives, ReduceEveryLargeCallExactly) {
  Communicator comm = open(ways[0]);
  every_large_call(comm, comm.size() > 4 ? 5 : 1);
  comm.close();
}

TEST(Collectives, BroadcastFromEveryRoot) {
  Communicator comm = open(ways[0]);
  every_broadcast(comm, 2000000);
  comm.close();
}

TEST(Collectives, BarrierHoldsEveryoneBack) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    every_barrier(comm);
    comm.close();
  }
}

TEST(Collectives, SurviveTwoThousandMixedOperations) {
  Communicator comm = open(ways[0]);
  random_sequence(comm, 2000, 20240611);
  comm.close();
}

TEST(Collectives, GiveTheSameWithEveryOtherWayToCarryData) {
  for (Way const& way : ways) {
    if (way.backend == Backend::cpu && way.shared_memory == nullptr) continue;
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    EXPECT_EQ(comm.backend(), way.backend);
    every_small_call(comm, comm.size() > 4 ? 29 : 7);
    every_large_call(comm, comm.size() > 4 ? 23 : 11);
    every_broadcast(comm, 20000);
    random_sequence(comm, comm.size() > 4 ? 50 : 200, 7);
    comm.close();
  }
}

TEST(Collectives, TypedCallsAndSpansMeanTheSame) {
  Communicator comm = open(ways[0]);
  auto const size = comm.size();
  std::vector<std::int64_t> numbers(5, comm.rank() + 1);
  comm.all_reduce(std::span(numbers), Op::sum);
  EXPECT_EQ(numbers, std::vector<std::int64_t>(5, std::int64_t{size} * (size + 1) / 2));
  std::vector<float> const in(3, static_cast<float>(comm.rank()));
  std::vector<float> out(3);
  comm.all_reduce(in.data(), out.data(), out.size(), Op::max);
  EXPECT_EQ(out, std::vector<float>(3, static_cast<float>(size - 1)));
  comm.all_reduce(in.data(), out.data(), out.size());
  EXPECT_EQ(out, std::vector<float>(3, static_cast<float>(size * (size - 1) / 2)));
  std::vector<double> word(2, comm.rank() == size - 1 ? 2.5 : 0.0);
  comm.broadcast(word.data(), word.size(), size - 1);
  EXPECT_EQ(word, std::vector<double>(2, 2.5));
  comm.close();
}

TEST(Collectives, TakeNullForNothing) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    comm.all_reduce(nullptr, nullptr, 0, Type::float64, Op::prod);
    comm.broadcast(nullptr, 0, Type::int32, comm.size() - 1);
    comm.all_reduce(std::span<std::int32_t>());
    std::int32_t one = 1;
    comm.all_reduce(std::span(&one, 1));
    EXPECT_EQ(one, comm.size());
    comm.close();
  }
}

}  // namespace
}  // namespace berth::test
