#!/usr/bin/env python3
"""checks.py -- one CSV row from what compute-sanitizer, or emu --tool, has printed.

usage: profiles/checks.py PROGRAM VERSION TOOL EXIT <LOG

The row: program, version, tool, errors, warnings, kinds, exit. Kinds are the first lines of the
findings without numbers and places, sorted, with "; " between. Errors are "?" where the summary is
missing, as when the program was stopped (exit 124: it hung).
"""
import csv
import re
import sys

MARK = "========= "
# The first line of a finding: how it looks, and what is kept of it.
KINDS = [
    (r"(Invalid \S+ (?:read|write|atomic))", r"\1"),
    (r"(Uninitialized \S+ (?:memory )?(?:read|access))", r"\1"),
    (r"(?:Error|Warning|Info): (Race reported between \S+ access).* at .*", r"\1"),
    (r"(?:Error|Warning|Info): Potential (\S+) hazard.*", r"\1 hazard"),
    (r"(Barrier error detected\. [^.(]*(?:\(s\))?[^.(]*)", r"\1"),
    (r"Program hit (\S+) .* on CUDA API call to (\S+?)\.?$", r"\1 from \2"),
    (r"(Leaked) ", r"\1"),
    (r"(Malloc/Free [Ee]rror[^.]*)", r"\1"),
]
PASSED_BY = ("COMPUTE-SANITIZER", "EMU", "ERROR SUMMARY", "RACECHECK SUMMARY", "LEAK SUMMARY", "Target ", "Process ")


def kind_of(line):
    for pattern, kept in KINDS:
        match = re.match(pattern, line)
        if match:
            return match.expand(kept).strip()
    return re.sub(r"\s*\d+", "", line.split(" at ")[0]).strip()


def main():
    program, version, tool, code = sys.argv[1:]
    errors, warnings, kinds = "?", 0, set()
    for line in sys.stdin.read().splitlines():
        if not line.startswith(MARK):
            continue
        text = line[len(MARK):]
        summary = re.match(r"ERROR SUMMARY: (\d+) errors?(?:, (\d+) warnings?)?$", text) or \
            re.match(r"RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)", text)
        if summary:
            errors, warnings = int(summary[1]), int(summary[2] or 0)
        if text[:1].isspace() or not text.strip() or text.startswith(PASSED_BY):
            continue
        kinds.add(kind_of(text))
    csv.writer(sys.stdout, lineterminator="\n").writerow(
        [program, version, tool, errors, warnings, "; ".join(sorted(kinds)), code])


main()
