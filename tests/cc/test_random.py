"""test_random.py -- random kernels, compiled by nvcc and by common/cc, on the emulator: results are
equal in bits, but for those that differences.txt lists, and counters of most kernels are equal.
CC_SEEDS has the seeds of the files, a hundred kernels each (`make test-cc`). result.txt says what
was found so far."""
import os
import re
import unittest

from own import BUILT, Explained, compile_own, run

LEAST_EQUAL = 0.65  # of all kernels, those whose counters are equal
SEEDS = os.environ.get("CC_SEEDS", "1 2").split()
# What differs is a line about a kernel; lines of counters have both compilers.
IS_COUNTERS = "nvcc | own"


class RandomKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.refused = {}
        for seed in SEEDS:
            ptx, said = compile_own(BUILT / f"{seed}.cu")
            if ptx is None:
                cls.refused[seed] = said[:2000]
            (BUILT / f"{seed}.own.ptx").write_text(ptx or "", encoding="utf-8")
        done = run(BUILT / "compare", *(BUILT / seed for seed in SEEDS))
        *cls.lines, cls.total = done.stdout.splitlines()
        print("\n" + cls.total)
        (BUILT / "differing.txt").write_text(done.stdout, encoding="utf-8")

    def numbers(self):
        """Kernels, and those with equal counters."""
        return map(int, re.search(r"^kernels (\d+),.* equal (\d+);", self.total).groups())

    def wrong(self):
        return [line for line in self.lines if " " in line and IS_COUNTERS not in line]

    def test_all_are_compiled_and_run_without_a_finding_slow(self):
        self.assertEqual(self.refused, {})
        self.assertEqual([line for line in self.wrong() if "floats[" not in line], [])
        self.assertEqual(next(self.numbers()), 100 * len(SEEDS))

    def test_floats_differ_in_the_listed_kernels_alone_slow(self):
        differ, prefix = set(), None
        for line in self.lines:
            if " " not in line:
                prefix = line.rsplit("/", maxsplit=1)[1]
            elif IS_COUNTERS not in line:
                differ.add(f"{prefix}/{line.split(':')[0]}")
        listed = {name for names in Explained("random").patterns for name in names.split()
                  if name.split("/")[0] in SEEDS}
        self.assertEqual(differ, listed)

    def test_counters_of_most_kernels_are_equal_slow(self):
        kernels, equal = self.numbers()
        self.assertGreaterEqual(equal / kernels, LEAST_EQUAL)


if __name__ == "__main__":
    unittest.main()
