#!/usr/bin/env python3
"""older.py -- turns `emu --csv --page source` (standard input) into a header and one row.

usage: older.py GPU STEP VARIANT N

instructions  PTX instructions of warps, but not moves: most of these give a register another type,
              and ptxas leaves them out.
sectors       of global loads and stores.
look-back ... of these, what lines of FILES have. There blocks exchange the sums of tiles, and poll
              those that are missing: how often is chance on a GPU.
"""
import csv
import os
import re
import sys

FILES = "look_back.cuh", "prefix.cuh", "states.cuh"


def number(cell):
    return int(cell.replace(",", "") or 0)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    lines = list(csv.reader(line for line in sys.stdin if line.startswith('"')))
    if len(lines) < 3:
        sys.exit("emu printed no lines")
    header, rows = lines[0], lines[2:]
    at = {name: header.index(name) for name in ("ID", "Kernel Name", "File")}
    all_, moves, loads, stores = range(len(header) - 4, len(header))
    counts = {False: [0, 0], True: [0, 0]}
    kernels = {}
    for row in rows:
        kernels[row[at["ID"]]] = re.sub(r"[<(].*", "", row[at["Kernel Name"]]).split()[-1]
        count = counts[os.path.basename(row[at["File"]]) in FILES]
        count[0] += number(row[all_]) - number(row[moves])
        count[1] += number(row[loads]) + number(row[stores])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("gpu step variant n kernels launches".split() + [
        "instructions", "sectors", "look-back instructions", "look-back sectors"])
    out.writerow([*sys.argv[1:], " ".join(dict.fromkeys(kernels.values())), len(kernels),
                  *(sum(pair) for pair in zip(*counts.values())), *counts[True]])


if __name__ == "__main__":
    main()
