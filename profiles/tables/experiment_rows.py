"""experiment_rows.py -- the tables of the small experiments (steps/*/experiments), also of those
that compare steps 13 to 16 with libraries."""
import os
import re
import sys
import textwrap

from records import (COPIES, EXPERIMENTS, GPU, ROWS, TABLES, TOP, TRIED_ON, coded, cub,
                     duration, emulated, experiments, find, gpu, grid, grouped, has, machine,
                     percent, read, shown, size, sizes, steps_with, table, three)
from step_rows import teaches

ROUNDS = 4096  # of step 9's experiments
SHARED = "shared memory"


def of(name):
    """Puts among TABLES a function that is called with a function value(variant, parameter,
    metric), which finds a number that the experiment NN-NAME printed."""
    def decorate(make):
        def value(variant, parameter, metric="time"):
            return float(find(EXPERIMENTS, experiment=name, variant=variant,
                              parameter=parameter)[0][metric])
        TABLES[make.__name__.replace("_", "-")] = lambda: make(value)
        return make
    return decorate


def times(value, corner, variants, parameters):
    """A line for each parameter with the time of each variant."""
    return grid(corner, coded(variants), parameters, lambda parameter, variant: duration(
        value(variant, str(parameter))))


def ratio(number):
    return "%.2f ×" % number


# ---- steps 0 to 12 -------------------------------------------------------------------------------

@of("00-cache-operators")
def cache_operators(value):
    """Loads of a copy and of a block's own 4 KiB, and stores of a copy, against those without an
    operator."""
    def row(access, word):
        parameters = ["once", "again"][:1 + (access == "ld")]
        cells = [duration(value("%s_%s" % (access, word), when)) for when in parameters]
        name = access + ".global" + ("" if word == "plain" else "." + word)
        return ["`%s`" % name, *cells] + [""] * (access == "st")
    return gpu("Time of a copy of 2²⁶ floats with this load or store, and of reading 4 KiB in each "
               "block 64 times,") + table(
        ["PTX", "copy", "again and again"],
        *(row("ld", word) for word in ("plain", "ca", "cg", "cs", "lu", "cv", "nc")),
        *(row("st", word) for word in ("plain", "wb", "cg", "cs", "wt")))


# The meaning of the cache operators and other words of a load or store, from the lecture ("PTX
# Cache Operators") and the PTX ISA.
OPERATORS = {
    "ld_plain": "", "ld_ca": "cache at all levels", "ld_cg": "cache in L2, not in L1",
    "ld_cs": "streaming: likely once", "ld_lu": "last use", "ld_cv": "do not cache, fetch again",
    "ld_nc": "through the read-only path (`__ldg`)",
    "ld_volatile": "may not be left out or moved", "ld_relaxed_gpu": "strong, no order",
    "ld_acquire_gpu": "what follows comes after it", "st_plain": "",
    "st_wb": "write back: all levels", "st_cg": "cache in L2, not in L1", "st_cs": "streaming",
    "st_wt": "write through to system memory", "st_volatile": "may not be left out or moved",
    "st_relaxed_gpu": "strong, no order", "st_release_gpu": "what comes before it is seen first"}


@shown
def operators():
    made = {row["ptx"]: row["sass"] for row in read("h200/operators.csv")[0]}
    rows = []
    for name, means in OPERATORS.items():
        access, word = name.split("_", 1)
        word = word.replace("_", ".")
        ptx = access + ".global" if word == "plain" else (
            "%s.global.%s" if len(word) == 2 else "%s.%s.global") % (access, word)
        rows.append(["`%s`" % ptx, means, "`%s`" % made[name].replace(" ", "; ")])
    return table(["PTX", "meaning", "machine code for sm_90"], *rows)


@of("00-constant-cache")
def constant_cache(value):
    return gpu("Time of 1024 look-ups in each thread, by the number of words that a warp needs,"
               ) + times(
        value, "words", ["constant", "constant-spread", "read-only", "read-only-spread"],
        [1, 2, 4, 8, 16, 32])


@of("00-one-wins")
def one_wins(value):
    return gpu("32 writers, 100 times,") + grid(
        "writers", {"different_winners": "different winners", "most_often": "most frequent winner",
                    "wins_of_that": "wins of 100"}, ["lanes", "warps", "blocks"],
        lambda writers, metric: "%d" % value(writers, "32", metric))


