// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <exception>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <base/env.hpp>
#include <base/error.hpp>
#include <base/text.hpp>
#include <berth/version.hpp>
#include <cli/arguments.hpp>
#include <cli/cli.hpp>
#include <cli/job.hpp>
#include <cli/output.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <launcher/launcher.hpp>

namespace berth::cli {
namespace {

/// Open MPI kills what is left of a job as soon as one rank has ended with an error; the rank that
/// speaks gets this much time to do so.
constexpr auto grace = std::chrono::milliseconds(300);

/// Refuses, before anything is measured, a file that could not be written afterwards.
void check_writable(std::string const& option, std::string const& path) {
  if (path.empty() || path == "-") return;
  std::size_t const slash = path.rfind('/');
  std::string const folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  bool const is_there = ::access(path.c_str(), F_OK) == 0;
  bool const can_write = ::access(is_there ? path.c_str() : folder.c_str(), W_OK) == 0;
  if (can_write) return;
  base::fail(Errc::invalid_argument,
             fmt::format("{} {}: {} cannot be written to", option, base::printable(path),
                         is_there ? "it" : "its folder"));
}

/// Reads every variable, so that a wrong one is told and not taken for its default.
void check_environment(base::Environment const& environment) {
  environment.check_names();
  static_cast<void>(environment.backend());
  static_cast<void>(environment.bind());
  static_cast<void>(environment.binding());
  static_cast<void>(environment.smt());
  static_cast<void>(environment.fill());
  static_cast<void>(environment.on_lost());
  static_cast<void>(environment.init_deadline());
  static_cast<void>(environment.op_deadline());
  static_cast<void>(environment.log_level());
  static_cast<void>(environment.log_file());
  static_cast<void>(environment.shared_memory());
  static_cast<void>(environment.cudart_lib());
  static_cast<void>(environment.nccl_lib());
  static_cast<void>(environment.allow_nccl_comm_id());
}

int print(std::string_view text, Output& output) {
  output.text(text);
  output.check();
  return 0;
}

/// One run: what was asked, and what is known of the others.
class Run {
 public:
  Run(int argc, char const* const* argv, comm::Seams seams, bool stdout_open)
      : argc_(argc),
        argv_(argv),
        seams_(std::move(seams)),
        environment_(base::Environment::process()),
        step_(launcher::read(environment_)),
        output_(json_path_of(argc, argv), step_.rank.value_or(0) == 0, stdout_open) {}

  int operator()() {
    int code = exit_code(Errc::internal);
    try {
      code = dispatch(parse(argc_, argv_));
    } catch (Error const& error) {
      code = exit_code(error.code());
      tell(error.code(), error.rank(), error.what());
    } catch (std::bad_alloc const&) {
      code = exit_code(Errc::out_of_memory);
      tell(Errc::out_of_memory, -1, "no memory left");
    } catch (std::exception const& error) {
      tell(Errc::internal, -1, error.what());
    }
    if (code != 0 && !output_.speaks()) std::this_thread::sleep_for(grace);
    return code;
  }

 private:
  int dispatch(Arguments const& arguments) {
    if (arguments.verb == Verb::help) return print(arguments.help, output_);
    if (arguments.verb == Verb::version) return print("berth " BERTH_VERSION_TEXT "\n", output_);
    if (output_.speaks()) {
      check_writable("--json", arguments.json);
      check_writable("--csv", arguments.csv);
      check_writable("--svg", arguments.map.svg);
    }
    if (arguments.verb == Verb::info) {
      check_environment(environment_);
      return info(environment_, output_);
    }
    if (arguments.verb == Verb::map && arguments.map.is_imagined()) {
      check_environment(environment_);
      return map_imagined(arguments.map, environment_, output_);
    }
    return with_job(arguments);
  }

  int with_job(Arguments const& arguments) {
    is_job_ = true;
    Job job(arguments, environment_, step_, std::move(seams_), output_);
    if (arguments.verb == Verb::map) return map_live(job, arguments.map, output_);
    if (arguments.verb == Verb::verify) return verify(job, arguments.verify, output_);
    return bench(job, arguments, output_);
  }

  /// One line on stderr and, where it was asked for, one object. What all ranks have agreed on is
  /// told by one; what only this rank knows, by this rank.
  void tell(Errc code, int rank, std::string const& message) noexcept {
    bool const is_own = is_job_ && rank < 0 && code != Errc::mismatch;
    if (!output_.speaks() && !is_own) return;
    try {
      base::write_stderr_line(base::error_line(-1, "", message));
      output_.document(json::error_document(code, rank, "", message));
    } catch (std::exception const&) {
      return;  // the document cannot be written: the line says what matters
    }
  }

  int argc_;
  char const* const* argv_;
  comm::Seams seams_;
  base::Environment environment_;
  launcher::Step step_;
  Output output_;
  bool is_job_ = false;
};

}  // namespace

int run(int argc, char const* const* argv, comm::Seams seams) noexcept {
  try {
    bool const is_stdout_open = prepare_streams();
    return Run(argc, argv, std::move(seams), is_stdout_open)();
  } catch (std::exception const& error) {
    base::write_stderr_line(error.what());
    return exit_code(Errc::internal);
  }
}

}  // namespace berth::cli
