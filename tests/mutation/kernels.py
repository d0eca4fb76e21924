#!/usr/bin/env python3
"""kernels.py [STEP...] -- are all changes of the steps' kernels noticed? STEPS by default.

Each operator, constant, argument and statement of `make aloneN`, above its main, is changed once.
The program then has to be wrong, to be reported by a checker, or to have other counters of memory
than those that are compared with an H200's. What survives is printed, unless kernels.txt says why
it changes nothing; then the exit status is 1.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import mutations

TOP = Path(__file__).resolve().parents[2]
EMU = TOP / "build/emu/emu"
KNOWN = Path(__file__).with_name("kernels.txt")
MAIN = "---- the program"
MOVED = "CHECK(cudaMemcpy(d_in, in"
STEPS = [1, 2, 3, 4, 5, 6, 7, 9]  # 8, 10 and 11: what survives has not been looked through
SIZES = {2: "0 1 2 512 1024 1025", 3: "0 1 2 64 2048 4096 1000", 4: "0 1 2 64 2048 4096 1000",
         5: "0 1 5 1000 4700 4096 2049 270000"}  # the last: three levels of blocks
BLOCKS = "0 1 5 1000 1003+1 1004+1 4700 4096 2049"  # full blocks and parts; N+1: displaced
SECONDS, INSTRUCTIONS = 60, "20000000"  # a mutant may never end
ENVIRONMENT = {**os.environ, "EMU_THREADS": "1", "EMU_PROGRESS": "0"}  # so that counts repeat
COUNTED = "l1tex", "smsp__sass_thread"


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
    for arguments in (["--tool", "all", "--error-exitcode", "9"], ["--csv"]):
        try:
            run = subprocess.run([EMU, *arguments, "--log-file", log, "--kernel-instructions",
                                  INSTRUCTIONS, program, *n.split("+")], env=ENVIRONMENT,
                                 check=False, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        if run.returncode:
            return "refused" if b"invalid argument" in run.stderr else None
    with open(log, encoding="utf-8") as file:
        return [[value for name, value in row.items() if name.startswith(COUNTED)
                 or name in ("Grid Size", "Block Size")] for row in csv.DictReader(file)]


def survives(text, step, expected):
    """Whether nothing is noticed; None: it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        program = built(text, folder, step)
        return program and all(counts(program, n) == want for n, want in expected.items())


def survivors(step):
    text = subprocess.check_output([TOP / "common/build/alone.py", str(step)], text=True)
    text = text.replace("d_in, bytes + 1", "d_in, bytes + (argc > 2 ? 4 : 1)").replace(
        "d_out, bytes + 1", "d_out, bytes + (argc > 2 ? 4 : 1)").replace(
        MOVED, "if (argc > 2) d_in++, d_out++;\n" + MOVED)
    with tempfile.TemporaryDirectory() as folder:
        program = built(text, folder, step)
        expected = {n: counts(program, n) for n in SIZES.get(step, BLOCKS).split()}
    assert None not in expected.values(), "step %d is wrong as it is" % step
    first = {}
    for mutation in mutations("step%d.cu" % step, text[:text.index(MAIN)]):
        first.setdefault(mutation.start, mutation)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda m: survives(m.applied(text), step, expected), first.values()))
    print("step %d: %d of %d mutants survive" % (
        step, sum(map(bool, found)), sum(one is not None for one in found)), flush=True)
    return [re.sub(r"step\d\d_", "stepNN_", "- %s\n+ %s\n" % (m.before, m.after))
            for m, one in zip(first.values(), found) if one]


def main():
    known, lost = Counter(), 0
    for block in KNOWN.read_text(encoding="utf-8").split("\n\nstep ")[1:]:
        steps, rows = block.split("\n", 1)
        known.update((int(step), "".join(rows.splitlines(True)[:2])) for step in steps.split())
    for step in map(int, sys.argv[1:] or STEPS):
        for one in survivors(step):
            known[step, one] -= 1
            if known[step, one] < 0:
                print("step %d\n%s" % (step, one), flush=True)
                lost += 1
    return lost > 0


if __name__ == "__main__":
    sys.exit(main())