@of("02-in-place")
def in_place(value):
    return gpu("A naive scan of 1024 ints") + table(
        ["", "time", "wrong of 100 runs"],
        *(["`%s`" % name, duration(value(name, "1024")), "%d" % value(name, "1024", "wrong_of_100")]
          for name in ("two-arrays", "two-barriers", "no-barrier")))


@of("05-small-scans")
def small_scans(value):
    return gpu("Time of 32 scans of n ints each, one block for a scan,") + times(
        value, "n", ["1-stream", "8-streams", "32-streams", "1-launch"],
        [2**10, 2**12, 2**14, 2**16])


@of("05-transfers")
def transfers(value):
    chunks = [1, 2, 4, 8]
    return gpu("256 MiB between host and GPU") + grid(
        "memory of the host", {"to-device": "to the GPU", "to-host": "to the host",
                               "both": "both at once"}, ["pageable", "pinned"],
        lambda memory, way: "%.1f GB/s" % (value(memory, way, "rate") / 1e9)) + [
        "", "Copying 2²⁶ floats to the GPU, scanning them and copying them back (pinned memory), "
        "by the number of chunks:", ""] + table(
        ["chunks", *chunks, "the scan alone"],
        ["time", *(duration(value("scan", str(c))) for c in chunks),
         duration(value("scan-only", "1"))])


@of("06-precision")
def precision(value):
    def row(kind, what):
        float_time, double_time = value(kind, "float"), value(kind, "double")
        return [what, duration(float_time), duration(double_time), three(double_time / float_time)]
    return gpu("Times of 2²⁴ threads") + table(
        ["", "float", "double", "double / float"],
        row("arithmetic", "8192 multiply-adds in each thread"),
        row("copy", "a copy of one element"), row("block-scan", "naive scans of 256 elements"))


@of("06-clocks")
def clocks(value):
    blocks = max((row["parameter"] for row in find(EXPERIMENTS, experiment="06-clocks")), key=int)
    row = lambda name, n, what: [what, *("%.0f" % value(name, n, metric)
                                         for metric in ("least", "most"))]
    return ["The highest clock of the %s is %.0f MHz. Measured, in MHz:"
            % (GPU["GPU"], value("highest", "0", "most")), "",
            *table(["", "slowest SM", "fastest SM"],
                   row("rested", "1", "one thread, after a rest"), row("one-warp", "1", "one warp"),
                   row("all-floats", blocks, "multiply-adds of floats on all SMs"),
                   row("all-doubles", blocks, "of doubles"))]


@of("06-bytes-under-way")
def bytes_under_way(value):
    return gpu("Speed of a copy of 128 MiB, by the number of warps on a multiprocessor,") + grid(
        "warps", coded(["float", "float2", "float4"]), [8, 16, 32, 64],
        lambda warps, width: "%.0f GB/s" % (value(width, str(warps), "rate") / 1e9))


@of("07-carve-out")
def carve_out(value):
    rows = {("in-shared", "time"): "`in-shared`", ("in-shared", "blocks_fit"): "blocks that fit",
            ("in-l1", "time"): "`in-l1`"}
    return gpu("Time of reading 24 KiB in each block 32 times, by the preferred percentage of "
               "shared memory,") + grid(
        "", {p: "%d %%" % p for p in (0, 25, 50, 75, 100)}, rows, lambda row, p: (
            duration if row[1] == "time" else "{:.0f}".format)(value(row[0], str(p), row[1])))


@of("07-spills")
def spills(value):
    return gpu("2²⁶ ints, 64 of them in the registers of each thread,") + grid(
        "blocks that must fit",
        {"registers": "registers", "local": "local memory, bytes per thread",
         "blocks_fit": "blocks that fit", "time": "time"}, [1, 2, 4, 8],
        lambda blocks, metric: (duration if metric == "time" else "{:.0f}".format)(
            value("add-sum", str(blocks), metric)))


@of("11-same-bits")
def same_bits(value):
    return gpu("2²² floats, the same in each run,") + grid(
        "", {"runs": "runs", "distinct": "different results",
             "differ": "elements that differ from the first run, at most",
             "error": "error, in additions"}, ["integers", "real numbers"],
        lambda numbers, metric: (three if metric == "error" else "{:.0f}".format)(
            value(numbers, "n=%d" % 2**22, metric)))


