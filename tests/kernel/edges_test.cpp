// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include <kernel/column.hpp>
#include <kernel/reference.hpp>
#include <sys/mman.h>

namespace berth::test {
namespace {

TEST(Dispatch, BestIsOneOfTheNamedSetsAndUnknownNamesAreRefused) {
  EXPECT_EQ(kernel::find(kernel::best().name), &kernel::best());
  EXPECT_FALSE(sets().empty());
  EXPECT_EQ(kernel::find("avx3"), nullptr);
  EXPECT_EQ(kernel::find(""), nullptr);
}

TEST(Dispatch, EverySetHasEveryFunction) {
  for (kernel::Kernels const* set : sets()) {
    EXPECT_NE(set->stream_copy, nullptr);
    for (int type = 0; type < type_count; ++type) {
      EXPECT_NE(set->average[type], nullptr);
      EXPECT_NE(set->finish[type], nullptr);
      for (int op = 0; op < op_count; ++op) {
        EXPECT_NE(set->reduce[type][op], nullptr);
        EXPECT_NE(set->reduce_twice[type][op], nullptr);
        EXPECT_NE(set->reduce_stream[type][op], nullptr);
        EXPECT_NE(set->reduce_wide[type][op], nullptr);
      }
    }
  }
}

template <class T>
class IntegerEdges : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::uint32_t,
                                std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerEdges, Integers);

TYPED_TEST(IntegerEdges, SumsAndProductsWrap) {
  using T = TypeParam;
  T const least = std::numeric_limits<T>::min();
  T const most = std::numeric_limits<T>::max();
  T const minus_one = number<T>(-1);
  T const half = static_cast<T>(most / 2 + 1);
  for (kernel::Kernels const* set : sets()) {
    EXPECT_EQ(reduce_column<T>(*set, Op::sum, {most, 1}), least);
    EXPECT_EQ(reduce_column<T>(*set, Op::sum, {least, minus_one, 1, 1}), static_cast<T>(least + 1));
    EXPECT_EQ(reduce_column<T>(*set, Op::prod, {most, 2}), number<T>(-2));
    EXPECT_EQ(reduce_column<T>(*set, Op::prod, {half, 4}), T(0));
    EXPECT_EQ(reduce_column<T>(*set, Op::prod, {minus_one, minus_one}), T(1));
    EXPECT_EQ(reduce_column<T>(*set, Op::min, {most, least, 0}), least);
    EXPECT_EQ(reduce_column<T>(*set, Op::max, {least, most, 0}), most);
  }
}

TEST(IntegerEdges, HundredsOfBytesWrap) {
  for (kernel::Kernels const* set : sets()) {
    EXPECT_EQ(reduce_column<std::int8_t>(*set, Op::sum, {127, 1}), -128);
    EXPECT_EQ(reduce_column(*set, Op::sum, std::vector<std::int8_t>(300, 1)), 44);
    EXPECT_EQ(reduce_column(*set, Op::prod, std::vector<std::int8_t>(7, -2)), -128);
    EXPECT_EQ(reduce_column(*set, Op::sum, std::vector<std::uint8_t>(300, 255)), 212);
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

/// Every function of `type` on buffers at one end of their pages.
template <class Place>
void call_all(kernel::Kernels const& set, std::size_t type, std::size_t count, int n,
              Place const& place, GuardedPage* pages) {
  auto const element = static_cast<Type>(type);
  std::size_t const bytes = count * size_of(element);
  std::size_t const wide_bytes = count * size_of(kernel::wide_type(element));
  void const* sources[5];
  for (int s = 0; s < n; ++s) sources[s] = place(pages[s], bytes);
  void* const out = place(pages[5], bytes);
  void* const wide = place(pages[6], wide_bytes);
  std::size_t const op = count % 5;
  set.reduce[type][op](out, sources, n, count);
  set.reduce_twice[type][op](out, place(pages[7], bytes), sources, n, count);
  set.reduce_stream[type][op](out, sources, n, count);
  set.reduce_wide[type][op](wide, sources, n, count);
  set.average[type](out, sources, n, count, 3);
  set.finish[type](out, wide, count, 3);
  set.stream_copy(out, sources[0], bytes);
}

TEST(GuardPages, NothingIsReadOrWrittenOutsideTheBuffers) {
  GuardedPage pages[8];
  auto const last = [](GuardedPage& page, std::size_t bytes) { return page.last(bytes); };
  auto const first = [](GuardedPage& page, std::size_t) { return page.first(); };
  for (kernel::Kernels const* set : sets()) {
    for (std::size_t type = 0; type < static_cast<std::size_t>(type_count); ++type) {
      std::size_t const size = size_of(static_cast<Type>(type));
      for (std::size_t count = 0; count * size <= 1200; ++count) {
        for (int n : {1, 2, 3, 4, 5}) {
          call_all(*set, type, count, n, last, pages);
          call_all(*set, type, count, n, first, pages);
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::test
