"""experiment_rows.py -- the tables of the small experiments (steps/*/experiments): a function each,
which returns its lines.

Used by tables.py. An experiment that the recording does not hold yet has a line that says so.
"""
import functools
import textwrap

from records import EXPERIMENTS, GPU, duration, find, grouped, has, size, three
from table_rows import gpu, table


ROUNDS = 4096  # of step 9's experiments


def of(name):
    """Makes a table's function of one that is called with a function value(variant, parameter,
    metric), which finds a number that the experiment printed."""
    def decorate(make):
        @functools.wraps(make)
        def lines():
            rows = [row for row in EXPERIMENTS if row["experiment"] == name]
            if not rows:
                return ["Not recorded yet; `make experiments` builds the program."]
            return make(lambda variant, parameter, metric: float(
                find(rows, variant=variant, parameter=parameter)[0][metric]))
        return lines
    return decorate


@of("cache-operators")
def cache_operators(value):
    """Loads of a copy and of a block's own 4 KiB, and stores of a copy, against those without an
    operator."""
    names = ["plain", "ca", "cg", "cs", "lu", "cv", "nc"]
    stores = ["plain", "wb", "cg", "cs", "wt"]

    def row(access, word):
        once = value(access + "_" + word, "once", "time")
        cells = [duration(once)]
        if access == "ld":
            cells.append(duration(value("ld_" + word, "again", "time")))
        name = access + ".global" + ("" if word == "plain" else "." + word)
        return ["`%s`" % name, *cells] + [""] * (access == "st")
    return gpu("Time of a copy of 2²⁶ floats with this load or store, and of reading 4 KiB in each "
               "block 64 times,") + table(
        ["PTX", "copy", "again and again"], *(row("ld", word) for word in names),
        *(row("st", word) for word in stores))


def times(value, head, variants, parameters, cell=lambda seconds: duration(seconds)):
    """A line for each parameter with the time of each variant."""
    return table([head, *("`%s`" % variant for variant in variants)],
                 *([p, *(cell(value(variant, str(p), "time")) for variant in variants)]
                   for p in parameters))


@of("constant-cache")
def constant_cache(value):
    return gpu("Time of 1024 look-ups in each thread, by the number of words that a warp needs,"
               ) + times(
        value, "words", ["constant", "constant-spread", "read-only", "read-only-spread"],
        [1, 2, 4, 8, 16, 32])


@of("one-wins")
def one_wins(value):
    metrics = "different_winners", "most_often", "wins_of_that"
    return gpu("32 writers, 100 times,") + table(
        ["writers", "different winners", "most frequent winner", "wins of 100"],
        *([name, *("%d" % value(name, "32", metric) for metric in metrics)]
          for name in ("lanes", "warps", "blocks")))


@of("in-place")
def in_place(value):
    rows = [["`%s`" % name, duration(value(name, "1024", "time")),
             "%d" % value(name, "1024", "wrong_of_100")]
            for name in ("two-arrays", "two-barriers", "no-barrier")]
    return gpu("A naive scan of 1024 ints") + table(["", "time", "wrong of 100 runs"], *rows)


@of("small-scans")
def small_scans(value):
    return gpu("Time of 32 scans of n ints each, one block for a scan,") + times(
        value, "n", ["1-stream", "8-streams", "32-streams", "1-launch"],
        [2**10, 2**12, 2**14, 2**16])


@of("transfers")
def transfers(value):
    ways = ["to-device", "to-host", "both"]
    rows = [[memory, *("%.1f GB/s" % (value(memory, way, "rate") / 1e9) for way in ways)]
            for memory in ("pageable", "pinned")]
    chunks = [1, 2, 4, 8]
    return gpu("256 MiB between host and GPU") + table(
        ["memory of the host", "to the GPU", "to the host", "both at once"], *rows) + [
            "",
            "Copying 2²⁶ floats to the GPU, scanning them and copying them back (pinned memory), "
            "by the number of chunks:", ""] + table(
        ["chunks", *chunks, "the scan alone"],
        ["time", *(duration(value("scan", str(c), "time")) for c in chunks),
         duration(value("scan-only", "1", "time"))])


@of("precision")
def precision(value):
    def row(kind, what):
        float_time, double_time = value(kind, "float", "time"), value(kind, "double", "time")
        return [what, duration(float_time), duration(double_time), three(double_time / float_time)]
    return gpu("Times of 2²⁴ threads") + table(
        ["", "float", "double", "double / float"],
        row("arithmetic", "8192 multiply-adds in each thread"),
        row("copy", "a copy of one element"), row("block-scan", "naive scans of 256 elements"))


