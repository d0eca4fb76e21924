"""step_rows.py -- the tables of README.md and of the chapters of steps 0 to 12: what scans count,
how long they take, what their warps wait for, and the work of each level by formula.

The formulas are explained in notes/03 and 04; predictions.c of the tests has them, for a test that
compares each level with the emulator's trace, and ../measure/predicted.c prints them.
"""
import glob
import os
import re
import statistics
import textwrap

from records import (GPU, NCU, TABLES, TIMED, TOP, a_request, both, by_ncu, coded, cub, duration,
                     emulated, find, gpu, grid, grouped, has, machine, percent, printed, read,
                     sectors, shown, size, sizes, table, three, time, timed, times_as_fast)

SIZES = [2**12, 2**16, 2**20, 2**24, 2**28]  # of the tables of times
LARGE, MI = 2**24, 2**20
SECTOR, FLOAT, WARP = 32, 4, 32  # bytes, bytes, lanes
PADDINGS = ["pad16", "pad32", "pad32x2"]  # step 4
HYBRIDS = ["hybrid", "tree", "naive"]  # step 8
TILES = ["tile2048", "tile4096", "tile8192"]  # step 11
TOOLS = ["initcheck", "memcheck", "racecheck", "synccheck"]
READS = {"scalar": "float i", "float2": "floats 2i, 2i + 1, in one access",
         "float4": "four floats in one access", "strided": "float 32 i: a column of a matrix",
         "misaligned": "float i + 1", "permuted": "the warp's own floats in reverse",
         "scattered": "a float anywhere", "same-word": "the same float as all lanes",
         "structures": "a structure of 12 bytes, in three accesses",
         "structures-soa": "the same from three arrays",
         "structures-read-only": "the same, with `__ldg`",
         "structures-staged": "the same, by way of shared memory"}
HOME_PAGE = ""  # address of the book's page, when it is published


def scan(step, variant="", heading=None):
    """A column of a table: its heading, and which scan it is about."""
    return heading or "step %d" % step, step, variant


STEP5, STEP6, STEP7, STEP9 = scan(5, "conflict-free"), scan(6), scan(7), scan(9, "shfl")
SHUFFLES = [scan(9, v, "step 9, `%s`" % v) for v in ("shfl", "predicate")]
EIGHTS = [scan(8, v, "`%s`" % v) for v in HYBRIDS]


@shown
def home_page():
    """README's link to the book's page; until HOME_PAGE is known, to the file in a release."""
    return ["**[Try it now](%s):** %s, with nothing to install. Or [on your "
            "machine](#begin-on-your-machine)."
            % (HOME_PAGE or "../../releases/latest", "write a kernel in the page" if HOME_PAGE else
               "download `upsweep.html`, open it in a browser, and write a kernel")]


def teaches(step):
    """A step's folder, and what its descriptor says that it teaches."""
    folder = os.path.basename(glob.glob(os.path.join(TOP, "steps", "%02d-*" % step))[0])
    driver = glob.glob(os.path.join(TOP, "steps", folder, "**", "driver.c"), recursive=True)[0]
    with open(driver, encoding="utf-8") as file:
        return folder, re.search(r'\.teaches = "(.*)"', file.read())[1]


# ---- counters ------------------------------------------------------------------------------------

@shown
def step_counters():
    """What the scans of one array count."""
    def row(step, variant, n):
        counts = by_ncu(step, n, variant)
        name = "%d, `%s`" % (step, variant) if variant in PADDINGS else str(step)
        return [name, grouped(n), grouped(emulated(step, n, variant)["adds_counted"]),
                both(counts, "conflicts"), sectors(counts)]
    rows = [(2, "", 512), (3, "", 512), *((4, p, 512) for p in PADDINGS),
            *((step, variant, 65536) for step, variant in (
                (5, "conflict-free"), (6, ""), (7, ""), (8, "hybrid"), (9, "shfl"),
                (10, "backward"), (11, "tile2048"), (12, "f32")))]
    return table(["step", "n", "additions", "bank conflicts", "sectors per request"],
                 *(row(*scan) for scan in rows))


