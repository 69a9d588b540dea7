# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""What NCCL, CUDA and ranks do wrong on the nccl backend, one fault a run, on the stand-ins: the job
ends in time with the right code and names the right rank.

faults.py sample|RUNS MPIRUN BERTH CUDART NCCL [FLAG ...]; the sample is every third row"""

import os
import re
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from job import SKIP, Job, check, files_of_berth, run_cases, unfit  # noqa: E402

IS_SAMPLE = sys.argv[1] == "sample"
RUNS = 1 if IS_SAMPLE else int(sys.argv[1])
MPIRUN, BERTH, CUDART, NCCL = sys.argv[2:6]
FLAGS = sys.argv[6:]
HOST = re.escape(socket.gethostname().split(".")[0])
DEADLINE = 3
RANKS = 3
# mpirun starts, Berth starts, and after the verdict 3 s at most for an abort that hangs.
START = 4


def libraries(**env):
    """The environment of a job on the stand-ins."""
    full = {"BERTH_CUDART_LIB": CUDART, "BERTH_NCCL_LIB": NCCL, "STANDIN_CUDA_DEVICES": "8"}
    full.update(env)
    return full


def command(env, *words, ranks=(RANKS,)):
    """mpirun with these variables for all ranks. Several numbers of ranks are hosts for NCCL, which
    then uses sockets between them."""
    line = [MPIRUN, *FLAGS]
    for host, count in enumerate(ranks):
        forward = [word for name in env for word in ("-x", name)]
        if len(ranks) > 1:
            forward += ["-x", f"NCCL_HOSTID=host{host}"]
        line += ([":"] if host else []) + [*forward, "-np", count, BERTH, *words]
    return line


def expect(env, codes, text, *words, limit=DEADLINE, ranks=(RANKS,)):
    """A verify with a fault: exit code and the one line that Berth says."""
    def case():
        full = libraries(**env)
        before = files_of_berth()
        verify = words or ("verify", "--backend", "nccl", "--deadline", DEADLINE)
        with Job(command(full, *verify, ranks=ranks), full) as job:
            code = job.wait(limit + START + 3)
            report = job.report()
            lines = [line for line in job.stderr().splitlines() if line.startswith("berth: ")
                     and " warn: " not in line]
            left = job.left()
        check(code in codes, f"exit code {code}, not one of {codes}", report)
        if text is not None:
            check(len(lines) == 1, f"{len(lines)} lines, not one", report)
            check(re.search(text, lines[0]), f"no {text!r} in {lines[0]}", report)
        check(not left, f"processes {left} are left", report)
        check(files_of_berth() == before, "files are left", report)
    return case


def signalled(number, codes, text):
    """One rank gets a signal while the job verifies again and again."""
    def case():
        full = libraries()
        with Job(command(full, "verify", "--backend", "nccl", "--deadline", DEADLINE,
                         "--rounds", 1000000), full) as job:
            pid, _ = job.ranks(RANKS)[1]
            time.sleep(1.5)
            os.kill(pid, number)
            began = time.monotonic()
            job.wait(DEADLINE + START + 3)
            took = time.monotonic() - began
            report = job.report()
            said = job.stderr()
            left = job.left()
        check(job.process.returncode in codes, f"exit code {job.process.returncode}", report)
        check(re.search(text, said), f"no {text!r}", report)
        # Longer by what it takes mpirun to end a job.
        check(took < DEADLINE + 2, f"took {took:.2f} s", report)
        check(not left, f"processes {left} are left", report)
    return case


def faults():
    """name, case. Codes: 1 a finding, 3 this machine cannot, 4 no verdict in time."""
    def nccl(fault, codes, text, ranks=(RANKS,)):
        return expect({"STANDIN_NCCL_FAULTS": fault}, codes, text, ranks=ranks)

    def cuda(fault, codes, text):
        return expect({"STANDIN_CUDA_FAULTS": fault}, codes, text)

    one = rf"rank 1@{HOST}"
    yield "nothing is wrong", expect({}, (0,), None)
    yield "nothing is wrong on two hosts", expect({}, (0,), None, ranks=(2, 2))
    yield "an init that never ends", nccl("1:init_stuck", (4,), "no rank can be named")
    yield "an init that fails", nccl("1:init_error=3@50", (1,), one + ".*internal error")
    yield "a remote end that fails in the init", nccl("1:init_error=6@50", (1,), one)
    yield "no id", nccl("0:id_fails=1", (3,), rf"rank 0@{HOST}.*ncclGetUniqueId")
    yield "a rank that is late in the init", nccl("1:late_init_ms=500", (0,), None)
    yield "a rank that stops in the init", nccl("1:stop_init", (1, 137), one + ".*stopped")
    yield "a rank that ends in the init", nccl("1:die_init", (1, 137), one + ".*dead")
    for error in 1, 2, 3, 6:
        yield f"async error {error}", nccl(f"1:async={error}@5", (1, 3), one)
    yield "an async error after the init", nccl("1:async=3@0", (1,), one)
    yield "an abort that hangs", nccl("1:async=3@5;*:abort_hangs", (1,), one)
    yield "an abort that is slow", nccl("1:async=3@5;*:abort_ms=700", (1,), one)
    yield "a rank that ends in a collective", nccl("2:die@6", (1, 137), rf"rank 2@{HOST}.*dead")
    yield ("a rank that ends in a collective over sockets",
           nccl("2:die@6", (1, 137), rf"rank 2@{HOST}.*dead", (2, 1)))
    yield "a rank that is late", nccl("1:late_ms=500@6", (0,), None)
    yield "a flipped bit", nccl("1:wrong_bit@6", (1,), None)
    yield "no driver", cuda("*:count=35", (3,), "no NVIDIA driver|driver is for")
    yield "no driver for one rank", cuda("1:count=35", (3,), one)
    yield "no device", cuda("*:count=100", (3,), "no device")
    yield "an illegal address", cuda("1:sticky=700@40", (1,), one + ".*(700|llegal)")
    yield "no device memory", cuda("1:malloc_fails@1", (3,), one)
    yield "more ranks than devices", expect({"STANDIN_CUDA_DEVICES": "2"}, (3,),
                                            "both have device")
    yield "an id from the environment", expect({"NCCL_COMM_ID": "127.0.0.1:4000"}, (2,),
                                               "NCCL_COMM_ID")
    yield "killed", signalled(signal.SIGKILL, (1, 137), one + ".*dead")
    yield "stopped", signalled(signal.SIGSTOP, (1, 137), one + ".*stopped")


def main():
    """Runs the table, or says why not."""
    reason = unfit(MPIRUN, BERTH)
    if reason is not None:
        print("skipped:", reason)
        return SKIP
    return run_cases([(f"{name}, run {turn + 1}" if RUNS > 1 else name, case)
                      for turn in range(RUNS) for name, case in list(faults())[::3 if IS_SAMPLE else 1]])


if __name__ == "__main__":
    sys.exit(main())