@of("11-look-back")
def look_back_cost(value):
    hows = {"scan": "as it is", "cleared before": "states cleared before the clock starts",
            "looks nowhere": "without looking back (wrong)"}
    return gpu("Time of a scan") + table(
        ["tile", "n", *hows.values()],
        *([tile, size(n), *(duration(value(how, "tile=%d n=%d" % (tile, n))) for how in hows)]
          for tile in (2048, 8192) for n in (2**12, 2**16, 2**20, 2**24, 2**28)))


@of("11-look-back")
def look_back_lengths(value):
    """The histogram: the share of the tiles by the number of states that they added up."""
    parts = {range(1): "1", range(1, 3): "2 to 4", range(3, 6): "5 to 32", range(6, 9): "33 to 256",
             range(9, 16): "more"}

    def row(tile):
        at = lambda metric: value("distance", "tile=%d n=%d" % (tile, 2**28), metric)
        share = lambda powers: sum(at("states_%d" % 2**p) for p in powers
                                   if 2**p < 2 * at("most")) / at("tiles")
        return ["%d" % tile, three(at("mean")), "%d" % at("most"),
                *("%.1f %%" % (100 * share(part)) for part in parts)]
    return gpu("States that a tile adds up, of 2²⁸ floats,") + table(
        ["tile", "mean", "most", *parts.values()], *map(row, (2048, 4096, 8192)))


@of("09-neighbour")
def neighbour(value):
    """Step 9: handing a value to the next lane, in five ways."""
    ways, cases = ["unsafe", "printed", "safe", "syncwarp", "shuffle"], ["float", "double",
                                                                         "float: one warp"]
    wrap = lambda said: ["", *textwrap.wrap(said, 110)]

    def row(way):
        return ["`%s`" % way, *(cell for what in cases[:2] for cell in (
            duration(value(way, what)), "%g KiB" % (value(way, what, "shared_bytes") / 1024))),
                three(value(way, cases[2]) / ROUNDS * 1e9) + " ns",
                "%d" % sum(value(way, what, "wrong") for what in cases)]

    def against(way):
        ratios = [three(value(way, what) / value("shuffle", what)) for what in cases]
        return "`%s` takes %s, %s and %s times as long" % (way, *ratios)

    def verdict(said, ways):
        slower = ["`%s` (%s)" % (way, what) for way in ways for what in cases
                  if value(way, what) < 0.99 * value("shuffle", what)]
        return '"%s": %s.' % (said, "not so beside " + ", ".join(slower) if slower
                              else "this holds here")
    said = [verdict("It is always faster than 'safe' shared memory", ["safe", "syncwarp"]),
            verdict("It is never slower than 'unsafe' shared memory", ["unsafe"])]
    return gpu("4096 rounds of 26 blocks of 1024 threads, and of one warp alone,") + table(
        ["way", "float", SHARED, "double", SHARED, "one warp, a round", "wrong values"],
        *map(row, ways)) + wrap(
        "Compared with the shuffle (float, double, one warp of floats): %s."
        % "; ".join(map(against, ways[:-1]))) + wrap(
        "The lecture's conclusions about the shuffle: " + " ".join(said))


@of("09-reduce")
def warp_reduce(value):
    """Step 9: sums and scans of a warp."""
    ways = [("shared", "sum"), ("shuffle", "sum"), ("redux", "sum"), ("shared", "scan"),
            ("shuffle", "scan"), ("predicate", "scan")]
    return gpu("4096 rounds of 26 blocks of 1024 threads") + table(
        ["of a warp", "way", "time", SHARED],
        *([what, "`%s`" % way, duration(value(way, what)),
           "%g KiB" % (value(way, what, "shared_bytes") / 1024)] for way, what in ways))


@of("08-switch")
def switch(value):
    """Step 8: where the double-buffered scan takes over."""
    taken = {n: [value("n=2^%d" % n, "most=2^%d" % k) for k in range(min(n, 24))] for n in (20, 24)}
    # A reduce step and a down step a level, and the sweeps.
    launches = lambda n, k: 2 * (n - k) + max(k, 1)

    def cells(n, k):
        if k >= n:
            return ["", ""]
        best = taken[n][k] == min(taken[n])
        return ["%d" % launches(n, k), ("**%s**" if best else "%s") % duration(taken[n][k])]
    return gpu("Time of a scan, by the number of sums at which the reduce steps stop") + table(
        ["sums left", "launches, 2²⁰", "2²⁰", "launches, 2²⁴", "2²⁴"],
        *([size(2**k), *cells(20, k), *cells(24, k)] for k in range(24) if k % 2 == 0 or k > 12))


