#!/usr/bin/env python3
"""Sums ncu's Source page (`ncu --import FILE --page source --csv --print-source sass`, standard input)
into rows step,variant,n,launch,kernel,metric,value,unit: wavefronts of shared memory and how few
would do, for loads (LDS) and stores (STS). Unlike the hardware's counters these hold no arbitration.

usage: ncu_source.py STEP VARIANT N LAUNCHES

LAUNCHES is how many there were: of several, ncu 2025.3 prints each page twice.
"""
import csv
import sys

step, variant, n, expected = sys.argv[1:]
out = csv.writer(sys.stdout, lineterminator="\n")
COLUMNS = {"wavefronts": "L1 Wavefronts Shared", "ideal": "L1 Wavefronts Shared Ideal"}
launches = []  # [kernel, {metric: value}]
header = []
for row in csv.reader(sys.stdin):
    if row[:1] == ["Kernel Name"]:
        launches.append([row[1].split("(")[0], {}])
    elif row[:2] == ["Address", "Source"]:
        header = row
    elif launches and header and len(row) == len(header):
        opcode = next((word for word in row[1].split() if word.startswith(("LDS", "STS"))), "")[:3]
        for name, column in COLUMNS.items():
            metric = {"LDS": f"source_{name}_ld", "STS": f"source_{name}_st"}.get(opcode)
            if metric:
                counts = launches[-1][1]
                counts[metric] = counts.get(metric, 0) + int(row[header.index(column)])
if len(launches) == 2 * int(expected) and launches[0::2] == launches[1::2]:
    launches = launches[0::2]
if len(launches) != int(expected):
    sys.exit(f"ncu printed {len(launches)} Source pages for {expected} launches")
for index, (kernel, counts) in enumerate(launches):
    for metric in ("source_wavefronts_ld", "source_ideal_ld", "source_wavefronts_st", "source_ideal_st"):
        out.writerow([step, variant, n, index, kernel, metric, counts.get(metric, 0), ""])
