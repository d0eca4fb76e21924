"""application_rows.py -- the tables of steps 13 to 15, from the experiments that compare them with libraries: a
function each, which returns its lines.

Used by tables.py, as experiment_rows.py is.
"""
from experiment_rows import duration, of
from records import EXPERIMENTS, percent, size
from table_rows import gpu, table

KEPT = [0, 10, 50, 100]  # per cent
TENTHS = range(0, 101, 10)
FINELY = 2**24  # elements of the table by fraction


def selects_at(n, kept):
    return "n=%d kept=%d" % (n, kept)


def times_as_fast(ratio):
    return "%.2f ×" % ratio


@of("selects")
def selects(value):
    """Step 13: all variants at one half kept, and `fast` against CUB for each fraction."""
    ways = ["fast", "cub", "document", "atomic", "copy"]
    half = lambda way, n: value(way, selects_at(n, 50), "time")
    against = lambda n, kept: times_as_fast(value("fast", selects_at(n, kept), "times_cub"))
    floor = lambda n, kept: percent(value("fast", selects_at(n, kept), "of_floor"))
    return gpu("Time of a compaction of int32 that keeps one half (one call, cold L2)") + table(
        ["n", "`fast`", "CUB", "`document`", "`atomic`", "a copy of n"],
        *([size(n), *(duration(half(way, n)) for way in ways)] for n in (2**k for k in range(10, 29, 2)))) + [
        "", "How many times as fast as CUB's `DeviceSelect::If`, and at 2²⁸ also the share of the floor: the time in "
        "which", "the copy would move the least possible:", ""] + table(
        ["kept", *(size(2**k) for k in range(10, 29)), "of the floor"],
        *(["%d %%" % kept, *(against(2**k, kept) for k in range(10, 29)), floor(2**28, kept)] for kept in KEPT))


@of("selects")
def selects_by_fraction(value):
    return gpu("Time of a compaction of %s int32 by the fraction that is kept" % size(FINELY)) + table(
        ["kept", "`fast`", "CUB", "`document`", "`atomic`"],
        *(["%d %%" % kept, *(duration(value(way, selects_at(FINELY, kept), "time"))
                             for way in ("fast", "cub", "document", "atomic"))] for kept in TENTHS))


def selects_curve(way, kept):
    """(n, seconds) of a way to compact that keeps so many per cent."""
    rows = [row for row in EXPERIMENTS if row["experiment"] == "selects" and row["variant"] == way
            and row["metric"] == "time" and row["parameter"].endswith(" kept=%d" % kept)]
    return [(int(row["parameter"].split()[0][2:]), float(row["value"])) for row in rows]
