# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Small programs under the launcher: who initialises MPI, binding, exit codes and the one line of
run_main, and start-up on a rank to which the kernel refuses something.

program_test.py PROGRAM DENY MPIRUN [FLAG ...]"""

import os
import re
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from job import SKIP, blames, check, files_of_berth, run, run_cases, unfit  # noqa: E402

PROGRAM, DENY, MPIRUN = sys.argv[1:4]
FLAGS = sys.argv[4:]
HOST = socket.gethostname()
EXIT = {1: 2, 2: 2, 3: 2, 4: 2, 5: 3, 6: 3, 7: 3, 8: 3, 9: 3, 10: 1, 11: 4, 12: 1, 13: 1, 14: 5, 15: 5}


def job(ranks, *arguments, limit=20, env=None):
    """One run under the launcher."""
    return run([MPIRUN, *FLAGS, "-np", ranks, *arguments], limit, env)


def program(ranks, *arguments, limit=20, env=None):
    """One run of the program itself."""
    return job(ranks, PROGRAM, *arguments, limit=limit, env=env)


def berth_lines(stderr):
    """Lines of Berth's on stderr, without those of its log."""
    return [line for line in stderr.splitlines()
            if line.startswith("berth") and not re.search(r": (warn|info): ", line)]


def fine(mode, ranks, *arguments):
    """The mode ends with 0, says nothing on stderr, and every rank took part."""
    def case():
        code, out, err, report = program(ranks, mode, *arguments)
        check(code == 0, f"exit code {code}, not 0", report)
        check(not err.strip(), "something on stderr", report)
        if "initialises" in mode and "threads" not in mode:
            check(out.strip() == f"ranks {ranks}", "not one communicator of all ranks", report)
    return case


def alone():
    """Without a launcher it is one rank."""
    code, out, _, report = run([PROGRAM, "berth-initialises"], 20)
    check(code == 0 and out.strip() == "ranks 1", "not one rank", report)


def alone_in_an_allocation():
    """The shell of an allocation is no step."""
    env = {"SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_JOB_ID": "17", "SLURM_NPROCS": "4"}
    code, out, _, report = run([PROGRAM, "berth-initialises"], 20, env)
    check(code == 0 and out.strip() == "ranks 1", "an allocation was taken for a step", report)


def alone_in_a_step(variable):
    """A step of four of which MPI sees one: refused."""
    def case():
        env = {variable: "4", "SLURM_PROCID": "0", "SLURM_JOB_ID": "17"}
        code, _, err, report = run([PROGRAM, "starts"], 10, env)
        lines = berth_lines(err)
        check(code in (2, 3), f"exit code {code}, not 2 or 3", report)
        check(len(lines) == 1 and "4" in lines[0], "not one line that says 4 ranks", report)
    return case


def outlives_mpi():
    """A communicator in a static object: no crash, no hang, a line in the log. A rank that already
    knows of the other's end need not say so again."""
    code, _, err, report = program(2, "outlives-mpi")
    check(code == 0, f"exit code {code}, not 0", report)
    check(1 <= err.count("without close()") <= 2, "not one log line of a rank", report)


def after_finalize():
    """A communicator after MPI_Finalize is refused."""
    code, _, err, report = program(2, "after-finalize")
    check(code != 0, "exit code 0", report)
    check(1 <= len(berth_lines(err)) <= 2, "not one line", report)
    check("inaliz" in err, "does not say that MPI is finalised", report)


def binds():
    """Ranks get disjoint shares of the processors, and the placement says which."""
    code, out, _, report = program(2, "binds")
    check(code == 0, f"exit code {code}", report)
    seen = set()
    for line in out.splitlines():
        match = re.match(r"rank \d before (\S+) after (\S+) placement \[(\S*)\] cores (\d+)", line)
        check(match, "unexpected line", report)
        before, after = (set(map(int, match[i].split(","))) for i in (1, 2))
        listed = set()
        for part in match[3].split(","):
            low, _, high = part.partition("-")
            listed |= set(range(int(low), int(high or low) + 1))
        check(after == listed, "placement and affinity differ", report)
        check(after <= before, "bound to a processor that was not allowed", report)
        if len(before) >= 2:
            check(not after & seen, "two ranks share a processor", report)
        seen |= after


