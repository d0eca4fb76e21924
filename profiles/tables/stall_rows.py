"""stall_rows.py -- the tables of h200/stalls.csv: how busy a launch keeps the parts of the GPU, and
what its warps wait for meanwhile; a function each.

Used by tables.py, as table_rows.py is. Means over the launches of a scan would hide what limits
each of them. So a row is one launch: the longest one of the scan, or of a kernel that is named.
"""
import re
import statistics
from functools import partial

from records import STALLS, STALLS_ON, duration, emulated, find, machine, size, three
from table_rows import table

# What a warp waits for, by ncu's names of its states. In all others it issues, could issue, or
# waits for its own last instruction.
WAITS = {"memory": "long_scoreboard lg_throttle drain membar",
         "shared memory": "short_scoreboard mio_throttle",
         "barriers": "barrier",
         "instructions": "no_instruction imc_miss branch_resolving"}
PARTS = {"occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
         "L1 and shared memory": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
         "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
         "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed"}


def seconds(row):
    return 1e-9 * float(row["gpu__time_duration.sum"])


def states(row):
    """The cycles of all warps of a launch, by what they wait for."""
    cycles = {re.search("stalled_(.*)_per_issue", column)[1]:
              float(row[column]) * float(row["smsp__issue_active.sum"])
              for column in row if "_stalled_" in column}
    named = {what: sum(map(cycles.get, names.split())) for what, names in WAITS.items()}
    return {**named, "else": sum(cycles.values()) - sum(named.values())}


def launch(step, variant, n, kernel=None):
    """The longest launch: its seconds and those of all launches, instructions, and in percent how
    busy the parts are and what the warps' time goes to."""
    rows = find(STALLS, step=step, variant=variant, n=n)
    row = max((row for row in rows if kernel in (None, row["kernel"])), key=seconds)
    issued, cycles = float(row["smsp__issue_active.sum"]), states(row)
    shares = {"for " + what: 100 * cycles[what] / sum(cycles.values()) for what in cycles}
    return {"kernel": row["kernel"], "time": seconds(row), "all": sum(map(seconds, rows)),
            "instructions": issued, **shares,
            "else": shares["for instructions"] + shares["for else"],
            "issue slots": 100 * issued / float(row["smsp__cycles_active.sum"]),
            **{part: float(row[metric]) for part, metric in PARTS.items()}}


def launches(*scans):
    """A row for each (label, step, variant, n, and maybe kernel)."""
    shown = ["occupancy", "issue slots", "L1 and shared memory", "L2", "memory", "for memory",
             "for shared memory", "for barriers", "else"]
    rows = []
    for label, *scan in scans:
        it = launch(*scan)
        rows.append([label, "`%s`" % it["kernel"], duration(it["time"]), duration(it["all"]),
                     three(it["instructions"] / 1e6) + " M", *("%.0f %%" % it[p] for p in shown)])
    return ["By ncu on %s: how busy the longest launch of that name keeps each part of the GPU, and"
            " (last four columns) what its warps wait for:" % machine(STALLS_ON), "",
            *table(["", "launch", "time", "all launches", "instructions",
                    "[occupancy](glossary.md#occupancy)", *shown[1:]], *rows)]


def one_block(step, variant=""):
    """The cycles of a warp, by what it waits for: medians of all runs with 512 elements."""
    runs = [states(row) for row in find(STALLS, step=step, variant=variant, n=512)]
    warps = int(emulated(step, 512, variant)["block"]) / 32
    return {what: statistics.median(run[what] for run in runs) / warps for what in runs[0]}


def one_block_waits():
    scans = {"step 2": one_block(2), "step 3": one_block(3), "`pad32`": one_block(4, "pad32")}
    line = lambda label, cycles: [label, *("%.0f" % cycles[what] for what in cycles),
                                  "%.0f" % sum(cycles.values())]
    return ["What a warp waits for, in cycles, n = 512, by ncu on %s, medians of 4 runs:"
            % machine(STALLS_ON), "",
            *table(["", *("for %s" % what for what in [*WAITS]), "else", "all"],
                   *(line(*scan) for scan in scans.items()))]


# Each of these makes the table of a chapter.
N20, N24, N28 = 2**20, 2**24, 2**28
COPY = ("a copy", 0, "float4", N24)
block_scan_waits = partial(launches, ("`naive`", 5, "naive", N24, "scan_block_naive"),
                           ("`work-efficient`", 5, "work-efficient", N24, "scan_block"),
                           ("`conflict-free`", 5, "conflict-free", N24, "scan_block"),
                           ("`conflict-free`", 5, "conflict-free", N24, "uniform_add"), COPY)
vectorized_waits = partial(launches, *(
    ("step %d" % step, step, variant, N24, kernel) for kernel in ("scan_block", "uniform_add")
    for step, variant in ((5, "conflict-free"), (6, ""))), COPY)
unrolled_waits = partial(launches, *(
    ("%s, %s" % (label, size(n)), *scan[:2], n, *scan[2:]) for n in (N20, N24)
    for label, *scan in (("step 6", 6, "", "scan_block"), ("step 7", 7, "", "scan_block"),
                         COPY[:3])))
cooperative_waits = partial(launches, ("step 9", 9, "shfl", N24, "scan_block"),
                            ("step 9", 9, "shfl", N24, "uniform_add"),
                            ("step 10", 10, "backward", N24), COPY)
passes_waits = partial(launches, ("`tile2048`", 11, "tile2048", N24),
                       ("`tile8192`", 11, "tile8192", N24), COPY)
pipeline_waits = partial(launches, *(
    ("%s, %s" % (label, size(n)), *scan, n) for n in (N24, N28)
    for label, *scan in (("step 12", 12, "f32"), COPY[:3])))
