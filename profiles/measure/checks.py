#!/usr/bin/env python3
"""checks.py -- CSV rows from what compute-sanitizer, or emu --tool, has printed.

usage: profiles/measure/checks.py DIRECTORY

DIRECTORY has a log for each run, PROGRAM.VERSION.TOOL, whose last line is "exit CODE". A row has
all runs of one version of a program, and for each tool its errors, warnings, kinds and exit. Kinds
are the first lines of the findings without numbers and places, sorted, with "; " between. Errors
are "?" where the summary is missing, as when the program was stopped (exit 124: it hung), or
crashed.
"""
import os
import re
import sys

import cases

MARK = "========= "
# The first line of a finding: how it looks, and what is kept of it.
KINDS = [
    (r"(Invalid \S+ (?:read|write|atomic))", r"\1"),
    (r"(Uninitialized \S+ (?:memory )?(?:read|access))", r"\1"),
    (r"(?:Error|Warning|Info): (Race reported between \S+ access).* at .*", r"\1"),
    (r"Error: (Race reported between [^(]+) of (?:a |memory).*", r"\1"),
    (r"(?:Error|Warning|Info): Potential (\S+) hazard.*", r"\1 hazard"),
    (r"(Barrier error detected\. [^.(]*(?:\(s\))?[^.(]*)", r"\1"),
    (r"Program hit (\S+) .* on CUDA API call to (\S+?)\.?$", r"\1 from \2"),
    (r"(Leaked) ", r"\1"),
    (r"(Malloc/Free [Ee]rror[^.]*)", r"\1"),
    (r"(deadlock): ", r"\1"),
]
PASSED_BY = ("COMPUTE-SANITIZER", "EMU", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY",
             "Target ", "Process ")
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
SAID = ["%s errors", "%s warnings", "%s kinds", "%s exit"]
COLUMNS = ["program", "version", *(name % tool for tool in TOOLS for name in SAID)]


def kind_of(line):
    for pattern, kept in KINDS:
        match = re.match(pattern, line)
        if match:
            return match.expand(kept).strip()
    return re.sub(r"\s*(0x[0-9a-f]+|\d+)", "", line.split(" at ")[0]).strip()


def summary_of(text):
    """Errors and warnings, or nothing."""
    return re.match(r"ERROR SUMMARY: (\d+) errors?(?:, (\d+) warnings?)?$", text) or \
        re.match(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)",
                 text)


def cells_of(lines):
    """Errors, warnings, kinds and exit code of a log; hazards and faults have a summary each."""
    sums, kinds, code = None, set(), "?"
    for line in lines:
        if re.fullmatch(r"exit \d+", line):
            code = line.split()[1]
        if not line.startswith(MARK):
            continue
        text = line[len(MARK):]
        summary = summary_of(text)
        if summary:
            sums = [a + int(b or 0) for a, b in zip(sums or [0, 0], summary.groups())]
        if not text[:1].isspace() and text.strip() and not text.startswith(PASSED_BY):
            kinds.add(kind_of(text))
    return [*(sums or ["?", 0]), "; ".join(sorted(kinds)), code]


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit(__doc__)
    rows = {}
    for name in os.listdir(sys.argv[1]):
        if name.count(".") != 2:
            continue
        program, version, tool = name.split(".")
        row = rows.setdefault((program, version), {"program": program, "version": version})
        with open(os.path.join(sys.argv[1], name), encoding="utf-8", errors="replace") as file:
            row.update(zip((name % tool for name in SAID), cells_of(file.read().splitlines())))
    cases.write(sys.stdout, COLUMNS, [rows[key] for key in sorted(rows)])


main()
