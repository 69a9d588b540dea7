// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// idle_program SECONDS BUSY_RANK: a user's program that spends most of its time between operations:
// BUSY_RANK computes for up to 300 ms, the others for a moment, then all of them reduce. SIGUSR1
// sends a rank into an endless loop, SIGUSR2 lets it leave without a word. Prints `done`.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <unistd.h>

#include <berth/berth.hpp>

namespace {

using Clock = std::chrono::steady_clock;

extern "C" void loop_for_ever(int) {
  for (;;) asm volatile("" ::: "memory");
}

extern "C" void leave(int) {
  _exit(0);
}

void compute(std::chrono::milliseconds time) {
  auto const end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

int work(double seconds, int busy) {
  using namespace std::chrono_literals;
  berth::Options options;
  options.bind = false;
  options.on_lost = berth::OnLost::exit;
  options.op_deadline = 3s;
  options.init_deadline = 10s;
  berth::Communicator comm(MPI_COMM_WORLD, options);
  auto const end = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<double> data(5000);
  for (unsigned step = 0;; ++step) {
    compute(comm.rank() == busy ? std::chrono::milliseconds(step * 37 % 300) : 1ms);
    double go = Clock::now() < end ? 1 : 0;
    comm.broadcast(&go, 1, 0);
    if (go == 0) break;
    data.assign(data.size(), 1);
    comm.all_reduce(data.data(), data.data(), data.size(), berth::Op::sum);
    if (data.back() != comm.size()) return 1;
  }
  if (comm.rank() == 0) std::puts("done");
  std::fflush(stdout);
  comm.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 98;
  std::signal(SIGUSR1, loop_for_ever);
  std::signal(SIGUSR2, leave);
  double const seconds = std::atof(argv[1]);
  int const busy = std::atoi(argv[2]);
  return berth::run_main([&] { return work(seconds, busy); });
}
