"""records.py -- reads the CSV files beside it, and writes their numbers as a table shows them.

Used by tables.py. Rows are dictionaries; the columns are explained in README.md here.
"""
import csv
import os
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
sys.path.append(os.path.join(TOP, "profiles", "measure"))
import cases  # noqa: E402

# ncu's name of a counter: the key that --csv gives it. Wavefronts are those of ncu's Source page,
# which does not count arbitration; conflicts are those beyond the ideal.
KEYS = {"source_wavefronts_%s": "wavefronts_%s",
        "source_ideal_%s": "ideal_%s",
        "l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum": "requests_%s",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum": "sectors_%s"}
KEYS = {name % op: key % op for name, key in KEYS.items() for op in ("ld", "st")}


def read(path):
    """The rows of profiles/PATH, and what its comments say: {"GPU": ..., "date": ...}."""
    return cases.read(os.path.join(TOP, "profiles", path))


def printed(program):
    """The rows of the table that a program of this repository prints."""
    path = os.path.join(TOP, program)
    if not os.path.exists(path):
        sys.exit("profiles: %s is missing; `make %s` builds it" % (program, program))
    run = subprocess.run([path], check=True, capture_output=True, text=True)
    return list(csv.DictReader(run.stdout.splitlines()))


COUNTED, _ = read("emulated/counters.csv")
INSTRUCTIONS, _ = read("emulated/instructions.csv")
TIMED, GPU = read("h200/verify.csv")
PATTERNS, _ = read("h200/patterns.csv")
NCU, _ = read("h200/counters.csv")
SANITIZED, _ = read("h200/sanitizer.csv")
VERY_LARGE, _ = read("h200/large.csv")
OPERATORS, _ = read("h200/operators.csv")
COMPILED, _ = read("h200/compiled.csv")
SIDE_BY_SIDE, SIDE_BY_SIDE_ON = read("h200/bench.csv")
PROMISES, PROMISES_ON = read("h200/promises.csv")
CHECKED_BY_GPU, CHECKED_ON = read("h200/checks.csv")
CHECKED, _ = read("emulated/checks.csv")
EXPERIMENTS, _ = read("h200/experiments.csv")
EXPERIMENTS_EMULATED, _ = read("emulated/experiments.csv")
CHECKS_DIFFER, _ = read("checks_differences.csv")
SHUFFLES, _ = read("h200/shuffles.csv")
STALLS, STALLS_ON = read("h200/stalls.csv")


def has(rows, **wanted):
    """The rows that have these values, maybe none. No variant is "" or "-"."""
    for key, value in wanted.items():
        value = str(value).replace("-", "")
        rows = [row for row in rows if row[key].replace("-", "") == value]
    return rows


def find(rows, **wanted):
    """The same, but none is an error."""
    found = has(rows, **wanted)
    if not found:
        sys.exit("profiles: no CSV row has %s" % wanted)
    return found


def emulated(step, n, variant="", offset=0):
    return find(COUNTED, step=step, n=n, variant=variant, offset=offset)[0]


def timed(step, n, variant=""):
    return find(TIMED, step=step, n=n, variant=variant)[0]


def by_ncu(step, n, variant=""):
    """Sums over the launches of a scan, with the keys of --csv."""
    rows = find(NCU, step=step, n=n, variant=variant)
    sums = {key: sum(int(row[name] or 0) for row in rows) for name, key in KEYS.items()}
    for op in ("ld", "st"):
        sums["conflicts_" + op] = sums["wavefronts_" + op] - sums["ideal_" + op]
    return sums


# ---- how numbers are written ---------------------------------------------------------------------

def grouped(number):
    return "{:,}".format(int(number)).replace(",",
                                              " ") if int(number) >= 10000 else str(int(number))


def both(row, key):
    return "%s + %s" % (grouped(row[key + "_ld"]), grouped(row[key + "_st"]))


def three(number):
    """Three significant figures, as in 4.00 or 149, of a number below 1000."""
    return ("%#.3g" % number).rstrip(".")


def a_request(row, op):
    return three(int(row["sectors_" + op]) / int(row["requests_" + op]))


def sectors(row):
    return "%s + %s" % (a_request(row, "ld"), a_request(row, "st"))


def percent(fraction):
    return three(100 * fraction) + " %"


def duration(seconds):
    for unit, scale in ("µs", 1e6), ("ms", 1e3):
        if seconds * scale < 999.5:
            return three(seconds * scale) + " " + unit
    return three(seconds) + " s"


def machine(about):
    """An H200 (CUDA 13, driver 580), by the comments of a recording."""
    return "an %s (CUDA %s, driver %s)" % (about["GPU"], about["toolkit"], about["driver"])


def time(row):
    return duration(float(row["seconds"]))


def share(row):
    return percent(float(row["roof_fraction"]))


def size(n):
    exponent = n.bit_length() - 1
    return "2" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