@of("clocks")
def clocks(value):
    blocks = int(max((row["parameter"] for row in find(EXPERIMENTS, experiment="clocks")), key=int))
    row = lambda name, n, what: [what, *("%.0f" % value(name, str(n), metric)
                                         for metric in ("least", "most"))]
    return ["The highest clock of the %s is %.0f MHz. Measured, in MHz:"
            % (GPU["GPU"], value("highest", "0", "most")), "",
            *table(["", "slowest SM", "fastest SM"], row("rested", 1, "one thread, after a rest"),
                   row("one-warp", 1, "one warp"),
                   row("all-floats", blocks, "multiply-adds of floats on all SMs"),
                   row("all-doubles", blocks, "of doubles"))]


@of("bytes-under-way")
def bytes_under_way(value):
    rows = [[warps, *("%.0f GB/s" % (value(width, str(warps), "rate") / 1e9)
                      for width in ("float", "float2", "float4"))]
            for warps in (8, 16, 32, 64)]
    return gpu("Speed of a copy of 128 MiB, by the number of warps on a multiprocessor,") + table(
        ["warps", "`float`", "`float2`", "`float4`"], *rows)


@of("carve-out")
def carve_out(value):
    percents = [0, 25, 50, 75, 100]
    return gpu("Time of reading 24 KiB in each block 32 times, by the preferred percentage of "
               "shared memory,") + table(
        ["", *("%d %%" % p for p in percents)],
        ["`in-shared`", *(duration(value("in-shared", str(p), "time")) for p in percents)],
        ["blocks that fit", *("%d" % value("in-shared", str(p), "blocks_fit") for p in percents)],
        ["`in-l1`", *(duration(value("in-l1", str(p), "time")) for p in percents)])


@of("spills")
def spills(value):
    cell = lambda metric, b: "%d" % value("add-sum", str(b), metric)
    return gpu("2²⁶ ints, 64 of them in the registers of each thread,") + table(
        ["blocks that must fit", "registers", "local memory, bytes per thread",
         "blocks that fit", "time"],
        *([b, *(cell(metric, b) for metric in ("registers", "local", "blocks_fit")),
           duration(value("add-sum", str(b), "time"))] for b in (1, 2, 4, 8)))


SAME_N = "n=%d" % 2**22


@of("same-bits")
def same_bits(value):
    rows = []
    for numbers in "integers", "real numbers":
        cell = lambda metric: value(numbers, SAME_N, metric)
        rows.append([numbers, "%d" % cell("runs"), "%d" % cell("distinct"), "%d" % cell("differ"),
                     three(cell("error"))])
    return gpu("2²² floats, the same in each run,") + table(
        ["", "runs", "different results", "elements that differ from the first run, at most",
         "error, in additions"], *rows)


@of("look-back")
def look_back_cost(value):
    hows = ["scan", "cleared before", "looks nowhere"]
    rows = [["%d" % tile, size(n), *(duration(value(how, "tile=%d n=%d" % (tile, n), "time"))
                                     for how in hows)]
            for tile in (2048, 8192) for n in (2**12, 2**16, 2**20, 2**24, 2**28)]
    return gpu("Time of a scan") + table(
        ["tile", "n", "as it is", "states cleared before the clock starts",
         "without looking back (wrong)"], *rows)


@of("look-back")
def look_back_lengths(value):
    """The histogram: the share of the tiles by the number of states that they added up."""
    rows = []
    for tile in 2048, 4096, 8192:
        at = "tile=%d n=%d" % (tile, 2**28)
        tiles, most = value("distance", at, "tiles"), value("distance", at, "most")
        share = lambda powers: sum(value("distance", at, "states_%d" % 2**p) for p in powers
                                   if 2**p < 2 * most) / tiles
        parts = [range(1), range(1, 3), range(3, 6), range(6, 9), range(9, 16)]
        rows.append(["%d" % tile, three(value("distance", at, "mean")), "%d" % most,
                     *("%.1f %%" % (100 * share(part)) for part in parts)])
    return gpu("States that a tile adds up, of 2²⁸ floats,") + table(
        ["tile", "mean", "most", "1", "2 to 4", "5 to 32", "33 to 256", "more"], *rows)


