// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <base/env.hpp>
#include <berth/error.hpp>

namespace berth::base {
namespace {

/// A line as people see it, for each code that this version raises.
struct Example {
  Errc code;
  std::string_view line;
};

constexpr std::array<Example, 17> examples = {{
    {Errc::invalid_argument,
     "berth: rank 0@n1: all_reduce: in and out overlap in part; they must be in place or apart"},
    {Errc::bad_configuration,
     "berth: rank 0@n1: BERTH_BACKEND=gpu: not one of automatic, cpu, mpi, nccl; did you mean "
     "cpu?"},
    {Errc::bad_input,
     "berth: topology file node.xml: hwloc cannot import it; it is damaged or truncated"},
    {Errc::mismatch,
     "berth: rank 0@n1: SLURM_STEP_NUM_TASKS=4 but MPI sees 1 rank: srun did not reach this MPI; "
     "try srun --mpi=pmix (srun --mpi=list shows the choices) or start with mpirun"},
    {Errc::no_driver,
     "berth: rank 2@n1: 4 NVIDIA GPUs on n1, but no driver (no /dev/nvidiactl); for the processors "
     "alone use BERTH_BACKEND=cpu (connect)"},
    {Errc::no_device,
     "berth: rank 3@n1: rank 2@n1 and rank 3@n1 both have device 0000:1b:00.0; start fewer ranks "
     "there, look at CUDA_VISIBLE_DEVICES, or use BERTH_BACKEND=cpu (connect)"},
    {Errc::unsupported,
     "berth: MPI is already finalised; make the communicator before MPI_Finalize"},
    {Errc::system, "berth: rank 1@n2: memfd_create: Too many open files (24)"},
    {Errc::out_of_memory,
     "berth: rank 1@n2: no room for 8 MiB of shared memory: this machine has only 5.2 MiB left"},
    {Errc::lost,
     "berth: rank 5@n2: stopped: pid 4211, process stopped (state T), in phase running, inside "
     "operation 17: all_reduce of 1,024 float32 (sum); try kill -CONT"},
    {Errc::timeout, "berth: waited 60.0 s without progress by anyone, and no rank can be named"},
    {Errc::wrong_data,
     "berth: rank 0@n1: 3 of 1031 elements of the first all_reduce arrived changed, the first at "
     "17; berth verify finds out whose they are"},
    {Errc::aborted, "berth: rank 2@n1: aborted the communicator after operation 9"},
    {Errc::mpi, "berth: rank 0@n1: MPI_Comm_dup: MPI_ERR_COMM: invalid communicator"},
    {Errc::internal, "berth: rank 0@n1: cpu: host or local indices are not dense"},
    {Errc::device,
     "berth: rank 1@n2: cudaStreamQuery: an illegal memory access was encountered "
     "(cudaErrorIllegalAddress)"},
    {Errc::nccl, "berth: rank 1@n2: ncclAllReduce: internal error"},
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
  if (!example.empty()) {
    out += fmt::format("\n```\n{}\n```\n", example);
  } else if (code != Errc::ok) {
    out += "\nThis version does not raise it.\n";
  }
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
