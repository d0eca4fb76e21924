#!/usr/bin/env python3
"""kernels.py [STEP...] -- are all changes of the steps' kernels noticed? STEPS by default.

Each operator, constant, argument and statement of `make aloneN`, above its main, is changed once.
The program then has to be wrong, to be reported by a checker, or to have other launches or counters
of memory (those that are compared with an H200's). What survives is printed, unless kernels.txt
says why it changes nothing; then the exit status is 1.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import mutations

TOP = Path(__file__).resolve().parents[3]
EMU = TOP / "build/emu/emu"
KNOWN = Path(__file__).with_name("kernels.txt")
MAIN = "---- the program"
MOVED = "CHECK(cudaMemcpy(d_in, in"
STEPS = range(1, 12)
BLOCKS = "0 1 5 1000 1002+1 1003+1 1004+1 4700 4096 2049"  # full blocks and parts; N+1: displaced
SIZES = {2: "0 1 2 512 1024 1025", 3: "0 1 2 64 2048 4096 1000", 4: "0 1 2 64 2048 4096 1000",
         5: "0 1 5 1000 4700 4096 2049 270000",  # the last: three levels of blocks
         8: BLOCKS + " 8 1000+1 1005+1+1",  # N+1+K: variant K, displaced
         10: BLOCKS + " 540000 540000+1+1",
         11: BLOCKS + " 270000 40000+1+1 40000+1+2"}
# Small arrays have what large ones have: step 8 several levels, step 10 blocks with two tiles.
LESS = {8: ("(1 << 17)", "512"), 10: ("MOST_BLOCKS 4096", "MOST_BLOCKS 260")}
# Without cuda::std the same PTX takes a third of the time.
GROUPS = "#define _CG_LIMIT_INCLUDED_DEPENDENCIES\n#include <cooperative_groups.h>\n"
SECONDS, INSTRUCTIONS = 60, "20000000"  # a mutant may never end
ENVIRONMENT = {**os.environ, "EMU_THREADS": "1", "EMU_PROGRESS": "0"}  # so that counts repeat
CHECKERS = "--tool all --error-exitcode 9 --schedule 1 --blocks descending".split()
COUNTED = [("shared", "wavefronts"), ("shared", "ideal_wavefronts"), ("global", "requests"),
           ("global", "sectors")]


def built(text, folder, step):
    """The program, or None if it does not compile."""
    source = Path(folder) / ("step.c" if step == 1 else "step.cu")
    source.write_text(text, encoding="utf-8")
    nvcc = subprocess.check_output([TOP / "common/build/toolkit.sh"], cwd=TOP, text=True).strip()
    compiler = ["cc", "-O1"] if step == 1 else [
        nvcc + "/bin/nvcc", "-cudart", "shared", "-arch=compute_90", "-code=compute_90"]
    done = subprocess.run([*compiler, "-w", "-o", "step", source.name], cwd=folder, check=False,
                          stderr=subprocess.DEVNULL)
    return Path(folder) / "step" if done.returncode == 0 else None


def counts(program, n):
    """Its launches and counters of memory, or that n is refused. None: it is wrong, or a checker
    reports it."""
    log = program.with_name("log")
    for arguments in CHECKERS, ["--json"]:
        try:
            run = subprocess.run([EMU, *arguments, "--log-file", log, "--kernel-instructions",
                                  INSTRUCTIONS, program, *n.split("+")], env=ENVIRONMENT,
                                 check=False, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        if run.returncode:
            return "refused" if b"invalid argument" in run.stderr else None
    report = json.loads(log.read_text(encoding="utf-8"))  # step 1's: no program with CUDA
    return [[one["grid"], one["block"], one["dynamic_shared"], one["counters"]["adds"]["f32"]]
            + [one["counters"][memory + access][name] for memory, name in COUNTED
               for access in ("_load", "_store")] for one in report and report["launches"]]


def survives(text, step, expected):
    """Whether nothing is noticed; None: it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        program = built(text, folder, step)
        return program and all(counts(program, n) == want for n, want in expected.items())


def survivors(step):
    text = subprocess.check_output([TOP / "common/build/alone.py", str(step)], text=True)
    text = text.replace("d_in, bytes + 1", "d_in, bytes + (argc > 2 ? 4 : 1)").replace(
        "d_out, bytes + 1", "d_out, bytes + (argc > 2 ? 4 : 1)").replace(
        MOVED, "if (argc > 2) d_in++, d_out++;\n" + MOVED).replace(*LESS.get(step, ("", "")))
    text = re.sub(r".*(cudaMemset\(workspace.*|_scan\(d_out.*\n(?=.*begin))\n?", "", text)
    text = re.sub(r"(step\d\d_(scan|workspace)\(.*n), 0", r"\1, argc > 3 ? atoi(argv[3]) : 0", text)
    text = GROUPS + text if "cooperative_groups.h" in text else text
    with tempfile.TemporaryDirectory() as folder:
        program = built(text, folder, step)
        expected = {n: counts(program, n) for n in SIZES.get(step, BLOCKS).split()}
    assert None not in expected.values(), "step %d is wrong as it is" % step
    changes = list(mutations(text[:text.index(MAIN)]))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda m: survives(m.applied(text), step, expected), changes))
    print("step %d: %d of %d mutants survive" % (
        step, sum(map(bool, found)), sum(one is not None for one in found)), flush=True)
    return [re.sub(r"step\d\d_", "stepNN_", "- %s\n+ %s\n" % (m.before, m.after))
            for m, one in zip(changes, found) if one]


def main():
    known, lost, before = Counter(), 0, ""
    for block in KNOWN.read_text(encoding="utf-8").split("\n\nstep ")[1:]:
        steps, *rows = block.splitlines(True)
        for row in rows:
            before = row if row.startswith("- ") else before
            known.update((int(step), before + row) for step in steps.split() if row[:2] == "+ ")
    for step in map(int, sys.argv[1:] or STEPS):
        for one in survivors(step):
            known[step, one] -= 1
            if known[step, one] < 0:
                print("step %d\n%s" % (step, one), flush=True)
                lost += 1
    return lost > 0


if __name__ == "__main__":
    sys.exit(main())
