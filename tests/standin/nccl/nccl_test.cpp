// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ranks.hpp"

namespace {

using ranks::milliseconds;
using ranks::Shared;
using testing::Each;
using testing::ElementsAre;

/// Stores small numbers in each type, exactly.
std::vector<char> encode(ncclDataType_t type, std::vector<double> const& values) {
  std::vector<char> bytes;
  auto const put = [&](auto value) {
    auto const* const from = reinterpret_cast<char const*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  };
  for (double const value : values) {
    switch (type) {
      case ncclInt8:
        put(static_cast<signed char>(value));
        break;
      case ncclUint8:
        put(static_cast<unsigned char>(value));
        break;
      case ncclInt32:
        put(static_cast<int>(value));
        break;
      case ncclUint32:
        put(static_cast<unsigned>(value));
        break;
      case ncclInt64:
        put(static_cast<long long>(value));
        break;
      case ncclUint64:
        put(static_cast<unsigned long long>(value));
        break;
      case ncclFloat16:
        put(__half_raw(__float2half(static_cast<float>(value))).x);
        break;
      case ncclFloat32:
        put(static_cast<float>(value));
        break;
      case ncclFloat64:
        put(value);
        break;
      case ncclBfloat16:
        put(__nv_bfloat16_raw(__float2bfloat16(static_cast<float>(value))).x);
        break;
      case ncclFloat8e4m3:
        put(__nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, __NV_E4M3));
        break;
      default:
        put(__nv_cvt_float_to_fp8(static_cast<float>(value), __NV_SATFINITE, __NV_E5M2));
    }
  }
  return bytes;
}

bool is_whole(ncclDataType_t type) {
  return type <= ncclUint64;
}

double given(int rank, std::size_t i) {
  return static_cast<double>((static_cast<std::size_t>(rank) + i) % 2 + 1);
}

double reduced(ncclDataType_t type, ncclRedOp_t op, int size, std::size_t i) {
  double value = given(0, i);
  for (int rank = 1; rank < size; ++rank) {
    double const other = given(rank, i);
    if (op == ncclProd) value *= other;
    if (op == ncclMax) value = std::max(value, other);
    if (op == ncclMin) value = std::min(value, other);
    if (op == ncclSum || op == ncclAvg) value += other;
  }
  if (op == ncclAvg) value = is_whole(type) ? std::trunc(value / size) : value / size;
  return value;
}

template <typename Value>
std::vector<double> listed(std::size_t count, Value value) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value(i);
  return values;
}

/// One rank's part of every collective with one type.
class Round {
 public:
  Round(int me, int size, ncclComm_t comm, cudaStream_t stream, ncclDataType_t type)
      : rank(me), size_(size), comm_(comm), stream_(stream), type_(type) {}

  void reductions(std::size_t count) {
    for (ncclRedOp_t const op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      auto const total = [&](std::size_t i) { return reduced(type_, op, size_, i); };
      auto mine = encode(type_, listed(count, [&](std::size_t i) { return given(rank, i); }));
      auto result = std::vector<char>(mine.size(), 'x');
      done(ncclAllReduce(mine.data(), result.data(), count, type_, op, comm_, stream_));
      EXPECT_HERE(result == encode(type_, listed(count, total)));
      auto in_place = mine;
      done(ncclAllReduce(in_place.data(), in_place.data(), count, type_, op, comm_, stream_));
      EXPECT_HERE(in_place == result);
      int const root = size_ - 1;
      done(ncclReduce(mine.data(), rank == root ? mine.data() : nullptr, count, type_, op, root,
                      comm_, stream_));
      EXPECT_HERE(rank != root || mine == result);
      auto const all = static_cast<std::size_t>(size_) * count;
      auto from = encode(type_, listed(all, [&](std::size_t i) { return given(rank, i); }));
      auto part = std::vector<char>(result.size());
      done(ncclReduceScatter(from.data(), part.data(), count, type_, op, comm_, stream_));
      auto const first = static_cast<std::size_t>(rank) * count;
      EXPECT_HERE(part ==
                  encode(type_, listed(count, [&](std::size_t i) { return total(first + i); })));
    }
  }

  void copies(std::size_t count) {
    auto const block = [&](int from, int to) {
      return encode(type_, listed(count, [&](std::size_t i) { return given(from + 3 * to, i); }));
    };
    auto const row = [&](auto one) {
      std::vector<char> bytes;
      for (int other = 0; other < size_; ++other) {
        std::vector<char> const part = one(other);
        bytes.insert(bytes.end(), part.begin(), part.end());
      }
      return bytes;
    };
    int const root = size_ / 2;
    auto mine = block(rank, 0);
    auto const all = row([&](int other) { return block(other, 0); });
    auto out = std::vector<char>(all.size());
    done(ncclAllGather(mine.data(), out.data(), count, type_, comm_, stream_));
    EXPECT_HERE(out == all);
    out.assign(out.size(), 0);
    done(ncclGather(mine.data(), out.data(), count, type_, root, comm_, stream_));
    EXPECT_HERE(rank != root || out == all);
    done(ncclBroadcast(mine.data(), mine.data(), count, type_, root, comm_, stream_));
    EXPECT_HERE(mine == block(root, 0));
    auto const to_all = row([&](int other) { return block(rank, other); });
    done(ncclAlltoAll(to_all.data(), out.data(), count, type_, comm_, stream_));
    EXPECT_HERE(out == row([&](int other) { return block(other, rank); }));
    done(ncclScatter(to_all.data(), mine.data(), count, type_, root, comm_, stream_));
    EXPECT_HERE(mine == block(root, rank));
    pairs(to_all, count);
  }

