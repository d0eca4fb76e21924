"""application_rows.py -- the tables of steps 13 to 15, from the experiments that compare them with
libraries: a function each, which returns its lines.

Used by tables.py, as experiment_rows.py is.
"""
from experiment_rows import of
from records import (EXPERIMENTS, EXPERIMENTS_EMULATED, GPU, duration, emulated, find, grouped,
                     machine, percent, read, size, three)
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
        *([size(n), *(duration(half(way, n)) for way in ways)]
          for n in (2**k for k in range(10, 29, 2)))) + [
        "",
        "The speed of `fast` in multiples of the speed of CUB's `DeviceSelect::If`, by the share "
        "of the elements",
        "that is kept. The *floor* is the time in which the copy would move the least possible:",
        ""] + table(
        ["n", *("%d %% kept" % kept for kept in KEPT)],
        *([size(2**k), *(against(2**k, kept) for kept in KEPT)] for k in range(10, 29)),
        ["2²⁸, of the floor", *(floor(2**28, kept) for kept in KEPT)])


@of("selects")
def selects_by_fraction(value):
    return gpu("Time of a compaction of %s int32 by the fraction that is kept"
               % size(FINELY)) + table(
        ["kept", "`fast`", "CUB", "`document`", "`atomic`"],
        *(["%d %%" % kept, *(duration(value(way, selects_at(FINELY, kept), "time"))
                             for way in ("fast", "cub", "document", "atomic"))] for kept in TENTHS))


def selects_curve(way, kept):
    """(n, seconds) of a way to compact; `kept` is the percentage that is kept."""
    rows = [row for row in EXPERIMENTS if row["experiment"] == "selects" and row["variant"] == way
            and row["time"] and row["parameter"].endswith(" kept=%d" % kept)]
    return [(int(row["parameter"].split()[0][2:]), float(row["time"])) for row in rows]


# ---- step 14 -----------------------------------------------------------------------------------

SIDES = [512, 1024, 4096, 8192]
LEAST_TRAFFIC = 4096  # smaller pictures have fewer strips than "traffic" takes
COPIES = ["cudaMemcpyAsync", "float4 kernel", "bulk copies"]
FIVE_BYTES = "a copy of as many bytes"  # 5 a pixel, half of them read


@of("against-npp")
def against_npp(value):
    """Step 14: the fast variant, its loads and stores alone, NPP, and copies of five bytes per
    pixel."""
    at = lambda way, side: value(way, "grey %dx%d" % (side, side), "time")
    floor = lambda side: min(at(way, side) for way in COPIES)
    traffic = lambda side: duration(at("traffic", side)) if side >= LEAST_TRAFFIC else ""
    return gpu("Time of the table of a grey picture of 8 bits (one call, cold L2)") + table(
        ["pixels", "`fast`", "NPP", "times as fast", "its loads and stores alone", FIVE_BYTES,
         "of the floor"],
        *(["%d x %d" % (side, side), duration(at("fast", side)), duration(at("NPP", side)),
           times_as_fast(at("NPP", side) / at("fast", side)), traffic(side), duration(floor(side)),
           percent(floor(side) / at("fast", side))] for side in SIDES))


@of("against-npp")
def document_phases(value):
    """Step 14: the columns of the document's table, today, for a picture of RGB."""
    at = lambda way, side: value(way, "RGB %dx%d" % (side, side), "time")
    interleave = lambda side: at("de-interleave", side) + at("interleave", side)
    scans = lambda side: at("scan rows", side) + at("scan columns", side)
    return gpu("Time of the document's phases") + table(
        ["pixels", "(de)interleave", "transpose", "6 scans", "total", "de-interleave alone",
         "by shuffles"],
        *(["%d x %d" % (side, side), duration(interleave(side)), duration(at("transpose", side)),
           duration(scans(side)), duration(at("document", side)),
           duration(at("de-interleave", side)),
           duration(at("de-interleave by shuffles", side))] for side in SIDES))


def counted_in(experiment, variant, parameter, metric):
    row = find(EXPERIMENTS_EMULATED, experiment=experiment, variant=variant, parameter=parameter)[0]
    return grouped(row[metric])


def structures_loaded():
    """Step 14: what both ways to take the three channels apart load."""
    at = lambda way: counted_in("against-npp", way, "RGB 64x64", "sectors_ld")
    return ["Sectors loaded for 64 x 64 pixels, counted by the emulator:", ""] + table(
        ["de-interleaving as in the document", "by shuffles"],
        [at("de-interleave"), at("de-interleave by shuffles")])


