"""test_differences.py -- profiles/checks_differences.csv must explain each difference once, and
nothing else."""
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "profiles" / "tables"))
import fidelity_rows  # noqa: E402  (it lies in profiles/tables)


def recording(*rows):
    """Rows of a checks.csv, of one tool each: "PROGRAM VERSION TOOL ERRORS"."""
    return [{"program": program, "version": version, tool + " errors": errors,
             tool + " warnings": "0"} for program, version, tool, errors in map(str.split, rows)]


def table_of(theirs, ours, *rows):
    """The table that such recordings and explanations make; the rows are (programs, version,
    tools)."""
    why = [dict(zip(("programs", "version", "tools"), row), why="so") for row in rows]
    with mock.patch.multiple(fidelity_rows, CHECKED_BY_GPU=recording(*theirs),
                             CHECKED=recording(*ours), CHECKS_DIFFER=why):
        return fidelity_rows.checks_differ()


class Differences(unittest.TestCase):
    THEIRS = ("a-b wrong memcheck 0", "a-c wrong memcheck ?", "a-d right racecheck 3",
              "a-e right synccheck ?")
    OURS = ("a-b wrong memcheck 2", "a-c wrong memcheck 1", "a-d right racecheck 0",
            "a-e right synccheck 0")
    ALL = [("a-b a-c", "wrong", "memcheck"), ("a-d", "right", "racecheck"),
           ("a-e", "right", "synccheck")]

    def test_the_tool_that_has_found_it(self):
        """A run without a verdict differs from one that found something, and from one that found
        nothing."""
        self.assertEqual(table_of(self.THEIRS, self.OURS, *self.ALL)[2:], [
            "| a-b, a-c | memcheck | the emulator | so |",
            "| a-d (right) | racecheck | compute-sanitizer | so |",
            "| a-e (right) | synccheck | neither | so |"])

    def test_each_is_explained(self):
        with self.assertRaisesRegex(SystemExit, "does not explain a-d/right/racecheck"):
            table_of(self.THEIRS, self.OURS, self.ALL[0], self.ALL[2])

    def test_none_is_explained_twice(self):
        with self.assertRaisesRegex(SystemExit, "explains a-c/wrong/memcheck twice"):
            table_of(self.THEIRS, self.OURS, *self.ALL, ("*-c", "wrong", "memcheck"))

    def test_what_does_not_differ_is_not_explained(self):
        for programs, tools, named in (("a-b a-x", "memcheck", "a-x, wrong, memcheck"),
                                       ("a-b", "memcheck initcheck", "a-b, wrong, initcheck")):
            with self.assertRaisesRegex(SystemExit, named + ": no difference"):
                table_of(self.THEIRS, self.OURS, (programs, "wrong", tools), *self.ALL[1:])


class Table(unittest.TestCase):
    def test_what_has_not_been_recorded_on_a_gpu_says_so(self):
        runs = lambda program: ["%s %s %s 1" % (program, version, tool)
                                for version in ("wrong", "right") for tool in fidelity_rows.TOOLS]
        with mock.patch.multiple(fidelity_rows, CHECKED_BY_GPU=recording(*runs("a-b")),
                                 CHECKED=recording(*runs("a-b"), *runs("a-c")),
                                 CHECKED_ON={"GPU": "H200"}):
            lines = fidelity_rows.checks()
        self.assertIn("1 programs, in a wrong and a right version", lines[0])
        self.assertIn("1 more programs have not been run on a GPU (not recorded)",
                      " ".join(lines[:lines.index("")]))
        self.assertIn("| [a-b](../../tests/checks/) |" + " 1 / 1 |" * 4, lines)
        self.assertIn("| [a-c](../../tests/checks/) |" + " not recorded / 1 |" * 4, lines)


if __name__ == "__main__":
    unittest.main()
