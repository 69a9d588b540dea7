# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Putting a collective on a stream costs at most 300 instructions more than NCCL's own call.

enqueue_cost.py PROGRAM"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 300
CALLS = 1000


def inclusive(program, folder):
    """Instructions inside calls_through_berth by function, callees included."""
    out = os.path.join(folder, "out")
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--toggle-collect=calls_through_berth",
         f"--callgrind-out-file={out}", program],
        capture_output=True, text=True, timeout=100, check=False)
    if run.returncode != 0:
        raise SystemExit(f"exit code {run.returncode}\n{run.stdout}\n{run.stderr}")
    table = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                           capture_output=True, text=True, timeout=60, check=True).stdout
    return {name: int(count.replace(",", ""))
            for count, name in re.findall(r"^ *([\d,]+) \([^)]*\)\s+\S*?:(\w+)(?: |$)", table, re.M)}


def main():
    """Compares what is spent in all with what is spent in NCCL."""
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        found = inclusive(sys.argv[1], folder)
    whole = found["calls_through_berth"] / CALLS
    nccl = found["ncclAllReduce"] / CALLS
    print(f"{whole:.0f} instructions a call, {nccl:.0f} of them in the double of NCCL: "
          f"{whole - nccl:.0f} more, {MOST} allowed")
    return 0 if nccl > 0 and whole - nccl <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
