"""test_labs.py -- the labs, judged with nvcc and without: solutions, skeletons, broken kernels and
ways to fill the gaps (tests/cli/gaps.txt) get the same points for the same reasons."""
import json
import tempfile
import unittest
from pathlib import Path

from own import CUDA, LABS, files, run


def judge(lab, path, compiler):
    """Points, right runs, and where points are lost, of one check, without barriers not needed."""
    done = run("build/labs/check-lab", lab, path, "--json", "--no-gpu", "--compiler", compiler,
               "--nvcc", f"{CUDA}/bin/nvcc")
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    verdict = json.loads(done.stdout)
    lost = sorted({(line["criterion"], line["line"]) for line in verdict["lost"]
                   if "this run does not need" not in line["text"]})
    return verdict["failure"], verdict["points"], verdict["right_runs"], lost


# What the compilers do otherwise. They read a word that nobody has stored, or a word before another
# thread stores it (undefined); there is a lambda in it, which ours does not know; loops that are
# not unrolled take other instructions.
OTHERS = {"skeleton11", "bug7", "7-levels-by-hand", "7-loops", "7-variable-bound", "13-one-thread"}


class Labs(unittest.TestCase):
    def test_verdicts_are_those_with_nvcc_slow(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, lab, text in files():
                if name in OTHERS:
                    continue
                with self.subTest(file=name):
                    path = Path(folder) / f"{name}.cu"
                    path.write_text(text, encoding="utf-8")
                    self.assertEqual(judge(lab, path, "own"), judge(lab, path, "nvcc"))

    def test_solutions_have_all_points_slow(self):
        for lab in LABS:
            with self.subTest(lab=lab):
                failure, points, _, lost = judge(lab, f"build/labs/reference{lab}.cu", "own")
                self.assertEqual((failure, points, lost), (None, 100, []))

    def test_the_verdict_says_who_has_compiled(self):
        path = "build/labs/reference3.cu"
        said = run("build/labs/check-lab", 3, path, "--compiler", "own").stdout
        self.assertIn("Compiled without nvcc", said)
        self.assertIn("100.00 of 100 points", said)

    def test_what_it_cannot_judge_is_one_sentence(self):
        done = run("build/labs/check-lab", 3, "build/labs/reference3.cu", "--compiler", "gcc")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("There is no compiler \"gcc\"", done.stderr)


if __name__ == "__main__":
    unittest.main()
