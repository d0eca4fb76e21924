"""test_labs.py -- labs 2 to 5 and the first puzzles, judged with nvcc and without: solutions,
skeletons, broken kernels and ways to fill the gaps get the same points for the same reasons, but
for those that differences.txt explains."""
import json
import re
import tempfile
import unittest
from pathlib import Path

from own import CUDA, TOP, Explained, run

LABS = (2, 3, 4, 5)
PARTS = re.compile(r"^( *// ---- gap (\d+):.*?)(^ *// ---- end of gap \d+\n)", re.M | re.S)


def source_of(lab):
    return next(TOP.glob(f"steps/{lab:02}-*/scan.cu"))


def made(*command):
    return run(*command).stdout


def sections(path):
    """The parts of a file by their names, `== NAME`."""
    text = (TOP / path).read_text(encoding="utf-8")
    return {name: part for name, part in re.findall(r"^== (.*)\n((?:(?!== ).*\n?)*)", text, re.M)}


def filled(lab, part):
    """A solution with some gaps filled otherwise, as tests/labs/gaps.txt says."""
    solution = made("common/labs/skeleton.sh", "--solution", lab, source_of(lab))
    ways = {gap: whole for whole, gap in re.findall(
        r"(^ *// ---- gap (\d+):.*?^ *// ---- end of gap[ \d]*\n?)", part, re.M | re.S)}
    commands = re.findall(r"^// sed: (.*)", part, re.M)
    text = PARTS.sub(lambda m: ways[m[2]] if m[2] in ways else m[0], solution)
    return run("sed", *(word for c in commands for word in ("-e", c)), given=text).stdout \
        if commands else text


def files():
    """(name, lab, text) of all that is judged."""
    for lab in LABS:
        yield f"solution{lab}", lab, made("common/labs/skeleton.sh", "--solution", lab,
                                          source_of(lab))
        yield f"skeleton{lab}", lab, made("common/labs/skeleton.sh", lab, source_of(lab))
    for name, part in sections("common/labs/bugs/bugs.txt").items():
        lab = int(re.match(r"# lab (\d+)", part)[1])
        if lab in LABS:
            yield f"bug{name}", lab, made("common/labs/bugs/bug.sh", name)
    for name, part in sections("tests/labs/gaps.txt").items():
        if int(name.split("-")[0]) in LABS:
            yield name, int(name.split("-")[0]), filled(int(name.split("-")[0]), part)


def judge(lab, path, compiler):
    """Points, right runs, and where points are lost, of one check."""
    done = run("build/labs/check-lab", lab, path, "--json", "--no-gpu", "--compiler", compiler,
               "--nvcc", f"{CUDA}/bin/nvcc")
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    verdict = json.loads(done.stdout)
    lost = sorted({(line["criterion"], line["line"]) for line in verdict["lost"]})
    return verdict["failure"], verdict["points"], verdict["right_runs"], lost


class Labs(unittest.TestCase):
    def test_verdicts_are_those_with_nvcc_but_for_those_explained(self):
        explained, equal, count = Explained("labs"), 0, 0
        with tempfile.TemporaryDirectory() as folder:
            for name, lab, text in files():
                with self.subTest(file=name):
                    path = Path(folder) / f"{name}.cu"
                    path.write_text(text, encoding="utf-8")
                    ours, theirs = judge(lab, path, "own"), judge(lab, path, "nvcc")
                    if not explained.has(name):
                        self.assertEqual(ours, theirs)
                    equal, count = equal + (ours == theirs), count + 1
        print(f"\n{equal} of {count} verdicts are equal")
        self.assertEqual(explained.stale(), [])

    def test_the_verdict_says_who_has_compiled(self):
        path = "build/labs/reference3.cu"
        said = run("build/labs/check-lab", 3, path, "--compiler", "own").stdout
        self.assertIn("Compiled without nvcc", said)
        self.assertIn("100.00 of 100 points", said)

    def test_what_it_cannot_judge_is_one_sentence(self):
        for arguments, words in ((("7", "--compiler", "own"), "Lab 7 needs nvcc"),
                                 (("3", "--compiler", "gcc"), "There is no compiler \"gcc\"")):
            lab, *options = arguments
            done = run("build/labs/check-lab", lab, "build/labs/reference3.cu", *options)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
            self.assertIn(words, done.stderr)


class FirstPuzzles(unittest.TestCase):
    def check(self, number, old="", new=""):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"first{number}.cu"
            text = (TOP / f"steps/first-kernel/first{number}.cu").read_text(encoding="utf-8")
            path.write_text(re.sub(old, new, text) if old else text, encoding="utf-8")
            done = run("common/labs/check_first.sh", path, "own")
            return done.returncode, done.stdout + done.stderr

    def test_solved_they_are_right(self):
        for number in (1, 2, 3):
            status, said = self.check(number)
            self.assertEqual(status, 0, said)
            self.assertIn("Compiled without nvcc", said)

    def test_unsolved_they_say_what_is_wrong(self):
        without = r".*// lab: .*\n"
        for number, words in ((1, "out[0] is 0, and should be 250000"),
                              (2, "thread (232,0,0) in block (3,0,0)"),
                              (3, "out[1] is 4, and should be 5")):
            status, said = self.check(number, without)
            self.assertEqual(status, 1)
            self.assertIn(words, said)
        status, said = self.check(3, r".*__syncthreads.*\n")
        self.assertEqual(status, 1)
        self.assertIn("all 256 numbers are right", said)
        self.assertIn("Race reported", said)


if __name__ == "__main__":
    unittest.main()
