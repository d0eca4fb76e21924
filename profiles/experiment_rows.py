"""experiment_rows.py -- the tables of the small experiments (steps/*/experiments): a function each, which
returns its lines.

Used by tables.py. An experiment that the recording does not hold yet has a line that says so.
"""
import functools

from records import EXPERIMENTS, GPU, find, three
from table_rows import gpu, table


def of(name):
    """Makes a table's function of one that is called with a function value(variant, parameter, metric), which
    finds a number that the experiment printed."""
    def decorate(make):
        @functools.wraps(make)
        def lines():
            rows = [row for row in EXPERIMENTS if row["experiment"] == name]
            if not rows:
                return ["Not recorded yet; `make experiments` builds the program."]
            return make(lambda variant, parameter, metric: float(
                find(rows, variant=variant, parameter=parameter, metric=metric)[0]["value"]))
        return lines
    return decorate


def duration(seconds):
    for unit, scale in ("µs", 1e6), ("ms", 1e3):
        if seconds * scale < 999.5:
            return three(seconds * scale) + " " + unit
    return three(seconds) + " s"


@of("cache-operators")
def cache_operators(value):
    """Loads of a copy and of a block's own 4 KiB, and stores of a copy, against those without an operator."""
    names = ["plain", "ca", "cg", "cs", "lu", "cv", "nc"]
    stores = ["plain", "wb", "cg", "cs", "wt"]

    def row(access, word):
        once = value(access + "_" + word, "once", "time")
        cells = [duration(once)]
        if access == "ld":
            cells.append(duration(value("ld_" + word, "again", "time")))
        name = access + ".global" + ("" if word == "plain" else "." + word)
        return ["`%s`" % name, *cells] + [""] * (access == "st")
    return gpu("Time of a copy of 2²⁶ floats with that load or store, and of reading 4 KiB a block 64 times") + table(
        ["PTX", "copy", "again and again"], *(row("ld", word) for word in names), *(row("st", word) for word in stores))