def rows_of_words():
    """Step 14: rows whose length is a multiple of four samples, and others."""
    def row(width):
        counted = emulated(14, width * 1000, "fast")
        return ["%d x 1000" % width, grouped(counted["sectors_ld"]), grouped(counted["sectors_st"])]
    return ["Counted by the emulator:", ""] + table(
        ["grey pixels", "sectors loaded", "sectors stored"], row(1000), row(1001))


def error_of_floats():
    """Step 14: how much of the bound the worst entry takes."""
    row = emulated(14, 200 * 100, "fast")
    return ["For 200 x 100 random floats (`./step14 --size 200x100 --real`) the largest bound is "
            "%s, and no error is larger" % three(float(row["widest_bound"])),
            "than %s of its bound." % percent(float(row["worst_of_bound"]))]


# ---- step 15 -----------------------------------------------------------------------------------

def conflicts_of_places():
    """Step 15: bank conflicts of the stores of keys to their places in the tile."""
    row = emulated(15, 2**17, "fast")
    conflicts, rows = int(row["conflicts_st"]), 4 * 2**17 / 32  # of four passes
    return ["For %s keys the emulator counts %s conflicts in stores to shared memory: %s for each "
            "row of 32 keys in each" % (size(2**17), grouped(conflicts), three(conflicts / rows)),
            "of the four passes."]


@of("against-cub")
def sorts(value):
    """Step 15: the fast variant and CUB, as single cold calls."""
    kinds = ["u32", "u64", "u32 pairs"]
    at = lambda way, kind, n: value(way, "%s n=%d" % (kind, n), "time")
    ratio = lambda kind, n: times_as_fast(at("cub", kind, n) / at("fast", kind, n))
    return gpu("Time of a sort of random keys (one call, cold L2)") + table(
        ["n", *(cell for kind in kinds for cell in ("%s: `fast`" % kind, "CUB", "times CUB"))],
        *([size(n), *(cell for kind in kinds for cell in (
            duration(at("fast", kind, n)), duration(at("cub", kind, n)), ratio(kind, n)))]
          for n in (2**k for k in range(10, 29))))


@of("against-cub")
def sorts_in_graph(value):
    """Step 15: the same in a graph of sorts, for few keys."""
    kinds = ["u32", "u64", "u32 pairs"]
    at = lambda way, kind, n: value(way, "%s n=%d" % (kind, n), "time_in_graph")
    return gpu("Time of a sort in a graph of 20 sorts (warm caches)") + table(
        ["n", *(cell for kind in kinds for cell in ("%s: `fast`" % kind, "CUB"))],
        *([size(n), *(cell for kind in kinds for cell in (
            duration(at("fast", kind, n)), duration(at("cub", kind, n))))]
          for n in (2**k for k in range(10, 18))))


# ---- what limits steps 13 and 15 ---------------------------------------------------------------

LIMITS, _ = read("h200/limits.csv")
BUSY = {"issue slots": "sm__issue_active", "L2": "lts__throughput", "memory": "dram__throughput"}
OF_PEAK = ".avg.pct_of_peak_sustained_elapsed"


def limits(step, name, sizes, what):
    """ncu's time of each launch, and how busy the parts of the GPU are meanwhile."""
    line = lambda row: [size(int(row["n"])), "`%s`" % row["kernel"],
                        duration(float(row["gpu__time_duration.sum"]) * 1e-9),
                        *("%.0f %%" % float(row[part + OF_PEAK]) for part in BUSY.values())]
    return gpu(what) + table(["n", "launch", "time", *("%s busy" % part for part in BUSY)],
                             *(line(row) for n in sizes
                               for row in find(LIMITS, step=step, variant=name, n=n)))


def limits_of_selects():
    return limits(13, "kept10", [2**24, 2**28],
                  "Compaction of floats of which a tenth is kept, by ncu")


def limits_of_sorts():
    return limits(15, "u32", [2**16, 2**17, 2**28], "Sorts of keys of 32 bits, by ncu")


# ---- README ------------------------------------------------------------------------------------

STEPS = [
    (13, "compaction", "a scan of 0s and 1s gives each kept element its place"),
    (14, "summed-area-table",
     "scans of all rows and all columns make filters of any width cost the same"),
    (15, "radix-sort", "for each digit, a scan of its counts gives each key its place"),
    (16, "operators", "one algorithm serves every associative operator, and rows and columns")]


def measured(name, variant, parameter):
    rows = [row for row in EXPERIMENTS if row["experiment"] == name and row["variant"] == variant
            and row["parameter"] == parameter]
    return float(rows[0]["time"]) if rows else None


