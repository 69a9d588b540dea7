#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Adds up the JUnit reports of several ctest runs: names what failed and what was skipped, then
prints "N passed, N failed, N skipped". Exit code 1 when anything failed or nothing ran."""

import argparse
import pathlib
import sys
import xml.etree.ElementTree


def outcome(case):
    """passed, failed or skipped. A test that could not be started was not skipped: it failed."""
    if case.get("status") == "run":
        return "passed"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return "skipped"
    return "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--broken", type=int, default=0, help="stages that could not be built")
    parser.add_argument("reports", nargs="*", help="JUnit files written by ctest")
    arguments = parser.parse_args()
    counts = {"passed": 0, "failed": arguments.broken, "skipped": 0}
    for report in map(pathlib.Path, arguments.reports):
        if not report.is_file():
            continue
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            result = outcome(case)
            counts[result] += 1
            if result != "passed":
                print(f"{result}: {case.get('name')} ({report.stem})")
    print(", ".join(f"{number} {word}" for word, number in counts.items()))
    return 0 if counts["failed"] == 0 and counts["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
