"""test_random.py -- random kernels, compiled by nvcc and by common/cc, on the emulator: results are
equal in bits, and counters of most kernels are equal. CC_SEEDS has the seeds of the files, a
hundred kernels each (`make test-cc`)."""
import os
import re
import unittest

from own import BUILT, compile_own, run

LEAST_EQUAL = 0.65  # of all kernels, those whose counters are equal
SEEDS = os.environ.get("CC_SEEDS", "1 2").split()


class RandomKernels(unittest.TestCase):
    def test_results_are_those_of_nvcc_and_most_counters(self):
        for seed in SEEDS:
            ptx, said = compile_own(BUILT / f"{seed}.cu")
            self.assertIsNotNone(ptx, f"seed {seed}: {said[:2000]}")
            (BUILT / f"{seed}.own.ptx").write_text(ptx, encoding="utf-8")
        done = run(BUILT / "compare", *(BUILT / seed for seed in SEEDS))
        *lines, total = done.stdout.splitlines()
        print("\n" + total)
        (BUILT / "differing.txt").write_text("\n".join(lines), encoding="utf-8")
        wrong = [line for line in lines if "nvcc | own" not in line and " " in line]
        self.assertEqual((wrong, done.returncode), ([], 0))
        kernels, equal = map(int, re.search(r"kernels (\d+),.* equal (\d+);", total).groups())
        self.assertEqual(kernels, 100 * len(SEEDS))
        self.assertGreaterEqual(equal / kernels, LEAST_EQUAL)


if __name__ == "__main__":
    unittest.main()
