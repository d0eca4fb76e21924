"""records.py -- reads the CSV files beside it, and writes tables of their numbers.

Rows are dictionaries; the columns are explained in README.md here. TABLES has what makes the lines
of each table: the modules *_rows.py fill it, and tables.py writes the pages.
"""
import csv
import os
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
sys.path += [os.path.join(TOP, folder) for folder in ("profiles/measure", "common/build")]
import cases  # noqa: E402
from step_table import ROWS, steps_with  # noqa: E402, F401

TABLES = {}  # by the name in the page
COPIES = ["cudaMemcpyAsync", "float4 kernel", "bulk copies"]  # the roof is the fastest
# ncu's name of a counter: the key that --csv gives it. Wavefronts are those of ncu's Source page,
# which does not count arbitration; conflicts are those beyond the ideal.
KEYS = {"source_wavefronts_%s": "wavefronts_%s",
        "source_ideal_%s": "ideal_%s",
        "l1tex__t_requests_pipe_lsu_mem_global_op_%s.sum": "requests_%s",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum": "sectors_%s"}
KEYS = {name % op: key % op for name, key in KEYS.items() for op in ("ld", "st")}


def shown(make):
    """Puts a function among TABLES, by its name."""
    TABLES[make.__name__.replace("_", "-")] = make
    return make


def read(path):
    """The rows of profiles/PATH, and what its comments say: {"GPU": ..., "date": ...}."""
    return cases.read(os.path.join(TOP, "profiles", path))


def experiments(machine):
    """Recorded experiments, under the names of their programs, such as 13-selects."""
    rows, about = read(machine + "/experiments.csv")
    for row in rows:
        row["experiment"] = "%02d-%s" % (int(row["step"]), row["experiment"])
    return rows, about


def printed(program):
    """The rows of the table that a program of this repository prints."""
    path = os.path.join(TOP, program)
    if not os.path.exists(path):
        sys.exit("profiles: %s is missing; `make %s` builds it" % (program, program))
    run = subprocess.run([path], check=True, capture_output=True, text=True)
    return list(csv.DictReader(run.stdout.splitlines()))


COUNTED, _ = read("emulated/counters.csv")
TIMED, GPU = read("h200/verify.csv")
NCU, _ = read("h200/counters.csv")
EXPERIMENTS, TRIED_ON = experiments("h200")


def has(rows, **wanted):
    """The rows that have these values, maybe none. No variant is "" or "-"."""
    for key, value in wanted.items():
        value = str(value).replace("-", "")
        rows = [row for row in rows if row[key].replace("-", "") == value]
    return rows


def find(rows, **wanted):
    """The same, but none is an error."""
    return has(rows, **wanted) or sys.exit("profiles: no CSV row has %s" % wanted)


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
    number = int(number)
    return "{:,}".format(number).replace(",", " ") if number >= 10000 else str(number)


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


def cub(about):
    """CUB 3.0.1, by the comments of a recording."""
    return "CUB " + about["CUB"]


def time(row):
    return duration(float(row["seconds"]))


def power(exponent, base=2):
    return "%d%s" % (base, str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")))


def size(n):
    return power(n.bit_length() - 1)


def runs(numbers):
    """[[16, 20], [22, 22]] of 16, 17, 18, 19, 20, 22"""
    found = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def times_as_fast(slow, fast):
    return three(slow / fast) if slow < 999.5 * fast else grouped(slow / fast)


# ---- tables --------------------------------------------------------------------------------------

def table(head, *rows):
    line = lambda cells: "| " + " | ".join(str(cell) for cell in cells) + " |"
    return [line(head), "|" + "---|" * len(head), *(line(row) for row in rows)]


def grid(corner, columns, rows, cell):
    """A table of cell(row, column); columns and rows are lists, or {value: its heading}."""
    headings = lambda keys: keys.values() if isinstance(keys, dict) else map(str, keys)
    return table([corner, *headings(columns)],
                 *([heading, *(cell(row, column) for column in columns)]
                   for row, heading in zip(rows, headings(rows))))


def sizes(*exponents):
    """{n: how it is written}"""
    return {2**k: size(2**k) for k in exponents}


def coded(names):
    return {name: "`%s`" % name for name in names}


def gpu(what, about=GPU):
    return ["%s on %s:" % (what, machine(about)), ""]
