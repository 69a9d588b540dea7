// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// From a parent communicator to close(): which parents, several at once, nothing left behind, and
// what peers see when a rank does not close.
#include <filesystem>
#include <fstream>
#include <thread>

#include <unistd.h>

#include <comm/data.hpp>
#include <comm/world.hpp>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

int entries(char const* folder) {
  int count = 0;
  for ([[maybe_unused]] auto const& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

int mappings() {
  std::ifstream file("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

long resident_kib() {
  std::ifstream file("/proc/self/statm");
  long total = 0;
  long resident = 0;
  file >> total >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/// Names of Berth's in /dev/shm, save those of the tests' own main. Waits a second for other jobs'
/// names, which live for milliseconds, to go.
std::string shared_names() {
  std::string names;
  for (int attempt = 0; attempt < 100; ++attempt) {
    names.clear();
    for (auto const& entry : fs::directory_iterator("/dev/shm")) {
      std::string const name = entry.path().filename();
      if (name.find("berth") != std::string::npos && name.rfind("berth-test-", 0) != 0)
        names += name + " ";
    }
    if (names.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return names;
}

/// The sum of ranks over `comm`, by value and by Berth.
void expect_right(Communicator& comm) {
  std::vector<std::int64_t> data(1001, comm.rank() + 1);
  comm.all_reduce(std::span(data));
  std::int64_t const size = comm.size();
  EXPECT_EQ(data, std::vector<std::int64_t>(1001, size * (size + 1) / 2));
  int root = comm.size() - 1;
  comm.broadcast(&root, 1, 0);
  EXPECT_EQ(root, comm.size() - 1);
  comm.barrier();
}

TEST(Lifecycle, DescribesItself) {
  Communicator comm = open(ways[0]);
  EXPECT_EQ(comm.rank(), world_rank());
  EXPECT_EQ(comm.size(), world_size());
  EXPECT_EQ(comm.hosts(), 1);
  EXPECT_EQ(comm.backend(), Backend::cpu);
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  for (int rank = 0; rank < comm.size(); ++rank) EXPECT_EQ(comm.host(rank), name);
  for (int const rank : {-1, comm.size(), 1 << 30}) {
    Outcome const outcome = outcome_of([&] { static_cast<void>(comm.host(rank)); });
    EXPECT_EQ(outcome.errc(), Errc::invalid_argument) << rank << ": " << outcome.text;
  }
  Placement const& place = comm.placement();
  EXPECT_EQ(place.host, 0);
  EXPECT_EQ(place.local_rank, comm.rank());
  EXPECT_EQ(place.local_size, comm.size());
  std::vector<std::string> names;
  for (PhaseTime const& phase : comm.phases()) {
    names.push_back(phase.name);
    EXPECT_GE(phase.seconds, 0);
    EXPECT_LT(phase.seconds, 30) << phase.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"roll-call", "plan", "bind", "connect", "data"}));
  std::string const summary = comm.summary();
  EXPECT_EQ(summary.find('\n'), std::string::npos) << summary;
  EXPECT_NE(summary.find(std::to_string(comm.size()) + " rank"), std::string::npos) << summary;
  EXPECT_NE(summary.find("1 host"), std::string::npos) << summary;
  EXPECT_NE(summary.find("cpu"), std::string::npos) << summary;
  comm.close();
}

TEST(Lifecycle, ChoosesABackendByItself) {
  Options options;
  options.bind = false;
  Communicator comm(MPI_COMM_WORLD, options);
  EXPECT_NE(comm.backend(), Backend::automatic);
  expect_right(comm);
  comm.close();
}

TEST(Lifecycle, TakesItsBackendFromTheEnvironment) {
  Variable const variable("BERTH_BACKEND", "mpi");
  Options options;
  options.bind = false;
  Communicator comm(MPI_COMM_WORLD, options);
  EXPECT_EQ(comm.backend(), Backend::mpi);
  expect_right(comm);
  comm.close();
  options.backend = Backend::cpu;
  Communicator second(MPI_COMM_WORLD, options);
  EXPECT_EQ(second.backend(), Backend::cpu) << "the caller comes before the environment";
  second.close();
}

TEST(Lifecycle, WorksOverPartsOfTheWorld) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);  // and backwards
    int rank = 0;
    MPI_Comm_rank(part, &rank);
    Communicator comm = open(way, part);
    EXPECT_EQ(comm.rank(), rank) << "as in the parent";
    expect_right(comm);
    MPI_Comm_free(&part);  // Berth has its own duplicate
    expect_right(comm);
    comm.close();
    Communicator self = open(way, MPI_COMM_SELF);
    EXPECT_EQ(self.size(), 1);
    expect_right(self);
    self.close();
  }
}

TEST(Lifecycle, SomeRanksMayUseItAlone) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? MPI_UNDEFINED : 1, 0, &part);
  if (part != MPI_COMM_NULL) {
    Communicator comm = open(ways[0], part);
    expect_right(comm);
    comm.close();
    MPI_Comm_free(&part);
  }
}

TEST(Lifecycle, SeveralLiveSideBySide) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &part);
  std::vector<Communicator> all;
  for (Way const& way : ways) {
    all.push_back(open(way));
    all.push_back(open(way, part));
  }
  all.push_back(open(ways[0], MPI_COMM_SELF));
  for (int round = 0; round < 20; ++round)
    for (std::size_t i = 0; i < all.size(); ++i)
      expect_right(all[(i * 4 + static_cast<std::size_t>(round)) % all.size()]);
  for (std::size_t i = 1; i < all.size(); i += 2) all[i].close();
  for (std::size_t i = 0; i < all.size(); i += 2) {
    expect_right(all[i]);
    all[i].close();
  }
  MPI_Comm_free(&part);
}