 private:
  /// An exchange of everybody with everybody, oneself included, in one group.
  void pairs(std::vector<char> const& to_all, std::size_t count) {
    auto out = std::vector<char>(to_all.size());
    std::size_t const bytes = to_all.size() / static_cast<std::size_t>(size_);
    EXPECT_HERE(ncclGroupStart() == ncclSuccess);
    for (int peer = 0; peer < size_; ++peer) {
      auto const at = bytes * static_cast<std::size_t>(peer);
      EXPECT_HERE(ncclSend(to_all.data() + at, count, type_, peer, comm_, stream_) == ncclSuccess);
      EXPECT_HERE(ncclRecv(out.data() + at, count, type_, peer, comm_, stream_) == ncclSuccess);
    }
    done(ncclGroupEnd());
    auto again = std::vector<char>(to_all.size());
    done(ncclAlltoAll(to_all.data(), again.data(), count, type_, comm_, stream_));
    EXPECT_HERE(out == again);
  }

  void done(ncclResult_t result) const {
    EXPECT_HERE(result == ncclSuccess || result == ncclInProgress);
    EXPECT_HERE(ranks::settled(comm_) == ncclSuccess);
    EXPECT_HERE(ranks::drains(stream_));
  }

  int const rank;  // under the name that EXPECT_HERE wants
  int const size_;
  ncclComm_t const comm_;
  cudaStream_t const stream_;
  ncclDataType_t const type_;
};

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  return stream;
}

void try_everything(int size, int per_host) {
  EXPECT_THAT(ranks::run(size,
                         [&](int rank, Shared& shared) {
                           ranks::settle(rank, per_host);
                           ncclComm_t const comm = ranks::world(rank, size, shared);
                           cudaStream_t const stream = make_stream();
                           for (int type = 0; type < ncclNumTypes; ++type) {
                             Round round(rank, size, comm, stream,
                                         static_cast<ncclDataType_t>(type));
                             // Quarter floats hold few numbers: exact only for a few ranks.
                             if (type < ncclFloat8e4m3 || size <= 2) round.reductions(11);
                             round.copies(7);
                             round.copies(0);
                           }
                           EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandin, CollectivesAreRightOnOneRank) {
  try_everything(1, 1);
}
TEST(NcclStandin, CollectivesAreRightOnTwoRanksOfOneHost) {
  try_everything(2, 2);
}
TEST(NcclStandin, CollectivesAreRightOnThreeHosts) {
  try_everything(3, 1);
}
TEST(NcclStandin, CollectivesAreRightOnTwoTimesTwo) {
  try_everything(4, 2);
}
TEST(NcclStandin, CollectivesAreRightOnEightRanks) {
  try_everything(8, 8);
}

TEST(NcclStandin, PreMulSumMultipliesFirst) {
  EXPECT_THAT(
      ranks::run(3,
                 [](int rank, Shared& shared) {
                   ranks::settle(rank, 3);
                   ncclComm_t const comm = ranks::world(rank, 3, shared);
                   cudaStream_t const stream = make_stream();
                   float factor = 0.5F * static_cast<float>(rank + 1);
                   ncclRedOp_t op = ncclSum;
                   EXPECT_HERE(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32,
                                                        ncclScalarHostImmediate,
                                                        comm) == ncclSuccess);
                   float value = 2;
                   ncclAllReduce(&value, &value, 1, ncclFloat32, op, comm, stream);
                   EXPECT_HERE(ranks::settled(comm) == ncclSuccess && ranks::drains(stream));
                   EXPECT_HERE(value == 6.0F);  // 2 * (0.5 + 1 + 1.5)
                   EXPECT_HERE(ncclRedOpDestroy(op, comm) == ncclSuccess);
                   EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                 }),
      Each(0));
}

TEST(NcclStandin, SumsMoreThanOnePiece) {
  EXPECT_THAT(
      ranks::run(2,
                 [](int rank, Shared& shared) {
                   ranks::settle(rank, 2);
                   ncclComm_t const comm = ranks::world(rank, 2, shared);
                   cudaStream_t const stream = make_stream();
                   std::vector<int> values(5000003, rank + 1);
                   values.back() = 10 * (rank + 1);
                   ncclAllReduce(values.data(), values.data(), values.size(), ncclInt32, ncclSum,
                                 comm, stream);
                   EXPECT_HERE(ranks::settled(comm) == ncclSuccess && ranks::drains(stream));
                   EXPECT_HERE(values.back() == 30);
                   EXPECT_HERE(std::count(values.begin(), values.end(), 3) == 5000002);
                   EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                 }),
      Each(0));
}

}  // namespace
