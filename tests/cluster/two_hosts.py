# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Two hosts on one machine: an agent in the place of ssh starts each host's daemon in a UTS namespace
of its own, with its own host name. MPI, host identity and lanes then see two hosts.

two_hosts.py MPIRUN BERTH FOLDER-OF-TEST-PROGRAMS"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from job import SKIP, check, run, run_cases, unfit  # noqa: E402

MPIRUN, BERTH, PROGRAMS = sys.argv[1:4]
AGENT = """#!/bin/sh
# As ssh: HOST COMMAND...
host=$1
shift
exec unshare --uts sh -c 'hostname "$1" && exec sh -c "$2"' sh "$host" "$*"
"""


def launch(folder, first, second, *command, limit=120, env=None):
    """Runs a command on `first` ranks of nodea and `second` ranks of nodeb."""
    hosts = os.path.join(folder, "hosts")
    with open(hosts, "w", encoding="ascii") as file:
        file.write(f"nodea slots={first}\nnodeb slots={second}\n")
    flags = ["--hostfile", hosts, "-np", first + second]
    for name, value in {"plm": "rsh", "plm_rsh_agent": os.path.join(folder, "agent"),
                        "plm_rsh_no_tree_spawn": 1, "oob_tcp_if_include": "lo",
                        "btl_tcp_if_include": "lo", "btl": "self,vader,tcp", "pml": "ob1",
                        "mpi_yield_when_idle": 1}.items():
        flags += ["--mca", name, value]
    # The set of components in the environment would be for one host.
    clean = {"OMPI_MCA_btl": "self,vader,tcp"}
    clean.update(env or {})
    forward = [word for name in (env or {}) for word in ("-x", name)]
    return run([MPIRUN, *flags, "--bind-to", "none", *forward, *command], limit, clean)


def forbidden():
    """Why this machine cannot do that; None when it can."""
    if os.geteuid() != 0:
        return "needs root for a namespace of host names"
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    tried = subprocess.run(["unshare", "--uts", "hostname", "nodea"], capture_output=True, text=True,
                           check=False)
    return None if tried.returncode == 0 else "unshare is forbidden: " + tried.stderr.strip()


def verify(folder, first, second, sizes, **env):
    """berth verify sees two hosts and finds nothing."""
    def case():
        code, out, err, report = launch(folder, first, second, BERTH, "verify", "--deadline", "20",
                                        "--sizes", sizes, "--json", "-", env=env)
        check(code == 0, f"exit code {code}, not 0", report)
        document = json.loads(out)
        check(document["ok"] is True and not document["findings"], "not ok", report)
        check(document["hosts"] == 2, f"{document['hosts']} hosts, not 2", report)
        check(document["ranks"] == first + second, "not all ranks", report)
        check(document["backend"] == "cpu", "not the cpu backend", report)
        check("warn" not in err, "a warning", report)
    return case


def tests(folder, topic, first, second, names="*", **env):
    """A test program of one host's passes on two."""
    def case():
        program = os.path.join(PROGRAMS, "test_comm_" + topic)
        code, _, _, report = launch(folder, first, second, program, "--limit=100",
                                    "--gtest_brief=1", f"--gtest_filter={names}", env=env)
        check(code == 0, f"exit code {code}, not 0", report)
    return case


def cases(folder):
    """The table."""
    yield "verify, 1 + 1 ranks", verify(folder, 1, 1, "8,64K")
    yield "verify, 2 + 2 ranks", verify(folder, 2, 2, "8,1K,64K")
    yield "verify, 3 + 2 ranks", verify(folder, 3, 2, "8,1000,64K,1M")
    yield "verify, 2 + 1 ranks without shared memory", verify(folder, 2, 1, "8,64K",
                                                              BERTH_SHARED_MEMORY="none")
    for topic in "collectives", "every", "numerics":
        for first, second in (1, 1), (2, 2), (3, 2):
            yield f"{topic}, {first} + {second} ranks", tests(folder, topic, first, second)
    yield "every, 4 + 4 ranks", tests(folder, "every", 4, 4)
    for first, second in (1, 1), (1, 2), (3, 2):
        yield f"mismatch, {first} + {second} ranks", tests(folder, "mismatch", first, second,
                                                           "-*Reference*")


def main():
    """Runs the table, or says why not."""
    reason = forbidden() or unfit(MPIRUN, BERTH)
    if reason is not None:
        print("skipped:", reason)
        return SKIP
    with tempfile.TemporaryDirectory(prefix="two-hosts-") as folder:
        agent = os.path.join(folder, "agent")
        with open(agent, "w", encoding="ascii") as file:
            file.write(AGENT)
        os.chmod(agent, 0o755)
        return run_cases(list(cases(folder)))


if __name__ == "__main__":
    sys.exit(main())
