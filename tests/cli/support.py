# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs bin/berth, alone or under the launcher, and gives back what it said."""

import dataclasses
import os
import subprocess
import time


@dataclasses.dataclass
class Outcome:
    """How one run ended."""
    code: int
    out: str
    err: str
    seconds: float

    def own_lines(self):
        """What Berth said on stderr; launchers add lines of their own."""
        return [line for line in self.err.splitlines() if line.startswith("berth: ")]

    def last_line(self):
        lines = self.out.splitlines()
        return lines[-1] if lines else ""


class Berth:
    """The tool under test. Paths come from the environment that ctest sets."""

    def __init__(self):
        self.tool = os.environ["UNDER_TEST_TOOL"]
        self.faulty = os.environ["UNDER_TEST_FAULTY"]
        self.launcher = os.environ["UNDER_TEST_MPIEXEC"].split()

    def __call__(self, *arguments, np=None, env=None, timeout=50, tool=None, **options):
        command = [tool or self.tool, *arguments]
        if np is not None:
            command = [*self.launcher, "-n", str(np), *command]
        options.setdefault("stdout", subprocess.PIPE)
        start = time.monotonic()
        done = subprocess.run(command, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=timeout, check=False, text=True,
                              **options)
        return Outcome(done.returncode, done.stdout or "", done.stderr,
                       time.monotonic() - start)
