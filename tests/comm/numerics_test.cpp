// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// What the numbers promise: the same bits on every rank and in every run, NaN, signed zeros,
// infinities, integers that wrap, a bounded error of sums.
#include <comm/data.hpp>
#include <comm/world.hpp>

namespace berth::test {
namespace {

/// A number with a full mantissa and an exponent of -20 to 20.
template <class T>
T real(int rank, std::size_t index, std::uint64_t seed) {
  std::uint64_t const bits = mix(static_cast<std::uint64_t>(rank), index, seed);
  double const mantissa = static_cast<double>(bits >> 11) / 9007199254740992.0 + 0.5;
  double const value = std::ldexp(mantissa, static_cast<int>(bits % 41) - 20);
  return static_cast<T>((bits & 64) != 0 ? -value : value);
}

constexpr std::size_t counts[] = {1, 7, 1000, 4097, 70001, 300007};

template <class T>
std::uint64_t reduced(Communicator& comm, std::size_t count, Op op, bool in_place,
                      std::size_t offset) {
  Guarded in(count * sizeof(T), offset);
  Guarded out(count * sizeof(T), (offset * 3) % 64);
  Guarded& source = in_place ? out : in;
  for (std::size_t i = 0; i < count; ++i) source.set(i, real<T>(comm.rank(), i, count));
  comm.all_reduce(static_cast<void const*>(source.data()), static_cast<void*>(out.data()), count,
                  type_of<T>::value, op);
  return hash(out.data(), out.bytes());
}

/// Every way to ask for the same sum gives the same bits, now and with the next communicator.
template <class T>
void same_bits(Way const& way) {
  std::vector<std::uint64_t> first;
  for (int run = 0; run < 2; ++run) {
    Communicator comm = open(way);
    std::size_t at = 0;
    for (std::size_t const count : counts)
      for (Op const op : {Op::sum, Op::prod}) {
        std::uint64_t const once = reduced<T>(comm, count, op, false, 0);
        EXPECT_TRUE(same_everywhere(once)) << count << " " << text_of(op) << ": ranks differ";
        for (std::size_t const offset : {0, 1, 63}) {
          EXPECT_EQ(reduced<T>(comm, count, op, offset != 0, offset), once)
              << count << " " << text_of(op) << ": not the same when asked again, offset "
              << offset;
        }
        if (run == 0) first.push_back(once);
        EXPECT_EQ(first[at++], once) << count << ": another communicator gives another result";
      }
    comm.close();
  }
}

TEST(Numerics, EveryRankAndEveryRunGetTheSameBits) {
  same_bits<float>(ways[0]);
  same_bits<double>(ways[0]);
}

TEST(Numerics, EveryRankGetsTheSameBitsWithoutSharedMemory) {
  same_bits<float>(ways[2]);
}

template <class T>
void bounded_sum(Way const& way) {
  Communicator comm = open(way);
  for (std::size_t const count : counts) {
    std::vector<T> data(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = real<T>(comm.rank(), i, 99);
    comm.all_reduce(std::span(data));
    for (std::size_t i = 0; i < count; ++i) {
      long double exact = 0;
      long double total = 0;
      for (int rank = 0; rank < comm.size(); ++rank) {
        exact += real<T>(rank, i, 99);
        total += std::fabs(static_cast<long double>(real<T>(rank, i, 99)));
      }
      long double const bound =
          static_cast<long double>(std::numeric_limits<T>::epsilon()) * (comm.size() - 1) * total;
      ASSERT_LE(std::fabs(data[i] - exact), bound) << "element " << i << " of " << count;
    }
  }
  comm.close();
}

TEST(Numerics, SumsAreAsNearAsAnyOrderOfAdditionsAllows) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    bounded_sum<float>(way);
    bounded_sum<double>(way);
  }
}

/// NaN, zeros and infinities in every position: element i takes its values from the digits of i.
template <class T>
T special(int rank, std::size_t index) {
  T const nan = std::numeric_limits<T>::quiet_NaN();
  T const inf = std::numeric_limits<T>::infinity();
  T const values[] = {T(0),
                      T(-0.0),
                      nan,
                      inf,
                      -inf,
                      T(1),
                      T(-1),
                      std::copysign(nan, T(-1)),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest()};
  return values[mix(static_cast<std::uint64_t>(rank), index, 5) % 11];
}

template <class T>
void special_extremes(Communicator& comm, std::size_t count, Op op) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = special<T>(comm.rank(), i);
  comm.all_reduce(std::span(data), op);
  for (std::size_t i = 0; i < count; ++i) {
    T wanted = special<T>(0, i);
    for (int rank = 1; rank < comm.size(); ++rank)
      wanted = combine(wanted, special<T>(rank, i), op);
    ASSERT_TRUE(same(data[i], wanted)) << "element " << i << " of " << count << ", " << text_of(op)
                                       << ": " << data[i] << ", not " << wanted;
  }
  EXPECT_TRUE(
      same_everywhere(hash(reinterpret_cast<unsigned char*>(data.data()), data.size() * sizeof(T))))
      << count << " " << text_of(op) << ": ranks hold different bits";
}

