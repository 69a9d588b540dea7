// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include <kernel/reference.hpp>
#include <sys/mman.h>

namespace berth::test {
namespace {

/// Reduces one column of values, repeated over 37 elements so that registers and rest both see it.
template <class T>
T reduce_column(kernel::Kernels const& set, Op op, std::vector<T> const& column) {
  constexpr std::size_t count = 37;
  std::vector<std::vector<T>> sources;
  std::vector<void const*> pointers;
  sources.reserve(column.size());
  pointers.reserve(column.size());
  for (T const value : column) sources.emplace_back(count, value);
  for (auto const& source : sources) pointers.push_back(source.data());
  std::vector<T> out(count);
  set.reduce[static_cast<std::size_t>(type_of<T>::value)][static_cast<std::size_t>(op)](
      out.data(), pointers.data(), static_cast<int>(column.size()), count);
  for (T const value : out) EXPECT_EQ(bits(value), bits(out[0])) << set.name;
  return out[0];
}

TEST(Dispatch, BestIsOneOfTheNamedSetsAndUnknownNamesAreRefused) {
  EXPECT_EQ(kernel::find(kernel::best().name), &kernel::best());
  EXPECT_NE(kernel::find("baseline"), nullptr);
  EXPECT_EQ(kernel::find("avx3"), nullptr);
  EXPECT_EQ(kernel::find(""), nullptr);
}

TEST(Dispatch, EverySetHasEveryFunction) {
  for (kernel::Kernels const* set : sets()) {
    EXPECT_NE(set->stream_copy, nullptr);
    for (int type = 0; type < 4; ++type) {
      for (int op = 0; op < 4; ++op) {
        EXPECT_NE(set->reduce[type][op], nullptr);
        EXPECT_NE(set->reduce_twice[type][op], nullptr);
        EXPECT_NE(set->reduce_stream[type][op], nullptr);
      }
    }
  }
}

template <class T>
class FloatEdges : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatEdges, Floats);

TYPED_TEST(FloatEdges, NanAtAnyRankGivesTheOneNan) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  T const nans[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::signaling_NaN(),
                    std::bit_cast<T>(bits(Limits::quiet_NaN()) | 0x1234)};
  for (kernel::Kernels const* set : sets()) {
    for (Op const op : {Op::sum, Op::prod, Op::min, Op::max}) {
      for (std::size_t ranks = 2; ranks <= 6; ++ranks) {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          for (T const nan : nans) {
            std::vector<T> column(ranks, T(-3));
            column[rank] = nan;
            EXPECT_EQ(bits(reduce_column(*set, op, column)), bits(Limits::quiet_NaN()));
            column[(rank + 1) % ranks] = Limits::infinity();
            column[(rank + ranks - 1) % ranks] = nan;
            EXPECT_EQ(bits(reduce_column(*set, op, column)), bits(Limits::quiet_NaN()));
          }
        }
      }
    }
  }
}

TYPED_TEST(FloatEdges, NegativeZeroComesBeforePositiveZeroInAnyOrder) {
  using T = TypeParam;
  for (kernel::Kernels const* set : sets()) {
    for (auto const& column : {std::vector<T>{T(0), -T(0)}, std::vector<T>{-T(0), T(0)},
                               std::vector<T>{T(0), -T(0), T(0), -T(0), T(0)}}) {
      EXPECT_EQ(bits(reduce_column(*set, Op::min, column)), bits(-T(0)));
      EXPECT_EQ(bits(reduce_column(*set, Op::max, column)), bits(T(0)));
    }
    EXPECT_EQ(bits(reduce_column<T>(*set, Op::max, {-T(0), -T(0)})), bits(-T(0)));
    EXPECT_EQ(bits(reduce_column<T>(*set, Op::min, {T(0), T(0)})), bits(T(0)));
    EXPECT_EQ(bits(reduce_column<T>(*set, Op::sum, {-T(0), -T(0)})), bits(-T(0)));
  }
}

TYPED_TEST(FloatEdges, InfinitiesBehaveAndTheirDifferenceIsTheOneNan) {
  using T = TypeParam;
  T const infinity = std::numeric_limits<T>::infinity();
  T const nan = std::numeric_limits<T>::quiet_NaN();
  for (kernel::Kernels const* set : sets()) {
    EXPECT_EQ(reduce_column<T>(*set, Op::min, {infinity, 1, -infinity}), -infinity);
    EXPECT_EQ(reduce_column<T>(*set, Op::max, {-infinity, 1, infinity}), infinity);
    EXPECT_EQ(reduce_column<T>(*set, Op::sum, {infinity, 1}), infinity);
    EXPECT_EQ(bits(reduce_column<T>(*set, Op::sum, {infinity, -infinity})), bits(nan));
    EXPECT_EQ(bits(reduce_column<T>(*set, Op::prod, {infinity, T(0)})), bits(nan));
  }
}