@of("10-atomics")
def atomics(value):
    ways = [way for way in ("plain", "hidden", "aggregated", "shared")
            if has(EXPERIMENTS, experiment="10-atomics", variant=way)]
    others = [("a word a thread", "with a word for each thread"),
              ("a word a block", "with one word for 256 threads")]
    loads = "; ".join("%s, loads take %s and atomic additions %s (%s times as long)" % (
        said, duration(value("load", at)), duration(value("atomic", at)),
        three(value("atomic", at) / value("load", at))) for at, said in others)
    return gpu("Packing the odd ones of 2²⁴ numbers, with one counter,") + table(
        ["way", "time", "`aggregated` = 1"],
        *(["`%s`" % way, duration(value(way, "pack")),
           three(value(way, "pack") / value("aggregated", "pack"))] for way in ways)) + [
            "", *textwrap.wrap("Each of 2²⁴ threads makes one access: " + loads + ".", 110)]


@of("10-groups")
def groups(value):
    return gpu("Sums of 2²⁶ integers by groups of threads") + grid(
        "threads a group", coded(["generic", "static", "library"]), [256, 32, 16, 4],
        lambda threads, way: "" if threads == 256 and way != "generic" else duration(
            value(way, str(threads))))


@of("10-grid-sync")
def grid_sync(value):
    return gpu("Time of a round in which all blocks wait for all") + grid(
        "blocks a multiprocessor", {"grid.sync": "`grid.sync()`", "launches": "a launch"},
        [1, 2, 4, 8], lambda each, way: duration(value(way, str(each), "a round")))


