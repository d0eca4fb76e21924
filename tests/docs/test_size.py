"""test_size.py -- how many files and written lines the tree may have. Both numbers only fall. (A
slow test, so that `make test` passes for somebody who adds a step.)"""
import subprocess
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FILES, LINES = 1503, 264500
DRAWN = (".csv", ".svg", ".png")  # recorded or drawn, not written
SLACK = 1000  # lines by which LINES may lie above the tree: lower it after a deletion


class Size(unittest.TestCase):
    def test_the_tree_does_not_grow_slow(self):
        if not (TOP / ".git").exists():
            self.skipTest("no git")
        files = subprocess.check_output(["git", "ls-files", "-z"], cwd=TOP,
                                        text=True).split("\0")[:-1]
        written = [TOP / f for f in files if not f.endswith(DRAWN) and (TOP / f).is_file()]
        lines = sum(f.read_bytes().count(b"\n") for f in written)
        self.assertLessEqual(len(files), FILES)
        self.assertLessEqual(lines, LINES)
        self.assertGreater(lines, LINES - SLACK, "test_size.py: lower LINES to what is there")


if __name__ == "__main__":
    unittest.main()
