"""test_snippets.py -- the lines of programs that the chapters show stand in the sources of their
steps. Left out are the calls that show how to use a library, and chapters that abbreviate."""
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from book import TOP, text_of

CHAPTERS = ["00-copy.md", "02-naive.md", "03-work-efficient.md", "04-conflict-free.md",
            "05-arbitrary-size.md", "06-vectorized.md", "07-unrolled.md", "08-off-chip.md",
            "10-cooperative.md", "11-single-pass.md", "12c-ring.md", "13-compaction.md",
            "14-summed-area-table.md", "15-radix-sort.md", "16-operators.md", "17-many-gpus.md"]
BLOCK = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
LIBRARY = re.compile(r"^### As a library\n.*?(?=^### |\Z)", re.M | re.S)
SOURCES = {".c", ".h", ".cu", ".cuh"}
PRINTED = {"((n) >> NUM_BANKS + (n) >> (2 * LOG_NUM_BANKS))"}  # the documents' own, with its error


def plain(text):
    """The lines of a program without comments and indentation."""
    lines = (re.sub(r"//.*", "", line).strip() for line in text.split("\n"))
    return {line for line in lines if line and line != "…"}


def shown_by(chapter):
    return set().union(*map(plain, BLOCK.findall(LIBRARY.sub("", text_of(chapter)))))


def sources(chapter):
    return set().union(*(plain(path.read_text(encoding="utf-8"))
                         for path in TOP.glob("steps/%s-*/**/*" % chapter[:2])
                         if path.suffix in SOURCES))


def stands_in(line, lines):
    """A line may be a part of a longer one, such as a function of one line."""
    return line in lines or any(line in other for other in lines)


class Snippets(unittest.TestCase):
    def test_lines_stand_in_the_sources(self):
        for chapter in CHAPTERS:
            lines = sources(chapter)
            with self.subTest(chapter=chapter):
                self.assertEqual([line for line in shown_by(chapter) - PRINTED
                                  if not stands_in(line, lines)], [])

    def test_lines_are_found(self):
        self.assertIn("temp[bi] += temp[ai];", sources("03-work-efficient.md"))
        self.assertFalse(stands_in("temp[bi] -= temp[ai];", sources("03-work-efficient.md")))
        self.assertGreater(len(set().union(*map(shown_by, CHAPTERS))), 60)


class Alone(unittest.TestCase):
    """`make aloneN`: each file compiles without the repository's folders, is right, and notices
    what is wrong."""

    def run_of(self, text, folder, *sizes):
        path = Path(folder) / "step.cu"
        path.write_text(text, encoding="utf-8")
        toolkit = subprocess.check_output(["common/build/toolkit.sh"], cwd=TOP, text=True).strip()
        subprocess.run([toolkit + "/bin/nvcc", "-cudart", "shared", "-Werror", "all-warnings",
                        "-arch=compute_90", "-code=compute_90", "-o", "step", "step.cu"],
                       cwd=folder, check=True)
        return [subprocess.run([TOP / "build/emu/emu", "--log-file", "/dev/null", "./step", n],
                               cwd=folder, capture_output=True, text=True) for n in sizes]

    def test_the_loop_is_c(self):
        text = subprocess.check_output(["common/build/alone.py", "1"], cwd=TOP, text=True)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o", "step1"],
                           cwd=folder, input=text, text=True, check=True)
            for n in "0", "1", "1000":
                run = subprocess.run(["./step1", n], cwd=folder, capture_output=True, text=True)
                self.assertTrue(run.stdout.startswith("right: %s elements, " % n), run)

    def test_each_is_right_slow(self):
        for step in (0, *range(2, 13)):
            text = subprocess.check_output(["common/build/alone.py", str(step)], cwd=TOP, text=True)
            self.assertRegex(text.split("\n")[0], r"^// nvcc (-arch=sm_90 )?step%d\.cu " % step)
            sizes = ("1", "512") if 1 < step < 5 else ("1", "512", "100003")
            with self.subTest(step=step), tempfile.TemporaryDirectory() as folder:
                for n, run in zip(sizes, self.run_of(text, folder, *sizes)):
                    self.assertTrue(run.stdout.startswith("right: %s elements, " % n), run)
                    self.assertEqual(run.returncode, 0)

    def test_a_wrong_one_says_so_slow(self):
        text = subprocess.check_output(["common/build/alone.py", "3"], cwd=TOP, text=True)
        spoiled = text.replace("if (thid == 0) temp[n - 1] = 0;", "")
        self.assertNotEqual(spoiled, text)
        with tempfile.TemporaryDirectory() as folder:
            run, = self.run_of(spoiled, folder, "512")
        self.assertRegex(run.stdout, r"^wrong: element \d+ is \S+, not \S+\n$")
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
