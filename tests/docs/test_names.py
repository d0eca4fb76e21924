"""test_names.py -- headers that users include define macros by the names of their step only."""
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def printed(script):
    """What a script of the build prints, or nothing."""
    return subprocess.run([TOP / "common/build" / script], cwd=TOP, capture_output=True,
                          text=True).stdout.strip()


CUDA = printed("toolkit.sh")
MPI = [flag for flag in printed("mpi.sh").split() if flag.startswith("-I")]

# The headers, and how their macros may begin. STEP is for the guards of includes.
HEADERS = {
    "steps/12-pipeline/scan.h": "SCAN_",
    "steps/13-compaction/compact.h": "COMPACT_",
    "steps/14-summed-area-table/sat.h": "SAT_",
    "steps/15-radix-sort/sort.h": "SORT_",
    "steps/16-operators/scan.h": "SCAN_",
    "steps/16-operators/scan.cuh": "SCAN_",
    "steps/16-operators/check.cuh": "SCAN_",
}
if MPI:
    HEADERS["steps/17-many-gpus/scan.h"] = "MANY_|FAULT_" # its errors are those of fault.h
# CUDA's functions for asynchronous copies, which scan.cuh includes.
SYSTEM = ("cuda_runtime.h", "cuda_pipeline.h", "stdbool.h", "stdint.h", "string.h", "math.h",
          "limits", "stdio.h", "type_traits") + (("mpi.h",) if MPI else ())


def macros(names, given=()):
    """The names of all macros behind these includes, behind `given` definitions."""
    text = "".join("#define %s given\n" % name for name in given)
    text += "".join("#include <%s>\n" % name for name in names)
    run = subprocess.run(["g++", "-E", "-dM", "-x", "c++", "-I.", "-I%s/include" % CUDA,
                          *MPI, "-D__CUDACC__", "-include", "cuda_runtime.h", "-"], cwd=TOP,
                         input=text,
                         capture_output=True, check=True, text=True)
    return dict(re.findall(r"^#define (\w+)(?:\(.*?\))? ?(.*)$", run.stdout, re.M))


@unittest.skipUnless(CUDA, "the CUDA toolkit is not found: make setup installs it")
class Names(unittest.TestCase):
    def test_macros_begin_with_the_step(self):
        known = macros(SYSTEM)
        for header, prefix in HEADERS.items():
            own = set(macros(SYSTEM + (header,))) - set(known)
            self.assertTrue(own, "%s has no guard" % header)
            for name in sorted(own):
                with self.subTest(header=header):
                    self.assertRegex(name, r"^(STEP\d+_|CODE_CAPABILITY_CUH$|LAUNCH_KERNEL_CUH$"
                                           r"|%s)" % prefix)

    def test_macros_of_the_program_remain(self):
        listed = re.findall(r'push_macro\("(\w+)"\)',
                            (TOP / "steps/16-operators/parts/macros.cuh").read_text("utf-8"))
        self.assertIn("LANES", listed)
        found = macros(SYSTEM + ("steps/16-operators/scan.cuh",), listed)
        for name in listed:
            with self.subTest(name=name):
                self.assertEqual(found.get(name), "given")


if __name__ == "__main__":
    unittest.main()