@shown
def checked():
    """What else the GPU said of the steps."""
    is_right = lambda row: row["right"] == "true" and row["verify"] == "full"
    runs = [row for row in TIMED if row["step"] not in ("0", "1")]  # CUB, and the CPU's
    said = [("%s on step %s" % (tool, row["step"]), row[tool + " errors"], row[tool + " exit"])
            for row in read("h200/sanitizer.csv")[0] for tool in TOOLS]
    found = {run for run, *numbers in said if numbers != ["0", "0"]}
    clean = sum(numbers == ["0", "0"] for _, *numbers in said)
    large = read("h200/large.csv")[0]
    return ["On the %s, %d of %d runs of steps 2 to %d gave the right value of each element, with "
            "up to %s elements."
            % (GPU["GPU"], sum(map(is_right, runs)), len(runs),
               max(int(row["step"]) for row in runs), size(max(int(row["n"]) for row in runs))),
            "So did %d of %d runs with %s elements, of the steps that take any n."
            % (sum(map(is_right, large)), len(large), grouped(large[0]["n"])),
            "[compute-sanitizer](glossary.md#compute-sanitizer)'s %s found nothing in %d of "
            "%d runs." % (", ".join(TOOLS), clean, len(said)),
            *(["The others are %s: [why](more/checks-table.md)." % ", ".join(sorted(found))]
              if found else [])]


@shown
def patterns():
    """Step 0: what its copies request, and how fast they are."""
    timings, rows = read("h200/patterns.csv")[0], []
    rate = lambda name: float(find(timings, variant=name)[0]["gb_per_s"])
    for name, what in READS.items():
        counts, timing = emulated(0, MI, name), find(timings, variant=name)[0]
        asked = FLOAT * int(counts["requests_ld"] if name == "same-word" else counts["n"])
        rows.append(["`%s`" % name, what, a_request(counts, "ld"), a_request(counts, "st"),
                     percent(asked / SECTOR / int(counts["sectors_ld"])), "%.0f" % rate(name),
                     percent(float(timing["roof_fraction"]))])
    said = ", ".join("`%s` %s" % (name, percent(rate(name) / rate("scalar"))) for name in
                     ("permuted", "misaligned", "same-word", "strided", "scattered", "structures",
                      "float4"))
    return ["Sectors per request, as the emulator counts them for 1 Mi floats, and the speed of a "
            "copy of", *gpu("%s floats" % size(int(timing["n"]))),
            *table(["`--variant`", "what lane i reads", "sectors per load", "per store",
                    "bytes used of those that loads request", "GB/s", "of the roof"], *rows),
            "", *textwrap.wrap("Of `scalar`'s rate: %s." % said, 110)]


def compare(n, source, *columns, more=()):
    """Counters of scans of n elements side by side."""
    values = [(source(step, n, variant), emulated(step, n, variant))
              for _, step, variant in columns]
    line = lambda what, cell: [what, *(cell(*value) for value in values)]
    return table(["n = " + grouped(n), *(column[0] for column in columns)],
                 line("additions", lambda _, emu: grouped(emu["adds_counted"])),
                 line("blocks of threads", lambda _, emu: "%(grid)s of %(block)s" % emu),
                 line("launches", lambda _, emu: emu["launches"]),
                 line("barriers (of warps)", lambda _, emu: grouped(emu["barriers"])),
                 line("wavefronts, load + store", lambda ncu, _: both(ncu, "wavefronts")),
                 line("of which bank conflicts", lambda ncu, _: both(ncu, "conflicts")),
                 line("requests to memory, load + store", lambda ncu, _: both(ncu, "requests")),
                 line("sectors, load + store", lambda ncu, _: both(ncu, "sectors")),
                 line("sectors per request, load + store", lambda ncu, _: sectors(ncu)), *more)


def instructions(*columns):
    """Two lines: PTX instructions of all launches, and of the first."""
    launches = [[int(row["emu__ptx_inst_executed.sum"])
                 for row in find(read("emulated/instructions.csv")[0], step=step, n=MI,
                                 variant=variant)] for _, step, variant in columns]
    return [["PTX instructions of warps", *(grouped(sum(each)) for each in launches)],
            ["of which `scan_block`'s first launch", *(grouped(each[0]) for each in launches)]]