TYPED_TEST(FloatEdges, ALoneSourceIsCopiedWithItsPayload) {
  using T = TypeParam;
  T const odd = std::bit_cast<T>(bits(std::numeric_limits<T>::quiet_NaN()) | 0x77);
  for (kernel::Kernels const* set : sets()) {
    EXPECT_EQ(bits(reduce_column<T>(*set, Op::max, {odd})), bits(odd));
  }
}

template <class T>
class IntegerEdges : public testing::Test {};
using Integers = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerEdges, Integers);

TYPED_TEST(IntegerEdges, SumsAndProductsWrap) {
  using T = TypeParam;
  T const least = std::numeric_limits<T>::min();
  T const most = std::numeric_limits<T>::max();
  for (kernel::Kernels const* set : sets()) {
    EXPECT_EQ(reduce_column<T>(*set, Op::sum, {most, 1}), least);
    EXPECT_EQ(reduce_column<T>(*set, Op::sum, {least, -1, 1, 1}), least + 1);
    EXPECT_EQ(reduce_column<T>(*set, Op::prod, {least, -1}), least);
    EXPECT_EQ(reduce_column<T>(*set, Op::prod, {most, 2}), -2);
    EXPECT_EQ(reduce_column<T>(*set, Op::min, {most, least, 0}), least);
    EXPECT_EQ(reduce_column<T>(*set, Op::max, {least, most, 0}), most);
  }
}

TEST(ReduceTwice, BothDestinationsMayBeSources) {
  for (kernel::Kernels const* set : sets()) {
    for (std::size_t count : {1, 5, 40, 63, 500, 2000}) {
      std::vector<std::int64_t> a(count, 5), b(count, 7);
      void const* sources[] = {a.data(), b.data()};
      set->reduce_twice[1][0](a.data(), b.data(), sources, 2, count);
      EXPECT_EQ(a, std::vector<std::int64_t>(count, 12)) << set->name;
      EXPECT_EQ(b, std::vector<std::int64_t>(count, 12)) << set->name;
    }
  }
}

/// A page between two that may not be touched.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + size_, size_, PROT_READ | PROT_WRITE);
    std::memset(base_ + size_, 0, size_);
  }
  GuardedPage(GuardedPage const&) = delete;
  GuardedPage& operator=(GuardedPage const&) = delete;
  ~GuardedPage() { munmap(base_, 3 * size_); }

  /// `bytes` that end where the page ends.
  void* last(std::size_t bytes) { return base_ + 2 * size_ - bytes; }
  /// `bytes` that begin where the page begins.
  void* first() { return base_ + size_; }

 private:
  std::size_t size_;
  unsigned char* base_;
};

TEST(GuardPages, NothingIsReadOrWrittenOutsideTheBuffers) {
  GuardedPage out, copy, sources[5];
  for (kernel::Kernels const* set : sets()) {
    for (std::size_t type = 0; type < 4; ++type) {
      std::size_t const size = size_of(static_cast<Type>(type));
      for (std::size_t count = 0; count * size <= 1200; ++count) {
        std::size_t const bytes = count * size;
        for (int n : {1, 2, 3, 4, 5}) {
          void const* last[5];
          void const* first[5];
          for (int s = 0; s < n; ++s) last[s] = sources[s].last(bytes);
          for (int s = 0; s < n; ++s) first[s] = sources[s].first();
          std::size_t const op = count % 4;
          set->reduce[type][op](out.last(bytes), last, n, count);
          set->reduce[type][op](out.first(), first, n, count);
          set->reduce_twice[type][op](out.last(bytes), copy.last(bytes), last, n, count);
          set->reduce_twice[type][op](out.first(), copy.first(), first, n, count);
          set->reduce_stream[type][op](out.last(bytes), last, n, count);
          set->reduce_stream[type][op](out.first(), first, n, count);
        }
        set->stream_copy(out.last(bytes), sources[0].last(bytes), bytes);
        set->stream_copy(out.first(), sources[0].first(), bytes);
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
