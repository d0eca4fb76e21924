"""test_order.py -- emu --tool order: which barriers, fences and waits are needed. orders.cu says in
comments what is expected of each."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
EMU = TOP / "build/emu/emu"
SOURCE = TOP / "tests/python/order/orders.cu"
FOLDER = tempfile.TemporaryDirectory()
PROGRAM = Path(FOLDER.name) / "orders"
KERNELS = ("scan", "twice", "lanes", "publish", "whole_grid", "copies", "no_barrier", "often",
           "hand_over")


def setUpModule():
    subprocess.run(["nvcc", "-lineinfo", "-arch=sm_90", "-cudart", "shared", "-o", PROGRAM, SOURCE],
                   check=True)


def tearDownModule():
    FOLDER.cleanup()


def emu(*words):
    return subprocess.run([EMU, *words], capture_output=True, text=True, check=False)


def expected(kernel):
    """The comments of a kernel: for each line what is said of it, and whether it says more."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if "__global__" in line and kernel + "(" in line)
    end = next(n for n in range(first, len(lines)) if lines[n] == "}" or lines[n].endswith("; }"))
    found = {}
    for number in range(first, end):
        comment = re.search(r"// (needed|not needed|never executed)(, doubled)?$", lines[number])
        if comment:
            found[number + 1] = (comment[1], bool(comment[2]) or comment[1] == "needed")
    return found


class Order(unittest.TestCase):
    def notes(self, *words):
        """From the JSON of a run: for each line what is said of it, and in which detail."""
        done = emu("--tool", "order", "--json", "--log-file", FOLDER.name + "/json", PROGRAM,
                   *words)
        self.assertEqual((done.returncode, done.stdout), (0, "no error\n"), done.stderr)
        document = json.loads(Path(FOLDER.name + "/json").read_text(encoding="utf-8"))
        self.assertEqual({f["severity"] for f in document["findings"]} - {"note"}, set())
        return {f["place"]["line"]: (f["kind"].replace("-", " "), f.get("detail") or "")
                for f in document["findings"]}

    def test_each_place(self):
        for number, kernel in enumerate(KERNELS):
            with self.subTest(kernel):
                said = {line: (kind, bool(detail))
                        for line, (kind, detail) in self.notes(str(number)).items()}
                self.assertEqual(said, expected(kernel))

    def test_the_smallest_launch_is_named(self):
        needed = [detail for kind, detail in self.notes("20").values() if kind == "needed"]
        self.assertEqual(len(needed), 3)
        for detail in needed:
            self.assertIn("in launch 3, grid (1,1,1), block (64,1,1)", detail)

    def test_another_thread_uses_cuda(self):
        self.assertEqual({kind for kind, _ in self.notes("25").values()},
                         {"needed", "not needed", "never executed"})

    def test_places_of_launches_that_are_not_looked_at(self):
        said = emu("--tool", "order", "--print-limit", "1", PROGRAM, "24").stderr
        self.assertIn("3 needed, 1 not needed in these runs, 0 never executed, 1 not looked at",
                      said)

    def test_a_line_that_two_devices_execute_is_told_once(self):
        said = emu("--tool", "order", "--devices", "2", PROGRAM, "26").stderr
        self.assertIn("3 needed, 2 not needed in these runs, 0 never executed\n", said)

    def test_handlers_and_children_of_the_program(self):
        self.assertEqual({kind for kind, _ in self.notes("23").values()}, {"needed"})

    def test_a_place_that_is_executed_often_slow(self):
        said = self.notes("7", "500000")
        self.assertEqual({kind for kind, _ in said.values()}, {"needed"})

    def test_text(self):
        said = emu("--tool", "order", PROGRAM, "0").stderr
        line = next(n for n, (kind, _) in expected("scan").items() if kind == "needed")
        self.assertRegex(said, r"========= needed: a barrier at \S+:%d \(PTX line \d+\)\n"
                               r"=========     without it, Write access at .*:%d .*\n"
                               r"=========         and Read access at " % (line, line - 1))
        self.assertIn("========= ORDER SUMMARY: 3 needed, 1 not needed in these runs, 1 never "
                      "executed\n========= ERROR SUMMARY: 0 errors\n", said)

    def test_all_does_not_include_it(self):
        self.assertNotIn("ORDER", emu("--tool", "all", PROGRAM, "0").stderr)

    def test_the_debugger_refuses_it(self):
        self.assertIn("debug has no --tool order", emu("debug", "--tool", "order", PROGRAM).stderr)

    def test_a_race_is_still_an_error(self):
        done = emu("--tool", "order", "--error-exitcode", "9", PROGRAM, "21")
        self.assertEqual(done.returncode, 9)
        self.assertIn("Race reported between", done.stderr)
        self.assertIn("0 needed, 1 not needed", done.stderr)

    def test_a_fence_is_needed_though_the_readers_is_missing(self):
        said = emu("--tool", "order", PROGRAM, "22").stderr
        self.assertIn("was read without a fence", said)
        self.assertIn("1 needed, 0 not needed", said)


if __name__ == "__main__":
    unittest.main()