def applications():
    """README's table: what each application does, and its time beside a library's."""
    half = selects_at(2**24, 50)
    affine = "affine n=%d" % 2**24
    shown = {13: ("2²⁴ int32, one half kept", measured("selects", "fast", half), "CUB",
                  measured("selects", "cub", half)),
             14: ("4096 x 4096 pixels, grey", measured("against-npp", "fast", "grey 4096x4096"),
                  "NPP",
                  measured("against-npp", "NPP", "grey 4096x4096")),
             15: ("2²⁴ keys of 32 bits", measured("against-cub", "fast", "u32 n=%d" % 2**24), "CUB",
                  measured("against-cub", "cub", "u32 n=%d" % 2**24)),
             16: ("2²⁴ steps of h = a h + b, float", measured("rates", "ours", affine), "CUB",
                  measured("rates", "cub", affine))}
    row = lambda number, name, teaches, what, own, library, other: [
        "[%d](steps/%d-%s) [%s](notes/%d-%s.md)" % (number, number, name, name, number, name),
        teaches, what,
        duration(own) if own else "", "%s: %s" % (library, duration(other)) if other else ""]
    return table(["step", "what it teaches", "on an H200", "`fast`", "a library"],
                 *(row(*step, *shown[step[0]]) for step in STEPS))


# ---- step 16 -----------------------------------------------------------------------------------

LONGEST = 2**28  # elements of one sequence
# The name in the recording, and the words of the table.
OPERATORS = [("sum", "sum, float"), ("max", "max, int32"), ("affine", "affine, float"),
             ("reverse-affine", "affine, in reverse"), ("decay", "moving average, float"),
             ("flags", "sum, heads as bytes"), ("bits", "sum, heads as bits"),
             ("keys", "sum, heads as int32 keys"), ("brackets", "brackets of a text"),
             ("logsumexp", "logsumexp, float")]
SHAPES = [("rows-32", 32 * 2**20, "sum", "1 Mi rows of 32"),
          ("rows-32", 2**28, "sum", "8 Mi rows of 32"),
          ("rows-1000", 10**8, "sum", "100 000 rows of 1000"),
          ("rows-5001", 10000 * 5001, "sum", "10 000 rows of 5001"),
          ("rows-8192", 32 * 2**20, "sum", "4096 rows of 8192"),
          ("columns-2", 2 * 2**20, "sum", "columns of 1 Mi rows of 2"),
          ("columns-32", 32 * 2**20, "sum", "columns of 1 Mi rows of 32"),
          ("columns-1000", 10**8, "sum", "columns of 100 000 rows of 1000"),
          ("affine-rows-65536", 1536 * 65536, "affine", "1536 rows of 65 536"),
          ("affine-columns-1536", 1536 * 65536, "affine", "columns of 65 536 rows of 1536")]
MOVED = {"sum": 8, "affine": 12}  # bytes for an element of float
COPIED = 8
BESIDE = {"sum": "step12", "max": "cub", "affine": "cub", "keys": "cub"}


@of("rates")
def operator_rates(value):
    """Step 16: one sequence of 2^28 elements, for each operator."""
    at = lambda name: "%s n=%d" % (name, LONGEST)
    beside = lambda name: (times_as_fast(value("ours", at(name), "times_other"))
                           if BESIDE.get(name) == "cub" else "")
    return gpu("Time of a scan of %s elements (one call, cold L2)" % size(LONGEST)) + table(
        ["operator", "step 16", "of the floor", "CUB", "times as fast"],
        *([words, duration(value("ours", at(name), "time")),
           percent(value("ours", at(name), "of_floor")),
           duration(value("cub", at(name), "time")) if BESIDE.get(name) == "cub" else "",
           beside(name)] for name, words in OPERATORS))


@of("rates")
def operator_shapes(value):
    """Step 16: rows and columns. Each shape was measured beside a copy; shapes of as many elements
    share the fastest one."""
    at = lambda name, n: "%s n=%d" % (name, n)
    floor = lambda op, n: MOVED[op] / COPIED * min(
        value("copy", at(name, n), "time") for name, others, *_ in SHAPES if others == n)
    own = lambda name, n: value("ours", at(name, n), "time")
    return gpu("Time of a scan of rows or columns of floats (one call, cold L2)") + table(
        ["shape", "operator", "step 16", "floor", "of the floor"],
        *([words, op, duration(own(name, n)), duration(floor(op, n)),
           percent(floor(op, n) / own(name, n))] for name, n, op, words in SHAPES))


@of("rates")
def operator_sizes(value):
    """Step 16: the sum beside step 12's, and max and affine beside CUB's, by size."""
    against = lambda name, n: times_as_fast(value("ours", "%s n=%d" % (name, n), "times_other"))
    return gpu("The speed of step 16 in multiples of another scan's") + table(
        ["n", "sum, of step 12", "max, of CUB", "affine, of CUB", "sum by keys, of CUB"],
        *([size(n), *(against(name, n) for name in ("sum", "max", "affine", "keys"))]
          for n in (2**k for k in range(10, 29, 2))))