TEST(Numerics, MinAndMaxKnowNanSignedZeroAndInfinity) {
  for (Way const& way : ways) {
    if (way.backend == Backend::mpi) continue;  // MPI's own min and max lose NaN on some ranks
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    for (std::size_t const count : counts)
      for (Op const op : {Op::min, Op::max}) {
        special_extremes<float>(comm, count, op);
        special_extremes<double>(comm, count, op);
      }
    comm.close();
  }
}

/// What IEEE 754 says of sums and products with special values does not depend on the order as long
/// as no finite sum overflows, except for the sign of NaN.
template <class T>
void special_sums(Communicator& comm, std::size_t count, Op op) {
  auto const value = [](int rank, std::size_t i) {
    T const v = special<T>(rank, i);
    return std::isfinite(v) && std::fabs(v) > T(1) ? T(2) : v;
  };
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = value(comm.rank(), i);
  comm.all_reduce(std::span(data), op);
  for (std::size_t i = 0; i < count; ++i) {
    T wanted = value(0, i);
    bool tiny = value(0, i) == std::numeric_limits<T>::denorm_min();
    for (int rank = 1; rank < comm.size(); ++rank) {
      wanted = combine(wanted, value(rank, i), op);
      tiny = tiny || value(rank, i) == std::numeric_limits<T>::denorm_min();
    }
    if (tiny) continue;  // its rounding depends on the order
    ASSERT_TRUE(same(data[i], wanted)) << "element " << i << " of " << count << ", " << text_of(op)
                                       << ": " << data[i] << ", not " << wanted;
  }
  EXPECT_TRUE(
      same_everywhere(hash(reinterpret_cast<unsigned char*>(data.data()), data.size() * sizeof(T))))
      << count << " " << text_of(op) << ": ranks hold different bits";
}

TEST(Numerics, SumAndProductOfSpecialValuesAreTheSameBitsEverywhere) {
  Communicator comm = open(ways[0]);
  for (std::size_t const count : counts)
    for (Op const op : {Op::sum, Op::prod}) {
      special_sums<float>(comm, count, op);
      special_sums<double>(comm, count, op);
    }
  comm.close();
}

template <class T>
void wraps(Communicator& comm) {
  using U = std::make_unsigned_t<T>;
  constexpr T largest = std::numeric_limits<T>::max();
  for (std::size_t const count : {1, 9, 5000, 100003}) {
    std::vector<T> data(count, largest);
    comm.all_reduce(std::span(data), Op::sum);
    T const sum = static_cast<T>(static_cast<U>(largest) * static_cast<U>(comm.size()));
    EXPECT_EQ(data, std::vector<T>(count, sum));
    data.assign(count, std::numeric_limits<T>::min());
    comm.all_reduce(std::span(data), Op::min);
    EXPECT_EQ(data, std::vector<T>(count, std::numeric_limits<T>::min()));
    data.assign(count, T(-3));
    comm.all_reduce(std::span(data), Op::prod);
    T product = 1;
    for (int rank = 0; rank < comm.size(); ++rank) product = static_cast<T>(product * T(-3));
    EXPECT_EQ(data, std::vector<T>(count, product));
  }
}

TEST(Numerics, IntegersWrap) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    wraps<std::int32_t>(comm);
    wraps<std::int64_t>(comm);
    comm.close();
  }
}

}  // namespace
}  // namespace berth::test
