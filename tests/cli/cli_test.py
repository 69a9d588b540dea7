# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line as people and scripts see it: texts, documents, exit codes, bad input."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import support

berth = support.Berth()

NODE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f"
    allowed_cpuset="0x0000000f" nodeset="0x00000003" complete_nodeset="0x00000003"
    allowed_nodeset="0x00000003" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003"
      nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003"
        nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="1073741824"/>
      <object type="Core" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001"
        nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4">
        <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001"
          nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002"
        nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="6">
        <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002"
          nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="7"/>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c"
      nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="8">
      <object type="NUMANode" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c"
        nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="9" local_memory="1073741824"/>
      <object type="Core" os_index="0" cpuset="0x00000004" complete_cpuset="0x00000004"
        nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="10">
        <object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004"
          nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="11"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x00000008" complete_cpuset="0x00000008"
        nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="12">
        <object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008"
          nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="13"/>
      </object>
    </object>
  </object>
</topology>
"""

# Arguments, variables, and what the one line must say.
BAD_INPUT = [
    ([], {}, "info, map, verify or bench"),
    (["verfy"], {}, "did you mean verify?"),
    (["frobnicate"], {}, "unknown verb frobnicate"),
    (["--frobnicate"], {}, "unknown option --frobnicate"),
    (["verify", "--deadlin", "3"], {}, "did you mean --deadline?"),
    (["verify", "--frobnicate"], {}, "unknown option --frobnicate"),
    (["verify", "-x"], {}, "unknown option -x"),
    (["verify", "extra"], {}, "unexpected word extra"),
    (["verify", "--deadline"], {}, "--deadline"),
    (["verify", "--json", "--rounds", "3"], {}, "--json"),
    (["verify", "--json", "--frobnicate"], {}, "--json takes a value, but --frobnicate follows"),
    (["verify", "--deadline", "soon"], {}, "--deadline soon: not a duration"),
    (["verify", "--deadline", "0"], {}, "--deadline 0: not a duration"),
    (["verify", "--deadline", "3parsecs"], {}, "not a duration"),
    (["verify", "--deadline="], {}, "--deadline"),
    (["verify", "--sizes", "8,,16"], {}, "--sizes : not a size"),
    (["verify", "--sizes", "8, 16"], {}, "not a size"),
    (["verify", "--sizes", "big"], {}, "--sizes big: not a size"),
    (["verify", "--sizes", "99999999999999999999"], {}, "not a size"),
    (["verify", "--rounds", "0"], {}, "not a whole number from 1"),
    (["verify", "--rounds", "many"], {}, "--rounds many"),
    (["verify", "--json", "/nowhere/at/all.json"], {}, "cannot be written"),
    (["verify", "--json", "a", "--json", "b"], {}, "--json"),
    (["bench"], {}, "which collective?"),
    (["bench", "all_reduc"], {}, "did you mean all_reduce?"),
    (["bench", "all_to_some"], {}, "berth bench all_to_some: not one of all_reduce"),
    (["bench", "all_reduce", "-b", "8Q"], {}, "-b 8Q: not a size"),
    (["bench", "all_reduce", "-b", "1M", "-e", "1K"], {}, "-b 1 MiB is more than -e 1 KiB"),
    (["bench", "all_reduce", "-b", "2"], {}, "less than one float32"),
    (["bench", "all_reduce", "-f", "1"], {}, "-f 1: not a whole number from 2"),
    (["bench", "all_reduce", "-f", "2", "-i", "8"], {}, "exclude each other"),
    (["bench", "all_reduce", "-i", "0"], {}, "-i 0: at least one byte"),
    (["bench", "all_reduce", "-i", "1"], {}, "more than 10000 sizes"),
    (["bench", "all_reduce", "-n", "0"], {}, "-n 0"),
    (["bench", "all_reduce", "-w", "-3"], {}, "-w"),
    (["bench", "all_reduce", "-c", "2"], {}, "-c 2: not one of on, off, 1, 0"),
    (["bench", "all_reduce", "-d", "float31"], {}, "did you mean float32?"),
    (["bench", "all_reduce", "-o", "mean"], {}, "-o mean: not one of sum, prod, min, max, avg, all"),
    (["bench", "all_reduce", "--backend", "gpu"], {}, "--backend gpu: not one of cpu, mpi, nccl"),
    (["bench", "all_reduce", "--compare", "gloo"], {}, "--compare gloo: not one of mpi"),
    (["bench", "all_reduce", "--csv", "/nowhere/at/all.csv"], {}, "cannot be written"),
    (["map", "--topology", "/nowhere.xml"], {}, "/nowhere.xml"),
    (["map", "--topology", "/dev/zero"], {}, "/dev/zero"),
    (["map", "--topology", "/"], {}, "/"),
    (["map", "--topology", "@broken"], {}, "broken.xml"),
    (["map", "--topology", "@good", "--ranks-per-node", "0"], {}, "--ranks-per-node 0"),
    (["map", "--topology", "@good", "--nodes", "-1"], {}, "--nodes"),
    (["map", "--topology", "@good", "--ranks-per-node", "1000000000"], {}, "--ranks-per-node"),
    (["map", "--topology", "@good", "--respect"], {}, "--respect"),
    (["map", "--respect", "--rebind"], {}, "--respect and --rebind exclude each other"),
    (["map", "--topology", "@good", "--svg", "/nowhere/x.svg"], {}, "--svg /nowhere/x.svg"),
    (["map", "--topology", "@good"], {"BERTH_BINDING": "maybe"}, "BERTH_BINDING=maybe"),
    (["map", "--topology", "@good"], {"BERTH_SMT": "2"}, "BERTH_SMT=2"),
    (["map", "--topology", "@good", "--smt", "maybe"], {}, "--smt maybe: not one of on, off"),
    (["info"], {"BERTH_BACKEN": "cpu"}, "did you mean BERTH_BACKEND?"),
    (["info"], {"BERTH_BACKEND": "gpu"}, "BERTH_BACKEND=gpu"),
    (["map", "--topology", "@good"], {"BERTH_BIND": "maybe"}, "BERTH_BIND=maybe"),
    (["verify"], {"BERTH_LOG": "loud"}, "BERTH_LOG=loud"),
    (["verify"], {"BERTH_OP_DEADLINE": "soon"}, "BERTH_OP_DEADLINE=soon"),
    (["verify"], {"BERTH_FROB": "1"}, "BERTH_FROB"),
]
# Rows that are tried with two ranks as well.
TWO_RANKS = ["verfy", "--frobnicate", "--deadline soon", "--sizes big", "all_to_some", "-b 8Q", "-d float31",
             "/nowhere.xml", "BERTH_LOG=loud", "BERTH_FROB"]


class Scratch(unittest.TestCase):
    """A folder of its own with a good and a broken topology."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.good = self.write("good.xml", NODE_XML)
        self.broken = self.write("broken.xml", NODE_XML[:900])

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def path(self, name):
        return os.path.join(self.folder, name)

    def document(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def with_files(self, arguments):
        return [{"@good": self.good, "@broken": self.broken}.get(a, a) for a in arguments]


class Help(unittest.TestCase):
    verbs = ("info", "map", "verify", "bench")

    def check_screen(self, text):
        self.assertLessEqual(len(text.splitlines()), 32)
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        examples = text.split("examples:\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(len(examples), 3, examples)

    def test_fits_one_screen_and_shows_three_examples(self):
        self.check_screen(berth("--help").out)
        for verb in self.verbs:
            outcome = berth(verb, "--help")
            self.assertEqual(outcome.code, 0)
            self.check_screen(outcome.out)

    def test_names_only_options_that_exist(self):
        for verb in self.verbs:
            for option in re.findall(r"^  (-{1,2}[a-z][a-z-]*)", berth(verb, "--help").out, re.M):
                words = [verb, "all_reduce"] if verb == "bench" else [verb]
                outcome = berth(*words, option, "--surely-unknown")
                self.assertNotIn(f"unknown option {option};", outcome.err)
                self.assertNotIn(f"unknown option {option} ", outcome.err)

    def test_examples_are_understood(self):
        for verb in self.verbs:
            for line in re.findall(r"^  .*berth (\w+ .*)$", berth(verb, "--help").out, re.M):
                words = line.split("|")[0].split()
                outcome = berth(*words, "--help")
                self.assertEqual(outcome.code, 0, line)

    def test_version_is_one_line(self):
        outcome = berth("--version")
        self.assertEqual(outcome.code, 0)
        self.assertRegex(outcome.out, r"^berth \d+\.\d+\.\d+\n$")


class BadInput(Scratch):
    def test_gets_one_line_and_exit_2_within_two_seconds(self):
        self.assertGreaterEqual(len(BAD_INPUT), 40)
        for arguments, env, text in BAD_INPUT:
            with self.subTest(arguments=arguments, env=env):
                outcome = berth(*self.with_files(arguments), env=env, cwd=self.folder)
                self.assertEqual(outcome.code, 2, outcome)
                self.assertEqual(outcome.out, "")
                self.assertEqual(len(outcome.err.splitlines()), 1, outcome.err)
                self.assertTrue(outcome.err.startswith("berth: "), outcome.err)
                self.assertIn(text, outcome.err)
                self.assertLess(outcome.seconds, 2)

    def test_gets_one_line_from_two_ranks(self):
        for wanted in TWO_RANKS:
            arguments, env, text = next(
                row for row in BAD_INPUT
                if wanted in " ".join(row[0] + [f"{k}={v}" for k, v in row[1].items()]))
            with self.subTest(arguments=arguments, env=env):
                outcome = berth(*self.with_files(arguments), env=env, np=2, cwd=self.folder)
                self.assertEqual(outcome.code, 2, outcome)
                self.assertEqual(len(outcome.own_lines()), 1, outcome.err)
                self.assertIn(text, outcome.own_lines()[0])
                # Two seconds of our own; what the launcher takes to fail is its own affair.
                launcher = berth("-c", "exit 2", tool="sh", np=2)
                if outcome.seconds >= launcher.seconds + 2:  # once more, when all are at rest
                    outcome = berth(*self.with_files(arguments), env=env, np=2, cwd=self.folder)
                self.assertLess(outcome.seconds, launcher.seconds + 2)

    def test_is_one_object_with_json(self):
        outcome = berth("verify", "--deadline", "soon", "--json", "-")
        self.assertEqual(outcome.code, 2)
        document = json.loads(outcome.out)
        self.assertEqual(document["schema"], "berth.error/1")
        self.assertFalse(document["ok"])
        self.assertEqual(document["code"], "invalid_argument")
        self.assertIn("soon", document["message"])

    def test_control_characters_do_not_reach_the_terminal(self):
        outcome = berth("\x1b[31mverify")
        self.assertEqual(outcome.code, 2)
        self.assertNotIn("\x1b", outcome.err)

    def test_refuses_a_step_of_more_ranks_than_mpi_sees(self):
        env = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
        outcome = berth("verify", env=env)
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn("SLURM_STEP_NUM_TASKS=4", outcome.err)


class Info(Scratch):
    def test_lists_versions_and_variables(self):
        outcome = berth("info", env={"BERTH_LOG": "info"})
        self.assertEqual(outcome.code, 0)
        self.assertRegex(outcome.out, r"(?m)^  MPI +\S")
        self.assertRegex(outcome.out, r"(?m)^ BERTH_LOG +info +environment$")
        self.assertRegex(outcome.out, r"(?m)^ BERTH_BACKEND +automatic +default$")

    def test_document_has_the_same(self):
        document = json.loads(berth("info", "--json", "-").out)
        self.assertEqual(document["schema"], "berth.info/1")
        names = [setting["name"] for setting in document["settings"]]
        self.assertIn("BERTH_OP_DEADLINE", names)
        self.assertIn("cpu", document["backends"])


class Map(Scratch):
    def test_plans_a_machine_from_a_file_without_mpi(self):
        outcome = berth("map", "--topology", self.good, "--ranks-per-node", "2")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("node0: 2 packages, 2 NUMA nodes, 4 cores", outcome.out)
        self.assertRegex(outcome.out, r"(?m)^    0  -  +0 +2  0-1 ")
        self.assertRegex(outcome.out, r"(?m)^    1  -  +1 +2  2-3 ")
        self.assertTrue(outcome.last_line().startswith("good: "), outcome.out)
        self.assertEqual(outcome.err, "")

    def test_document_has_hosts_and_ranks(self):
        outcome = berth("map", "--topology", self.good, self.good, "--ranks-per-node", "2",
                        "--nodes", "2", "--json", self.path("map.json"))
        self.assertEqual(outcome.code, 0, outcome)
        document = self.document("map.json")
        self.assertEqual(document["schema"], "berth.map/1")
        self.assertEqual([host["name"] for host in document["hosts"]],
                         ["node0", "node1", "node2", "node3"])
        ranks = [rank["rank"] for host in document["hosts"] for rank in host["ranks"]]
        self.assertEqual(ranks, list(range(8)))
        first = document["hosts"][0]["ranks"][0]
        self.assertEqual(first["cpus"], "0-1")
        self.assertEqual(first["memory_nodes"], [0])
        self.assertIsNone(first["device"])
        self.assertTrue(first["reason"])

    def test_says_once_what_equal_hosts_have_in_common(self):
        outcome = berth("map", "--topology", self.good, "--ranks-per-node", "2", "--nodes", "1250")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("node1 to node1249: as node0, ranks 2 to 2499", outcome.out)
        self.assertLess(len(outcome.out.splitlines()), 20)

    def test_draws_a_picture(self):
        outcome = berth("map", "--topology", self.good, "--svg", self.path("map.svg"))
        self.assertEqual(outcome.code, 0, outcome)
        with open(self.path("map.svg"), encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def test_shows_the_ranks_that_run(self):
        document = json.loads(berth("map", "--json", "-", np=2).out)
        self.assertEqual(len(document["hosts"]), 1)
        self.assertEqual([rank["rank"] for rank in document["hosts"][0]["ranks"]], [0, 1])

    def test_plans_this_machine_alone(self):
        outcome = berth("map", "--ranks-per-node", "2")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertRegex(outcome.out, r"(?m)^    1 ")


class Verify(Scratch):
    phases = ["roll-call", "plan", "bind", "connect", "data"]

    def test_text_has_the_phases_and_the_verdict(self):
        outcome = berth("verify", np=2)
        self.assertEqual(outcome.code, 0, outcome)
        lines = outcome.out.splitlines()
        self.assertRegex(lines[0], r"^berth \d.*: 2 ranks on 1 host, backend cpu, deadline 60 s$")
        for line, name in zip(lines[1:], self.phases):
            self.assertRegex(line, rf"^  {name.replace('-', ' ')} .* \d[\d.]* s$")
        self.assertRegex(outcome.last_line(), r"^good: 2 ranks on 1 host, \d[\d.]* s$")
        self.assertLessEqual(max(map(len, lines)), 100)

    def test_document_says_ok_with_five_ranks(self):
        outcome = berth("verify", "--json", "-", np=5)
        self.assertEqual(outcome.code, 0, outcome)
        document = json.loads(outcome.out)
        self.assertEqual(document["schema"], "berth.verify/1")
        self.assertIs(document["ok"], True)
        self.assertEqual((document["ranks"], document["hosts"]), (5, 1))
        self.assertEqual([phase["name"] for phase in document["phases"]], self.phases)
        self.assertTrue(all(phase["seconds"] >= 0 for phase in document["phases"]))
        self.assertEqual((document["findings"], document["drain"]), ([], []))
        # All other text is on stderr.
        self.assertIn("good: 5 ranks", outcome.err)

    def test_says_when_it_was_started_alone(self):
        outcome = berth("verify", "--sizes", "8,1K")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.err, "berth: started without mpirun: 1 rank\n")
        self.assertTrue(outcome.last_line().startswith("good: 1 rank on 1 host"))

    def test_takes_a_bare_deadline_as_seconds(self):
        outcome = berth("verify", "--deadline", "7", "--sizes", "8")
        self.assertIn("deadline 7 s\n", outcome.out)


class WrongData(Scratch):
    """Faults of the data come from the test build."""

    def find(self, fault, np=3, sizes="8,4096,65536"):
        env = {f"FAULTY_{key}": str(value) for key, value in fault.items()}
        outcome = berth("verify", "--sizes", sizes, "--json", self.path("v.json"), np=np, env=env,
                        tool=berth.faulty)
        return outcome, self.document("v.json")

    def test_names_the_rank_and_the_bit(self):
        outcome, document = self.find({"RANK": 1, "TYPE": "float32", "BYTES": 65536,
                                       "OFFSET": 1234, "BIT": 17})
        self.assertEqual(outcome.code, 1, outcome)
        self.assertFalse(document["ok"])
        self.assertEqual([f["rank"] for f in document["findings"]], [1])
        self.assertEqual(document["findings"][0]["kind"], "wrong-data")
        self.assertIn("element 1,234, bit 17", document["findings"][0]["detail"])
        self.assertRegex(outcome.last_line(), r"^bad: rank 1@\S+ delivers wrong data; 2 of 3 ranks "
                                              r"well; drain \S+$")
        self.assertEqual(document["drain"], [document["findings"][0]["host"]])

    def test_two_ranks_drain_nobody(self):
        _, document = self.find({"RANK": 0, "TYPE": "int64", "BYTES": 4096, "BIT": 63}, np=2)
        self.assertEqual([f["rank"] for f in document["findings"]], [0])
        self.assertEqual(document["drain"], [])

    def test_a_fault_that_does_not_recur_is_not_identifiable(self):
        outcome, document = self.find({"RANK": 2, "TYPE": "float64", "BYTES": 4096, "BIT": 40,
                                       "TIMES": 1})
        self.assertEqual(outcome.code, 1, outcome)
        self.assertIsNone(document["findings"][0]["rank"])
        self.assertIn("did not recur", document["findings"][0]["detail"])
        self.assertEqual(document["drain"], [])

    def test_names_the_root_of_a_wrong_broadcast(self):
        _, document = self.find({"RANK": 1, "BYTES": 4096, "OFFSET": 7, "BIT": 3,
                                 "COLLECTIVE": "broadcast"})
        self.assertEqual([f["rank"] for f in document["findings"]], [1])

    def test_every_collective_is_checked_and_named(self):
        for collective, rank in (("all_gather", 1), ("all_to_all", 1), ("reduce", None),
                                 ("reduce_scatter", None)):
            outcome, document = self.find({"RANK": 1, "TYPE": "bfloat16", "OFFSET": 5, "BIT": 14,
                                           "COLLECTIVE": collective})
            self.assertEqual(outcome.code, 1, outcome)
            self.assertEqual([f["rank"] for f in document["findings"]], [rank], document)
            self.assertIn(f"{collective}, bfloat16", document["findings"][0]["detail"])
        _, document = self.find({"RANK": 2, "TYPE": "uint8", "OFFSET": 5, "BIT": 7})
        self.assertIn("all_reduce, uint8", document["findings"][0]["detail"])


class Bench(Scratch):
    def test_table_compares_with_mpi(self):
        outcome = berth("bench", "all_reduce", "-b", "8", "-e", "2K", "-f", "16", "-n", "20",
                        "--compare", "mpi", np=2, env={"LC_ALL": "C.UTF-8"})
        self.assertEqual(outcome.code, 0, outcome)
        lines = outcome.out.splitlines()
        self.assertRegex(lines[0], r"^# berth \S+  all_reduce  float32 sum  2 ranks, 1 host  backend "
                                   r"cpu  20 iterations$")
        self.assertIn("±95%", lines[2])
        self.assertEqual([line.split()[0] for line in lines[4:-1]], ["8", "128", "2048"])
        self.assertRegex(outcome.last_line(), r"^good: 0 wrong; \d of 3 sizes faster than mpi, [\d.]+ "
                                              r"x overall; slowest: .*, [\d.]+ x$")
        self.assertEqual(outcome.own_lines(), [])

    def test_is_ascii_in_a_locale_without_utf8(self):
        outcome = berth("bench", "all_reduce", "-e", "8", "-n", "2", env={"LC_ALL": "C"})
        self.assertEqual(outcome.code, 0, outcome)
        self.assertTrue(outcome.out.isascii())

    def test_document_and_csv_have_every_figure(self):
        outcome = berth("bench", "all_reduce", "-b", "1K", "-e", "3K", "-i", "1K", "-n", "5", "-d",
                        "float64,int32", "-o", "all", "--compare", "mpi", "--json",
                        self.path("b.json"), "--csv", self.path("b.csv"), np=2)
        self.assertEqual(outcome.code, 0, outcome)
        document = self.document("b.json")
        self.assertEqual(document["schema"], "berth.bench/1")
        results = document["results"]
        self.assertEqual(len(results), 3 * 2 * 5)
        self.assertEqual({(r["type"], r["op"]) for r in results},
                         {(t, o) for t in ("float64", "int32") for o in ("sum", "prod", "min", "max", "avg")})
        for result in results:
            self.assertEqual(result["collective"], "all_reduce")
            for place in ("out_of_place", "in_place"):
                times = result[place]["time_us"]
                self.assertLessEqual(times["min"], times["median"])
                self.assertLessEqual(times["median"], times["max"])
                self.assertLessEqual(times["ci95"][0], times["ci95"][1])
                self.assertEqual(result[place]["wrong"], 0)
            compare = result["compare"]
            self.assertEqual(compare["backend"], "mpi")
            self.assertAlmostEqual(
                compare["ratio"],
                compare["time_us"]["median"] / result["out_of_place"]["time_us"]["median"], places=6)
        with open(self.path("b.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 3 * len(results))
        self.assertEqual({row["variant"] for row in rows}, {"out_of_place", "in_place"})

    def test_all_is_every_collective_with_every_type(self):
        document = json.loads(berth("bench", "all", "-b", "1K", "-e", "1K", "-n", "2", "-d", "all",
                                    "--compare", "mpi", "--json", "-", np=3).out)
        collectives = {"all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all",
                       "send_recv"}
        self.assertEqual({r["collective"] for r in document["results"]}, collectives)
        for result in document["results"]:
            self.assertEqual(result["out_of_place"]["wrong"], 0, result)
        for collective in collectives:
            self.assertEqual(len([r for r in document["results"] if r["collective"] == collective]), 10)

    def test_measures_the_reference_alone(self):
        document = json.loads(berth("bench", "all_reduce", "-e", "8", "-n", "2", "--backend", "mpi",
                                    "--json", "-", np=2).out)
        self.assertEqual(document["results"][0]["backend"], "mpi")

    def test_counts_wrong_elements_and_ends_with_1(self):
        outcome = berth("bench", "all_reduce", "-b", "4K", "-e", "4K", "-n", "2", np=2,
                        tool=berth.faulty, env={"FAULTY_RANK": "1", "FAULTY_BYTES": "4096",
                                                "FAULTY_OFFSET": "3", "FAULTY_BIT": "30"})
        self.assertEqual(outcome.code, 1, outcome)
        self.assertTrue(outcome.last_line().startswith("bad: 4 elements wrong"), outcome.out)

    def test_does_not_claim_what_it_did_not_check(self):
        outcome = berth("bench", "all_reduce", "-e", "8", "-n", "2", "-c", "0")
        self.assertTrue(outcome.last_line().startswith("good: not checked"), outcome.out)


class Streams(Scratch):
    def test_a_full_stdout_is_noticed(self):
        for words in (["--help"], ["info"], ["verify", "--sizes", "8"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                outcome = berth(*words, stdout=full)
                self.assertEqual(outcome.code, 3, outcome)
                self.assertIn("cannot write the result to stdout", outcome.err)

    def test_a_closed_stdout_is_noticed(self):
        outcome = berth("-c", f"exec '{berth.tool}' verify --sizes 8 >&-", tool="/bin/sh")
        self.assertEqual(outcome.code, 3, outcome)
        self.assertIn("cannot write the result to stdout", outcome.err)

    def test_a_reader_who_leaves_does_not_kill_it(self):
        # The pipe has no reader from the start.
        read_end, write_end = os.pipe()
        os.close(read_end)
        with os.fdopen(write_end, "w") as broken:
            outcome = berth("info", stdout=broken)
        self.assertEqual(outcome.code, 3, outcome)
        self.assertIn("Broken pipe", outcome.err)

    def test_no_progress_line_without_a_terminal(self):
        outcome = berth("bench", "all_reduce", "-e", "32", "-n", "2")
        self.assertNotIn("\r", outcome.err)

    def test_progress_line_on_a_terminal(self):
        master, slave = os.openpty()
        done = subprocess.run([berth.tool, "bench", "all_reduce", "-e", "32", "-n", "2"], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        self.assertEqual(done.returncode, 0)
        self.assertIn("] 1 of 2 sizes, 32 B, about", os.read(master, 65536).decode())
        os.close(master)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
