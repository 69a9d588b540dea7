#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every room of src/ includes only what its row allows, and that what belongs to one room
is used nowhere else. Prints file:line: reason for each violation; exit code 1 when there is one."""

import argparse
import pathlib
import re
import sys

# room: rooms it may include besides base and model. docs/design/0001-rooms.md explains the table.
ROOMS = {
    "base": "",
    "model": "",
    "json": "",
    "sys": "",
    "launcher": "sys",
    "mpi": "",
    "gpu": "sys",
    "topo": "sys gpu",
    "place": "",
    "pattern": "",
    "kernel": "",
    "ledger": "sys mpi",
    "coll": "",
    "cpu": "coll kernel mpi sys ledger",
    "nccl": "coll gpu mpi sys ledger",
    "roster": "sys launcher mpi ledger",
    "comm": "sys launcher mpi gpu topo place pattern kernel ledger coll cpu nccl roster",
    "verify": "comm mpi pattern gpu",
    "bench": "comm mpi pattern gpu json",
    "report": "json",
    "doctor": "json sys launcher mpi gpu topo place pattern kernel ledger coll cpu nccl roster verify "
              "bench report",
    "capi": "comm verify place",
    "pmpi": "comm mpi gpu sys",
    "cli": "json sys launcher mpi gpu topo place pattern kernel ledger coll cpu nccl roster comm "
           "verify bench report doctor",
}
BASEMENT = ("base", "model")

# What only these rooms may do: (what people call it, rooms, pattern, text that is searched).
# "code" has neither comments nor strings, "names" has strings, "includes" are included files.
SOLE = [
    ("getenv", "base", r"\b(?:secure_)?getenv\s*\(", "code"),
    ("nlohmann", "json", r"\bnlohmann\b", "code"),
    ("sched_*", "sys", r"\bsched_\w+\s*\(", "code"),
    ("shared memory", "sys", r"\b(?:mmap|munmap|memfd_create|shm_open|shm_unlink)\s*\(", "code"),
    ("sockets", "sys", r"(?<![\w.>])socket\s*\(", "code"),
    ("signals", "sys", r"\b(?:sigaction|signal|kill|pidfd_\w+)\s*\(", "code"),
    ("the launcher's variables", "launcher", r'"(?:OMPI|PMIX|PMI|SLURM)_\w*', "names"),
    ("calls to MPI", "mpi pmpi", r"\bPMPI_\w+\s*\(", "code"),
    ("calls to MPI without P", "pmpi",
     r"(?<!\w)MPI_(?!(?:Comm|Request|Status|Datatype|Op|Group|Count|Aint)\b)[A-Z][a-z]\w*\s*\(", "code"),
    ("CUDA and NVML", "gpu", r"^(?:cuda.*|nvml)\.h", "includes"),
    ("hwloc.h", "topo", r"^hwloc(?:\.h|/)", "includes"),
    ("nccl.h", "nccl", r"^nccl\.h", "includes"),
    ("threads", "ledger", r"\bstd::j?thread\b(?!::)|\bstd::async\b|\bpthread_create\b", "code"),
    ("argv", "cli", r"\bargv\b", "code"),
    ("exit", "cli", r"(?<![\w.>:])(?:std::)?(?:quick_)?exit\s*\(", "code"),
    ("stdout", "cli", r"\bstd::cout\b|\bstdout\b|(?<!\w)(?:std::)?(?:printf|puts|putchar)\s*\(", "code"),
]

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def blank(text):
    """The same number of lines and nothing on them."""
    return "\n" * text.count("\n")


def without(text, strings):
    """`text` without comments, and without the contents of strings when `strings` is set."""
    def replace(match):
        token = match.group(0)
        if token.startswith("/"):
            return " " + blank(token)
        return '""' + blank(token) if strings else token
    return TOKEN.sub(replace, text)


def allowed(room):
    """Rooms that `room` may include, itself among them."""
    below = set(ROOMS[room].split())
    return below | {room} if room in BASEMENT else below | {room, *BASEMENT}


def check_table():
    """A row may name only rows above it, which keeps the picture free of cycles."""
    order = list(ROOMS)
    for room, below in ROOMS.items():
        for other in below.split():
            if order.index(other) >= order.index(room):
                yield f"check_layers.py: the row of {room} names {other}, which is not above it"


def check_includes(room, text):
    """Yields (line, reason) for includes that cross the table."""
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        name = match.group(2)
        first = name.split("/")[0]
        if match.group(1) == '"' and (".." in name or "/" in name):
            yield line, f'"{name}": another folder is included as <room/file.hpp>'
        elif first in ROOMS and name.endswith((".hpp", ".inc")) and first not in allowed(room):
            yield line, f"{room} may not include {first} (<{name}>)"


def check_sole(room, text):
    """Yields (line, reason) for what belongs to another room."""
    texts = {"names": without(text, strings=False), "code": without(text, strings=True)}
    for what, owners, pattern, where in SOLE:
        if room in owners.split():
            continue
        if where == "includes":
            hits = [m.start() for m in INCLUDE.finditer(text) if re.search(pattern, m.group(2))]
            source = text
        else:
            source = texts[where]
            hits = [m.start() for m in re.finditer(pattern, source)]
        for hit in hits:
            owner = owners.split()[0]
            yield source.count("\n", 0, hit) + 1, f"{what}: only {owner} does that, not {room}"


def check_public(text):
    """Public headers include public headers, the standard library and mpi.h, nothing else."""
    for match in INCLUDE.finditer(text):
        name = match.group(2)
        if name != "mpi.h" and not name.startswith("berth/") and not re.fullmatch(r"[a-z_0-9]+", name):
            yield text.count("\n", 0, match.start()) + 1, f"a public header may not include <{name}>"


def check(root):
    """All violations under `root`, sorted."""
    found = list(check_table())
    source = root / "src"
    for path in sorted(source.glob("*/**/*")):
        if path.suffix not in (".hpp", ".cpp", ".h", ".c", ".inc", ".cu"):
            continue
        room = path.relative_to(source).parts[0]
        if room not in ROOMS:
            found.append(f"{path.relative_to(root)}:1: src/{room} is no room of the table")
            continue
        text = path.read_text(encoding="utf-8")
        for line, reason in sorted([*check_includes(room, text), *check_sole(room, text)]):
            found.append(f"{path.relative_to(root)}:{line}: {reason}")
    for path in sorted((root / "include").glob("**/*.h*")):
        for line, reason in check_public(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(root)}:{line}: {reason}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path, help="top folder of the sources")
    found = check(parser.parse_args().root)
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