def compile_time():
    """How long nvcc takes for step 16."""
    rows, about = read("compile.csv")
    rows.sort(key=lambda row: float(row["elapsed"]))
    least, median, most = rows[0], rows[len(rows) // 2], rows[-1]
    return ["nvcc takes %.0f s for the %s files of step 16 with %s processes at a time, which is "
            "%.0f s of" % (float(median["elapsed"]), median["files"], median["processes"],
                           float(median["processor"])),
            "processor time (%s; median of %d runs, %.0f s to %.0f s)."
            % (about["CPU"], len(rows), float(least["elapsed"]), float(most["elapsed"]))]


@of("call-cost")
def call_cost(value):
    """Step 12: what a call of the libraries costs the host, beside its launches alone."""
    calls = [row for row in EXPERIMENTS if row["experiment"] == "call-cost" and row["call"]]
    asked = ["cudaGetDevice", "cudaDeviceGetAttribute", "cudaFuncGetAttributes",
             "occupancy of blocks", "occupancy of clusters"]
    return gpu("Time on the host of a call, and of its launches alone") + table(
        ["call", "n", "launches", "call", "launches alone", "beyond them"],
        *(["`%s`" % row["variant"], size(int(row["parameter"][2:])), row["launches"],
           *(microseconds(row[key]) for key in ("call", "bare", "beyond"))] for row in calls)) + [
        "",
        "Five questions, each asked anew: %s." % ", ".join(
            "%s %s" % (name, microseconds(value(name, "", "query"))) for name in asked)]


def microseconds(text):
    """With two digits after the point: differences of times may be near zero."""
    return "%.2f µs" % (1e6 * float(text))


# ---- the same on another GPU -------------------------------------------------------------------

# What is compared, with what, and how the recordings name it: experiment, ours, the other, and
# the parameter.
ON_BOTH = [("sum of floats", "a copy", 28, "rates", "ours", "copy", "sum n=%d"),
           ("max of int32", "CUB", 28, "rates", "ours", "cub", "max n=%d"),
           ("affine, floats", "CUB", 28, "rates", "ours", "cub", "affine n=%d"),
           ("sum by keys", "CUB", 20, "rates", "ours", "cub", "keys n=%d"),
           ("rows of 32", "a copy", 28, "rates", "ours", "copy", "rows-32 n=%d"),
           ("columns of rows of 32", "a copy", 25, "rates", "ours", "copy", "columns-32 n=%d"),
           ("columns of rows of 2", "a copy", 21, "rates", "ours", "copy", "columns-2 n=%d"),
           ("compaction, 10 % kept", "CUB", 28, "selects", "fast", "cub", "n=%d kept=10"),
           ("compaction, 50 % kept", "CUB", 22, "selects", "fast", "cub", "n=%d kept=50"),
           ("sort of u32", "CUB", 12, "against-cub", "fast", "cub", "u32 n=%d"),
           ("sort of u32", "CUB", 20, "against-cub", "fast", "cub", "u32 n=%d"),
           ("sort of u32", "CUB", 28, "against-cub", "fast", "cub", "u32 n=%d"),
           ("sort of u64", "CUB", 26, "against-cub", "fast", "cub", "u64 n=%d"),
           ("sort of pairs of u32", "CUB", 20, "against-cub", "fast", "cub", "u32 pairs n=%d"),
           ("sort of pairs of u32", "CUB", 24, "against-cub", "fast", "cub", "u32 pairs n=%d"),
           ("sort of pairs of u32", "CUB", 28, "against-cub", "fast", "cub", "u32 pairs n=%d")]
PICTURES = [("table of 512 x 512", "grey 512x512"), ("table of 8192 x 8192", "grey 8192x8192")]


def on_an_h100():
    """Steps 13 to 16 on an H100 and on the H200, each beside the same library or copy there."""
    rows, about = read("h100/experiments.csv")
    cells = [("%s, %s" % (what, size(2**power)), other, (experiment, ours, theirs, at % 2**power))
             for what, other, power, experiment, ours, theirs, at in ON_BOTH]
    cells += [(what, "NPP", ("against-npp", "fast", "NPP", at)) for what, at in PICTURES]

    def times(recorded, experiment, ours, theirs, parameter):
        mine, other = (float(find(recorded, experiment=experiment, variant=variant,
                                  parameter=parameter)[0]["time"]) for variant in (ours, theirs))
        return [duration(mine), times_as_fast(other / mine)]
    return ["Time of one call (cold L2), and how many times as fast as the other one that is, on "
            "%s and on %s:" % (machine(about), machine(GPU)), ""] + table(
        ["what", "beside", "H100", "times", "H200", "times"],
        *([what, other, *times(rows, *where), *times(EXPERIMENTS, *where)]
          for what, other, where in cells))
