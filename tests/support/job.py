# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs under Open MPI's mpirun for tests: start, find the ranks, watch them end, clean up. Only
processes that were started here are ever signalled."""

import os
import re
import signal
import subprocess
import tempfile
import time

SKIP = 77
BLAME = re.compile(r"\brank (\d+)@([\w.-]+)")


def fields(pid):
    """State letter, parent and start time of a process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            rest = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return rest[0], int(rest[1]), int(rest[19])


def living(pid, start):
    """True while the process that began at `start` runs or is stopped; a zombie has ended."""
    now = fields(pid)
    return now is not None and now[2] == start and now[0] not in "ZX"


def environment(pid):
    """The environment a process was started with."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            pairs = file.read().decode(errors="replace").split("\0")
    except OSError:
        return {}
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def descendants(root):
    """Pids below `root`, with their start times."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            found = fields(int(name))
            if found:
                children.setdefault(found[1], []).append((int(name), found[2]))
    below, todo = {}, [root]
    while todo:
        for pid, start in children.get(todo.pop(), []):
            below[pid] = start
            todo.append(pid)
    return below


def files_of_berth():
    """Names of Berth's in /dev/shm and /tmp, save those of the tests' own main."""
    return {f"{folder}/{name}" for folder in ("/dev/shm", "/tmp") for name in os.listdir(folder)
            if "berth" in name.lower() and not name.startswith("berth-test-")}


class Job:
    """One job. Use with `with`: whatever is left of it is killed at the end."""

    def __init__(self, command, env=None):
        self.command = [str(word) for word in command]
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        full = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                    OMPI_MCA_hwloc_base_binding_policy="none")
        full.update(env or {})
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=self.err, env=full)
        self.seen = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.look()
        for pid, start in self.seen.items():
            if living(pid, start):
                os.kill(pid, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.out.close()
        self.err.close()

    def look(self):
        """Remembers every process of the job that there is now."""
        self.seen.update(descendants(self.process.pid))

    def ranks(self, count, limit=20):
        """{rank: (pid, start)} once all `count` ranks run the program itself."""
        end = time.monotonic() + limit
        found = {}
        while time.monotonic() < end and self.process.poll() is None:
            found = {}
            self.look()
            for pid, start in self.seen.items():
                parent = fields(pid)
                rank = environment(pid).get("OMPI_COMM_WORLD_RANK")
                # A rank's own children have its environment too; they are not below the launcher.
                if rank is None or parent is None or parent[1] in {p for p, _ in found.values()}:
                    continue
                if "OMPI_COMM_WORLD_RANK" not in environment(parent[1]):
                    found[int(rank)] = (pid, start)
            if len(found) == count:
                return found
            time.sleep(0.02)
        raise AssertionError(f"only ranks {sorted(found)} of {count} have started\n{self.report()}")

    def wait(self, limit):
        """Exit code of the launcher; AssertionError when it runs longer than `limit` seconds."""
        end = time.monotonic() + limit
        while self.process.poll() is None and time.monotonic() < end:
            self.look()
            time.sleep(0.02)
        if self.process.poll() is None:
            raise AssertionError(f"still running after {limit} s\n{self.report()}")
        return self.process.returncode

    def left(self, limit=5):
        """Processes of the job that still live `limit` seconds after its end."""
        end = time.monotonic() + limit
        while True:
            rest = [pid for pid, start in self.seen.items() if living(pid, start)]
            if not rest or time.monotonic() > end:
                return rest
            time.sleep(0.02)

    @staticmethod
    def _text(file):
        return os.pread(file.fileno(), 1 << 22, 0).decode(errors="replace")

    def stdout(self):
        """What the job has printed."""
        return self._text(self.out)

    def stderr(self):
        """What the job has said on stderr."""
        return self._text(self.err)

    def report(self):
        """Everything that helps a person who reads of a failure."""
        out, err = self.stdout(), self.stderr()
        return (f"$ {' '.join(self.command)}\n--- stdout\n{out[-6000:]}\n--- stderr\n{err[-6000:]}\n"
                f"--- exit {self.process.poll()}, {time.monotonic() - self.began:.2f} s")


def run(command, limit, env=None):
    """Runs a job to its end: (exit code, stdout, stderr, report)."""
    with Job(command, env) as job:
        code = job.wait(limit)
        return code, job.stdout(), job.stderr(), job.report()


def blames(stderr):
    """[(line, [(rank, host)])] of the lines that name ranks, without what mpirun says."""
    found = []
    for line in stderr.splitlines():
        names = [(int(rank), host) for rank, host in BLAME.findall(line)]
        if names and "mpirun" not in line:
            found.append((line, names))
    return found


def check(good, text, report=""):
    """AssertionError with `text` and the job's output unless `good`."""
    if not good:
        raise AssertionError(f"{text}\n{report}")


def unfit(launcher, *programs):
    """Why these tests cannot run here; None when they can."""
    told = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
    if "Open MPI" not in told.stdout + told.stderr and "OpenRTE" not in told.stdout + told.stderr:
        return "needs Open MPI's launcher"
    missing = [program for program in programs if not os.access(program, os.X_OK)]
    return f"not built: {' '.join(missing)}" if missing else None


def run_cases(cases):
    """Runs (name, function) one after the other, prints a table and `N of N`; returns exit code."""
    passed, skipped = 0, 0
    for name, function in cases:
        began = time.monotonic()
        note = ""
        try:
            note = function() or ""
            word = "ok"
            if note.startswith("skipped"):
                skipped += 1
                word = "skipped"
            else:
                passed += 1
        except AssertionError as error:
            word, note = "FAILED", str(error)
        print(f"{word:8}{time.monotonic() - began:7.2f} s  {name}{'  ' + note if note else ''}",
              flush=True)
    total = len(cases) - skipped
    print(f"{passed} of {total}" + (f", {skipped} skipped" if skipped else ""))
    if passed != total:
        return 1
    return 0 if total else SKIP
