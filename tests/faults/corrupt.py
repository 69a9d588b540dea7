# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""One rank's contribution has one flipped bit: verify ends with 1 and names that rank and nobody
else, whatever rank, type, size, offset and bit; unarmed, all is good.

corrupt.py HOW_MANY MPIRUN BERTH_FAULTY [FLAG ...]"""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from job import SKIP, check, run, run_cases, unfit  # noqa: E402

COUNT, MPIRUN, FAULTY = int(sys.argv[1]), sys.argv[2], sys.argv[3]
FLAGS = sys.argv[4:]
SEED = 20240611
TYPES = {"int32": 4, "int64": 8, "float32": 4, "float64": 8}
SIZES = (8, 1024, 65536, 1048576, 8388608)


def verify(ranks, env):
    """(exit code, document, report) of one verify."""
    code, out, _, report = run([MPIRUN, *FLAGS, "-np", ranks, FAULTY, "verify", "--json", "-"], 60, env)
    try:
        document = json.loads(out)
    except ValueError:
        raise AssertionError(f"stdout is no JSON document\n{report}") from None
    check("findings" in document, "no findings in the document", report)
    return code, document, report


def unarmed(ranks):
    """Without a fault all is good."""
    def case():
        code, document, report = verify(ranks, {})
        check(code == 0, f"exit code {code}, not 0", report)
        check(document["schema"] == "berth.verify/1", "another schema", report)
        check(document["ok"] is True and document["findings"] == [], "not ok", report)
        check(document["ranks"] == ranks and document["hosts"] == 1, "not all ranks", report)
        check(document["drain"] == [], "a host is to be drained", report)
    return case


def flipped(ranks, victim, kind, size, offset, bit):
    """The rank is named, and nobody else."""
    def case():
        env = {"FAULTY_RANK": victim, "FAULTY_TYPE": kind, "FAULTY_BYTES": size,
               "FAULTY_OFFSET": offset, "FAULTY_BIT": bit}
        code, document, report = verify(ranks, {name: str(value) for name, value in env.items()})
        check(code == 1, f"exit code {code}, not 1", report)
        check(document["ok"] is False, "ok", report)
        found = [(finding["kind"], finding["rank"]) for finding in document["findings"]]
        check(found and set(found) == {("wrong-data", victim)},
              f"found {found}, not wrong-data of rank {victim}", report)
        check(f"rank {victim}@" in report or document["findings"][0]["host"], "no host", report)
    return case


def once(ranks):
    """A fault that does not come again is found and nobody is accused. Where the operation is min or
    max the flip may be invisible, so it is tried at several operations."""
    def case():
        seen = 0
        for after in range(5):
            code, document, report = verify(ranks, {"FAULTY_RANK": "1", "FAULTY_TIMES": "1",
                                                    "FAULTY_AFTER": str(after)})
            if code == 0:
                check(document["ok"] is True and not document["findings"], "exit 0, not ok", report)
                continue
            seen += 1
            check(code == 1 and document["ok"] is False, f"exit code {code}, not 1", report)
            check([finding["rank"] for finding in document["findings"]] == [None],
                  "a rank is accused", report)
            check("not identifiable" in report, 'not "not identifiable"', report)
        check(seen, "5 flipped bits and none was found")
        return f"{seen} of 5 visible"
    return case


def cases():
    """Two good runs, one fault that does not recur, COUNT flipped bits."""
    draw = random.Random(SEED)
    table = [("unarmed, 5 ranks", unarmed(5)), ("unarmed, 3 ranks", unarmed(3)),
             ("once, 3 ranks", once(3))]
    for number in range(COUNT):
        ranks = 5 if number % 4 else 3
        victim = draw.randrange(ranks)
        kind = list(TYPES)[draw.randrange(4)]
        size = SIZES[number % len(SIZES)] if number >= 2 else SIZES[-1 - number]
        elements = size // TYPES[kind]
        offset = draw.choice((0, elements - 1, draw.randrange(elements), draw.randrange(elements)))
        bit = draw.randrange(8 * TYPES[kind])
        name = f"rank {victim} of {ranks}, {kind}, {size} B, element {offset}, bit {bit}"
        table.append((name, flipped(ranks, victim, kind, size, offset, bit)))
    return table


def main():
    """Runs the table."""
    reason = unfit(MPIRUN, FAULTY)
    if reason is not None:
        print("skipped:", reason)
        return SKIP
    return run_cases(cases())


if __name__ == "__main__":
    sys.exit(main())
