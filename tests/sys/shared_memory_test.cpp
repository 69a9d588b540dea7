// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <berth/error.hpp>
#include <sys/shared_memory.hpp>
#include <sys/wait.h>

namespace berth {
namespace {

namespace fs = std::filesystem;
using sys::SharedKind;
using sys::SharedMemory;
using sys::SharedTicket;

bool in_dev_shm(SharedTicket const& ticket) {
  return ticket.name[0] != '\0' && fs::exists(std::string("/dev/shm") + ticket.name);
}

/// True when `check` is true in a forked process, which shares nothing but what it opens.
bool true_in_child(std::function<bool()> const& check) {
  pid_t const child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = check();
    } catch (...) {
      good = false;
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class EachKind : public testing::TestWithParam<SharedKind> {};
INSTANTIATE_TEST_SUITE_P(SharedMemory, EachKind,
                         testing::Values(SharedKind::memfd, SharedKind::shm_open),
                         [](auto const& chosen) {
                           return chosen.param == SharedKind::memfd ? "memfd" : "shm_open";
                         });

TEST_P(EachKind, IsZeroedAndAtLeastAsLargeAsAskedFor) {
  for (std::size_t const bytes : {1UL, 4080UL, 4081UL, 4096UL, 100000UL}) {
    SharedMemory const memory = SharedMemory::create(bytes, GetParam());
    ASSERT_GE(memory.size(), bytes);
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + memory.size(),
                            [](std::byte b) { return b == std::byte{0}; }));
    std::memset(memory.data(), 1, memory.size());
  }
}

void write(std::byte* memory, std::string const& text) {
  std::memcpy(memory, text.c_str(), text.size() + 1);
}

TEST_P(EachKind, IsSharedWithAProcessThatOpensTheTicket) {
  SharedMemory const memory = SharedMemory::create(8192, GetParam());
  write(memory.data(), "from the creator");
  SharedTicket const ticket = memory.ticket();
  EXPECT_TRUE(true_in_child([&] {
    SharedMemory const peer = SharedMemory::open(ticket);
    std::string const text = reinterpret_cast<char const*>(peer.data());
    write(peer.data(), "from the peer");
    return peer.size() == memory.size() && text == "from the creator";
  }));
  EXPECT_STREQ(reinterpret_cast<char const*>(memory.data()), "from the peer");
}

TEST_P(EachKind, StaysMappedWhenItsNameIsForgotten) {
  SharedMemory memory = SharedMemory::create(4096, GetParam());
  SharedTicket const ticket = memory.ticket();
  SharedMemory const peer = SharedMemory::open(ticket);
  memory.forget_name();
  memory.forget_name();
  EXPECT_FALSE(in_dev_shm(ticket));
  memory.data()[7] = std::byte{42};
  EXPECT_EQ(peer.data()[7], std::byte{42});
  EXPECT_THROW(SharedMemory::open(ticket), Error);
}

TEST_P(EachKind, LeavesNoNameWhenDestroyedOrMovedOver) {
  SharedTicket ticket;
  {
    SharedMemory memory = SharedMemory::create(4096, GetParam());
    ticket = memory.ticket();
    EXPECT_EQ(in_dev_shm(ticket), GetParam() == SharedKind::shm_open);
    SharedMemory moved(std::move(memory));
    EXPECT_EQ(memory.data(),
              nullptr);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    moved.data()[0] = std::byte{1};
    moved = SharedMemory::anonymous(100);
    EXPECT_FALSE(in_dev_shm(ticket));
    EXPECT_GE(moved.size(), 100U);
  }
  EXPECT_THROW(SharedMemory::open(ticket), Error);
}

TEST_P(EachKind, KeepsItsNameWhenAPeerOrAForkedCopyGoes) {
  SharedMemory memory = SharedMemory::create(4096, GetParam());
  SharedTicket const ticket = memory.ticket();
  { SharedMemory const peer = SharedMemory::open(ticket); }
  EXPECT_TRUE(true_in_child([&] {
    SharedMemory const copy(std::move(memory));
    return true;
  }));
  EXPECT_NO_THROW(SharedMemory::open(ticket));
}

TEST_P(EachKind, IsRefusedWhenAnythingOfTheTicketDiffers) {
  SharedMemory const memory = SharedMemory::create(4096, GetParam());
  auto const refused = [&](auto const& change) {
    SharedTicket ticket = memory.ticket();
    change(ticket);
    try {
      SharedMemory::open(ticket);
      return false;
    } catch (Error const& error) {
      return error.code() == Errc::system;
    }
  };
  EXPECT_TRUE(refused([](SharedTicket& t) { t.inode += 1; }));
  EXPECT_TRUE(refused([](SharedTicket& t) { t.device += 1; }));
  EXPECT_TRUE(refused([](SharedTicket& t) { t.bytes += 4096; }));
  EXPECT_TRUE(refused([](SharedTicket& t) { t.bytes = 3; }));
  EXPECT_TRUE(refused([](SharedTicket& t) { t.token[1] ^= 1; }));
  EXPECT_TRUE(refused([](SharedTicket& t) { t.kind = 9; }));
  if (GetParam() == SharedKind::memfd) {
    EXPECT_TRUE(refused([](SharedTicket& t) { t.descriptor = 0; }));
    EXPECT_TRUE(refused([](SharedTicket& t) { t.pid = 1 << 30; }));
  } else {
    EXPECT_TRUE(refused([](SharedTicket& t) { std::strcpy(t.name, "/etc/passwd"); }));
    EXPECT_TRUE(refused([](SharedTicket& t) { std::memset(t.name, 'x', sizeof t.name); }));
  }
}

TEST(SharedMemory, OfMemfdKindCannotBeShrunkOrGrown) {
  SharedMemory const memory = SharedMemory::create(4096, SharedKind::memfd);
  int const descriptor = memory.ticket().descriptor;
  EXPECT_NE(ftruncate(descriptor, 0), 0);
  EXPECT_NE(ftruncate(descriptor, 1 << 20), 0);
}

TEST(SharedMemory, OfNamedKindIsForItsOwnerOnly) {
  SharedMemory const memory = SharedMemory::create(4096, SharedKind::shm_open);
  std::string const path = std::string("/dev/shm") + memory.ticket().name;
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(SharedMemory, TooLargeIsAnErrorAndNotASignal) {
  std::size_t const petabyte = 1UL << 50;
  for (SharedKind const kind : {SharedKind::memfd, SharedKind::shm_open}) {
    EXPECT_THROW(SharedMemory::create(petabyte, kind), Error);
    EXPECT_THROW(SharedMemory::create(~std::size_t{0}, kind), Error);
  }
}

TEST(SharedMemory, MayBeEmptyOrAnonymous) {
  SharedMemory const none;
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.size(), 0U);
  SharedMemory const private_memory = SharedMemory::anonymous(5000);
  EXPECT_GE(private_memory.size(), 5000U);
  EXPECT_THROW(SharedMemory::open(private_memory.ticket()), Error);
}

}  // namespace
}  // namespace berth
