// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include <base/log.hpp>
#include <ledger/share.hpp>
#include <ledger/watch.hpp>
#include <sys/process.hpp>

namespace berth::ledger {
namespace {

/// All ranks of the test: they are on one host.
class Share : public testing::Test {
 public:
  Share() : watch_(setup()) {
    comm_ = mpi::Comm::duplicate(MPI_COMM_WORLD, watch_);
    group_.ranks.resize(static_cast<std::size_t>(comm_.size()));
    std::iota(group_.ranks.begin(), group_.ranks.end(), 0);
    group_.self = comm_.rank();
    watch_.set_rank(comm_.rank());
  }

 protected:
  static constexpr std::size_t bytes = 1UL << 20;

  WatchSetup setup() {
    WatchSetup setup;
    setup.clock = &clock_;
    setup.facts = &facts_;
    setup.log = &log_;
    setup.limits = {std::chrono::seconds(20), true};
    setup.progress = [this] { (void)comm_.progress(); };
    return setup;
  }

  /// Every rank writes a page and reads everybody's.
  void expect_common(sys::SharedMemory const& memory) {
    auto* const words = reinterpret_cast<std::uint64_t*>(memory.data());
    ASSERT_GE(memory.size(), bytes);
    EXPECT_EQ(words[static_cast<std::size_t>(comm_.rank()) * 512], 0U);
    comm_.barrier(watch_);
    words[static_cast<std::size_t>(comm_.rank()) * 512] =
        static_cast<std::uint64_t>(comm_.rank()) + 1;
    comm_.barrier(watch_);
    for (std::size_t rank = 0; rank < group_.ranks.size(); ++rank) {
      EXPECT_EQ(words[rank * 512], rank + 1);
    }
    comm_.barrier(watch_);
  }

  base::SteadyClock clock_;
  sys::ProcFacts facts_;
  base::Log log_;
  mpi::Comm comm_;
  Watch watch_;
  LocalGroup group_;
};

TEST_F(Share, GivesAllRanksTheSameMemory) {
  for (std::string const way : {"memfd", "shm_open"}) {
    Shared const shared = share(comm_, group_, bytes, way, watch_);
    EXPECT_TRUE(shared.shared);
    EXPECT_EQ(shared.how, comm_.size() == 1 ? "private" : way);
    expect_common(shared.memory);
  }
}

TEST_F(Share, SaysSoWhenNothingIsShared) {
  Shared const shared = share(comm_, group_, bytes, "none", watch_);
  EXPECT_EQ(shared.shared, comm_.size() == 1);
  EXPECT_EQ(shared.how, comm_.size() == 1 ? "private" : "none");
  EXPECT_GE(shared.memory.size(), bytes);
}

TEST_F(Share, TriesTheNextWayOnAllRanksWhenOneCannotBeMade) {
  // More than any machine has: both ways fail on the first rank, and nobody is left behind.
  if (comm_.size() == 1) GTEST_SKIP() << "one rank has nothing to share";
  EXPECT_THROW(share(comm_, group_, std::size_t{1} << 62, "memfd", watch_), Error);
  expect_common(share(comm_, group_, bytes, "memfd", watch_).memory);
}

}  // namespace
}  // namespace berth::ledger