@of("neighbour")
def neighbour(value):
    """Step 9: handing a value to the next lane, in five ways."""
    ways = ["unsafe", "printed", "safe", "syncwarp", "shuffle"]
    shared = lambda way, what: "%g KiB" % (value(way, what, "shared_bytes") / 1024)
    seconds = lambda way, what: value(way, what, "time")
    wrong = lambda way: sum(value(way, what, "wrong")
                            for what in ("float", "double", "float: one warp"))

    def row(way):
        return ["`%s`" % way, *(cell for what in ("float", "double")
                                for cell in (duration(seconds(way, what)), shared(way, what))),
                three(seconds(way, "float: one warp") / ROUNDS * 1e9) + " ns", "%d" % wrong(way)]

    def against(way):
        ratios = [seconds(way, what) / seconds("shuffle", what)
                  for what in ("float", "double", "float: one warp")]
        return "`%s` takes %s, %s and %s times as long" % (way, *map(three, ratios))

    def verdict(said, ways):
        slower = ["`%s` (%s)" % (way, what) for way in ways
                  for what in ("float", "double", "float: one warp")
                  if seconds(way, what) < 0.99 * seconds("shuffle", what)]
        return '"%s": %s.' % (said, "not so beside " + ", ".join(slower) if slower
                              else "this holds here")
    said = [verdict("It is always faster than 'safe' shared memory", ["safe", "syncwarp"]),
            verdict("It is never slower than 'unsafe' shared memory", ["unsafe"])]
    return gpu("4096 rounds of 26 blocks of 1024 threads, and of one warp alone,") + table(
        ["way", "float", "shared memory", "double", "shared memory", "one warp, a round",
         "wrong values"],
        *map(row, ways)) + ["",
                            *textwrap.wrap("Compared with the shuffle (float, double, one warp of "
                                           "floats): %s."
                                           % "; ".join(map(against, ways[:-1])), 110),
                            "", *textwrap.wrap("The lecture's conclusions about the shuffle: "
                                               + " ".join(said), 110)]


@of("reduce")
def warp_reduce(value):
    """Step 9: sums and scans of a warp."""
    ways = [("shared", "sum"), ("shuffle", "sum"), ("redux", "sum"), ("shared", "scan"),
            ("shuffle", "scan"), ("predicate", "scan")]
    return gpu("4096 rounds of 26 blocks of 1024 threads") + table(
        ["of a warp", "way", "time", "shared memory"],
        *([what, "`%s`" % way, duration(value(way, what, "time")),
           "%g KiB" % (value(way, what, "shared_bytes") / 1024)]
          for way, what in ways))


@of("switch")
def switch(value):
    """Step 8: where the double-buffered scan takes over."""
    rows = []
    for k in range(0, 24):
        cells = [value("n=2^%d" % n, "most=2^%d" % k, "time") if k < n else None for n in (20, 24)]
        rows.append((k, cells))
    best = [min(cells[column] for _, cells in rows if cells[column]) for column in (0, 1)]
    cell = lambda column, seconds: "" if seconds is None else (
        "**%s**" if seconds == best[column] else "%s") % duration(seconds)
    return gpu("Time of a scan, by the number of sums at which the reduce steps stop") + table(
        ["sums left", "launches, 2²⁰", "2²⁰", "launches, 2²⁴", "2²⁴"],
        *([size(2**k), *(part for column, n in ((0, 20), (1, 24)) for part in (
            "%d" % launches(n, k) if k < n else "", cell(column, cells[column])))]
          for k, cells in rows if k % 2 == 0 or k > 12))


def launches(n, k):
    """Of step 8's scan of 2^n elements with 2^k sums left: a reduce step and a down step a level,
    and the sweeps."""
    return 2 * (n - k) + max(k, 1)


@of("atomics")
def atomics(value):
    ways = [way for way in ("plain", "hidden", "aggregated", "shared")
            if has(EXPERIMENTS, experiment="atomics", variant=way)]
    packed = {way: value(way, "pack", "time") for way in ways}
    others = [("a word a thread", "with a word for each thread"),
              ("a word a block", "with one word for 256 threads")]
    loads = "; ".join("%s, loads take %s and atomic additions %s (%s times as long)" % (
        said, duration(value("load", at, "time")), duration(value("atomic", at, "time")),
        three(value("atomic", at, "time") / value("load", at, "time"))) for at, said in others)
    return gpu("Packing the odd ones of 2²⁴ numbers, with one counter,") + table(
        ["way", "time", "`aggregated` = 1"],
        *(["`%s`" % way, duration(packed[way]), three(packed[way] / packed["aggregated"])]
          for way in ways)) + [
            "", *textwrap.wrap("Each of 2²⁴ threads makes one access: " + loads + ".", 110)]


