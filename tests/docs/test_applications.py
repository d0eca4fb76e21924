"""test_applications.py -- the emulator counts for steps 13 to 15 what ncu counted on an H200, but
for DIFFERENCES.

Totals of a run are compared: profiles/h200/counters.csv has a row a launch and source line, ./stepN
--json their sums.
"""
import collections
import json
import os
import subprocess
import sys
import unittest

from book import TOP

sys.path.insert(0, str(TOP / "profiles" / "tables"))
import records  # noqa: E402  (it lies in profiles/)

# the first step that applies scan; elements of the largest runs that are compared
FIRST, MOST = 13, 65536
# ncu's name of a counter: that of ./stepN --json
COUNTERS = {"l1tex__t_%s_pipe_lsu_mem_global_op_%s.sum" % (what, op): "%s_%s" % (what, op)
            for what in ("requests", "sectors") for op in ("ld", "st")}
COUNTERS |= {"source_wavefronts_" + op: "wavefronts_" + op for op in ("ld", "st")}

# Step, variant (None: any), least n, and the counters that differ there, with the reason.
DIFFERENCES = [
    ("13", "fast", 2049, {"requests_ld", "sectors_ld"},
     "tiles look at states until these are there, as often as chance has it"),
    ("13", "document", 2049, {"requests_ld", "sectors_ld"}, "the same in the scan of the flags"),
    ("16", "-", 2049, {"requests_ld", "sectors_ld"}, "the same"),
    ("13", "atomic", 0, {"sectors_st"}, "warps take their places in another order"),
    ("15", "fast", 0, {"wavefronts_st"},
     "ncu counts no stores into the shared memory of other blocks of a cluster"),
    ("15", "fast", 0, {"wavefronts_ld"},
     "ptxas leaves out loads whose value no lane of a warp needs"),
    ("16", "-", 0, {"wavefronts_ld"},
     "ptxas loads a segment's sum and head at once, which PTX does on two paths"),
]


def recorded():
    """(step, variant, n) -> totals of the counters."""
    totals = collections.defaultdict(collections.Counter)
    for row in records.NCU:
        if int(row["step"]) < FIRST or int(row["n"]) > MOST:
            continue
        run = totals[row["step"], row["variant"], int(row["n"])]
        for name, counter in COUNTERS.items():
            run[counter] += int(row[name] or 0)
    return totals


def emulated(step, variant, n):
    chosen = [] if variant == "-" else ["--variant", variant]
    command = ["./step" + step, "--device", "emu", *chosen, "--n", str(n), "--reps", "0", "--json"]
    # With one thread of the host, blocks run in the same order each time.
    done = subprocess.run(command, cwd=TOP, env={**os.environ, "EMU_THREADS": "1"},
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def may_differ(step, variant, n, counter):
    return any(step == s and variant == v and n >= least and counter in counters
               for s, v, least, counters, _ in DIFFERENCES)


class Applications(unittest.TestCase):
    def test_the_emulator_counts_as_ncu_did_slow(self):
        runs, steps = recorded(), set()
        for (step, variant, n), totals in runs.items():
            counts = emulated(step, variant, n)
            steps.add(step)
            for counter in COUNTERS.values():
                with self.subTest(step=step, variant=variant, n=n, counter=counter):
                    if not may_differ(step, variant, n, counter):
                        self.assertEqual(counts[counter], totals[counter])
        self.assertEqual(steps, {"13", "14", "15", "16"})


if __name__ == "__main__":
    unittest.main()