def words(row, *ops):
    """Words moved for each element, by the sectors that were counted."""
    return three(sum(int(row["sectors_" + op]) for op in ops) * SECTOR / FLOAT / int(row["n"]))


def moved(*columns):
    """What 2^20 floats make move."""
    rows = [emulated(step, MI, variant) for _, step, variant in columns]
    line = lambda what, cell: [what, *map(cell, rows)]
    return table(["n = " + grouped(MI), *(heading for heading, _, _ in columns)],
                 line("launches", lambda row: row["launches"]),
                 line("additions", lambda row: grouped(row["adds_counted"])),
                 line("sectors loaded", lambda row: grouped(row["sectors_ld"])),
                 line("sectors stored", lambda row: grouped(row["sectors_st"])),
                 line("words loaded for each element", lambda row: words(row, "ld")),
                 line("words stored for each element", lambda row: words(row, "st")),
                 line("both", lambda row: words(row, "ld", "st")))


def passes():
    """Steps 9, 10 and 11: how often the elements move. Counts beyond n / 8 sectors are sums and
    states."""
    columns = STEP9, scan(10, "backward"), scan(11, TILES[0])
    return compare(MI, emulated, *columns, more=[
        ["words moved per element",
         *(words(emulated(step, MI, v), "ld", "st") for _, step, v in columns)]])


def shuffled():
    """Step 9 beside step 7."""
    columns = STEP7, *SHUFFLES
    return compare(MI, emulated, *columns, more=[
        ["bytes of shared memory per block",
         *(emulated(step, MI, v)["shared_bytes"] for _, step, v in columns)],
        *instructions(*columns)])


@shown
def padding():
    scans = [("step 3", 3, ""), *(("`%s`" % p, 4, p) for p in PADDINGS)]
    counts = lambda step, p, n: [both(by_ncu(step, n, p), key) for key in ("conflicts",
                                                                           "wavefronts")]
    return ["ncu counted these loads + stores of shared memory on an %s:" % GPU["GPU"], ""] + table(
        ["", "conflicts, n = 512", "wavefronts", "conflicts, n = 2048", "wavefronts"],
        *([name, *counts(step, p, 512), *counts(step, p, 2048)] for name, step, p in scans))


@shown
def remainder():
    scans = [emulated(5, 1000, v) for v in ("conflict-free", "conflict-free-remainder")]
    return table(["n = 1000", "launches", "additions"],
                 *(["`%s`" % s["variant"], s["launches"], s["adds_counted"]] for s in scans)) + [
        "", "On an %s, %s + 1 elements take %s and %s." % (
            GPU["GPU"], size(MI), *(time(timed(5, MI + 1, s["variant"])) for s in scans))]


@shown
def blocks():
    scans = [emulated(5, MI, variant) for variant in (
        "naive", "work-efficient", "conflict-free", "conflict-free-remainder")]
    return table(["`--variant`", "additions", "wavefronts, load + store", "of which conflicts",
                  "sectors, load + store"],
                 *(["`%s`" % s["variant"], grouped(s["adds_counted"]), both(s, "wavefronts"),
                    both(s, "conflicts"), both(s, "sectors")] for s in scans))


@shown
def misaligned():
    rows = [("aligned", emulated(6, MI)), ("`--offset 1`", emulated(6, MI, "", 1))]
    return table(["n = " + grouped(MI), "requests, load + store", "sectors, load + store"],
                 *([name, both(row, "requests"), both(row, "sectors")] for name, row in rows))


