// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <base/env.hpp>
#include <berth/error.hpp>

namespace berth::base {
namespace {

/// A line as people see it, for each code that can be seen.
struct Example {
  Errc code;
  std::string_view line;
};

constexpr std::array<Example, 15> examples = {{
    {Errc::invalid_argument,
     "berth: all_reduce: in and out overlap in part; use in == out or "
     "separate buffers"},
    {Errc::bad_configuration,
     "berth: rank 0@n1: BERTH_BACKEND=gpu: not one of automatic, cpu, mpi; "
     "did you mean cpu?"},
    {Errc::bad_input, "berth: node.xml: not a topology that hwloc can read"},
    {Errc::mismatch,
     "berth: rank 0@n1: SLURM_STEP_NUM_TASKS=4 but MPI sees 1 rank: srun does not "
     "speak this MPI's language; try srun --mpi=pmix (srun --mpi=list shows the "
     "choices)"},
    {Errc::no_driver,
     "berth: rank 2@n1: device 0000:1b:00.0 (10de) has no driver or backend; "
     "BERTH_BACKEND=cpu uses the processors"},
    {Errc::no_device,
     "berth: rank 3@n1: 4 ranks share 3 devices; ask for 4 devices per node or "
     "start 3 ranks there (plan)"},
    {Errc::unsupported, "berth: inter-communicators are not supported; pass an intra-communicator"},
    {Errc::system, "berth: rank 1@n2: memfd_create: Too many open files (24)"},
    {Errc::out_of_memory, "berth: rank 1@n2: 8 MiB of shared memory cannot be reserved (connect)"},
    {Errc::lost, "berth: rank 5@n2: pid 4211 is stopped (state T) in \"all_reduce\", operation 17"},
    {Errc::timeout,
     "berth: no verdict within 60 s: the launcher's processes do not answer (roll call)"},
    {Errc::wrong_data,
     "berth: rank 3@n1: float32 sum, 1 MiB: the contribution of rank 3 arrived "
     "changed"},
    {Errc::aborted, "berth: rank 2@n1: aborted the communicator in operation 9"},
    {Errc::mpi, "berth: rank 0@n1: MPI_Comm_dup: MPI_ERR_COMM: invalid communicator"},
    {Errc::internal, "berth: a plan cannot be read back: 3 fields of 13"},
}};

std::string_view example_of(Errc code) {
  for (Example const& example : examples) {
    if (example.code == code) return example.line;
  }
  return {};
}

std::string section(Errc code) {
  std::string out = fmt::format("\n## {}\n\nValue {}, exit code {}: {}.\n", errc_name(code),
                                static_cast<int>(code), exit_code(code), errc_text(code));
  std::string_view const example = example_of(code);
  if (!example.empty()) out += fmt::format("\n```\n{}\n```\n", example);
  return out;
}

}  // namespace

std::string errors_markdown() {
  std::string out =
      "# Errors\n\n"
      "`berth::Error` carries one of these codes, the rank at fault and one line of text. A failed "
      "collective step\nthrows the same error on every rank. The command line tool ends with the "
      "exit code of the error; a program\ndoes so through `berth::run_main`. Values never change "
      "their meaning.\n\n"
      "This page is generated from the table in `include/berth/errc.hpp`.\n";
#define BERTH_X(name, value, exit, text) out += section(Errc::name);
  BERTH_ERRC_TABLE(BERTH_X)
#undef BERTH_X
  return out;
}

}  // namespace berth::base