@of("groups")
def groups(value):
    sizes = {"generic": [256, 32, 16, 4], "static": [32, 16, 4], "library": [32, 16, 4]}
    cell = lambda way, threads: duration(value(way, "%d" % threads,
                                               "time")) if threads in sizes[way] else ""
    return gpu("Sums of 2²⁶ integers by groups of threads") + table(
        ["threads a group", *("`%s`" % way for way in sizes)],
        *(["%d" % threads, *(cell(way, threads) for way in sizes)] for threads in (256, 32, 16, 4)))


@of("grid-sync")
def grid_sync(value):
    return gpu("Time of a round in which all blocks wait for all") + table(
        ["blocks a multiprocessor", "`grid.sync()`", "a launch"],
        *(["%d" % each, *(duration(value(way, "%d" % each, "a round"))
                          for way in ("grid.sync", "launches"))]
          for each in (1, 2, 4, 8)))


@of("timeline")
def timeline(value):
    """Step 12: which role works when, as drawn, and the means of all tiles."""
    n = 2**26
    mean = lambda metric: value("mean", "n=%d" % n, metric)
    rows = [("copy", "the copy, until the first role finds it complete"),
            ("sum", "the sum, until it is published"),
            ("look", "computing the prefix (look warp)"),
            ("scan", "the scan, without the prefix"),
            ("wait for the prefix", "waiting for the prefix"),
            ("store", "adding the prefix, and storing")]
    return ["![Stages of the ring and roles of the warps against time](figures/timeline.svg)", "",
            *gpu("Means of the %s tiles of 2²⁶ floats" % grouped(n // 8192)),
            *table(["work on a tile", "cycles"],
                   *([what, grouped(round(mean(metric)))] for metric, what in rows)), "",
            "When the scan of a tile begins, the sums of %.1f tiles in the ring, this one "
            "included, are published." % mean("tiles ahead")]


@of("held")
def held(value):
    """Step 12: the parts of a block's time at middle sizes, by its clock."""
    edges = [(float(row["before the first store"]), float(row["after the last copy"]))
             for row in find(EXPERIMENTS, experiment="timeline", variant="edges")]
    percent = lambda part: "%.0f %%" % (100 * part)
    rows = []
    for n in (2**22, 2**23):
        of_block = lambda part: value("scan_onchip", "n=%d" % n, part)
        rows.append(["`scan_onchip`", size(n), percent(of_block("load and scan")),
                     percent(of_block("find the prefix")), percent(of_block("store"))])
    for n, (begin, end) in zip((2**26, 2**24), edges):
        rows.append(["`scan_pipeline`", size(n), percent(begin), "", percent(end)])
    rows[2:] = rows[:1:-1]
    return gpu("Parts of a block's time, by the clock of its multiprocessor, on average,") + \
        table(["kernel", "n", "loads, and stores nothing yet", "only waits for its prefix",
               "stores, and loads nothing any more"], *rows)


@of("fixed-order")
def fixed_order(value):
    """Step 12: what the order of additions costs, and the carry in double."""
    sizes, others = [2**24, 2**26, 2**28], ["first come", "in float"]
    taken = lambda way, n: value(way, "n=%d" % n, "time")
    against = lambda way, n: "%+.1f %%" % (100 * (taken(way, n) / taken("as it is", n) - 1))
    return gpu("Time of a scan by the pipeline") + table(
        ["n", "as it is", *(cell for way in others for cell in ("`%s`" % way, "difference"))],
        *([size(n), duration(taken("as it is", n)),
           *(cell for way in others for cell in (duration(taken(way, n)), against(way, n)))]
          for n in sizes))


@of("arrivals")
def arrivals(value):
    return gpu("Time of step 12's pipeline") + table(
        ["floats", "every lane arrives", "one lane arrives for its warp"],
        *([size(n),
           *(duration(value(who, "n=%d" % n, "time")) for who in ("each lane", "one lane"))]
          for n in (2**24, 2**26, 2**28)))