TEST(Lifecycle, FiftyLeaveNothingBehind) {
  int descriptors = 0;
  int threads = 0;
  int maps = 0;
  long memory = 0;
  for (int round = 0; round < 60; ++round) {
    Way const& way = ways[round % 2 == 0 ? 0 : static_cast<std::size_t>(round / 2) % 4];
    if (round == 10) {
      descriptors = entries("/proc/self/fd");
      threads = entries("/proc/self/task");
      maps = mappings();
      memory = resident_kib();
    }
    Communicator comm = open(way);
    if (round % 3 == 0) expect_right(comm);
    comm.close();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  if (!is_sanitized) {  // a sanitizer keeps what was freed
    EXPECT_LE(mappings(), maps + 8);
    EXPECT_LE(resident_kib(), memory + 8L * 1024);
  }
  if (world_rank() == 0) {
    EXPECT_EQ(shared_names(), "");
  }
}

TEST(Lifecycle, ALivingOneHasNoNameInSharedMemory) {
  for (Way const& way : ways) {
    Communicator comm = open(way);
    comm.barrier();
    if (world_rank() == 0) {
      EXPECT_EQ(shared_names(), "") << way.name;
    }
    comm.close();
  }
}

TEST(Lifecycle, AnUnusedOneHasNoThread) {
  int const before = entries("/proc/self/task");
  Communicator comm = open(ways[0], MPI_COMM_SELF);
  EXPECT_EQ(entries("/proc/self/task"), before);
  comm.close();
}

TEST(Lifecycle, CanBeMoved) {
  Communicator first = open(ways[0]);
  Communicator second = std::move(first);
  expect_right(second);
  first = std::move(second);
  expect_right(first);
  first.close();
}

/// Rank `leaver` does `leave` with its communicator while the others use theirs: all of them learn
/// who it was. One that is still about to return from its constructor may learn it there.
template <class Leave>
void expect_aborted(Way const& way, int leaver, bool late, Leave&& leave) {
  std::optional<Communicator> comm;
  if (world_rank() == leaver) {
    comm.emplace(open(way));
    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the others wait
    leave(comm);
  } else {
    double started = 0;
    Outcome const outcome = outcome_of([&] {
      auto const start = std::chrono::steady_clock::now();
      comm.emplace(open(way));
      started = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (!late) std::this_thread::sleep_for(std::chrono::milliseconds(30));
      expect_right(*comm);
    });
    EXPECT_EQ(outcome.errc(), Errc::aborted) << outcome.text;
    EXPECT_EQ(outcome.rank, leaver) << outcome.text;
    EXPECT_NE(outcome.text.find("rank " + std::to_string(leaver)), std::string::npos)
        << outcome.text;
    EXPECT_LT(outcome.seconds - started, 2) << outcome.text;
  }
  comm.reset();
  MPI_Barrier(MPI_COMM_WORLD);
}

template <class Leave>
void expect_aborted_everywhere(Leave&& leave) {
  if (world_size() == 1) return;
  for (Way const& way : ways)
    for (int const leaver : {0, world_size() - 1})
      for (bool const late : {false, true}) {
        SCOPED_TRACE(std::string(way.name) + ", rank " + std::to_string(leaver) +
                     (late ? " late" : " early"));
        expect_aborted(way, leaver, late, leave);
      }
  Communicator comm = open(ways[0]);
  expect_right(comm);
  comm.close();
}

TEST(Lifecycle, PeersLearnOfAnAbort) {
  expect_aborted_everywhere([](std::optional<Communicator>& comm) { comm->abort(); });
}

TEST(Lifecycle, PeersLearnOfADestructorWithoutClose) {
  Variable const quiet("BERTH_LOG", "error");
  expect_aborted_everywhere([](std::optional<Communicator>& comm) { comm.reset(); });
}

TEST(Lifecycle, PeersLearnOfAMoveThatOverwrites) {
  expect_aborted_everywhere([](std::optional<Communicator>& comm) {
    Communicator other = open(ways[0], MPI_COMM_SELF);
    *comm = std::move(other);
    comm->close();
  });
}

TEST(Lifecycle, DestructorsDoNotWaitForEachOther) {
  for (Way const& way : ways) {
    Outcome const outcome = outcome_of([&] {
      Communicator const comm = open(way);  // may learn here that another has left already
      if (world_rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    EXPECT_TRUE(outcome.code == 0 || outcome.errc() == Errc::aborted) << outcome.text;
    EXPECT_LT(outcome.seconds, 5) << way.name;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Communicator comm = open(ways[0]);
  expect_right(comm);
  comm.close();
}

TEST(Lifecycle, CloseIsSeenByNobodyAsAFault) {
  for (Way const& way : ways)
    for (int round = 0; round < 5; ++round) {
      Communicator comm = open(way);
      comm.barrier();
      if (round % world_size() == world_rank())
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the others wait in close
      Outcome const outcome = outcome_of([&] { comm.close(); });
      EXPECT_EQ(outcome.code, 0) << way.name << ": " << outcome.text;
    }
}

}  // namespace
}  // namespace berth::test
