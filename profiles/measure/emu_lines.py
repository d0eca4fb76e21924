#!/usr/bin/env python3
"""Turns the emulator's counts of source lines (`emu --csv --page source --metrics ...`, standard
input) into the rows that ncu_source.py makes of ncu's Source page, with the same names.

usage: emu_lines.py STEP VARIANT N
"""
import csv
import sys

import source_lines

METRICS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum",
           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum",
           "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum")

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
    cells = dict(zip(header, row))
    name, text = named(path, int(line))
    for op in ("ld", "st"):
        wavefronts, conflicts, sectors = (int(cells[metric % op]) for metric in METRICS)
        counts = {"wavefronts": wavefronts, "ideal": wavefronts - conflicts} if wavefronts else {}
        if sectors:
            counts["sectors"] = sectors
        for what, value in counts.items():
            out.writerow([step, variant, n, kernel, launch, name, "source_%s_%s" % (what, op),
                          value, "", text])