def does_not_bind(how):
    """Options and environment can keep Berth's hands off."""
    def case():
        env = {"BERTH_BIND": "0"} if how == "environment" else {}
        code, out, _, report = program(2, "binds", *(["off"] if how == "options" else []), env=env)
        check(code == 0, f"exit code {code}", report)
        for line in out.splitlines():
            match = re.match(r"rank \d before (\S+) after (\S+) ", line)
            check(match and match[1] == match[2], "the affinity has changed", report)
    return case


def thread_moves():
    """With BERTH_BINDING=rebind the program's threads go with their rank."""
    code, _, err, report = program(2, "thread-runs", "moved", env={"BERTH_BINDING": "rebind"})
    check(code == 0 and not err.strip(), f"exit code {code}", report)


def returns(value):
    """run_main hands the body's value on."""
    def case():
        code, _, err, report = program(1, "body-returns", value)
        check(code == value, f"exit code {code}, not {value}", report)
        check(not berth_lines(err), "a line of Berth's", report)
    return case


def throws(errc, ranks):
    """An Error that all ranks throw: one line per job, its exit code."""
    def case():
        code, out, err, report = program(ranks, "body-throws", errc)
        lines = berth_lines(err)
        check(code == EXIT[errc], f"exit code {code}, not {EXIT[errc]}", report)
        check(len(lines) == 1, f"{len(lines)} lines, not one per job", report)
        check(lines[0].startswith(f"berth: rank 0@{HOST}: thrown on purpose"), "not the line", report)
        check(not out, "something on stdout", report)
    return case


def throws_other():
    """Another exception is no silent success."""
    code, _, err, report = program(2, "body-throws-other")
    check(code != 0, "exit code 0", report)
    check("not Berth's" in err, "its text is lost", report)


def one_rank_throws():
    """The others do not wait for a rank that has left."""
    code, _, err, report = program(3, "one-rank-throws", limit=10)
    check(code != 0, "exit code 0", report)
    check("rank-local trouble" in err, "the reason is lost", report)


def one_rank_dies(how, word, on_lost):
    """A dead rank is named by one line, with either way to end."""
    def case():
        code, out, err, report = program(3, "one-rank-dies", how, limit=10,
                                         env={"BERTH_ON_LOST": on_lost})
        pid = re.search(r"pid (\d+) of rank 2", out)
        found = blames(err)
        check(code != 0, "exit code 0", report)
        check(len(found) == 1, f"{len(found)} lines name ranks", report)
        check(found[0][1] == [(2, HOST)], "another rank is named", report)
        check(pid and pid[1] in found[0][0], "the pid is missing", report)
        check(word in found[0][0], f"does not say {word}", report)
    return case


def one_rank_missing(on_lost):
    """A rank that never comes to Berth is named when start-up's deadline is over."""
    def case():
        began = time.monotonic()
        code, _, err, report = program(3, "one-rank-missing", limit=15,
                                       env={"BERTH_INIT_DEADLINE": "2s", "BERTH_ON_LOST": on_lost})
        check(time.monotonic() - began < 8, "later than 8 s", report)
        check(code != 0, "exit code 0", report)
        lines = berth_lines(err)
        check(len(lines) == 1, f"{len(lines)} lines, not one per job", report)
        check(re.findall(r"rank (\d+)", lines[0]) == ["2"], "not rank 2 is named", report)
    return case


def unbearable_variable():
    """A bad variable: one line, exit 2, within two seconds, for three ranks."""
    code, _, err, report = program(3, "starts", limit=4, env={"BERTH_BACKEND": "fast"})
    check(code == 2, f"exit code {code}, not 2", report)
    lines = berth_lines(err)
    check(len(lines) == 1 and "BERTH_BACKEND=fast" in lines[0], "not one line naming it", report)


