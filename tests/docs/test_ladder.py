"""test_ladder.py -- each step says which step it continues, make diffN prints the difference, and
the steps that a reader compares differ in few lines."""
import os
import re
import subprocess
import unittest

from book import TOP

# Changed lines between the kernels of two steps, at most.
MOST = {3: 80, 4: 40, 5: 100, 6: 85, 7: 6}


def diff(step):
    # Without MAKEFLAGS, this make takes no part in the jobs of a make that runs the tests.
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    done = subprocess.run(["make", "-s", "--no-print-directory", "diff%s" % step], cwd=TOP,
                          env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def source(step):
    [folder] = TOP.glob("steps/%02d-*" % step)
    return (folder / "scan.cu").read_text(encoding="utf-8")


class Ladder(unittest.TestCase):
    def test_each_step_names_the_one_that_it_continues(self):
        for step in range(2, 13):
            with self.subTest(step=step):
                named = re.findall(r"^ \* Same as step (\d+) except", source(step), re.M)
                self.assertEqual(len(named), 1)
                self.assertLess(int(named[0]), step)

    def test_diffs_are_short_slow(self):
        for step, most in MOST.items():
            with self.subTest(step=step):
                code, output, errors = diff(step)
                self.assertEqual((code, errors), (0, ""))
                first, rest = output.split("\n--- ", 1)
                self.assertRegex(first, r"^Same as step %d except: " % (step - 1))
                changed = re.findall(r"^[-+](?![-+][-+] )", rest, re.M)
                self.assertLessEqual(len(changed), most)

    def test_only_what_differs_is_shown(self):
        """Step 7 differs from step 6 in two lines; names and headers do not count."""
        changed = re.findall(r"^[-+]([^-+].*)", diff(7)[1], re.M)
        self.assertEqual([line.split(" //")[0] for line in changed],
                         ["#pragma unroll 1", "#pragma unroll"] * 2)

    def test_applications_show_what_they_change(self):
        for step in range(13, 17):
            with self.subTest(step=step):
                code, output, _ = diff(step)
                self.assertEqual(code, 0)
                self.assertTrue(output.startswith("Same as "), output[:80])
                self.assertIn("\n+++ steps/%d-" % step, output)

    def test_a_step_without_one_says_so(self):
        for step, why in (("1", "step 1 continues no other step"),
                          ("17", "step 17 has no scan.cu to compare"),
                          ("x", "N is the number of a step, not x")):
            with self.subTest(step=step):
                code, output, errors = diff(step)
                self.assertNotEqual(code, 0)
                self.assertEqual(output, "")
                self.assertIn(why, errors)


if __name__ == "__main__":
    unittest.main()
