#!/usr/bin/env python3
"""Turns `ncu --csv --page raw` (standard input) into a header and rows
step,variant,n,kernel,launch,line,metric,value,unit,source. Line and source stay empty: these are
totals of a launch. cases.py makes a table of them.

usage: ncu_long.py STEP VARIANT N METRICS_FILE

Only the metrics listed in METRICS_FILE are kept, and values lose their digit grouping: of the many
device attributes that ncu adds, and of process and host names, nothing is passed on.
"""
import csv
import re
import sys

step, variant, n, metrics_file = sys.argv[1:]
metrics = [line.strip() for line in open(metrics_file) if line.strip() and not line.startswith("#")]
rows = list(csv.reader(line for line in sys.stdin if line.startswith('"')))
if len(rows) < 3:
    sys.exit("ncu printed no launches")
header, units, launches = rows[0], rows[1], rows[2:]
missing = [metric for metric in metrics if metric not in header]
if missing:
    sys.exit("ncu printed no " + ", ".join(missing))
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow("step variant n kernel launch line metric value unit source".split())
name = header.index("Kernel Name")
for index, launch in enumerate(launches):
    # of "void scan_block<(padding)0>(float *)"
    kernel = re.sub(r"[<(].*", "", launch[name]).split()[-1]
    for metric in metrics:
        column = header.index(metric)
        value = launch[column].replace(",", "")
        out.writerow([step, variant, n, kernel, index, "", metric, value, units[column], ""])