def denied(rank, what, ranks, must_work, env=None):
    """The kernel refuses something to one rank: it works by another road, or every rank ends with
    the same line that names the rank."""
    def case():
        code, out, err, report = job(ranks, DENY, rank, what, PROGRAM, "starts",
                                     env=dict(BERTH_INIT_DEADLINE="8s", **(env or {})))
        if code == 77:
            return "skipped: " + err.splitlines()[0]
        if code == 0:
            check(f"{ranks} ranks" in out, "not all ranks", report)
            return "works"
        check(not must_work, "must work by another road", report)
        lines = berth_lines(err)
        check(code == 3, f"exit code {code}, not 3", report)
        check(len(lines) == 1, f"{len(lines)} lines, not one per job", report)
        check(f"rank {rank}@{HOST}" in lines[0], "the rank is not named", report)
        return "refused by name"
    return case


def cases():
    """The table."""
    yield "Berth initialises and finalises MPI, 1 rank", fine("berth-initialises", 1)
    yield "Berth initialises and finalises MPI, 3 ranks", fine("berth-initialises", 3)
    yield "the user's MPI_Init, 2 ranks", fine("user-initialises", 2)
    yield "the user's MPI_THREAD_MULTIPLE, 2 ranks", fine("user-initialises-threads", 2)
    yield "without a launcher", alone
    yield "without a launcher inside an allocation", alone_in_an_allocation
    yield "a lonely rank of SLURM_STEP_NUM_TASKS", alone_in_a_step("SLURM_STEP_NUM_TASKS")
    yield "a lonely rank of PMI_SIZE", alone_in_a_step("PMI_SIZE")
    yield "a communicator outlives MPI", outlives_mpi
    yield "a communicator after MPI_Finalize", after_finalize
    yield "binds to disjoint shares", binds
    yield "a thread that computes stays", fine("thread-runs", 2)
    yield "a thread that computes moves on request", thread_moves
    yield "does not bind when options say so", does_not_bind("options")
    yield "does not bind when the environment says so", does_not_bind("environment")
    for value in (0, 7):
        yield f"run_main returns {value}", returns(value)
    for errc, ranks in ((1, 2), (6, 2), (10, 3), (11, 2), (14, 1), (15, 2)):
        yield f"run_main turns code {errc} of {ranks} ranks into one line", throws(errc, ranks)
    yield "run_main and another exception", throws_other
    yield "one rank throws, the others are in a collective", one_rank_throws
    for how, word in (("9", "dead"), ("11", "dead"), ("exit", "dead")):
        for on_lost in ("raise", "exit"):
            yield f"one rank dies ({how}), on_lost {on_lost}", one_rank_dies(how, word, on_lost)
    for on_lost in ("raise", "exit"):
        yield f"one rank never comes, on_lost {on_lost}", one_rank_missing(on_lost)
    yield "a bad variable", unbearable_variable
    yield "no memfd on one rank", denied(1, "memfd_create", 2, True)
    yield "no memfd on rank 0", denied(0, "memfd_create", 3, True)
    yield "no memfd anywhere", denied(-1, "memfd_create", 2, True)
    yield "no pidfd on one rank", denied(1, "pidfd_open", 2, True)
    yield "no pidfd anywhere", denied(-1, "pidfd_open", 3, True)
    yield "no binding on one rank", denied(1, "sched_setaffinity", 2, False)
    yield "no memory policy on one rank", denied(1, "set_mempolicy", 2, False)
    yield "no memory binding on one rank", denied(1, "mbind", 2, False)
    yield "no reserved memory on one rank", denied(1, "fallocate", 3, False)


def main():
    """Runs the table; Berth's files must be as before."""
    reason = unfit(MPIRUN, PROGRAM, DENY)
    if reason is not None:
        print("skipped:", reason)
        return SKIP
    before = files_of_berth()
    result = run_cases(list(cases()))
    left = files_of_berth() - before
    if left:
        print("files left:", *sorted(left))
    return 1 if left else result


if __name__ == "__main__":
    sys.exit(main())
