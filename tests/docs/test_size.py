"""test_size.py -- how many files and written lines the tree may have. Both numbers only fall. (A
slow test, so that `make test` passes for somebody who adds a step.)"""
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FILES, LINES = 1120, 238000
DRAWN = (".csv", ".svg", ".png")  # recorded or drawn, not written
SLACK = 1000  # lines by which LINES may lie above the tree: lower it after a deletion


NEAR = 0.1  # by which a number of notes/layout.md may differ


def written(files):
    return sum((TOP / f).read_bytes().count(b"\n") for f in files
               if not f.endswith(DRAWN) and (TOP / f).is_file())


class Size(unittest.TestCase):
    def setUp(self):
        if not (TOP / ".git").exists():
            self.skipTest("no git")
        self.files = subprocess.check_output(["git", "ls-files", "-z"], cwd=TOP,
                                             text=True).split("\0")[:-1]

    def test_the_tree_does_not_grow_slow(self):
        lines = written(self.files)
        self.assertLessEqual(len(self.files), FILES)
        self.assertLessEqual(lines, LINES)
        self.assertGreater(lines, LINES - SLACK, "test_size.py: lower LINES to what is there")

    def test_the_parts_are_as_large_as_layout_says_slow(self):
        text = (TOP / "notes/layout.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\|[^|]*\|[^|]*\|((?: `[^`]+`)+) \| ([\d ]+) \| ([\d ]+) \|$", text,
                          re.M)
        self.assertEqual(len(rows), 8)
        for folders, *said in rows:
            names = tuple(name + "/" for name in re.findall("`([^`]+)`", folders))
            part = [f for f in self.files if f.startswith(names)]
            for number, there in zip(said, (len(part), written(part))):
                number = int(number.replace(" ", ""))
                self.assertAlmostEqual(number, there, delta=NEAR * there, msg=folders)


if __name__ == "__main__":
    unittest.main()
