// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// Small programs as users write them, one per mode; program_test.py starts them and judges how they
// end. `program MODE [ARGUMENT]`
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <berth/berth.hpp>

namespace {

std::string argument;

void expect(bool good, char const* what) {
  if (good) return;
  std::fprintf(stderr, "program: not so: %s\n", what);
  std::fflush(stderr);
  _exit(99);
}

bool initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

bool finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

void use(berth::Communicator& comm) {
  std::vector<double> data(1000, comm.rank() + 1.0);
  comm.all_reduce(data.data(), data.data(), data.size(), berth::Op::sum);
  expect(data[999] == comm.size() * (comm.size() + 1) / 2.0, "the sum is right");
}

/// `text` of rank 0 alone, in one write.
void say(berth::Communicator const& comm, std::string const& text) {
  if (comm.rank() == 0) std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

int berth_initialises() {
  expect(!initialized(), "nobody has initialised MPI");
  berth::Communicator comm(MPI_COMM_WORLD);
  expect(initialized(), "Berth initialises MPI");
  use(comm);
  say(comm, "ranks " + std::to_string(comm.size()));
  comm.close();
  expect(finalized(), "Berth finalises what it began");
  return 0;
}

int user_initialises() {
  MPI_Init(nullptr, nullptr);
  {
    berth::Communicator comm(MPI_COMM_WORLD);
    use(comm);
    say(comm, "ranks " + std::to_string(comm.size()));
    comm.close();
  }
  expect(!finalized(), "the user's MPI stays");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

int user_initialises_threads() {
  int granted = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &granted);
  berth::Communicator comm(MPI_COMM_WORLD);
  use(comm);
  comm.close();
  MPI_Finalize();
  return 0;
}

/// A communicator that is still there when MPI and main() are over.
int outlives_mpi() {
  static std::unique_ptr<berth::Communicator> comm;
  MPI_Init(nullptr, nullptr);
  comm = std::make_unique<berth::Communicator>(MPI_COMM_WORLD);
  use(*comm);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

int after_finalize() {
  MPI_Init(nullptr, nullptr);
  MPI_Finalize();
  berth::Communicator comm(MPI_COMM_WORLD);
  return 0;
}

std::vector<int> allowed() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

/// Prints each rank's processors before and after, and what the placement says.
int binds() {
  MPI_Init(nullptr, nullptr);
  std::vector<int> const before = allowed();
  berth::Options options;
  if (argument == "off") options.bind = false;
  berth::Communicator comm(MPI_COMM_WORLD, options);
  std::vector<int> const after = allowed();
  auto const text = [](std::vector<int> const& cpus) {
    std::string list;
    for (int const cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
    return list;
  };
  std::string flags;
  for (std::string const& flag : comm.placement().flags) flags += flag + "+";
  std::string const line = "rank " + std::to_string(comm.rank()) + " before " + text(before) +
                           " after " + text(after) + " placement [" + comm.placement().cpus +
                           "] cores " + std::to_string(comm.placement().cores) + " flags [" +
                           flags + "]\n";
  std::fputs(line.c_str(), stdout);
  std::fflush(stdout);
  use(comm);
  comm.close();
  berth::Communicator second(MPI_COMM_WORLD, options);
  expect(allowed() == after, "only the first communicator binds");
  second.close();
  MPI_Finalize();
  return 0;
}

/// A thread of the program's computes already: it is left where it is, or moved on request.
int thread_runs() {
  MPI_Init(nullptr, nullptr);
  std::atomic<bool> stop{false};
  std::vector<int> before;
  std::vector<int> after;
  std::thread computes([&] {
    before = allowed();
    while (!stop.load()) continue;
    after = allowed();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  berth::Communicator comm(MPI_COMM_WORLD);
  stop.store(true);
  computes.join();
  auto const& flags = comm.placement().flags;
  bool const flagged = std::find(flags.begin(), flags.end(), "threads-running") != flags.end();
  if (argument == "moved") {
    expect(!flagged, "nothing is left behind");
    expect(after == allowed(), "the thread went with its rank");
  } else {
    expect(flagged, "the thread is reported");
    expect(after == before, "the thread stays");
  }
  use(comm);
  comm.close();
  MPI_Finalize();
  return 0;
}

int body_returns() {
  berth::Communicator comm(MPI_COMM_WORLD);
  use(comm);
  comm.close();
  return std::atoi(argument.c_str());
}

/// All ranks throw what start-up would: the same Error.
int body_throws() {
  berth::Communicator comm(MPI_COMM_WORLD);
  std::string const where = "rank 0@" + comm.host(0) + ": ";
  MPI_Barrier(MPI_COMM_WORLD);  // nobody is inside Berth any more
  throw berth::Error(static_cast<berth::Errc>(std::atoi(argument.c_str())), 0,
                     where + "thrown on purpose (test)", comm.rank() != 0);
}

/// Only the last rank throws; the others are in a collective.
int one_rank_throws() {
  berth::Communicator comm(MPI_COMM_WORLD);
  use(comm);
  if (comm.rank() == comm.size() - 1)
    throw berth::Error(berth::Errc::internal, comm.rank(), "rank-local trouble");
  for (;;) comm.barrier();
}

int body_throws_other() {
  berth::Communicator comm(MPI_COMM_WORLD);
  use(comm);
  throw std::runtime_error("not Berth's");
}

/// The last rank dies by signal `argument`, or leaves by _exit(0) for "exit", the others wait.
int one_rank_dies() {
  berth::Communicator comm(MPI_COMM_WORLD);
  use(comm);
  std::printf("pid %d of rank %d\n", getpid(), comm.rank());
  std::fflush(stdout);
  comm.barrier();
  if (comm.rank() == comm.size() - 1) {
    if (argument == "exit") _exit(0);
    raise(std::atoi(argument.c_str()));
  }
  for (;;) comm.barrier();
}

/// The last rank computes for ever and never comes to Berth.
int one_rank_missing() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == size - 1) {
    sleep(20);
    return 0;
  }
  berth::Communicator comm(MPI_COMM_WORLD);
  return 0;
}

/// Start-up only.
int starts() {
  berth::Communicator comm(MPI_COMM_WORLD);
  use(comm);
  say(comm, comm.summary());
  comm.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, int (*)()> const modes = {
      {"berth-initialises", berth_initialises},
      {"user-initialises", user_initialises},
      {"user-initialises-threads", user_initialises_threads},
      {"outlives-mpi", outlives_mpi},
      {"after-finalize", after_finalize},
      {"binds", binds},
      {"body-returns", body_returns},
      {"body-throws", body_throws},
      {"body-throws-other", body_throws_other},
      {"one-rank-throws", one_rank_throws},
      {"one-rank-dies", one_rank_dies},
      {"one-rank-missing", one_rank_missing},
      {"starts", starts},
      {"thread-runs", thread_runs},
  };
  auto const mode = argc > 1 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) return 98;
  if (argc > 2) argument = argv[2];
  return berth::run_main(mode->second);
}
