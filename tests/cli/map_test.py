# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
"""`berth map` under a launcher: what taskset, --bind-to and containers do to the plan, and that
every rank really runs where the map says."""

import json
import os
import resource
import subprocess
import sys
import unittest

TOOL = os.environ["UNDER_TEST_TOOL"]
# Without its flags: --oversubscribe switches the binding off.
LAUNCHER = os.environ["UNDER_TEST_MPIEXEC"].split()[:1]
CPUS = sorted(os.sched_getaffinity(0))


def listed(text):
    """"0-2,5" as a set."""
    found = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def ranks(*flags, before=(), inside=(), options=(), env=None):
    """The ranks of a live map of two ranks. `before` the launcher, `inside` it before the tool."""
    # The binding is the launcher's own, not what this machine's other tests ask it for.
    full = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_")}
    full.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **(env or {}))
    done = subprocess.run([*before, *LAUNCHER, "-np", "2", *flags, *inside, TOOL, "map", *options,
                           "--json", "-"], capture_output=True, text=True, env=full, timeout=60,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    document = json.loads(done.stdout)
    return [rank for host in document["hosts"] for rank in host["ranks"]], document


def can(*command):
    """True when this machine lets the command work."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def is_open_mpi():
    """Flags for binding are the launcher's own."""
    told = subprocess.run([LAUNCHER[0], "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in told.stdout or "OpenRTE" in told.stdout


@unittest.skipIf(len(CPUS) < 2, "needs two processors")
@unittest.skipUnless(is_open_mpi(), "needs Open MPI's launcher")
class Live(unittest.TestCase):
    def check_apart(self, found):
        """Two ranks, no shared processor, none outside the allowed ones."""
        first, second = (listed(rank["cpus"]) for rank in found)
        self.assertTrue(first and second)
        self.assertFalse(first & second)
        self.assertLessEqual(first | second, set(CPUS))

    def test_default_binding_of_the_launcher_is_replaced_by_a_fair_share(self):
        found, document = ranks()
        self.check_apart(found)
        self.assertEqual(sum(len(listed(rank["cpus"])) for rank in found), len(CPUS))
        for rank in found:
            self.assertNotIn("kept-launcher-binding", rank["flags"])
        self.assertIsNotNone(document["launcher_cost"])

    def test_without_binding_the_cores_are_shared_out(self):
        found, document = ranks("--bind-to", "none")
        self.check_apart(found)
        self.assertTrue(all(rank["flags"] == [] for rank in found), found)
        self.assertIsNone(document["launcher_cost"])

    def test_binding_that_was_asked_for_is_kept(self):
        found, _ = ranks("--bind-to", "core")
        self.check_apart(found)
        for rank in found:
            self.assertIn("kept-launcher-binding", rank["flags"])

    def test_rebind_replaces_what_was_asked_for(self):
        found, _ = ranks("--bind-to", "core", options=["--rebind"])
        self.check_apart(found)
        for rank in found:
            self.assertNotIn("kept-launcher-binding", rank["flags"])

    def test_respect_by_variable_keeps_the_default_binding(self):
        found, _ = ranks(env={"BERTH_BINDING": "respect"})
        for rank in found:
            self.assertIn("kept-launcher-binding", rank["flags"])

    def test_taskset_is_a_border_that_is_not_crossed(self):
        only = CPUS[-1]
        found, _ = ranks("--bind-to", "none", inside=["taskset", "-c", str(only)])
        for rank in found:
            self.assertEqual(listed(rank["cpus"]), {only})
            self.assertIn("cpu-shared", rank["flags"])
            self.assertIn("kept-launcher-binding", rank["flags"])

    def test_smt_off_and_fill_are_options_of_the_live_map(self):
        found, _ = ranks("--bind-to", "none", options=["--smt", "off", "--fill"])
        self.check_apart(found)

    def test_works_where_a_container_hides_the_pci_bus(self):
        hide = ["unshare", "-m", "sh", "-c",
                'mount -t tmpfs none /sys/bus/pci && exec "$@"', "sh"]
        if not can(*hide, "true"):
            self.skipTest("no mount namespaces here")
        found, _ = ranks("--bind-to", "none", before=hide)
        self.check_apart(found)
        self.assertTrue(all(rank["device"] is None for rank in found))

    def test_works_with_a_user_namespace_for_each_rank_as_containers_make_them(self):
        own = ["unshare", "--user", "--map-root-user", "--mount"]
        if not can(*own, "true"):
            self.skipTest("no user namespaces here")
        found, _ = ranks("--bind-to", "none", inside=own)
        self.check_apart(found)
        found, _ = ranks("--bind-to", "none", before=own)
        self.check_apart(found)

    def test_picture_of_the_ranks_that_run(self):
        path = f"/tmp/berth-test-map-{os.getpid()}.svg"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        ranks("--bind-to", "none", options=["--svg", path])
        with open(path, encoding="utf-8") as file:
            self.assertIn("<svg", file.read())


def machine(packages=2, cores=48, devices=4):
    """lstopo XML: packages of `cores` cores of two threads, one NUMA node and `devices` GPUs each."""
    pus = 2 * packages * cores

    def mask(first, last):
        bits = 0
        for core in range(first, last):
            bits |= 1 << core | 1 << (core + pus // 2)
        words = []
        while bits or not words:
            words.insert(0, f"0x{bits & 0xffffffff:08x}")
            bits >>= 32
        return ",".join(words)

    def sets(first, last, nodes):
        return (f'cpuset="{mask(first, last)}" complete_cpuset="{mask(first, last)}" '
                f'nodeset="0x{nodes:08x}" complete_nodeset="0x{nodes:08x}"')

    ids = iter(range(1, 100000))
    every = mask(0, packages * cores)
    text = ['<?xml version="1.0" encoding="UTF-8"?>', '<!DOCTYPE topology SYSTEM "hwloc2.dtd">',
            '<topology version="2.0">',
            f'<object type="Machine" os_index="0" {sets(0, packages * cores, (1 << packages) - 1)} '
            f'allowed_cpuset="{every}" allowed_nodeset="0x{(1 << packages) - 1:08x}" '
            f'gp_index="{next(ids)}">']
    for package in range(packages):
        low, high = package * cores, (package + 1) * cores
        text.append(f'<object type="Package" os_index="{package}" {sets(low, high, 1 << package)} '
                    f'gp_index="{next(ids)}">')
        text.append(f'<object type="NUMANode" os_index="{package}" {sets(low, high, 1 << package)} '
                    f'gp_index="{next(ids)}" local_memory="1099511627776"/>')
        for core in range(low, high):
            text.append(f'<object type="Core" os_index="{core}" {sets(core, core + 1, 1 << package)} '
                        f'gp_index="{next(ids)}">')
            for pu in (core, core + pus // 2):
                own = sets(core, core + 1, 1 << package).replace(
                    mask(core, core + 1),
                    ",".join(reversed([f"0x{1 << pu >> (32 * w) & 0xffffffff:08x}"
                                       for w in range((pu // 32) + 1)])))
                text.append(f'<object type="PU" os_index="{pu}" {own} gp_index="{next(ids)}"/>')
            text.append("</object>")
        for device in range(devices):
            bus = f"0000:{16 * (package + 1) + 4 * device:02x}"
            text.append(f'<object type="Bridge" gp_index="{next(ids)}" bridge_type="0-1" depth="0" '
                        f'bridge_pci="0000:[{bus[-2:]}-{bus[-2:]}]"><object type="PCIDev" '
                        f'gp_index="{next(ids)}" pci_busid="{bus}:00.0" '
                        'pci_type="0302 [10de:2330] [10de:16c1] a1" pci_link_speed="63.0"/></object>')
        text.append("</object>")
    text += ["</object>", "</topology>"]
    return "\n".join(text)


class Speed(unittest.TestCase):
    """Processor time, which a busy machine does not stretch; parsing in the child included."""

    def test_map_of_eight_devices_and_192_hardware_threads_takes_less_than_150_ms(self):
        path = f"/tmp/berth-test-map-{os.getpid()}.xml"
        self.addCleanup(lambda: os.path.exists(path) and os.unlink(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(machine())
        times = []
        for _ in range(5):
            began = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([TOOL, "map", "--topology", path, "--json", "-"], check=True,
                                  capture_output=True, text=True)
            ended = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime)
        host = json.loads(done.stdout)["hosts"][0]
        self.assertEqual((host["devices"], len(host["ranks"])), (8, 8))
        self.assertEqual([rank["cores"] for rank in host["ranks"]], [12] * 8)
        print(f"median {1000 * sorted(times)[2]:.0f} ms")
        self.assertLess(sorted(times)[2], 0.150)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
