#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""Plants violations and expects every checker to find exactly these, with file and line."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
sys.dont_write_bytecode = True
import check_docs  # noqa: E402
import check_files  # noqa: E402
import check_layers  # noqa: E402
import count_tests  # noqa: E402
import xml.etree.ElementTree  # noqa: E402

HEADER = "// " + "\n// ".join(check_files.HEADER) + "\n"


class Planted(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def plant(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Layers(Planted):
    def found_in(self, room, line):
        self.plant(f"src/{room}/x.cpp", "// first line\n" + line + "\n")
        return check_layers.check(self.root)

    def test_finds_an_include_that_crosses_the_table(self):
        self.assertEqual(self.found_in("place", "#include <comm/impl.hpp>"),
                         ["src/place/x.cpp:2: place may not include comm (<comm/impl.hpp>)"])

    def test_lets_every_room_include_base_model_and_public_headers(self):
        for header in ("base/error.hpp", "model/node.hpp", "berth/types.hpp", "vector"):
            self.assertEqual(self.found_in("place", f"#include <{header}>"), [])

    def test_finds_a_room_that_is_not_in_the_table(self):
        self.assertEqual(self.found_in("detail", ""),
                         ["src/detail/x.cpp:1: src/detail is no room of the table"])

    def test_finds_what_belongs_to_another_room(self):
        for room, line in (("comm", 'auto x = std::getenv("HOME");'), ("cpu", "mmap(0, 1, 2, 3, 4, 5);"),
                           ("coll", "sched_yield();"), ("comm", 'x.raw("SLURM_JOB_ID");'),
                           ("cpu", "PMPI_Barrier(comm);"), ("mpi", "MPI_Barrier(comm);"),
                           ("place", "#include <hwloc.h>"), ("coll", "std::thread t(f);"),
                           ("report", 'std::printf("x");'), ("comm", "std::exit(3);"),
                           ("bench", "#include <nlohmann/json.hpp>"), ("sys", "int f(char** argv);")):
            found = self.found_in(room, line)
            self.assertEqual(len(found), 1, (room, line, found))
            self.assertTrue(found[0].startswith(f"src/{room}/x.cpp:2: "), found)
            (self.root / f"src/{room}/x.cpp").unlink()

    def test_ignores_comments_and_strings(self):
        self.assertEqual(self.found_in("comm", '// getenv(x)\nauto a = "mmap(";  /* PMPI_Send( */'), [])

    def test_finds_a_private_header_in_a_public_one(self):
        self.plant("include/berth/x.hpp", "#pragma once\n#include <base/error.hpp>\n")

        self.assertEqual(check_layers.check(self.root),
                         ["include/berth/x.hpp:2: a public header may not include <base/error.hpp>"])

    def test_has_a_table_without_cycles(self):
        self.assertEqual(list(check_layers.check_table()), [])


class Docs(Planted):
    def found_in(self, text):
        self.plant("include/berth/x.hpp", "namespace berth {\n" + text + "\n}  // namespace berth\n")
        return [line.split(":")[1] for line in check_docs.check(self.root)]

    def test_finds_declarations_without_a_comment(self):
        self.assertEqual(self.found_in("int f();"), ["2"])
        self.assertEqual(self.found_in("/// S\nstruct S {\n  int a;\n  int b;  ///< b\n};"), ["4"])
        self.assertEqual(self.found_in("class C {\n public:\n  /// f\n  void f();\n};"), ["2"])
        self.assertEqual(self.found_in("/// C\nclass C {\n public:\n  C();\n private:\n  int x_;\n};"), ["5"])
        self.assertEqual(self.found_in("#define BERTH_Y 1"), ["2"])

    def test_accepts_comments_above_and_behind(self):
        self.assertEqual(self.found_in("/// f\n/// more\ntemplate <class T>\nint f(T t,\n      int i = {}) {"
                                       "\n  return i;\n}\n/// E\nenum class E { a, b };"), [])
        self.assertEqual(self.found_in("/// S\nstruct S {\n  std::vector<int> v = {1, 2};  ///< v\n};"), [])


class Files(Planted):
    def test_finds_a_missing_licence(self):
        self.plant("src/base/x.cpp", "int x;\n")

        self.assertEqual(len(check_files.check("licence", self.root)), 2)

    def test_finds_long_files_long_functions_and_promises(self):
        self.plant("src/base/a.cpp", HEADER + "\n" * 600)
        self.plant("src/base/b.cpp", HEADER + "void f() {\n" + "  g();\n" * 60 + "}\n")
        self.plant("src/base/c.cpp", HEADER + "// TO" + "DO: later\n")
        self.plant("src/base/d.cpp", HEADER + "void f() {\n" + "  g();\n" * 58 + "}\n")

        self.assertEqual([line.split(":")[:2] for line in check_files.check("limits", self.root)],
                         [["src/base/a.cpp", "600"], ["src/base/b.cpp", "3"], ["src/base/c.cpp", "3"]])


class Counts(unittest.TestCase):
    def test_counts_a_test_that_could_not_start_as_failed(self):
        for expected, text in (
                ("passed", '<testcase status="run"/>'),
                ("failed", '<testcase status="fail"><failure message=""/></testcase>'),
                ("skipped", '<testcase status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'),
                ("failed", '<testcase status="notrun"><skipped message="Unable to find executable"/></testcase>')):
            self.assertEqual(count_tests.outcome(xml.etree.ElementTree.fromstring(text)), expected)


class Readme(unittest.TestCase):
    def test_shows_the_example_that_is_compiled(self):
        top = pathlib.Path(__file__).resolve().parents[2]
        example = (top / "examples/hello.cpp").read_text(encoding="utf-8").split("\n", 2)[2]

        self.assertIn("```cpp\n" + example + "```", (top / "README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
