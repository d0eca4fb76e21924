#!/usr/bin/env python3
"""Turns the emulator's counts of source lines (`emu --csv --page source --metrics ...`, standard
input) into the rows that ncu_source.py makes of ncu's Source page, with the same names.

usage: emu_lines.py STEP VARIANT N
"""
import csv
import sys

import source_lines

# The emulator's name of a metric: the Source page's name. Ideal wavefronts are those without
# conflicts.
NAMES = {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum": "source_wavefronts_%s",
         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum": "conflicts_%s",
         "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum": "source_sectors_%s"}
NAMES = {name % op: short % op for name, short in NAMES.items() for op in ("ld", "st")}

step, variant, n = sys.argv[1:]
rows = list(csv.reader(sys.stdin))
if len(rows) < 3:
    sys.exit("the emulator counted no lines: was the kernel compiled with -lineinfo?")
header = rows[0]
out = csv.writer(sys.stdout, lineterminator="\n")
sources = {}


def named(path, line):
    if path not in sources:
        sources[path] = source_lines.read(path)
    return sources[path][line]


for row in rows[2:]:
    launch, kernel, path, line = row[:4]
    counts = {NAMES[name]: int(value) for name, value in zip(header, row) if name in NAMES}
    for op in ("ld", "st"):
        conflicts = counts.pop("conflicts_" + op)
        counts["source_ideal_" + op] = counts["source_wavefronts_" + op] - conflicts
        if not counts["source_wavefronts_" + op]:  # no access to shared memory
            del counts["source_wavefronts_" + op], counts["source_ideal_" + op]
        if not counts["source_sectors_" + op]:
            del counts["source_sectors_" + op]
    name, text = named(path, int(line))
    for metric, value in counts.items():
        out.writerow([step, variant, n, kernel, launch, name, metric, value, "", text])
