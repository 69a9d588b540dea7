#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks files one by one. `licence`: the two SPDX lines open every source, build and script file.
`limits`: no file over 600 lines, no function over 60, no promise that is left for later.
Prints file:line: reason for each violation; exit code 1 when there is one."""

import argparse
import pathlib
import re
import sys

FOLDERS = ("include", "src", "tests", "bench", "examples", "tools", "cmake", "jobs", "modulefiles",
           ".ci")
CODE = (".hpp", ".cpp", ".h", ".c", ".inc", ".cu", ".f90")
SIGNED = (*CODE, ".py", ".sh", ".cmake", ".in", ".lua", ".sbatch", ".pml")
SIGNED_NAMES = ("CMakeLists.txt", "Makefile", ".clang-tidy", ".editorconfig", "run")
HEADER = ("SPDX-FileCopyrightText: The Berth contributors", "SPDX-License-Identifier: Apache-2.0")
FILE_LINES = 600
FUNCTION_LINES = 60
PROMISE = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b|not implemented")


def files(root):
    """Every file of the project that people write, without what a build leaves behind."""
    for path in sorted(root.iterdir()):
        if path.is_file():
            yield path
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("**/*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def check_licence(path):
    """The header is looked for in the first five lines, because scripts begin with #!."""
    if path.suffix in SIGNED or path.name in SIGNED_NAMES:
        head = "\n".join(path.read_text(encoding="utf-8").split("\n")[:5])
        for line in HEADER:
            if line not in head:
                yield 1, f"no line '{line}'"


def functions(lines):
    """(first line, length) of functions at the left margin, which is where the format puts them."""
    start = None
    for number, line in enumerate(lines, 1):
        if re.match(r"[A-Za-z_~].*\{$", line) and not re.match(r"(namespace|class|struct|enum|union|extern)\b", line):
            start = number
        elif re.match(r"[A-Za-z_~].*[(,]$", line) and start is None:
            start = number
        elif line == "}" and start is not None:
            yield start, number - start + 1
            start = None
        elif re.match(r"(?:\}|namespace\b|#)", line):
            start = None


def check_limits(path):
    """Length of files and functions; words that promise instead of doing."""
    if path.suffix not in (*CODE, ".py", ".sh", ".cmake"):
        return
    lines = path.read_text(encoding="utf-8").split("\n")
    if len(lines) > FILE_LINES:
        yield FILE_LINES, f"{len(lines)} lines; at most {FILE_LINES}"
    for number, line in enumerate(lines, 1):
        if PROMISE.search(line):
            yield number, "a promise for later; do it or open an issue"
    if path.suffix in CODE:
        for number, length in functions(lines):
            if length > FUNCTION_LINES:
                yield number, f"function of {length} lines; at most {FUNCTION_LINES}"


def check(what, root):
    """All violations of the check `what` under `root`."""
    rule = {"licence": check_licence, "limits": check_limits}[what]
    return [f"{path.relative_to(root)}:{line}: {reason}"
            for path in files(root) for line, reason in rule(path)
            if path != pathlib.Path(__file__).resolve() or what == "licence"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("licence", "limits"))
    parser.add_argument("root", nargs="?", default=pathlib.Path(__file__).resolve().parent.parent,
                        type=pathlib.Path, help="top folder of the sources")
    arguments = parser.parse_args()
    found = check(arguments.what, arguments.root)
    for violation in found:
        print(violation)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
