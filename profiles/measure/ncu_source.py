#!/usr/bin/env python3
"""Sums ncu's Source page (`ncu --import FILE --page source --csv --print-source cuda,sass`,
standard input) over the machine code of each source line. Unlike the hardware's counters these
numbers hold no arbitration.

usage: ncu_source.py STEP VARIANT N LAUNCHES

Prints rows step,variant,n,kernel,launch,line,metric,value,unit,source, of which `source` is the
text of a line, and `line` its file and its place among the lines of that file with the same text
("scan.cu#1"; the page has every line of the file). The metrics: wavefronts of shared memory and how
few would do (ideal), and sectors of global memory, for loads (ld) and stores (st). Lines without
such accesses have no row. LAUNCHES is how many there were. Of several, ncu 2025.3 prints each
instruction, or each page, twice. A kernel of several source files has a page for each; an
instruction that stands on two (of a function and of its call) counts on the first.
"""
import csv
import os
import re
import sys

from source_lines import Lines

step, variant, n, expected = sys.argv[1:]
COLUMNS = {("LDS", "STS"): {"wavefronts": "L1 Wavefronts Shared",
                            "ideal": "L1 Wavefronts Shared Ideal"},
           ("LDG", "STG", "LD.",
            "ST."): {"sectors": "L2 Theoretical Sectors Global"}}  # LD, ST: by generic addresses
OPERATIONS = {"LDS": "ld", "STS": "st", "LDG": "ld", "STG": "st", "LD.": "ld", "ST.": "st"}


def function_name(text):
    """scan_block of "void scan_block<(padding)0>(float *, int)" """
    return re.sub(r"[<(].*", "", text).split()[-1]


launches = []  # [kernel, {((line, source), metric): value}, {files}, {addresses of instructions}]
header, file, line = [], "", ("", "")
lines = {}  # Lines of each file
for row in csv.reader(sys.stdin):
    if row[:1] == ["File Path"]:
        file = os.path.basename(row[1])
    elif row[:1] == ["Function Name"]:
        kernel = function_name(row[1])
        if not launches or launches[-1][0] != kernel or file in launches[-1][2]:
            launches.append([kernel, {}, set(), set()])
        launches[-1][2].add(file)
        fresh = True
    elif row[:3] == ["Line No", "Source", "Address"]:
        if not fresh:  # the same page, printed again
            launches.append([kernel, {}, {file}, set()])
        header, fresh, seen = row, False, launches[-1][3]
    elif launches and header and len(row) == len(header):
        if row[0]:
            text = row[1].strip()
            line = (lines.setdefault(file, Lines(file)).add(int(row[0]), text), text)
        words = row[3].split() if row[2].startswith("0x") and row[2] not in seen else []
        seen.add(row[2])
        opcode = next((word[:3] for word in words if word[:3] in OPERATIONS), None)
        for opcodes, columns in COLUMNS.items():
            for name, column in columns.items():
                if opcode in opcodes:
                    key = (line, "source_%s_%s" % (name, OPERATIONS[opcode]))
                    counts = launches[-1][1]
                    counts[key] = counts.get(key, 0) + int(row[header.index(column)])
pages = [launch[:2] for launch in launches]
if len(pages) == 2 * int(expected) and pages[0::2] == pages[1::2]:
    pages = pages[0::2]
if len(pages) != int(expected):
    sys.exit("ncu printed %d Source pages for %s launches" % (len(pages), expected))
out = csv.writer(sys.stdout, lineterminator="\n")
for index, (kernel, counts) in enumerate(pages):
    for (line, metric), value in counts.items():
        out.writerow([step, variant, n, kernel, index, line[0], metric, value, "", line[1]])
