#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks that every public declaration in include/ has a doc comment: /// above it or ///< behind it.
Enumerators and what stands inside a template specialisation are covered by the comment of the whole.
Prints file:line: reason for each violation; exit code 1 when there is one."""

import argparse
import pathlib
import re
import sys


def code_of(text):
    """`text` with comments and strings blanked and preprocessor lines removed; lines stay in place."""
    def blank(match):
        return "".join("\n" if c == "\n" else " " for c in match.group(0))
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def scope_of(statement):
    """What a brace after `statement` opens."""
    if re.match(r'\s*(inline\s+)?namespace\b|\s*extern\b\s*$', statement):
        return "namespace"
    if re.search(r"\benum\b", statement):
        return "enum"
    if re.search(r"\b(class|struct|union)\b", statement) and "(" not in statement:
        specialised = re.search(r"\b(class|struct)\s+\w+\s*<", statement)
        return "other" if specialised else ("class" if "class" in statement.split() else "struct")
    return "other"


class Header:
    """Walks through one header and collects the declarations without a comment."""

    def __init__(self, text):
        self.lines = text.split("\n")
        self.found = []
        self.scopes = ["namespace"]
        self.access = ["public"]
        self.statement = ""
        self.start = 0
        self.line = 1
        for character in code_of(text):
            self.step(character)

    def documented(self, first, last):
        above = self.lines[first - 2].strip() if first > 1 else ""
        return above.startswith("///") or any("///" in self.lines[n - 1] for n in range(first, last + 1))

    def end_statement(self, opens=False):
        text = " ".join(self.statement.split())
        visible = self.scopes[-1] in ("namespace", "class", "struct") and "private" not in self.access
        trivial = not text or re.match(r"(friend|using namespace|static_assert|namespace)\b", text) or \
            (not opens and re.fullmatch(r"(class|struct) \w+", text))
        if visible and not trivial and not self.documented(self.start, self.line):
            self.found.append((self.start, f"no doc comment: {text[:60]}"))
        self.statement = ""

    def step(self, character):
        if character == "\n":
            self.line += 1
        in_scope = self.scopes[-1] in ("namespace", "class", "struct")
        if character == "{":
            kind = scope_of(self.statement)
            # A brace inside parentheses or behind = is a value, and the declaration goes on.
            value = self.statement.count("(") > self.statement.count(")") or \
                "=" in self.statement.split("(")[0]
            if kind != "namespace" and in_scope and not value:
                self.end_statement(opens=True)
            elif kind == "namespace" and in_scope:
                self.statement = ""
            self.scopes.append(kind)
            self.access.append({"class": "private", "struct": "public"}.get(kind, "public"))
        elif character == "}":
            self.scopes.pop()
            self.access.pop()
        elif character == ";" and in_scope:
            self.end_statement()
        elif character == ":" and re.fullmatch(r"\s*(public|protected|private)\s*", self.statement):
            self.access[-1] = self.statement.strip()
            self.statement = ""
        elif in_scope:
            if not self.statement.strip() and not character.isspace():
                self.start = self.line
            self.statement += character


def macros(text):
    """Macros that users see need a comment too."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        match = re.match(r"#\s*define\s+(BERTH_\w+)", line)
        if match and match.group(1) != "BERTH_X" and not lines[number - 2].strip().startswith("///"):
            yield number, f"no doc comment: #define {match.group(1)}"


def check(root):
    """All violations under `root`/include."""
    found = []
    for path in sorted((root / "include").glob("**/*.h*")):
        text = path.read_text(encoding="utf-8")
        for line, reason in sorted([*Header(text).found, *macros(text)]):
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
