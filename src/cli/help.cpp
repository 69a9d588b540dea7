// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cli/help.hpp>

namespace berth::cli {

std::string_view help_text() {
  return R"(berth: ranks that are placed, bound, connected and proved

usage: berth VERB [options]          mpirun -np N berth VERB [options]

  info     what this build and this machine can do, and every BERTH_* variable
  map      where every rank sits: device, cores, memory, network card
  verify   carries coded data between all ranks; names who is dead, stopped, late or wrong
  bench    measures a collective, beside MPI's own if you like

examples:
  mpirun -np 16 berth verify
  mpirun -np 2 berth bench all_reduce -b 8 -e 64M -f 4 --compare mpi
  berth map --topology node.xml --ranks-per-node 8

options of every verb:
  --json FILE   the result as one JSON document; - is stdout, and all other text goes to stderr
  -h, --help    this text; berth VERB --help for the options of a verb
  --version     the version

Sizes take K M G (powers of 1024) or KiB MB; durations take ms s min h, a bare number is seconds.
Exit codes: 0 good, 1 findings, 2 usage or bad input, 3 this machine cannot, 4 no verdict in time,
5 internal. Variables: BERTH_*, listed by berth info.
)";
}

std::string_view info_help() {
  return R"(usage: berth info [--json FILE]

What this build and this machine can do: versions, backends, kernels, shared memory, and every
BERTH_* variable with the origin of its value. Needs no MPI launcher.

examples:
  berth info
  BERTH_BACKEND=mpi berth info
  berth info --json - | python3 -m json.tool

options:
  --json FILE   the result as one JSON document; - is stdout
  -h, --help    this text
)";
}

std::string_view map_help() {
  return R"(usage: berth map [options]          mpirun -np N berth map [options]

Where every rank sits and why. Under mpirun: the places of the ranks that run, and what the
launcher's own binding costs beside them. With an option that describes machines: the plan for
them, without MPI.

examples:
  mpirun -np 4 berth map
  berth map --topology dgx-h100.xml --ranks-per-node 8
  berth map --topology cpu.xml gpu.xml --nodes 64 --json plan.json --svg plan.svg

options:
  --topology FILE...   machines from lstopo or NCCL XML files, one host each
  --ranks-per-node N   ranks on every host; otherwise one per device, at least one
  --nodes K            every topology stands for K hosts (1)
  --smt on|off         whether a rank gets all hardware threads of its cores (on)
  --fill               deals the cores of NUMA nodes without a device out too
  --respect, --rebind  never leave the launcher's binding, or always replace it; otherwise one that
                       was asked for is kept where it touches the device's NUMA node
  --svg FILE           the machines as a picture
  --json FILE          the result as one JSON document; - is stdout
  -h, --help           this text
)";
}

std::string_view verify_help() {
  return R"(usage: mpirun -np N berth verify [options]

Places, binds and connects all ranks, then carries coded data between them at several sizes,
types and alignments. Says who is missing, dead, stopped or late, and whose data arrives wrong.

examples:
  mpirun -np 16 berth verify
  mpirun -np 16 berth verify --deadline 10s --json verify.json
  mpirun -np 2 berth verify --sizes 8,64K,16M --rounds 100

options:
  --deadline TIME   how long to wait while no rank makes progress (60s)
  --sizes LIST      bytes per rank, separated by commas (8,1K,64K,1M,8M)
  --rounds N        how often everything is repeated (1)
  --backend cpu|mpi|nccl   what carries the data (automatic)
  --json FILE       the result as one JSON document; - is stdout
  -h, --help        this text
)";
}

std::string_view bench_help() {
  return R"(usage: mpirun -np N berth bench COLLECTIVE|all [options]

Times all_reduce, reduce, broadcast, all_gather, reduce_scatter, all_to_all or send_recv (a ring)
over a range of sizes, checked with coded data first. A sample is the mean of a batch of about
200 us on the slowest rank; inputs are written anew before every batch.

examples:
  mpirun -np 2 berth bench all_reduce
  mpirun -np 2 berth bench all_reduce -b 8 -e 64M -f 4 --compare mpi
  mpirun -np 4 berth bench all_reduce -b 1K -e 1M -i 64K -d float64,int32 -o all --csv times.csv

options (the short ones are those of nccl-tests):
  -b, --min-bytes SIZE      first size (8)
  -e, --max-bytes SIZE      last size (64M)
  -f, --step-factor N       each size is N times the one before (4)
  -i, --step-bytes SIZE     each size is so much more than the one before; instead of -f
  -n, --iterations N        timed samples of each case; otherwise 20 or more, as time allows
  -w, --warmup N            untimed operations before (5)
  -c, --check 0|1           compare the result with coded data first (1)
  -d, --types LIST          int8 uint8 int32 ... bfloat16 float16, with commas, or all (float32)
  -o, --ops LIST            sum prod min max avg, several with commas, or all (sum)
  --backend cpu|mpi|nccl    what carries the data (automatic)
  --compare mpi             measures MPI's own collective in turn and gives the ratio
  -G, --cuda-graph N        nccl: a batch becomes a CUDA graph that is launched N times (0: none)
  -R, --local-register 0|1  nccl: buffers are registered with NCCL first (0)
  --deadline TIME           how long to wait while no rank makes progress (60s)
  --csv FILE, --json FILE   the result for programs; --json - is stdout
  -h, --help                this text
)";
}

}  // namespace berth::cli
