# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""One rank is killed, stopped, leaves or loops while a job verifies, measures, sits in MPI or
computes: the others end within 4 s and one line names it. Suspending all ranks ends nothing.

inject.py sample|all MPIRUN BERTH_FAULTY IDLE_PROGRAM [FLAG ...]"""

import os
import random
import re
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from job import SKIP, Job, blames, check, environment, fields, files_of_berth, living  # noqa: E402
from job import run_cases, unfit  # noqa: E402

AMOUNT, MPIRUN, FAULTY, IDLE = sys.argv[1:5]
FLAGS = sys.argv[5:]
HOST = socket.gethostname()
SEED = 20240611
SIZE, BUSY = "(size)", "(busy rank)"
KINDS = {
    "kill": signal.SIGKILL,
    "stop": signal.SIGSTOP,
    "exit": signal.SIGUSR2,
    "loop": signal.SIGUSR1,
}
# What the line must say of the rank's state.
STATES = {"kill": r"\bdead\b", "exit": r"\bdead\b", "stop": r"\bstopped\b",
          "loop": r"\b(silent|late|running|loop\w*|does not)\b"}
SITUATIONS = {
    "verify": [FAULTY, "verify", "--rounds", "1000000", "--deadline", "3"],
    "bench": [FAULTY, "bench", "all_reduce", "-b", SIZE, "-e", SIZE, "-n", "1000000",
              "--deadline", "3"],
    # MPI is slower, so the job spends most of its time inside it.
    "bench in mpi": [FAULTY, "bench", "all_reduce", "-b", SIZE, "-e", SIZE, "-n", "1000000",
                     "--compare", "mpi", "--deadline", "3"],
    "between": [IDLE, "120", BUSY],
}


def start(situation, ranks, victim, size):
    """A job of `ranks` in `situation`."""
    words = [{SIZE: size, BUSY: str(victim)}.get(word, word) for word in SITUATIONS[situation]]
    return Job([MPIRUN, *FLAGS, "-np", str(ranks), *words])


def ready(job, ranks):
    """Waits until every rank has mapped the ledger and the data of its host: it is connected."""
    found = job.ranks(ranks)
    end = time.monotonic() + 10
    todo = {pid for pid, _ in found.values()}
    while todo and time.monotonic() < end:
        for pid in list(todo):
            try:
                with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as file:
                    if file.read().count("/memfd:berth") >= 2:
                        todo.discard(pid)
            except OSError:
                todo.discard(pid)
        time.sleep(0.02)
    check(not todo, f"processes {todo} share no memory", job.report())
    return found


def status(pid, key):
    """A line of /proc/PID/status."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(key + ":"):
                    return line.split()[1]
    except OSError:
        pass
    return ""


def in_handler(pid):
    """True when SIGUSR1's handler runs, which blocks the signal in the thread it runs on."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    masks = (status(f"{pid}/task/{thread}", "SigBlk") for thread in threads)
    return any(int(mask or "0", 16) & (1 << (signal.SIGUSR1 - 1)) for mask in masks)


def took_effect(kind, pid, began):
    """Whether the injection did what it should, seen from outside; bounded."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        now = fields(pid)
        if kind in ("kill", "exit") and not living(pid, began):
            return True
        if kind == "stop" and (now is None or now[0] == "T"):
            return True
        if kind == "loop" and in_handler(pid):
            return True
        time.sleep(0.002)
    return False


def inject(kind, situation, ranks, victim, delay, size):
    """One injection and everything that must follow."""
    before = files_of_berth()
    with start(situation, ranks, victim, size) as job:
        found = ready(job, ranks)
        time.sleep(delay)
        job.look()
        check(job.process.poll() is None, "the job ended before the injection", job.report())
        pid, began = found[victim]
        check(environment(pid).get("OMPI_COMM_WORLD_RANK") == str(victim), "not the rank's pid")
        if kind in ("loop", "exit"):
            caught = int(status(pid, "SigCgt") or "0", 16)
            check(caught & (1 << (KINDS[kind] - 1)), "the signal is not caught", job.report())
        moment = time.monotonic()
        os.kill(pid, KINDS[kind])
        check(took_effect(kind, pid, began), "the injection had no effect", job.report())
        others = {rank: found[rank] for rank in found if rank != victim}
        while any(living(*one) for one in others.values()) and time.monotonic() < moment + 8:
            time.sleep(0.005)
        took = time.monotonic() - moment
        still = [rank for rank, one in others.items() if living(*one)]
        check(not still, f"ranks {still} live 8 s after the injection", job.report())
        code = job.wait(10)
        check(took <= 4, f"the others ended after {took:.2f} s, not 4", job.report())
        check(code != 0, "mpirun's exit code is 0", job.report())
        judge_line(job, kind, pid, victim)
        check(not job.left(), f"processes left: {job.left(0)}", job.report())
        left = new_files(before)
        check(not left, f"files left: {sorted(left)}", job.report())
    return f"{took:.2f} s"


