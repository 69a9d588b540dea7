// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace berth::test {

/// Who is where in the list of tests: one page per rank in a file that all ranks of the machine
/// map. A watchdog thread per rank reads it when the limit is over, names the ranks that did not
/// arrive, and ends the process. It never calls MPI, so it works while MPI hangs.
class Attendance {
 public:
  /// @param path file that exists already and that only the ranks of this run know
  /// @param limit time until the watchdog gives up, counted from here
  Attendance(std::string const& path, int rank, int size, std::string const& host,
             std::chrono::seconds limit);
  Attendance(Attendance const&) = delete;
  Attendance& operator=(Attendance const&) = delete;
  ~Attendance();

  /// This rank begins the test `name`.
  void begin(std::string const& name);
  /// This rank has reached the end of its test and waits for the others there.
  void end();

 private:
  struct Page {
    std::atomic<std::uint64_t> step;  ///< 2 * number of the test, + 1 at its end
    std::atomic<std::uint32_t> reported;
    char host[64];
    char name[256];
  };
  void watch(std::chrono::seconds limit);
  [[nodiscard]] std::string report(std::chrono::seconds limit) const;

  int rank_;
  int size_;
  std::size_t bytes_;
  Page* pages_;
  std::atomic<bool> done_{false};
  std::thread watchdog_;
};

}  // namespace berth::test
