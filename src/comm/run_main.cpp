// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include <base/error.hpp>
#include <berth/error.hpp>
#include <berth/run_main.hpp>
#include <sys/process.hpp>

namespace berth {

namespace {

int report(Errc code, char const* what) noexcept {
  try {
    base::write_stderr_line(fmt::format("berth: {}", what));
  } catch (...) {
    base::write_stderr_line("berth: an error, and no memory to say which");
  }
  return exit_code(code);
}

/// A launcher ends everybody once the first has ended: the rank that reports is given some time.
int quiet_exit(Errc code) noexcept {
  constexpr auto time_to_report = std::chrono::milliseconds(200);
  std::this_thread::sleep_for(time_to_report);
  return exit_code(code);
}

}  // namespace

int run_main(std::function<int()> const& body) noexcept {
  int code = 0;
  try {
    return body();
  } catch (Error const& error) {
    code =
        error.reported_elsewhere() ? quiet_exit(error.code()) : report(error.code(), error.what());
  } catch (std::bad_alloc const&) {
    code = report(Errc::out_of_memory, "no memory left");
  } catch (std::exception const& error) {
    code = report(Errc::internal, error.what());
  } catch (...) {
    code = report(Errc::internal, "an exception of unknown type");
  }
  // Exit handlers would run MPI_Finalize, which waits for ranks that may be lost.
  sys::end_process(code);
}

}  // namespace berth