def new_files(before):
    """Files that were not there before; those of other programs have 3 s to go."""
    end = time.monotonic() + 3
    while files_of_berth() - before and time.monotonic() < end:
        time.sleep(0.05)
    return files_of_berth() - before


def judge_line(job, kind, pid, victim):
    """One line names rank, host, pid, state, phase and operation of the victim and nobody else."""
    lines = blames(job.stderr())
    check(lines, "no line names a rank", job.report())
    check(len(lines) == 1, f"{len(lines)} lines name ranks, not one", job.report())
    line, names = lines[0]
    check(set(names) == {(victim, HOST)}, f"names {names}, not rank {victim}@{HOST}", job.report())
    check(re.search(rf"\bpid {pid}\b", line), "the pid is missing", job.report())
    check(re.search(STATES[kind], line), f"the state is missing: {STATES[kind]}", job.report())
    check(re.search(r"\bphase \w+|\bin \"?\w[\w-]*\"?", line), "the phase is missing", job.report())
    check(re.search(r"\boperation [\d,]+|before its first operation", line),
          "the operation is missing", job.report())
    check(len(line.encode()) <= 512, "longer than 512 bytes", job.report())


def suspend(name, command, calibrate):
    """All ranks are stopped for 10 s and resumed: the job goes on and ends well."""
    if calibrate:
        with Job([MPIRUN, *FLAGS, "-np", "3", *command(20)]) as job:
            check(job.wait(60) == 0, "the trial run failed", job.report())
            rounds = max(40, int(20 * 5 / (time.monotonic() - job.began)))
    else:
        rounds = 4
    with Job([MPIRUN, *FLAGS, "-np", "3", *command(rounds)]) as job:
        found = ready(job, 3)
        time.sleep(0.7)
        check(job.process.poll() is None, "the job ended before it was suspended", job.report())
        for pid, _ in found.values():
            os.kill(pid, signal.SIGSTOP)
        time.sleep(10)
        states = {rank: fields(pid) for rank, (pid, _) in found.items()}
        check(all(s and s[0] == "T" for s in states.values()), f"not all stopped: {states}",
              job.report())
        for pid, _ in found.values():
            os.kill(pid, signal.SIGCONT)
        code = job.wait(90)
        check(code == 0, f"exit code {code}, not 0", job.report())
        check(not blames(job.stderr()), "a rank is blamed", job.report())
        check(not job.left(), "processes left", job.report())
        last = (job.stdout().strip().splitlines() or [""])[-1]
        check(last.startswith(("good", "done")), "the verdict is not good", job.report())
    return f"{name}, exit 0"


def verify_rounds(rounds):
    """A verify of so many rounds."""
    return [FAULTY, "verify", "--rounds", str(rounds), "--deadline", "3"]


def idle_seconds(seconds):
    """The program between operations for so many seconds."""
    return [IDLE, str(seconds), "1"]


def cases():
    """The table: 64 injections and two suspensions, or a sample in which every kind and every
    situation occurs."""
    draw = random.Random(SEED)
    everything = []
    for situation in SITUATIONS:
        for kind in KINDS:
            for ranks in (2, 3):
                for victim in (0, ranks - 1):
                    everything.append((kind, situation, ranks, victim, draw.uniform(0.2, 1.5),
                                       draw.choice(("8", "4K", "256K", "4M"))))
    if AMOUNT == "sample":
        kinds, situations = list(KINDS), list(SITUATIONS)
        chosen = []
        for i in range(6):
            want = (kinds[i % 4], situations[(i + i // 4) % 4], 3 if i % 3 else 2)
            options = [case for case in everything if case[:3] == want]
            chosen.append(options[draw.randrange(len(options))])
        everything = chosen
    table = [(f"{kind:5}{situation:13}rank {victim} of {ranks}",
              lambda case=(kind, situation, ranks, victim, *rest): inject(*case))
             for kind, situation, ranks, victim, *rest in everything]
    table.append(("suspend between", lambda: suspend("idle", idle_seconds, False)))
    if AMOUNT == "all":
        table.append(("suspend verify", lambda: suspend("verify", verify_rounds, True)))
    return table


def main():
    """Runs the table."""
    reason = unfit(MPIRUN, FAULTY, IDLE)
    if reason is not None:
        print("skipped:", reason)
        return SKIP
    return run_cases(cases())


if __name__ == "__main__":
    sys.exit(main())
