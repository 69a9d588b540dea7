// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// The rows of NCCL's measured fault table, on the stand-in.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <sys/socket.h>

#include "ranks.hpp"

namespace {

using ranks::begin;
using ranks::milliseconds;
using ranks::settled;
using ranks::Shared;
using testing::Each;
using testing::ElementsAre;

constexpr milliseconds a_while{150};  // in which what never happens does not happen

cudaStream_t make_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  return stream;
}

bool last_error_has(char const* words) {
  return std::strstr(ncclGetLastError(nullptr), words) != nullptr;
}

TEST(NcclStandinFaults, AbsentRankLeavesTheOthersInProgress) {
  EXPECT_THAT(ranks::run(1,
                         [](int rank, Shared& shared) {
                           ranks::settle(rank, 1);
                           ranks::publish_id(shared, 0);
                           ncclComm_t const comm = begin(rank, 2, shared.id[0]);
                           EXPECT_HERE(settled(comm, a_while) == ncclInProgress);
                           EXPECT_HERE(*ncclGetLastError(nullptr) == 0);
                           EXPECT_HERE(ncclCommDestroy(comm) == ncclInvalidArgument);
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, LateRankIsWaitedFor) {
  EXPECT_THAT(ranks::run(2,
                         [](int rank, Shared& shared) {
                           setenv("STANDIN_NCCL_FAULTS", "1:late_init_ms=150", 1);
                           ranks::settle(rank, 1);
                           if (rank == 0) ranks::publish_id(shared, 0);
                           ranks::wait_for_ids(shared, 1);
                           ncclComm_t const comm = begin(rank, 2, shared.id[0]);
                           EXPECT_HERE(settled(comm, milliseconds(50)) == ncclInProgress);
                           EXPECT_HERE(settled(comm) == ncclSuccess);
                           EXPECT_HERE(ncclCommFinalize(comm) == ncclInProgress);
                           EXPECT_HERE(settled(comm) == ncclSuccess);
                           EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, DeathInTheRingIsARemoteError) {
  EXPECT_THAT(ranks::run(3,
                         [](int rank, Shared& shared) {
                           setenv("STANDIN_NCCL_FAULTS", "1:die_init", 1);
                           ranks::settle(rank, 1);
                           if (rank == 0) ranks::publish_id(shared, 0);
                           ranks::wait_for_ids(shared, 1);
                           ncclComm_t const comm = begin(rank, 3, shared.id[0]);
                           ncclResult_t const state = settled(comm, milliseconds(2000));
                           EXPECT_HERE(state == ncclRemoteError);
                           EXPECT_HERE(last_error_has("Connection closed by remote peer"));
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              ElementsAre(0, 1, 0));
}

TEST(NcclStandinFaults, DifferentSizesNeverStart) {
  EXPECT_THAT(ranks::run(2,
                         [](int rank, Shared& shared) {
                           ranks::settle(rank, 1);
                           if (rank == 0) ranks::publish_id(shared, 0);
                           ranks::wait_for_ids(shared, 1);
                           ncclComm_t const comm = begin(rank, 2 + rank, shared.id[0]);
                           EXPECT_HERE(settled(comm, a_while) == ncclInProgress);
                           EXPECT_HERE(last_error_has("mismatch in info from procs, nranks") ==
                                       (rank == 0));
                           shared.meet(2, 1);
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, SameRankTwiceNeverStarts) {
  EXPECT_THAT(ranks::run(2,
                         [](int rank, Shared& shared) {
                           ranks::settle(rank, 1);
                           if (rank == 0) ranks::publish_id(shared, 0);
                           ranks::wait_for_ids(shared, 1);
                           ncclComm_t const comm = begin(0, 2, shared.id[0]);
                           EXPECT_HERE(settled(comm, a_while) == ncclInProgress);
                           EXPECT_HERE(last_error_has("rank 0 of 2 ranks has already checked in") ==
                                       (rank == 0));
                           shared.meet(2, 1);
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, BadIdsFail) {
  EXPECT_THAT(ranks::run(2,
                         [](int rank, Shared& shared) {
                           setenv("NCCL_SOCKET_RETRY_CNT", "2", 1);
                           setenv("NCCL_SOCKET_RETRY_SLEEP_MSEC", "10", 1);
                           ranks::settle(rank, 1);
                           if (rank == 1) {  // its root ends with it
                             ranks::publish_id(shared, 0);
                             _exit(0);
                           }
                           ranks::wait_for_ids(shared, 1);
                           std::this_thread::sleep_for(milliseconds(100));
                           ncclComm_t comm = begin(rank, 2, shared.id[0]);
                           EXPECT_HERE(settled(comm) == ncclRemoteError);
                           EXPECT_HERE(last_error_has("exceeded error retry count"));
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                           ncclUniqueId garbage;
                           std::memset(&garbage, 'Z', sizeof garbage);
                           comm = begin(rank, 2, garbage);
                           EXPECT_HERE(settled(comm) == ncclInternalError);
                           EXPECT_HERE(last_error_has("connecting to address"));
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, DuplicateDeviceIsInvalidUsage) {
  EXPECT_THAT(ranks::run(2,
                         [](int rank, Shared& shared) {
                           ranks::settle(0, 2);
                           if (rank == 0) ranks::publish_id(shared, 0);
                           ranks::wait_for_ids(shared, 1);
                           ncclComm_t const comm = begin(rank, 2, shared.id[0]);
                           EXPECT_HERE(settled(comm) == ncclInvalidUsage);
                           EXPECT_HERE(last_error_has("Duplicate GPU detected"));
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              Each(0));
}

/// Rank 1 dies after a good all-reduce; the state of rank 0 after the next one.
void die_between(int per_host, ncclResult_t wanted) {
  auto const body = [&](int rank, Shared& shared) {
    ranks::settle(rank, per_host);
    ncclComm_t const comm = ranks::world(rank, 2, shared);
    cudaStream_t const stream = make_stream();
    EXPECT_HERE(ranks::sum_of_ones(comm, stream) == 2.0F);
    shared.meet(2, 1);
    if (rank == 1) _exit(0);
    std::this_thread::sleep_for(milliseconds(100));
    float value = 1;
    EXPECT_HERE(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, stream) ==
                ncclSuccess);
    EXPECT_HERE(!ranks::drains(stream, a_while));
    EXPECT_HERE(settled(comm) == wanted);
    if (wanted != ncclSuccess) {
      int other = 1;
      ncclComm_t smaller = nullptr;
      EXPECT_HERE(ncclCommShrink(comm, &other, 1, &smaller, nullptr, NCCL_SHRINK_ABORT) == wanted);
    }
    EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
    EXPECT_HERE(ranks::drains(stream));
  };
  EXPECT_THAT(ranks::run(2, body), Each(0));
}

TEST(NcclStandinFaults, DeathBetweenCollectivesIsSeenOverSockets) {
  die_between(1, ncclRemoteError);
}

TEST(NcclStandinFaults, DeathBetweenCollectivesIsNotSeenOverSharedMemory) {
  die_between(2, ncclSuccess);
}

TEST(NcclStandinFaults, DeathBeforeTheFirstCollectiveLeavesTheStreamIdle) {
  EXPECT_THAT(ranks::run(2,
                         [](int rank, Shared& shared) {
                           ranks::settle(rank, 1);
                           ncclComm_t const comm = ranks::world(rank, 2, shared);
                           shared.meet(2, 1);
                           if (rank == 1) _exit(0);
                           std::this_thread::sleep_for(milliseconds(100));
                           cudaStream_t const stream = make_stream();
                           float value = 1;
                           EXPECT_HERE(ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm,
                                                     stream) == ncclInProgress);
                           EXPECT_HERE(settled(comm, a_while) == ncclInProgress);
                           EXPECT_HERE(cudaStreamQuery(stream) == cudaSuccess);
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, ShrinkWithAbortAfterAHangGoesOn) {
  EXPECT_THAT(ranks::run(3,
                         [](int rank, Shared& shared) {
                           setenv("STANDIN_NCCL_FAULTS", "1:die@2", 1);
                           ranks::settle(rank, 3);
                           ncclComm_t const comm = ranks::world(rank, 3, shared);
                           cudaStream_t const stream = make_stream();
                           EXPECT_HERE(ranks::sum_of_ones(comm, stream) == 3.0F);
                           float value = 1;
                           ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, stream);
                           EXPECT_HERE(!ranks::drains(stream, a_while));
                           EXPECT_HERE(settled(comm) == ncclSuccess);
                           int dead = 1;
                           ncclComm_t smaller = nullptr;
                           EXPECT_HERE(ncclCommShrink(comm, &dead, 1, &smaller, nullptr,
                                                      NCCL_SHRINK_ABORT) == ncclSuccess);
                           EXPECT_HERE(settled(comm) == ncclSuccess && smaller != nullptr);
                           EXPECT_HERE(settled(smaller) == ncclSuccess);
                           EXPECT_HERE(ranks::sum_of_ones(smaller, stream) == 2.0F);
                           EXPECT_HERE(ncclCommDestroy(smaller) == ncclSuccess);
                           EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                         }),
              ElementsAre(0, 1, 0));
}

TEST(NcclStandinFaults, SplitOfANonblockingParentIsPolledOnTheParent) {
  EXPECT_THAT(
      ranks::run(4,
                 [](int rank, Shared& shared) {
                   ranks::settle(rank, 2);
                   ncclComm_t const comm = ranks::world(rank, 4, shared);
                   int const color = rank == 3 ? NCCL_SPLIT_NOCOLOR : rank % 2;
                   ncclComm_t part = nullptr;
                   EXPECT_HERE(ncclCommSplit(comm, color, -rank, &part, nullptr) == ncclSuccess);
                   EXPECT_HERE(settled(comm) == ncclSuccess);
                   EXPECT_HERE((part == nullptr) == (rank == 3));
                   if (part != nullptr) {
                     EXPECT_HERE(settled(part) == ncclSuccess);
                     int place = -1;
                     EXPECT_HERE(ncclCommUserRank(part, &place) == ncclSuccess);
                     EXPECT_HERE(place == (rank == 0 ? 1 : 0));
                     EXPECT_HERE(ranks::sum_of_ones(part, make_stream()) ==
                                 (rank == 1 ? 1.0F : 2.0F));
                     EXPECT_HERE(ncclCommDestroy(part) == ncclSuccess);
                   }
                   EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                 }),
      Each(0));
}

TEST(NcclStandinFaults, RevokeFreesTheStream) {
  EXPECT_THAT(
      ranks::run(2,
                 [](int rank, Shared& shared) {
                   ranks::settle(rank, 2);
                   ncclComm_t const comm = ranks::world(rank, 2, shared);
                   cudaStream_t const stream = make_stream();
                   EXPECT_HERE(ranks::sum_of_ones(comm, stream) == 2.0F);
                   if (rank == 0) {
                     float value = 1;
                     ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, stream);
                     EXPECT_HERE(!ranks::drains(stream, a_while));
                     EXPECT_HERE(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT) == ncclInProgress);
                     EXPECT_HERE(settled(comm) == ncclSuccess && ranks::drains(stream));
                     EXPECT_HERE(ncclCommFinalize(comm) == ncclInvalidArgument);
                   }
                   shared.meet(2, 1);
                   EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                 }),
      Each(0));
}

TEST(NcclStandinFaults, FaultsOfTheEnvironmentHappen) {
  EXPECT_THAT(
      ranks::run(2,
                 [](int rank, Shared& shared) {
                   setenv("STANDIN_NCCL_FAULTS",
                          "1:wrong_bit@2;0:async=3@3;*:init_error=2@10#2;0:id_fails=1", 1);
                   ranks::settle(rank, 2);
                   ncclUniqueId id;
                   if (rank == 0) EXPECT_HERE(ncclGetUniqueId(&id) == ncclSystemError);
                   ncclComm_t const comm = ranks::world(rank, 2, shared);
                   cudaStream_t const stream = make_stream();
                   EXPECT_HERE(ranks::sum_of_ones(comm, stream) == 2.0F);
                   float const second = ranks::sum_of_ones(comm, stream);
                   EXPECT_HERE((second == 2.0F) == (rank == 0));
                   float value = 1;
                   ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, stream);
                   EXPECT_HERE(ranks::drains(stream) && value == 2.0F);
                   EXPECT_HERE(settled(comm) == (rank == 0 ? ncclInternalError : ncclSuccess));
                   ncclComm_t const next = begin(rank, 2, shared.id[0]);
                   EXPECT_HERE(settled(next) == ncclSystemError);
                   EXPECT_HERE(ncclCommAbort(next) == ncclSuccess);
                   EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                 }),
      Each(0));
}

TEST(NcclStandinFaults, SeveralIdsStartOneCommunicator) {
  EXPECT_THAT(ranks::run(5,
                         [](int rank, Shared& shared) {
                           ranks::settle(rank, 5);
                           if (rank == 0) ranks::publish_id(shared, 0);
                           ranks::wait_for_ids(shared, 1);
                           if (rank == 3) ranks::publish_id(shared, 1);
                           ranks::wait_for_ids(shared, 2);
                           ncclComm_t comm = nullptr;
                           EXPECT_HERE(ncclCommInitRankScalable(&comm, 5, rank, 2, shared.id,
                                                                nullptr) == ncclSuccess);
                           EXPECT_HERE(ranks::sum_of_ones(comm, make_stream()) == 5.0F);
                           EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                         }),
              Each(0));
}

std::size_t entries(char const* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

TEST(NcclStandinFaults, NothingIsLeftAfterManyRounds) {
  EXPECT_THAT(ranks::run(1,
                         [](int rank, Shared& shared) {
                           ranks::settle(rank, 1);
                           unsetenv("NCCL_RAS_ENABLE");
                           setenv("NCCL_RAS_ADDR", "127.0.0.1:0", 1);
                           cudaStream_t const stream = make_stream();
                           cudaStreamSynchronize(stream);
                           std::size_t files = 0;
                           std::size_t threads = 0;
                           for (int round = 0; round <= 50; ++round) {
                             ranks::publish_id(shared, 0);
                             bool const fails = round % 2 == 1;
                             ncclComm_t const comm = begin(rank, fails ? 2 : 1, shared.id[0]);
                             if (!fails) {
                               EXPECT_HERE(settled(comm) == ncclSuccess);
                               EXPECT_HERE(ranks::sum_of_ones(comm, stream) == 1.0F);
                               EXPECT_HERE(ncclCommDestroy(comm) == ncclSuccess);
                             } else {
                               EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
                             }
                             if (round == 0) {
                               std::this_thread::sleep_for(a_while);
                               files = entries("/proc/self/fd");
                               threads = entries("/proc/self/task");
                             }
                           }
                           std::this_thread::sleep_for(a_while);
                           EXPECT_HERE(entries("/proc/self/fd") == files);
                           EXPECT_HERE(entries("/proc/self/task") == threads);
                         }),
              Each(0));
}

/// What the RAS service at this port answers.
std::string ask_ras(in_port_t port) {
  int const socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    std::string const words = "client protocol 2\nset format json\nverbose status\n";
    send(socket, words.data(), words.size(), MSG_NOSIGNAL);
    char part[4096];
    for (ssize_t got = 1; got > 0;) {
      got = recv(socket, part, sizeof part, 0);
      if (got > 0) answer.append(part, static_cast<std::size_t>(got));
    }
  }
  close(socket);
  return answer;
}

TEST(NcclStandinFaults, RasTellsWhoHasLaunchedLess) {
  auto const port = static_cast<in_port_t>(20000 + getpid() % 10000);
  auto const body = [port](int rank, Shared& shared) {
    setenv("NCCL_RAS_ADDR", ("localhost:" + std::to_string(port)).c_str(), 1);
    setenv("NCCL_RAS_ENABLE", "1", 1);
    ranks::settle(rank, 2);
    ncclComm_t const comm = ranks::world(rank, 2, shared);
    cudaStream_t const stream = make_stream();
    EXPECT_HERE(ranks::sum_of_ones(comm, stream) == 2.0F);
    if (rank == 0) {
      float value = 1;
      ncclAllReduce(&value, &value, 1, ncclFloat32, ncclSum, comm, stream);
      std::string const answer = ask_ras(port);
      EXPECT_HERE(answer.rfind("SERVER PROTOCOL 2\nOK\n{", 0) == 0);
      EXPECT_HERE(answer.find("\"AllReduce\": 2") != std::string::npos);
      EXPECT_HERE(answer.find("\"AllReduce\": 1") != std::string::npos);
      EXPECT_HERE(answer.find("\"missing_ranks_count\": 0") != std::string::npos);
    }
    shared.meet(2, 1);
    EXPECT_HERE(ncclCommAbort(comm) == ncclSuccess);
  };
  EXPECT_THAT(ranks::run(2, body), Each(0));
}

TEST(NcclStandinFaults, OldLibraryLacksWhatIsNew) {
  EXPECT_THAT(ranks::run(1,
                         [](int rank, Shared&) {
                           void* const old = dlopen(STANDIN_NCCL_OLD, RTLD_NOW | RTLD_LOCAL);
                           EXPECT_HERE(old != nullptr);
                           EXPECT_HERE(dlsym(old, "ncclCommSplit") != nullptr);
                           EXPECT_HERE(dlsym(old, "ncclCommShrink") == nullptr);
                           EXPECT_HERE(dlsym(old, "ncclCommInitRankScalable") == nullptr);
                           int version = 0;
                           reinterpret_cast<decltype(&ncclGetVersion)>(
                               dlsym(old, "ncclGetVersion"))(&version);
                           EXPECT_HERE(version == 21805);
                           EXPECT_HERE(ncclGetVersion(&version) == ncclSuccess && version == 22809);
                           setenv("STANDIN_NCCL_VERSION", "23000", 1);
                           EXPECT_HERE(ncclGetVersion(&version) == ncclSuccess && version == 23000);
                         }),
              Each(0));
}

TEST(NcclStandinFaults, BadFaultTextEndsTheProcess) {
  for (char const* const text : {"0:nonsense", "async=1@1", "0:async=9@1", "0:die", "x:die@1"}) {
    EXPECT_THAT(ranks::run(1,
                           [&](int rank, Shared& shared) {
                             std::freopen("/dev/null", "w", stderr);
                             setenv("STANDIN_NCCL_FAULTS", text, 1);
                             ranks::settle(rank, 1);
                             ranks::publish_id(shared, 0);
                           }),
                ElementsAre(-1))
        << text;
  }
}

}  // namespace