@of("12-timeline")
def timeline(value):
    """Step 12: which role works when, as drawn, and the means of all tiles."""
    n = 2**26
    mean = lambda metric: value("mean", "n=%d" % n, metric)
    rows = {"copy": "the copy, until the first role finds it complete",
            "sum": "the sum, until it is published",
            "look": "computing the prefix (look warp)", "scan": "the scan, without the prefix",
            "wait for the prefix": "waiting for the prefix",
            "store": "adding the prefix, and storing"}
    return ["![Stages of the ring and roles of the warps against time](figures/timeline.svg)", "",
            *gpu("Means of the %s tiles of 2²⁶ floats" % grouped(n // 8192)),
            *grid("work on a tile", ["cycles"], rows, lambda row, _: grouped(round(mean(row)))), "",
            "When the scan of a tile begins, the sums of %.1f tiles in the ring, this one "
            "included, are published." % mean("tiles ahead")]


@of("12-held")
def held(value):
    """Step 12: the parts of a block's time at middle sizes, by its clock."""
    edges = [(float(row["before the first store"]), float(row["after the last copy"]))
             for row in find(EXPERIMENTS, experiment="12-timeline", variant="edges")]
    share = lambda part: "%.0f %%" % (100 * part)
    rows = [["`scan_onchip`", size(n), *(share(value("scan_onchip", "n=%d" % n, part)) for part in (
        "load and scan", "find the prefix", "store"))] for n in (2**22, 2**23)]
    rows += [["`scan_pipeline`", size(n), share(begin), "", share(end)]
             for n, (begin, end) in reversed([*zip((2**26, 2**24), edges)])]
    return gpu("Parts of a block's time, by the clock of its multiprocessor, on average,") + \
        table(["kernel", "n", "loads, and stores nothing yet", "only waits for its prefix",
               "stores, and loads nothing any more"], *rows)


@of("12-fixed-order")
def fixed_order(value):
    """Step 12: what the order of additions costs, and the carry in double."""
    taken = lambda way, n: value(way, "n=%d" % n)
    against = lambda way, n: "%+.1f %%" % (100 * (taken(way, n) / taken("as it is", n) - 1))
    others = ["first come", "in float"]
    return gpu("Time of a scan by the pipeline") + table(
        ["n", "as it is", *(cell for way in others for cell in ("`%s`" % way, "difference"))],
        *([size(n), duration(taken("as it is", n)),
           *(cell for way in others for cell in (duration(taken(way, n)), against(way, n)))]
          for n in (2**24, 2**26, 2**28)))


@of("12-arrivals")
def arrivals(value):
    return gpu("Time of step 12's pipeline") + grid(
        "floats", {"each lane": "every lane arrives", "one lane": "one lane arrives for its warp"},
        sizes(24, 26, 28), lambda n, who: duration(value(who, "n=%d" % n)))


@of("16-call-cost")
def call_cost(value):
    """Step 12: what a call of the libraries costs the host, beside its launches alone."""
    # With two digits after the point: differences of times may be near zero.
    microseconds = lambda number: "%.2f µs" % (1e6 * float(number))
    calls = [row for row in EXPERIMENTS if row["experiment"] == "16-call-cost" and row["call"]]
    asked = ["cudaGetDevice", "cudaDeviceGetAttribute", "cudaFuncGetAttributes",
             "occupancy of blocks", "occupancy of clusters"]
    return gpu("Time on the host of a call, and of its launches alone") + table(
        ["call", "n", "launches", "call", "launches alone", "beyond them"],
        *(["`%s`" % row["variant"], size(int(row["parameter"][2:])), row["launches"],
           *(microseconds(row[key]) for key in ("call", "bare", "beyond"))] for row in calls)) + [
        "", "Five questions, each asked anew: %s." % ", ".join(
            "%s %s" % (name.replace("clusters", "[clusters](glossary.md#cluster)"),
                       microseconds(value(name, "", "query"))) for name in asked)]


# ---- step 13 -------------------------------------------------------------------------------------

FINELY = 2**24  # elements of the table by fraction


def selects_at(n, kept):
    return "n=%d kept=%d" % (n, kept)


@of("13-selects")
def selects(value):
    """Step 13: all variants at one half kept, and `fast` against CUB for each fraction."""
    ways = {"fast": "`fast`", "cub": "CUB", "document": "`document`", "atomic": "`atomic`",
            "copy": "a copy of n"}
    kept = {k: "%d %% kept" % k for k in (0, 10, 50, 100)}
    against = grid(
        "n", kept, {**sizes(*range(10, 29)), "floor": "2²⁸, of the floor"}, lambda n, kept: (
            percent(value("fast", selects_at(2**28, kept), "of_floor")) if n == "floor"
            else ratio(value("fast", selects_at(n, kept), "times_cub"))))
    return gpu("Time of a compaction of int32 that keeps one half (one call, cold L2)") + grid(
        "n", ways, sizes(*range(10, 29, 2)),
        lambda n, way: duration(value(way, selects_at(n, 50)))) + [
        "",
        "The speed of `fast` in multiples of the speed of `DeviceSelect::If` of %s, by the share "
        "of the elements" % cub(TRIED_ON),
        "that is kept. The *floor* is the time in which the copy would move the least possible:",
        "", *against]


@of("13-selects")
def selects_by_fraction(value):
    return gpu("Time of a compaction of %s int32 by the fraction that is kept"
               % size(FINELY)) + grid(
        "kept", {"fast": "`fast`", "cub": "CUB", "document": "`document`", "atomic": "`atomic`"},
        {kept: "%d %%" % kept for kept in range(0, 101, 10)},
        lambda kept, way: duration(value(way, selects_at(FINELY, kept))))


def selects_curve(way, kept):
    """(n, seconds) of a way to compact; `kept` is the percentage that is kept."""
    rows = [row for row in has(EXPERIMENTS, experiment="13-selects", variant=way)
            if row["time"] and row["parameter"].endswith(" kept=%d" % kept)]
    return [(int(row["parameter"].split()[0][2:]), float(row["time"])) for row in rows]


# ---- step 14 -------------------------------------------------------------------------------------

SIDES = [256, 512, 1024, 4096, 8192]
LEAST_TRAFFIC = 4096  # smaller pictures have fewer strips than "traffic" takes
FIVE_BYTES = "a copy of as many bytes"  # 5 a pixel, half of them read


@of("14-against-npp")
def against_npp(value):
    """Step 14: the fast variant, its loads and stores alone, NPP, and copies of five bytes per
    pixel."""
    def row(side):
        at = lambda way: value(way, "grey %dx%d" % (side, side))
        floor = min(map(at, COPIES))
        return ["%d x %d" % (side, side), duration(at("fast")), duration(at("NPP")),
                ratio(at("NPP") / at("fast")),
                duration(at("traffic")) if side >= LEAST_TRAFFIC else "", duration(floor),
                percent(floor / at("fast"))]
    return gpu("Time of the table of a grey picture of 8 bits (one call, cold L2)") + table(
        ["pixels", "`fast`", "NPP", "times as fast", "its loads and stores alone", FIVE_BYTES,
         "of the floor"], *map(row, SIDES))


@of("14-against-npp")
def document_phases(value):
    """Step 14: the columns of the document's table, today, for a picture of RGB."""
    columns = {"de-interleave+interleave": "(de)interleave", "transpose": "transpose",
               "scan rows+scan columns": "6 scans", "document": "total",
               "de-interleave": "de-interleave alone",
               "de-interleave by shuffles": "by shuffles"}
    return gpu("Time of the document's phases") + grid(
        "pixels", columns, {side: "%d x %d" % (side, side) for side in SIDES},
        lambda side, ways: duration(sum(value(way, "RGB %dx%d" % (side, side))
                                        for way in ways.split("+"))))


@shown
def structures_loaded():
    """Step 14: what both ways to take the three channels apart load."""
    at = lambda way: grouped(find(
        experiments("emulated")[0], experiment="14-against-npp", variant=way,
        parameter="RGB 64x64")[0]["sectors_ld"])
    return ["Sectors loaded for 64 x 64 pixels, counted by the emulator:", ""] + table(
        ["de-interleaving as in the document", "by shuffles"],
        [at("de-interleave"), at("de-interleave by shuffles")])


@shown
def rows_of_words():
    """Step 14: rows whose length is a multiple of four samples, and others."""
    return ["Counted by the emulator:", ""] + grid(
        "grey pixels", {"sectors_ld": "sectors loaded", "sectors_st": "sectors stored"},
        {width: "%d x 1000" % width for width in (1000, 1001)},
        lambda width, key: grouped(emulated(14, width * 1000, "fast")[key]))


@shown
def error_of_floats():
    """Step 14: how much of the bound the worst entry takes."""
    row = emulated(14, 200 * 100, "fast")
    return ["For 200 x 100 random floats (`./step14 --size 200x100 --real`) the largest bound is "
            "%s, and no error is larger" % three(float(row["widest_bound"])),
            "than %s of its bound." % percent(float(row["worst_of_bound"]))]


# ---- step 15 -------------------------------------------------------------------------------------

@shown
def conflicts_of_places():
    """Step 15: bank conflicts of the stores of keys to their places in the tile."""
    conflicts, rows = int(emulated(15, 2**17, "fast")["conflicts_st"]), 4 * 2**17 / 32  # 4 passes
    return ["For %s keys the emulator counts %s conflicts in stores to shared memory: %s for each "
            "row of 32 keys in each" % (size(2**17), grouped(conflicts), three(conflicts / rows)),
            "of the four passes."]


def against_cub(value, metric, powers, with_ratio):
    """Step 15: the fast variant and CUB, for three kinds of keys."""
    at = lambda way, kind, n: value(way, "%s n=%d" % (kind, n), metric)

    def cells(kind, n):
        ours, theirs = at("fast", kind, n), at("cub", kind, n)
        return [duration(ours), duration(theirs), *([ratio(theirs / ours)] if with_ratio else [])]
    kinds = ["u32", "u64", "u32 pairs"]
    return table(["n", *(cell for kind in kinds for cell in (
        "%s: `fast`" % kind, cub(TRIED_ON), *(["times CUB"] if with_ratio else [])))],
                 *([size(2**k), *(cell for kind in kinds for cell in cells(kind, 2**k))]
                   for k in powers))


@of("15-against-cub")
def sorts(value):
    return gpu("Time of a sort of random keys (one call, cold L2)") + against_cub(
        value, "time", range(10, 29), True)


@of("15-against-cub")
def sorts_in_graph(value):
    return gpu("Time of a sort in a graph of 20 sorts (warm caches)") + against_cub(
        value, "time_in_graph", range(10, 18), False)


def limits(step, name, powers, what):
    """What limits launches of steps 13 and 15: ncu's time of each, and how busy the parts of the
    GPU are meanwhile."""
    busy = {"issue slots": "sm__issue_active", "L2": "lts__throughput",
            "memory": "dram__throughput"}
    line = lambda row: [size(int(row["n"])), "`%s`" % row["kernel"],
                        duration(float(row["gpu__time_duration.sum"]) * 1e-9),
                        *("%.0f %%" % float(row[part + ".avg.pct_of_peak_sustained_elapsed"])
                          for part in busy.values())]
    return gpu(what) + table(["n", "launch", "time", *("%s busy" % part for part in busy)],
                             *(line(row) for k in powers for row in find(
                                 read("h200/limits.csv")[0], step=step, variant=name, n=2**k)))


TABLES |= {
    "limits-of-selects": lambda: limits(
        13, "kept10", (24, 28), "Compaction of floats of which a tenth is kept, by ncu"),
    "limits-of-sorts": lambda: limits(15, "u32", (16, 17, 28), "Sorts of keys of 32 bits, by ncu")}


# ---- README --------------------------------------------------------------------------------------

# The line of the comment of an experiment: two variants, a parameter, and what is measured there.
IN_README = re.compile(r"^ \* In README: (\w+) and (\w+) at (.*?): (.*)\.$", re.M)


@shown
def applications():
    """README's table: what each application does, and its time beside a library's, once recorded;
    the comment of the experiment that ./bench runs says what is shown."""
    def row(step):
        folder, lesson = teaches(step)
        name = ROWS[step]["experiment"]
        path = os.path.join(TOP, "steps", folder, "experiments", name + ".cu")
        with open(path, encoding="utf-8") as file:
            shows = IN_README.search(file.read())
        if not shows:
            sys.exit("%s: its comment has no line that matches %s" % (path, IN_README.pattern))
        ours, theirs, parameter, what = shows.groups()
        rows = [has(EXPERIMENTS, experiment="%d-%s" % (step, name), variant=variant,
                    parameter=parameter) for variant in (ours, theirs)]
        own, other = (duration(float(found[0]["time"])) if found else "not measured"
                      for found in rows)
        return ["[%d](steps/%s) [%s](notes/%s.md)" % (step, folder, folder[3:], folder),
                lesson, what, own, "%s: %s" % ({"cub": cub(TRIED_ON)}.get(theirs, theirs), other)]
    return table(["step", "what it teaches", "on an H200", "`fast`", "a library"],
                 *map(row, steps_with("kind", "application")))


# ---- step 16 -------------------------------------------------------------------------------------

LONGEST = 2**28  # elements of one sequence
# The name in the recording, the words of the table, and whether CUB was measured beside it.
RATES = [("sum", "sum, float", False), ("max", "max, int32", True),
         ("affine", "affine, float", True), ("reverse-affine", "affine, in reverse", False),
         ("decay", "moving average, float", False), ("flags", "sum, heads as bytes", False),
         ("bits", "sum, heads as bits", False), ("keys", "sum, heads as int32 keys", True),
         ("brackets", "brackets of a text", False), ("logsumexp", "logsumexp, float", False)]
SHAPES = [("rows-32", 32 * 2**20, "sum", "1 Mi rows of 32"),
          ("rows-32", 2**28, "sum", "8 Mi rows of 32"),
          ("rows-1000", 10**8, "sum", "100 000 rows of 1000"),
          ("rows-5001", 10000 * 5001, "sum", "10 000 rows of 5001"),
          ("rows-8192", 32 * 2**20, "sum", "4096 rows of 8192"),
          ("rows-65536", 2**20, "sum", "16 rows of 65 536"),
          ("rows-65536", 2**22, "sum", "64 rows of 65 536"),
          ("rows-65536", 2**24, "sum", "256 rows of 65 536"),
          ("columns-2", 2 * 2**20, "sum", "columns of 1 Mi rows of 2"),
          ("columns-2", 2**26, "sum", "columns of 32 Mi rows of 2"),
          ("columns-32", 2**26, "sum", "columns of 2 Mi rows of 32"),
          ("columns-1024", 2**26, "sum", "columns of 65 536 rows of 1024"),
          ("columns-1000", 10**8, "sum", "columns of 100 000 rows of 1000"),
          ("affine-rows-65536", 1536 * 65536, "affine", "1536 rows of 65 536"),
          ("affine-columns-1536", 1536 * 65536, "affine", "columns of 65 536 rows of 1536")]
MOVED, COPIED = {"sum": 8, "affine": 12}, 8  # bytes for an element of float


@of("16-rates")
def operator_rates(value):
    """Step 16: one sequence of 2^28 elements, for each operator."""
    def row(name, words, has_cub):
        at = lambda who, metric="time": value(who, "%s n=%d" % (name, LONGEST), metric)
        return [words, duration(at("ours")), percent(at("ours", "of_floor")),
                *([duration(at("cub")), ratio(at("ours", "times_other"))] if has_cub
                  else ["", ""])]
    return gpu("Time of a scan of %s elements (one call, cold L2)" % size(LONGEST)) + table(
        ["operator", "step 16", "of the floor", cub(TRIED_ON), "times as fast"],
        *(row(*each) for each in RATES))


@of("16-rates")
def operator_shapes(value):
    """Step 16: rows and columns. Each shape was measured beside a copy; shapes of as many elements
    share the fastest one."""
    at = lambda who, name, n: value(who, "%s n=%d" % (name, n))

    def row(name, n, op, words):
        own, floor = at("ours", name, n), MOVED[op] / COPIED * min(
            at("copy", other, n) for other, count, *_ in SHAPES if count == n)
        return [words, op, duration(own), duration(floor), percent(floor / own)]
    return gpu("Time of a scan of rows or columns of floats (one call, cold L2)") + table(
        ["shape", "operator", "step 16", "floor", "of the floor"], *(row(*each) for each in SHAPES))


@of("16-rates")
def operator_sizes(value):
    """Step 16: the sum beside step 12's, and max and affine beside CUB's, by size."""
    return gpu("The speed of step 16 in multiples of another scan's (%s)" % cub(TRIED_ON)) + grid(
        "n", {"sum": "sum, of step 12", "max": "max, of CUB", "affine": "affine, of CUB",
              "keys": "sum by keys, of CUB"}, sizes(*range(10, 29, 2)),
        lambda n, name: ratio(value("ours", "%s n=%d" % (name, n), "times_other")))


@shown
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


# ---- the same on another GPU ---------------------------------------------------------------------

# What is compared, with what, and how the recordings name it: experiment, ours, the other, and
# the parameter.
ON_BOTH = [("sum of floats", "a copy", 28, "16-rates", "ours", "copy", "sum n=%d"),
           ("max of int32", "CUB", 28, "16-rates", "ours", "cub", "max n=%d"),
           ("affine, floats", "CUB", 28, "16-rates", "ours", "cub", "affine n=%d"),
           ("sum by keys", "CUB", 20, "16-rates", "ours", "cub", "keys n=%d"),
           ("rows of 32", "a copy", 28, "16-rates", "ours", "copy", "rows-32 n=%d"),
           ("compaction, 10 % kept", "CUB", 28, "13-selects", "fast", "cub", "n=%d kept=10"),
           ("compaction, 50 % kept", "CUB", 22, "13-selects", "fast", "cub", "n=%d kept=50"),
           *(("sort of " + keys, "CUB", power, "15-against-cub", "fast", "cub", at + " n=%d")
             for keys, at, powers in (("u32", "u32", (12, 20, 28)), ("u64", "u64", (26,)),
                                      ("pairs of u32", "u32 pairs", (20, 24, 28)))
             for power in powers)]
PICTURES = [("table of 8192 x 8192", "grey 8192x8192")]


@shown
def on_an_h100():
    """Steps 13 to 16 on an H100 and on the H200, each beside the same library or copy there."""
    rows, about = experiments("h100")
    cells = [("%s, %s" % (what, size(2**power)), other, (experiment, ours, theirs, at % 2**power))
             for what, other, power, experiment, ours, theirs, at in ON_BOTH]
    cells += [(what, "NPP", ("14-against-npp", "fast", "NPP", at)) for what, at in PICTURES]

    def pair(recorded, experiment, ours, theirs, parameter):
        mine, other = (float(find(recorded, experiment=experiment, variant=variant,
                                  parameter=parameter)[0]["time"]) for variant in (ours, theirs))
        return [duration(mine), ratio(other / mine)]
    return ["Time of one call (cold L2), and how many times as fast as the other one that is, on "
            "%s with %s and on %s with %s:" % (machine(about), cub(about), machine(TRIED_ON),
                                               cub(TRIED_ON)), ""] + table(
        ["what", "beside", "H100", "times", "H200", "times"],
        *([what, other, *pair(rows, *where), *pair(EXPERIMENTS, *where)]
          for what, other, where in cells))
