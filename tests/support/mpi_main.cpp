// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// GoogleTest's main for tests that run on several ranks: every failure line says whose it is, all
// ranks end with the same result, and a test that hangs says who did not arrive.
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <support/attendance.hpp>
#include <unistd.h>

namespace {

using berth::test::Attendance;

/// Waits for all ranks without blocking inside MPI and without burning a core that a peer needs.
void meet(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::yield();
  }
}

/// Passes everything on to GoogleTest's printer on rank 0; prints failures itself, on every rank.
class Reporter : public testing::EmptyTestEventListener {
 public:
  Reporter(MPI_Comm comm, int rank, std::string const& host, testing::TestEventListener* printer,
           Attendance& attendance)
      : comm_(comm),
        prefix_("[rank " + std::to_string(rank) + "@" + host + "] "),
        printer_(printer),
        attendance_(attendance) {
    if (rank != 0) printer_.reset();
  }

  void OnTestStart(testing::TestInfo const& info) override {
    if (printer_) printer_->OnTestStart(info);
    attendance_.begin(std::string(info.test_suite_name()) + "." + info.name());
  }
  void OnTestPartResult(testing::TestPartResult const& result) override {
    if (result.skipped() && !printer_) return;
    if (!result.failed() && !result.skipped()) return;
    std::string const kind = result.skipped() ? "Skipped" : "Failure";
    std::string const place =
        result.file_name() == nullptr
            ? std::string("unknown place")
            : std::string(result.file_name()) + ":" + std::to_string(result.line_number());
    std::string text = prefix_ + place + ": " + kind + "\n";
    std::string_view rest = result.message();
    while (!rest.empty()) {
      std::size_t const end = rest.find('\n');
      text += prefix_ + std::string(rest.substr(0, end)) + "\n";
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }
  void OnTestEnd(testing::TestInfo const& info) override {
    attendance_.end();
    meet(comm_);  // a rank that failed early must not run ahead into the next test's collectives
    if (printer_) printer_->OnTestEnd(info);
  }
  void OnTestIterationEnd(testing::UnitTest const& unit, int iteration) override {
    if (printer_) printer_->OnTestIterationEnd(unit, iteration);
  }

 private:
  MPI_Comm comm_;
  std::string prefix_;
  std::unique_ptr<testing::TestEventListener> printer_;
  Attendance& attendance_;
};

/// A file of this run alone, its name the same on every rank. Empty on failure.
std::string shared_file(MPI_Comm comm, int rank) {
  std::array<char, 64> path = {"/dev/shm/berth-test-XXXXXX"};
  if (rank == 0) {
    int const descriptor = mkstemp(path.data());
    if (descriptor < 0) path[0] = '\0';
    if (descriptor >= 0) close(descriptor);
  }
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, comm);
  return path.data();
}

std::string host_name() {
  std::array<char, 65> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Takes --limit=SECONDS out of the arguments.
std::chrono::seconds take_limit(int& argc, char** argv) {
  std::string_view const key = "--limit=";
  int seconds = 50;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    if (word.substr(0, key.size()) == key) {
      std::from_chars(word.data() + key.size(), word.data() + word.size(), seconds);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  argv[argc] = nullptr;
  return std::chrono::seconds(seconds);
}

int run_tests(MPI_Comm comm, std::chrono::seconds limit) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::string const path = shared_file(comm, rank);
  if (path.empty()) {
    std::fputs("mpi_main: cannot make a file in /dev/shm\n", stderr);
    return 1;
  }
  Attendance attendance(path, rank, size, host_name(), limit);
  meet(comm);
  if (rank == 0) unlink(path.c_str());
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new Reporter(comm, rank, host_name(),
                                listeners.Release(listeners.default_result_printer()), attendance));
  int failed = RUN_ALL_TESTS();
  testing::UnitTest const& unit = *testing::UnitTest::GetInstance();
  int ran = unit.skipped_test_count() == 0 || unit.skipped_test_count() != unit.test_to_run_count();
  std::array<int, 2> verdict = {failed, ran};
  MPI_Allreduce(MPI_IN_PLACE, verdict.data(), 2, MPI_INT, MPI_MAX, comm);
  if (verdict[0] != 0) return 1;
  return verdict[1] != 0 ? 0 : 77;
}

}  // namespace

int main(int argc, char** argv) {
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  testing::InitGoogleTest(&argc, argv);
  std::chrono::seconds const limit = take_limit(argc, argv);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int const result = run_tests(comm, limit);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return result;
}