@shown
def shuffle_code():
    """What ptxas makes of the two variants: how often each instruction stands in scan_block."""
    recorded = read("h200/shuffles.csv")[0]
    lines = {"`SHFL`": ("count", "SHFL"), "`FADD`": ("count", "FADD"),
             "of which under a predicate": ("predicated", "FADD"),
             "`ISETP` (comparisons)": ("count", "ISETP"), "all": ("count", None)}
    return grid("machine instructions of `scan_block`, sm_90", coded(["shfl", "predicate"]),
                {line: line for line in lines}, lambda line, variant: sum(
                    int(row[lines[line][0]]) for row in recorded if row["variant"] == variant
                    and lines[line][1] in (None, row["instruction"])))


def banks(step, *variants):
    """Wavefronts and bank conflicts, loads + stores, at the recorded sizes. The hardware's counter
    holds those of the Source page, and arbitration."""
    name, rows = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum", []
    for variant in variants:
        for n in (2048, 2**16, MI, 4 * MI, LARGE):
            found = has(NCU, step=step, n=n, variant=variant)
            if found:
                row, hardware = by_ncu(step, n, variant), {
                    "_" + op: sum(int(row[name % op] or 0) for row in found) for op in ("ld", "st")}
                rows.append(["`%s`" % variant, grouped(n), both(row, "wavefronts"),
                             both(row, "conflicts"), both(hardware, "")])
    return ["By ncu, on an %s:" % GPU["GPU"], "", *table(
        ["`--variant`", "n", "wavefronts, load + store", "bank conflicts, by source line",
         "by the hardware's counter"], *rows)]


@shown
def pipeline_counters():
    """Step 12: the kernel of each size, by ncu where that is recorded."""
    sizes = [n for n in (512, 65536, MI, LARGE) if has(NCU, step=12, n=n, variant="f32")]
    counts = [{**by_ncu(12, n, "f32"), "n": n} for n in sizes]
    line = lambda what, cell: [what, *map(cell, counts)]
    return ["As ncu counts them on an %s:" % GPU["GPU"], "", *table(
        ["n", *map(grouped, sizes)],
        line("kernel", lambda row: "`%s`" % find(NCU, step=12, n=row["n"], variant="f32")[0][
            "kernel"]),
        line("wavefronts, load + store", lambda row: both(row, "wavefronts")),
        line("of which bank conflicts", lambda row: both(row, "conflicts")),
        line("requests to memory, load + store", lambda row: both(row, "requests")),
        line("sectors, load + store", lambda row: both(row, "sectors")),
        line("words in these sectors, for each of n", lambda row: words(row, "ld", "st")))]


# ---- level by level, by formula ------------------------------------------------------------------

def tree(step, n, variant=""):
    """Of each level of the tree, by its offset, on the way up: there it stores once, so it has the
    conflicts of one store."""
    rows = find(printed("build/tests/predicted/print"), step=step, variant=variant, n=n, banks=WARP)
    return {int(row["offset"]): row for row in rows[1:n.bit_length()]}


@shown
def sweep_work(n=512):
    return table(["n = %d: offset" % n, "additions", "loads + stores of warps"],
                 *([offset, int(level["load_lanes"]) - n, "%(loads)s + %(stores)s" % level]
                   for offset, level in tree(2, n).items()))


