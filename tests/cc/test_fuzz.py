"""test_fuzz.py -- changed sources neither crash the compiler nor make it hang. CC_INPUTS says how
many (`make test-cc`)."""
import os
import unittest

from own import BUILT, TOP, run

INPUTS = os.environ.get("CC_INPUTS", "10000")
# The sources of steps 2 to 5 and of the first kernels, the labs made of them, and their headers.
SOURCES = [*TOP.glob("steps/first-kernel/*.cu"), *TOP.glob("steps/0[2345]-*/*.cu*"),
           *TOP.glob("steps/0[2345]-*/*.h"), *TOP.glob("build/labs/reference[2345].cu"),
           TOP / "common/step/step.h", BUILT / "1.cu"]


class Fuzz(unittest.TestCase):
    def test_no_source_crashes_it_or_makes_it_hang_slow(self):
        paths = sorted(str(path.relative_to(TOP)) for path in SOURCES if path.exists())
        done = run(BUILT / "fuzz", INPUTS, *paths)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