@shown
def tree_conflicts(n=512):
    def row(offset, level):
        pairs = n // 2 // offset
        return [offset, pairs, "%d × %d" % (max(pairs // WARP, 1), min(pairs, WARP)), level["ways"],
                level["store_conflicts"]]
    return table(["n = %d: offset" % n, "pairs", "warps × lanes", "ways",
                  "conflicts of one load, all warps"], *(row(*of) for of in tree(3, n).items()))


@shown
def padded_conflicts(n=2048):
    """Conflicts of one load at each level, by formula, in the largest block."""
    levels = {name: tree(step, n, p) for name, step, p in (
        ("step 3", 3, ""), *(("`%s`" % p, 4, p) for p in PADDINGS[1:]))}
    return table(["n = %d, %d banks" % (n, WARP), *levels["step 3"]],
                 *([name, *(level["store_conflicts"] for level in of.values())]
                   for name, of in levels.items()))


# ---- times ---------------------------------------------------------------------------------------

def seconds(step, n, variant=""):
    return float(timed(step, n, variant)["seconds"])


def roof(n):
    """Seconds of the fastest copy of n floats. Each ./stepN has measured it: the median of them
    all, so that the shares in a table have the same roof."""
    return statistics.median(float(row["seconds"]) * float(row["roof_fraction"])
                             for row in find(TIMED, n=n, element="float") if row["roof_fraction"])


def times_table(*columns):
    """The time and the share of the roof of each column."""
    line = lambda n: [size(n), *(cell for _, step, v in columns for cell in (
        duration(seconds(step, n, v)), percent(roof(n) / seconds(step, n, v))))]
    head = ["n", *(cell for heading, _, _ in columns for cell in (heading, "of the roof"))]
    return gpu("Time of a scan (median, cold L2)") + table(head, *map(line, SIZES))


@shown
def one_block_times():
    scans = [(1, "exclusive"), (2, ""), (3, ""), *((4, p) for p in PADDINGS)]
    # not measured; beyond its limit
    is_there = lambda step, n: (step, n) not in ((1, 512), (2, 2048))
    shares = [float(timed(step, n, p)["roof_fraction"]) for step, p in scans[1:]
              for n in (512, 1024, 2048) if is_there(step, n)]
    return gpu("Time of a scan by one core of the CPU (step 1), and by one block") + grid(
        "n", dict(zip(scans, ["step 1", "step 2", "step 3", *coded(PADDINGS).values()])),
        [512, 1024, 2048],
        lambda n, scan: time(timed(scan[0], n, scan[1])) if is_there(scan[0], n) else "") + [
        "", "The fastest copy of as many floats takes %s to %s of the time of a block's scan."
        % (percent(min(shares)), percent(max(shares)))]


@shown
def block_scans():
    names = "naive", "work-efficient", "conflict-free"
    ratio = lambda name: "%.2f" % (seconds(5, LARGE, name) / seconds(5, LARGE, "conflict-free"))
    return times_table(*(scan(5, v, "`%s`" % v) for v in names)) + [
        "", "At %s `naive` takes %s times as long as `conflict-free`, and `work-efficient` %s."
        % (size(LARGE), *map(ratio, names[:2]))]


@shown
def unrolled_throughput():
    """Step 7 moves each element four times, and a copy twice."""
    row, n = timed(7, 2**24), 2**24
    own, roof = 16 * n / float(row["seconds"]) / 1e9, float(row["roof_gb_per_s"])
    return textwrap.wrap(
        "In the recording of the %s the scan takes %s. It moves 4n words, 16 bytes for each "
        "element: 16 · 2²⁴ bytes in %s are %s GB/s. The last column is the rate of the fastest "
        "copy, which moves 2n words. So step 7 uses %s of the throughput that a copy reaches." % (
            GPU["GPU"], time(row), time(row), grouped(round(own)), percent(own / roof)), 100)


@shown
def off_chip_times():
    hybrid = lambda n, step, variant: seconds(8, n, "hybrid") / seconds(step, n, variant)
    blocks = [column[1:] for column in (STEP5, STEP6, STEP7)]  # with shared memory
    best = [(step, *max((hybrid(n, step, variant), n)
                        for n in sorted({int(row["n"]) for row in has(TIMED, step=step)})
                        if has(TIMED, step=8, n=n, variant="hybrid"))) for step, variant in blocks]
    said = ("On this GPU the steps with shared memory are faster than `hybrid`: %s. At %s the "
            "factors are %s."
            % (", ".join("step %d at most %s times (at %s)" % (step, three(most), size(n))
                         for step, most, n in best), size(2**28),
               ", ".join("%s (step %d)" % (three(hybrid(2**28, *block)), block[0])
                         for block in blocks)))
    return times_table(STEP5, STEP7, *EIGHTS) + ["", *textwrap.wrap(said, 110)]


@shown
def cooperative_times():
    faster = lambda n: 100 * (seconds(10, n, "forward") / seconds(10, n, "backward") - 1)
    said = "The time of `forward`, compared with `backward`: " + ", ".join(
        "%+.1f %% at %s" % (faster(n), size(n)) for n in (2**22, LARGE, 2**26, 2**28)) + "."
    return times_table(STEP9, *(scan(10, v, "`%s`" % v) for v in ("backward", "forward"))) + [
        "", said]


def compiled(step, how, n):
    return find(read("h200/compiled.csv")[0], step=step, how=how, n=n)[0]


@shown
def block_sizes():
    hows = {"B%d" % b if b != 512 else "-": "B = %d" % b for b in (64, 128, 256, 512, 1024, 2048)}

    def cell(n, how):
        taken = {other: float(compiled(5, other, n)["seconds"]) for other in hows}
        return ("**%s**" if taken[how] == min(taken.values()) else "%s") % duration(taken[how])
    return gpu("Time of a scan with blocks of B elements") + grid(
        "n", hows, sizes(16, 20, 24, 28), cell)


@shown
def registers():
    hows = [("-", "as it is"), ("R32", "at most 32"), ("R24", "at most 24")]
    return gpu("Time of a scan with `-maxrregcount`") + table(
        ["registers", "used", "spilled bytes", *(size(n) for n in SIZES[1:])],
        *([name, compiled(7, how, MI)["registers"], compiled(7, how, MI)["stack"],
           *(time(compiled(7, how, n)) for n in SIZES[1:])] for how, name in hows))


# ---- then and now --------------------------------------------------------------------------------

# Harris 2007, Table 2: n, milliseconds of a scan on one core of an Intel Core 2 Extreme of 2.93 GHz
# and on a GeForce 8800 GTX. (Its 8388688 is 2^23.)
HARRIS = [(2**10, 0.002231, 0.079492), (2**15, 0.072663, 0.106159), (2**16, 0.146326, 0.137006),
          (2**17, 0.726429, 0.200257), (2**18, 1.454742, 0.326900), (2**19, 2.911067, 0.624104),
          (2**20, 5.900097, 1.118091), (2**21, 11.848376, 2.099666), (2**22, 23.835931, 4.062923),
          (2**23, 47.390906, 7.987311), (2**24, 94.794598, 15.854781)]


def today(n):
    """Milliseconds of one core and of step 5."""
    return 1e3 * seconds(1, n, "exclusive"), 1e3 * seconds(5, n, "conflict-free")


@shown
def harris_table():
    return table(
        ["n", "CPU 2007, ms", "8800 GTX, ms", "times as fast", "CPU today, ms",
         GPU["GPU"].replace("NVIDIA ", "") + ", ms", "times as fast"],
        *([grouped(n), "%.3f" % cpu, "%.3f" % gpu_ms, times_as_fast(cpu, gpu_ms),
           *("%.4f" % ms for ms in today(n)), times_as_fast(*today(n))]
          for n, cpu, gpu_ms in HARRIS))


@shown
def harris_growth():
    """What the GPU won in 2007 and what it wins today, a row each."""
    n, *then = HARRIS[-1]
    return table(["%s floats" % grouped(n), "one core of the CPU", "GPU", "times as fast"],
                 *([when, *("%s ms" % three(ms) for ms in pair), times_as_fast(*pair)]
                   for when, pair in (("2007, a GeForce 8800 GTX", then),
                                      ("today, an %s" % GPU["GPU"], today(n)))))


def best_factor(_):
    """Where step 7 is fastest against step 8, without and with shared memory: how many times, and
    at which n."""
    sizes = [int(row["n"]) for row in find(TIMED, step=8, variant="hybrid")
             if int(row["n"]) & int(row["n"]) - 1 == 0]
    most, n = max((seconds(8, n, "hybrid") / seconds(7, n), n) for n in sizes)
    return "up to %s, at %s" % (three(most), size(n))


@shown
def claims():
    """What the documents say of speed, and what is so today, at 2^24 and 2^28 floats."""
    def row(said, where, slow, fast, holds):
        ratios = [seconds(*slow[:1], n, *slow[1:]) / seconds(*fast[:1], n, *fast[1:])
                  for n in (LARGE, 2**28)]
        if not callable(holds):
            count = sum(ratio > holds for ratio in ratios)
            return [said, where, *(times_as_fast(r, 1) for r in ratios), ("no", "in part",
                                                                          "yes")[count]]
        return [said, where, *(times_as_fast(r, 1) for r in ratios), holds(ratios)]
    five, core = (5, "conflict-free"), (1, "exclusive")
    adds = {v: int(emulated(5, MI, v)["adds_counted"]) for v in ("naive", "conflict-free")}
    return table(
        ["said", "where", size(LARGE), size(2**28), "today"],
        row("eight elements a thread are \"more than twice as fast\" as two (step 5 / step 6)",
            "Gems 39.2.5", five, (6, ""), 2),
        row("unrolling is faster still (step 6 / step 7)", "Gems 39.2.5", (6, ""), (7, ""), 1.005),
        row("avoiding bank conflicts is faster (`work-efficient` / `conflict-free`)",
            "Gems 39.2.3, Figure 39-8", (5, "work-efficient"), five, 1.005),
        row("naive blocks are slower by O(log2 B), which is 9 here (`naive` / `conflict-free`)",
            "Gems 39.2.5", (5, "naive"), five, 9 / 2),
        row("5.98 times as fast as a CPU (step 1 / step 5)", "Harris, Table 2", core, five, 5.98),
        row("\"up to 20 times faster\" than a CPU, with everything (step 1 / step 7)",
            "Gems 39.2.5", core, (7, ""), 20),
        row("\"up to a factor of seven\" faster than in OpenGL (step 8 / step 7)", "Gems 39.2.5",
            (8, "hybrid"), (7, ""), best_factor)) + [
        "", "At %s, step 5 makes %.2f times as many additions with naive blocks as with "
        "`conflict-free` blocks." % (size(MI), adds["naive"] / adds["conflict-free"])]


@shown
def beside_cub():
    def row(n):
        theirs = seconds(0, n)
        return [size(n), *(cell for _, *scan in (STEP5, STEP6, STEP7) for cell in (
            duration(seconds(scan[0], n, scan[1])), three(seconds(scan[0], n, scan[1]) / theirs))),
                duration(theirs), percent(roof(n) / theirs)]
    return gpu("Time of a scan (median, cold L2), and how many times CUB's it is") + table(
        ["n", "step 5", "/ CUB", "step 6", "/ CUB", "step 7", "/ CUB", cub(GPU), "of the roof"],
        *map(row, SIZES))


# ---- what warps wait for -------------------------------------------------------------------------

STALLS, STALLS_ON = read("h200/stalls.csv")
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


def in_launch(row):
    return 1e-9 * float(row["gpu__time_duration.sum"])


def states(row):
    """The cycles of all warps of a launch, by what they wait for."""
    cycles = {re.search("stalled_(.*)_per_issue", column)[1]:
              float(row[column]) * float(row["smsp__issue_active.sum"])
              for column in row if "_stalled_" in column}
    named = {what: sum(map(cycles.get, names.split())) for what, names in WAITS.items()}
    return {**named, "else": sum(cycles.values()) - sum(named.values())}


def waits(*scans):
    """A row for each (label, step, variant, n, maybe kernel): the longest launch of the scan, or of
    the kernel. Means over the launches of a scan would hide what limits each of them."""
    columns = ["occupancy", "issue slots", "L1 and shared memory", "L2", "memory", "for memory",
               "for shared memory", "for barriers", "else"]
    rows = []
    for label, step, variant, n, *kernel in scans:
        launches = find(STALLS, step=step, variant=variant, n=n)
        row = max((row for row in launches if not kernel or row["kernel"] == kernel[0]),
                  key=in_launch)
        issued, cycles = float(row["smsp__issue_active.sum"]), states(row)
        shares = {"for " + what: 100 * cycles[what] / sum(cycles.values()) for what in cycles}
        shares |= {"else": shares["for instructions"] + shares["for else"],
                   "issue slots": 100 * issued / float(row["smsp__cycles_active.sum"]),
                   **{part: float(row[metric]) for part, metric in PARTS.items()}}
        rows.append([label, "`%s`" % row["kernel"], duration(in_launch(row)),
                     duration(sum(map(in_launch, launches))), three(issued / 1e6) + " M",
                     *("%.0f %%" % shares[name] for name in columns)])
    return ["By ncu on %s: how busy the longest launch of that name keeps each part of the GPU, and"
            " (last four columns) what its warps wait for:" % machine(STALLS_ON), "",
            *table(["", "launch", "time", "all launches", "instructions",
                    "[occupancy](glossary.md#occupancy)", *columns[1:]], *rows)]


@shown
def one_block_waits():
    """The cycles of a warp, by what it waits for: medians of all runs with 512 elements."""
    def row(label, step, variant=""):
        runs = [states(row) for row in find(STALLS, step=step, variant=variant, n=512)]
        warps = int(emulated(step, 512, variant)["block"]) / 32
        cycles = [statistics.median(run[what] for run in runs) / warps for what in runs[0]]
        return [label, *("%.0f" % each for each in (*cycles, sum(cycles)))]
    return ["What a warp waits for, in cycles, n = 512, by ncu on %s, medians of 4 runs:"
            % machine(STALLS_ON), "",
            *table(["", *("for %s" % what for what in WAITS), "else", "all"], row("step 2", 2),
                   row("step 3", 3), row("`pad32`", 4, "pad32"))]


N20, N24, N28 = 2**20, 2**24, 2**28
COPY = ("a copy", 0, "float4", N24)
FIVES = [("`%s`" % v, 5, v, N24, kernel) for v, kernel in (
    ("naive", "scan_block_naive"), ("work-efficient", "scan_block"),
    ("conflict-free", "scan_block"), ("conflict-free", "uniform_add"))]

# ---- tables of one expression --------------------------------------------------------------------

TABLES |= {
    "naive": lambda: compare(512, by_ncu, scan(2)),
    "work-efficient": lambda: compare(512, by_ncu, scan(2), scan(3)),
    "vectorized": lambda: compare(MI, emulated, STEP5, STEP6),
    "unrolled": lambda: compare(MI, emulated, STEP6, STEP7, more=instructions(STEP6, STEP7)),
    "shuffled": shuffled,
    "passes": passes,
    "off-chip": lambda: moved(STEP5, *EIGHTS),
    "cooperative": lambda: moved(STEP9, scan(10, "backward")),
    "vectorized-times": lambda: times_table(STEP5, STEP6),
    "unrolled-times": lambda: times_table(STEP6, STEP7),
    "shuffled-times": lambda: times_table(STEP7, *SHUFFLES),
    "passes-times": lambda: times_table(STEP9, *(scan(11, v, "`%s`" % v) for v in TILES),
                                        scan(0, "", "CUB")),
    "shuffled-banks": lambda: banks(9, "shfl", "predicate"),
    "cooperative-banks": lambda: banks(10, "backward"),
    "single-pass-banks": lambda: banks(11, *TILES),
    "pipeline-banks": lambda: banks(12, "f32", "f64"),
    "block-scan-waits": lambda: waits(*FIVES, COPY),
    "vectorized-waits": lambda: waits(*(
        (heading, step, variant, N24, kernel) for kernel in ("scan_block", "uniform_add")
        for heading, step, variant in (STEP5, STEP6)), COPY),
    "unrolled-waits": lambda: waits(*(
        ("%s, %s" % (label, size(n)), step, variant, n, *kernel) for n in (N20, N24)
        for label, step, variant, *kernel in ((*STEP6, "scan_block"), (*STEP7, "scan_block"),
                                              COPY[:3]))),
    "cooperative-waits": lambda: waits((*STEP9, N24, "scan_block"), (*STEP9, N24, "uniform_add"),
                                       ("step 10", 10, "backward", N24), COPY),
    "passes-waits": lambda: waits(*(("`%s`" % v, 11, v, N24) for v in (TILES[0], TILES[2])), COPY),
    "pipeline-waits": lambda: waits(*(("%s, %s" % (label, size(n)), *which, n) for n in (N24, N28)
                                      for label, *which in (scan(12, "f32"), COPY[:3]))),
}
