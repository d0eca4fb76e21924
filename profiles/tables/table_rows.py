"""table_rows.py -- the tables of README.md and notes/*.md: a function each, which returns its
lines.

Used by tables.py. Every number comes from a CSV file: records.py finds and formats it.
"""
import fnmatch
import glob
import os
import re
import statistics
import sys
import textwrap

from records import (CHECKED, CHECKED_BY_GPU, CHECKED_ON, CHECKS_DIFFER, COMPILED, GPU,
                     INSTRUCTIONS, NCU,
                     OPERATORS, PATTERNS, SANITIZED, SHUFFLES, TIMED, TOP, VERY_LARGE, a_request,
                     both, by_ncu,
                     emulated, find, grouped, has, machine, percent, sectors, share, size, three,
                     time, timed)

SIZES = [2**12, 2**16, 2**20, 2**24, 2**28]  # of the tables of times
LARGE, MI = 2**24, 2**20
SECTOR, FLOAT = 32, 4  # bytes
PADDINGS = ["pad16", "pad32", "pad32x2"]  # step 4
READS = {"scalar": "float i", "float2": "floats 2i, 2i + 1, in one access",
         "float4": "four floats in one access", "strided": "float 32 i: a column of a matrix",
         "misaligned": "float i + 1", "permuted": "the warp's own floats in reverse",
         "scattered": "a float anywhere", "same-word": "the same float as all lanes",
         "structures": "a structure of 12 bytes, in three accesses",
         "structures-soa": "the same from three arrays",
         "structures-read-only": "the same, with `__ldg`",
         "structures-staged": "the same, by way of shared memory"}


HOME_PAGE = ""  # address of the book's page, when it is published


def home_page():
    """README's link to the book's page; until HOME_PAGE is known, to the file in a release."""
    return ["**[Try it now](%s):** %s, with nothing to install. Or [on your "
            "machine](#begin-on-your-machine)."
            % (HOME_PAGE or "../../releases/latest", "write a kernel in the page" if HOME_PAGE else
               "download `upsweep.html`, open it in a browser, and write a kernel")]


def table(head, *rows):
    line = lambda cells: "| " + " | ".join(str(cell) for cell in cells) + " |"
    return [line(head), "|" + "---|" * len(head), *(line(row) for row in rows)]


def gpu(what):
    return ["%s on %s:" % (what, machine(GPU)), ""]


def teaches(step):
    """A step's folder, and what its descriptor says that it teaches."""
    folder = os.path.basename(glob.glob(os.path.join(TOP, "steps", "%02d-*" % step))[0])
    driver = glob.glob(os.path.join(TOP, "steps", folder, "**", "driver.c"), recursive=True)[0]
    with open(driver, encoding="utf-8") as file:
        return folder, re.search(r'\.teaches = "(.*)"', file.read())[1]


def counters_row(step, variant, n):
    counted = emulated(step, n, variant)
    counts = by_ncu(step, n, variant)
    name = "%d, `%s`" % (step, variant) if variant in PADDINGS else str(step)
    return [name, grouped(n), grouped(counted["adds_counted"]), both(counts, "conflicts"),
            sectors(counts)]


def step_counters():
    """What the scans of one array count."""
    rows = [(2, "", 512), (3, "", 512), *((4, p, 512) for p in PADDINGS),
            (5, "conflict-free", 65536), (6, "", 65536), (7, "", 65536),
            (8, "hybrid", 65536), (9, "shfl", 65536), (10, "backward", 65536),
            (11, "tile2048", 65536), (12, "f32", 65536)]
    return table(["step", "n", "additions", "bank conflicts", "sectors per request"],
                 *(counters_row(*row) for row in rows))


def checked():
    """What else the GPU said of the steps."""
    runs = [row for row in TIMED if row["step"] not in ("0", "1")]  # CUB, and the CPU's
    right = [row for row in runs if row["right"] == "true" and row["verify"] == "full"]
    tools = sorted(TOOLS)
    said = [("%s on step %s" % (tool, row["step"]), row[tool + " errors"], row[tool + " exit"])
            for row in SANITIZED for tool in tools]
    found = [run for run, *numbers in said if numbers != ["0", "0"]]
    large = [row for row in VERY_LARGE if row["right"] == "true" and row["verify"] == "full"]
    last = max(int(row["step"]) for row in runs)
    return ["On the %s, %d of %d runs of steps 2 to %d gave the right value of each element, with "
            "up to %s elements."
            % (GPU["GPU"], len(right), len(runs), last, size(max(int(row["n"]) for row in runs))),
            "So did %d of %d runs with %s elements, of the steps that take any n."
            % (len(large), len(VERY_LARGE), grouped(VERY_LARGE[0]["n"])),
            "[compute-sanitizer](glossary.md#compute-sanitizer)'s %s found nothing in %d of "
            "%d runs."
            % (", ".join(tools), len(said) - len(found), len(said)),
            *others(found)]


def others(found):
    """The runs in which compute-sanitizer found something; notes/more/checks-table.md explains
    each."""
    why = "[why](more/checks-table.md)"
    return ["The others are %s: %s." % (", ".join(sorted(set(found))), why)] if found else []


def patterns():
    rows = []
    for name, what in READS.items():
        counts, timing = emulated(0, MI, name), find(PATTERNS, variant=name)[0]
        asked = FLOAT * int(counts["requests_ld"] if name == "same-word" else counts["n"])
        rows.append(["`%s`" % name, what, a_request(counts, "ld"), a_request(counts, "st"),
                     percent(asked / SECTOR / int(counts["sectors_ld"])),
                     "%.0f" % float(timing["gb_per_s"]), share(timing)])
    rate = lambda name: float(find(PATTERNS, variant=name)[0]["gb_per_s"])
    said = ", ".join("`%s` %s" % (name, percent(rate(name) / rate("scalar"))) for name in
                     ("permuted", "misaligned", "same-word", "strided", "scattered", "structures",
                      "float4"))
    head = ["`--variant`", "what lane i reads", "sectors per load", "per store",
            "bytes used of those that loads request",
            "GB/s", "of the roof"]
    return ["Sectors per request, as the emulator counts them for 1 Mi floats, and the speed of a "
            "copy of",
            *gpu("%s floats" % size(int(timing["n"]))), *table(head, *rows), "",
            *textwrap.wrap("Of `scalar`'s rate: %s." % said, 110)]


def compare(n, *columns, more=()):
    """Counters of scans of n elements side by side: columns are (heading, step, variant,
    source)."""
    values = [(source(step, n, variant), emulated(step, n, variant))
              for _, step, variant, source in columns]
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


def naive():
    return compare(512, ("step 2", 2, "", by_ncu))


def work_efficient():
    return compare(512, ("step 2", 2, "", by_ncu), ("step 3", 3, "", by_ncu))


def padding():
    scans = [("step 3", 3, ""), *(("`%s`" % p, 4, p) for p in PADDINGS)]
    counts = lambda step, p, n: [both(by_ncu(step, n, p), key) for key in ("conflicts",
                                                                           "wavefronts")]
    return ["ncu counted these loads + stores of shared memory on an %s:" % GPU["GPU"],
            ""] + table(
        ["", "conflicts, n = 512", "wavefronts", "conflicts, n = 2048", "wavefronts"],
        *([name, *counts(step, p, 512), *counts(step, p, 2048)] for name, step, p in scans))


def one_block_times():
    scans = [(1, "exclusive"), (2, ""), (3, ""), *((4, p) for p in PADDINGS)]
    # not measured; beyond its limit
    is_there = lambda step, n: (step, n) not in ((1, 512), (2, 2048))
    cell = lambda step, n, p: time(timed(step, n, p)) if is_there(step, n) else ""
    sizes = 512, 1024, 2048
    shares = [float(timed(step, n, p)["roof_fraction"])
              for step, p in scans[1:] for n in sizes if is_there(step, n)]
    return gpu("Time of a scan by one core of the CPU (step 1), and by one block") + table(
        ["n", "step 1", "step 2", "step 3", *("`%s`" % p for p in PADDINGS)],
        *([n, *(cell(step, n, p) for step, p in scans)] for n in sizes)) + [
            "", "The fastest copy of as many floats takes %s to %s of the time of a block's scan."
            % (percent(min(shares)), percent(max(shares)))]


def remainder():
    variants = "conflict-free", "conflict-free-remainder"
    return table(["n = 1000", "launches", "additions"],
                 *(["`%s`" % v, emulated(5, 1000, v)["launches"],
                    emulated(5, 1000, v)["adds_counted"]]
                   for v in variants)) + ["", "On an %s, %s + 1 elements take %s and %s." % (
                       GPU["GPU"], size(MI), *(time(timed(5, MI + 1, v)) for v in variants))]


def blocks():
    variants = "naive", "work-efficient", "conflict-free", "conflict-free-remainder"
    scans = [emulated(5, MI, variant) for variant in variants]
    head = ["`--variant`", "additions", "wavefronts, load + store", "of which conflicts",
            "sectors, load + store"]
    return table(head, *(["`%s`" % s["variant"], grouped(s["adds_counted"]), both(s, "wavefronts"),
                         both(s, "conflicts"), both(s, "sectors")] for s in scans))


def roof(n):
    """Seconds of the fastest copy of n floats. Each ./stepN has measured it: the median of them
    all, so that the shares in a table have the same roof."""
    return statistics.median(float(row["seconds"]) * float(row["roof_fraction"])
                             for row in find(TIMED, n=n, element="float") if row["roof_fraction"])


def times(n, *columns):
    """A line of the time and the share of the roof of each column: (heading, step, variant)."""
    scans = [timed(step, n, variant) for _, step, variant in columns]
    share_of = lambda scan: percent(roof(n) / float(scan["seconds"]))
    return [size(n), *(cell(scan) for scan in scans for cell in (time, share_of))]


def times_table(*columns):
    head = ["n", *(cell for heading, _, _ in columns for cell in (heading, "of the roof"))]
    return gpu("Time of a scan (median, cold L2)") + table(head,
                                                           *(times(n, *columns) for n in SIZES))


def ratio(n, scan, other):
    return "%.2f" % (float(timed(*scan[:1], n, *scan[1:])["seconds"])
                     / float(timed(*other[:1], n, *other[1:])["seconds"]))


def block_scans():
    names = "naive", "work-efficient", "conflict-free"
    said = ["", "At %s `naive` takes %s times as long as `conflict-free`, and `work-efficient` %s."
            % (size(LARGE), *(ratio(LARGE, (5, v), (5, "conflict-free")) for v in names[:2]))]
    return times_table(*(("`%s`" % v, 5, v) for v in names)) + said


def vectorized():
    return compare(MI, ("step 5", 5, "conflict-free", emulated), ("step 6", 6, "", emulated))


def misaligned():
    rows = [("aligned", emulated(6, MI)), ("`--offset 1`", emulated(6, MI, "", 1))]
    return table(["n = " + grouped(MI), "requests, load + store", "sectors, load + store"],
                 *([name, both(row, "requests"), both(row, "sectors")] for name, row in rows))


def vectorized_times():
    return times_table(("step 5", 5, "conflict-free"), ("step 6", 6, ""))


def instructions(step, variant=""):
    launches = [int(row["emu__ptx_inst_executed.sum"])
                for row in find(INSTRUCTIONS, step=step, n=MI, variant=variant)]
    return [grouped(sum(launches)), grouped(launches[0])]


def unrolled():
    total, first = zip(instructions(6), instructions(7))
    more = [["PTX instructions of warps", *total], ["of which `scan_block`'s first launch", *first]]
    return compare(MI, ("step 6", 6, "", emulated), ("step 7", 7, "", emulated), more=more)


def unrolled_times():
    return times_table(("step 6", 6, ""), ("step 7", 7, ""))


def unrolled_throughput():
    """Step 7 moves each element four times, and a copy twice."""
    row, n = timed(7, 2**24), 2**24
    own, roof = 16 * n / float(row["seconds"]) / 1e9, float(row["roof_gb_per_s"])
    return textwrap.wrap(
        "In the recording of the %s the scan takes %s. It moves 4n words, 16 bytes for each "
        "element: 16 · 2²⁴ bytes in %s are %s GB/s. The last column is the rate of the fastest "
        "copy, which moves 2n words. So step 7 uses %s of the throughput that a copy reaches." % (
            GPU["GPU"], time(row), time(row), grouped(round(own)), percent(own / roof)), 100)


# Harris 2007, Table 2: n, milliseconds of a scan on one core of an Intel Core 2 Extreme of 2.93 GHz
# and on a GeForce 8800 GTX. (Its 8388688 is 2^23.)
HARRIS = [(2**10, 0.002231, 0.079492), (2**15, 0.072663, 0.106159), (2**16, 0.146326, 0.137006),
          (2**17, 0.726429, 0.200257), (2**18, 1.454742, 0.326900), (2**19, 2.911067, 0.624104),
          (2**20, 5.900097, 1.118091), (2**21, 11.848376, 2.099666), (2**22, 23.835931, 4.062923),
          (2**23, 47.390906, 7.987311), (2**24, 94.794598, 15.854781)]


def times_as_fast(slow, fast):
    return three(slow / fast) if slow < 999.5 * fast else grouped(slow / fast)


def harris_table():
    rows = []
    for n, cpu, gpu_ms in HARRIS:
        core, ours = timed(1, n, "exclusive"), timed(5, n, "conflict-free")
        rows.append([grouped(n), "%.3f" % cpu, "%.3f" % gpu_ms, times_as_fast(cpu, gpu_ms),
                     "%.4f" % (1e3 * float(core["seconds"])),
                     "%.4f" % (1e3 * float(ours["seconds"])),
                     times_as_fast(float(core["seconds"]), float(ours["seconds"]))])
    return table(["n", "CPU 2007, ms", "8800 GTX, ms", "times as fast", "CPU today, ms",
                  GPU["GPU"].replace("NVIDIA ", "") + ", ms", "times as fast"], *rows)


def milliseconds(value):
    return "%s ms" % three(value)


def harris_growth():
    """What the GPU won in 2007 and what it wins today, a row each."""
    n, cpu, gpu_ms = HARRIS[-1]
    core, ours = (1e3 * seconds(*scan) for scan in ((1, n, "exclusive"), (5, n, "conflict-free")))
    return table(["%s floats" % grouped(n), "one core of the CPU", "GPU", "times as fast"],
                 ["2007, a GeForce 8800 GTX", milliseconds(cpu), milliseconds(gpu_ms),
                  times_as_fast(cpu, gpu_ms)],
                 ["today, an %s" % GPU["GPU"], milliseconds(core), milliseconds(ours),
                  times_as_fast(core, ours)])


def seconds(step, n, variant=""):
    return float(timed(step, n, variant)["seconds"])


def shuffled():
    """Step 9 beside step 7, by the emulator."""
    counts = [emulated(7, MI), *(emulated(9, MI, v) for v in ("shfl", "predicate"))]
    total, first = zip(instructions(7), instructions(9, "shfl"), instructions(9, "predicate"))
    line = lambda what, cell: [what, *map(cell, counts)]
    columns = [("step 7", 7, "", emulated),
               *(("step 9, `%s`" % v, 9, v, emulated) for v in ("shfl", "predicate"))]
    return compare(MI, *columns, more=[
        line("bytes of shared memory per block", lambda row: row["shared_bytes"]),
        ["PTX instructions of warps", *total], ["of which `scan_block`'s first launch", *first]])


def shuffled_times():
    return times_table(("step 7", 7, ""), ("step 9, `shfl`", 9, "shfl"),
                       ("step 9, `predicate`", 9, "predicate"))


TILES = ["tile2048", "tile4096", "tile8192"]  # step 11


def passes():
    """Steps 9, 10 and 11: how often the elements move. Counts beyond n / 8 sectors are sums and
    states."""
    columns = [("step 9", 9, "shfl", emulated), ("step 10", 10, "backward", emulated),
               ("step 11", 11, TILES[0], emulated)]
    moved = lambda row: three((int(row["sectors_ld"])
                               + int(row["sectors_st"])) * SECTOR / FLOAT / MI)
    return compare(MI, *columns, more=[
        ["words moved per element",
         *(moved(emulated(step, MI, variant)) for _, step, variant, _ in columns)]])


def passes_times():
    return times_table(("step 9", 9, "shfl"), *(("`%s`" % v, 11, v) for v in TILES), ("CUB", 0, ""))


def shuffle_code():
    """What ptxas makes of the two variants: how often each instruction stands in scan_block."""
    names = "shfl", "predicate"
    count = lambda v, key, wanted: sum(int(r[key]) for r in SHUFFLES if r["variant"] == v
                                       and wanted(r["instruction"]))
    line = lambda what, key, wanted: [what, *(count(v, key, wanted) for v in names)]
    only = lambda name: lambda instruction: instruction == name
    return table(
        ["machine instructions of `scan_block`, sm_90", *("`%s`" % v for v in names)],
        line("`SHFL`", "count", only("SHFL")), line("`FADD`", "count", only("FADD")),
        line("of which under a predicate", "predicated", only("FADD")),
        line("`ISETP` (comparisons)", "count", only("ISETP")),
        line("all", "count", lambda _: True))


def best_factor():
    """Where step 7 is fastest against step 8, without and with shared memory: how many times, and
    at which n."""
    sizes = [int(row["n"]) for row in find(TIMED, step=8, variant="hybrid")
             if int(row["n"]) & int(row["n"]) - 1 == 0]
    most, n = max((seconds(8, n, "hybrid") / seconds(7, n), n) for n in sizes)
    return three(most), size(n)


def claims():
    """What the documents say of speed, and what is so today, at 2^24 and 2^28 floats."""
    scan = (5, "conflict-free")

    def row(said, where, slow, fast, holds):
        ratios = [seconds(*slow[:1], n, *slow[1:]) / seconds(*fast[:1], n, *fast[1:])
                  for n in (LARGE, 2**28)]
        return [said, where, *(times_as_fast(r, 1) for r in ratios), holds(ratios)]

    verdict = lambda test: lambda ratios: "yes" if all(map(test, ratios)) else (
        "in part" if any(map(test, ratios)) else "no")
    adds = {v: int(emulated(5, MI, v)["adds_counted"]) for v in ("naive", "conflict-free")}
    return table(
        ["said", "where", size(LARGE), size(2**28), "today"],
        row("eight elements a thread are \"more than twice as fast\" as two (step 5 / step 6)",
            "Gems 39.2.5",
            scan, (6, ""), verdict(lambda r: r > 2)),
        row("unrolling is faster still (step 6 / step 7)", "Gems 39.2.5", (6, ""), (7, ""),
            verdict(lambda r: r > 1.005)),
        row("avoiding bank conflicts is faster (`work-efficient` / `conflict-free`)",
            "Gems 39.2.3, Figure 39-8",
            (5, "work-efficient"), scan, verdict(lambda r: r > 1.005)),
        row("naive blocks are slower by O(log2 B), which is 9 here (`naive` / `conflict-free`)",
            "Gems 39.2.5",
            (5, "naive"), scan, verdict(lambda r: r > 9 / 2)),
        row("5.98 times as fast as a CPU (step 1 / step 5)", "Harris, Table 2",
            (1, "exclusive"), scan,
            verdict(lambda r: r > 5.98)),
        row("\"up to 20 times faster\" than a CPU, with everything (step 1 / step 7)",
            "Gems 39.2.5",
            (1, "exclusive"), (7, ""), verdict(lambda r: r > 20)),
        row("\"up to a factor of seven\" faster than in OpenGL (step 8 / step 7)", "Gems 39.2.5",
            (8, "hybrid"), (7, ""),
            lambda ratios: "up to %s, at %s" % best_factor()),
    ) + ["",
         "At %s, step 5 makes %.2f times as many additions with naive blocks as with "
         "`conflict-free` blocks."
         % (size(MI), adds["naive"] / adds["conflict-free"])]


def beside_cub():
    rows = []
    for n in SIZES:
        cub = seconds(0, n)
        rows.append([size(n), *(cell for step in (5, 6, 7) for cell in (
            time(timed(step, n, "conflict-free" if step == 5 else "")),
            three(seconds(step, n, "conflict-free" if step == 5 else "") / cub))),
                     time(timed(0, n)), percent(roof(n) / cub)])
    return gpu("Time of a scan (median, cold L2), and how many times CUB's it is") + table(
        ["n", "step 5", "/ CUB", "step 6", "/ CUB", "step 7", "/ CUB", "CUB", "of the roof"], *rows)


# The meaning of the cache operators and other words of a load or store, from the lecture ("PTX
# Cache Operators") and the PTX ISA.
OPERATORS_MEAN = {
    "ld_plain": "", "ld_ca": "cache at all levels", "ld_cg": "cache in L2, not in L1",
    "ld_cs": "streaming: likely once",
    "ld_lu": "last use", "ld_cv": "do not cache, fetch again",
    "ld_nc": "through the read-only path (`__ldg`)",
    "ld_volatile": "may not be left out or moved", "ld_relaxed_gpu": "strong, no order",
    "ld_acquire_gpu": "what follows comes after it", "st_plain": "",
    "st_wb": "write back: all levels",
    "st_cg": "cache in L2, not in L1", "st_cs": "streaming",
    "st_wt": "write through to system memory",
    "st_volatile": "may not be left out or moved", "st_relaxed_gpu": "strong, no order",
    "st_release_gpu": "what comes before it is seen first"}


def operators():
    made = {row["ptx"]: row["sass"] for row in OPERATORS}
    rows = []
    for name, means in OPERATORS_MEAN.items():
        access, word = name.split("_", 1)
        word = word.replace("_", ".")
        ptx = access + ".global" if word == "plain" else (
            "%s.global.%s" if len(word) == 2 else "%s.%s.global") % (access, word)
        rows.append(["`%s`" % ptx, means, "`%s`" % made[name].replace(" ", "; ")])
    return table(["PTX", "meaning", "machine code for sm_90"], *rows)


TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def findings(rows):
    """How many findings, by program, version and tool; None where the run was stopped at its limit
    of time."""
    count = lambda errors, warnings: None if errors == "?" else int(errors) + int(warnings)
    return {(row["program"], row["version"], tool):
            count(row[tool + " errors"], row[tool + " warnings"])
            for row in rows for tool in TOOLS if row.get(tool + " errors")}


NOT_RECORDED = "not recorded"


def catalogues():
    """The catalogue that has a pair, by the pair's name."""
    found = {}
    for path in glob.glob(os.path.join(TOP, "tests/checks/*.cu")):
        with open(path, encoding="utf-8") as file:
            found.update(dict.fromkeys(re.findall(r"^/\* ([a-z-]+) — ", file.read(), re.M),
                                       os.path.basename(path)))
    return found


def checks():
    """Both tools' verdicts on the wrong programs, then on the right ones. Programs that have not
    been run on a GPU are in the table only."""
    theirs, ours = findings(CHECKED_BY_GPU), findings(CHECKED)
    programs = sorted({row["program"] for row in CHECKED_BY_GPU})
    rows, files = [], catalogues()
    for program in sorted({row["program"] for row in CHECKED}.union(programs)):
        cells = []
        for tool in TOOLS:
            key = program, "wrong", tool
            pair = theirs.get(key, NOT_RECORDED), ours[key]
            text = " / ".join("waits" if found is None else str(found) for found in pair)
            cells.append(text if any(pair) or None in pair else "")
        rows.append(["[%s](../../tests/checks/%s)" % (program, files.get(program, "")), *cells])
    same = len(theirs) - len(differences(theirs, ours))
    right = [(program, "right", tool) for program in programs for tool in TOOLS]
    clean = [sum(found[key] == 0 for key in right) for found in (theirs, ours)]
    return [*textwrap.wrap(
        "%d programs, in a wrong and a right version, were run under %d tools. In %d of %d runs "
        "both found something or "
        "both found nothing. In the right versions compute-sanitizer found nothing in %d of %d "
        "runs and gave no verdict "
        "in %d; the emulator found nothing in %d. The table shows the number of findings in the "
        "wrong versions: "
        "compute-sanitizer on an %s / emulator.%s" % (
            len(programs), len(TOOLS), same, len(theirs), clean[0], len(right),
            sum(theirs[key] is None for key in right), clean[1], CHECKED_ON["GPU"],
            " %d more programs have not been run on a GPU (%s)."
            % (len(rows) - len(programs), NOT_RECORDED) if len(rows) > len(programs) else ""),
        120),
            "", *table(["program", *TOOLS], *rows)]


def verdict(found):
    """None where there is none, as the run was stopped; whether anything was found."""
    return None if found is None else found > 0


def differences(theirs, ours):
    """The runs in which the two tools' verdicts differ: (program, version, tool)."""
    return {key for key in theirs if verdict(theirs[key]) != verdict(ours[key])}


def explained(row, differ):
    """The differences that a row of checks_differences.csv is about: those of its programs, of
    which each may be a pattern, as init-shared*, under its tools. Exits if there is none for one of
    these words."""
    def under(key, program):
        return (key[1] == row["version"] and key[2] in row["tools"].split()
                and fnmatch.fnmatchcase(key[0], program))

    keys = set()
    for program in row["programs"].split():
        found = {key for key in differ if under(key, program)}
        for tool in row["tools"].split():
            if not any(key[2] == tool for key in found):
                sys.exit("profiles/checks_differences.csv: %s, %s, %s: no difference"
                         % (program, row["version"], tool))
        keys |= found
    return keys


def finder(found_by_them, found_by_us):
    return "compute-sanitizer" if found_by_them else "the emulator" if found_by_us else "neither"


def differ_rows(row, keys, theirs, ours):
    """A row of the table for programs that differ under the same tools, with the same finder."""
    groups = {}
    for program in sorted({key[0] for key in keys}):
        for by in ("compute-sanitizer", "the emulator", "neither"):
            under = [tool for tool in TOOLS if (key := (program, row["version"], tool)) in keys
                     and finder(theirs[key], ours[key]) == by]
            if under:
                groups.setdefault((", ".join(under), by), []).append(program)
    right = " (right)" if row["version"] == "right" else ""
    return [[", ".join(programs) + right, under, by, row["why"]]
            for (under, by), programs in groups.items()]


def checks_differ():
    """The runs in which only one found something: each is explained by one row of the file, and
    nothing else is."""
    theirs, ours = findings(CHECKED_BY_GPU), findings(CHECKED)
    rows, unexplained = [], differences(theirs, ours)
    differ = set(unexplained)
    for row in CHECKS_DIFFER:
        keys = explained(row, differ)
        if keys - unexplained:
            sys.exit("profiles/checks_differences.csv explains %s twice"
                     % "/".join(min(keys - unexplained)))
        unexplained -= keys
        rows += differ_rows(row, keys, theirs, ours)
    if unexplained:
        sys.exit("profiles/checks_differences.csv does not explain %s"
                 % ", ".join(map("/".join, sorted(unexplained))))
    return table(["programs", "tools", "found by", "why"], *rows)


def compiled(step, how, n):
    return find(COMPILED, step=step, how=how, n=n)[0]


def block_sizes():
    sizes = [("B64", 64), ("B128", 128), ("B256", 256), ("-", 512), ("B1024", 1024),
             ("B2048", 2048)]
    best = {n: min(float(compiled(5, how, n)["seconds"]) for how, _ in sizes) for n in SIZES[1:]}
    cell = lambda row: ("**%s**" if float(row["seconds"]) == best[int(row["n"])]
                        else "%s") % time(row)
    return gpu("Time of a scan with blocks of B elements") + table(
        ["n", *("B = %d" % b for _, b in sizes)],
        *([size(n), *(cell(compiled(5, how, n)) for how, _ in sizes)] for n in SIZES[1:]))


def registers():
    hows = [("-", "as it is"), ("R32", "at most 32"), ("R24", "at most 24")]
    return gpu("Time of a scan with `-maxrregcount`") + table(
        ["registers", "used", "spilled bytes", *(size(n) for n in SIZES[1:])],
        *([name, compiled(7, how, MI)["registers"], compiled(7, how, MI)["stack"],
           *(time(compiled(7, how, n)) for n in SIZES[1:])] for how, name in hows))


def hardware_conflicts(step, n, variant):
    """What the hardware counts as bank conflicts: those of the Source page, and arbitration."""
    name = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum"
    rows = find(NCU, step=step, n=n, variant=variant)
    return {"hardware_" + op: sum(int(row[name % op] or 0) for row in rows) for op in ("ld", "st")}


def banks(step, *variants):
    """Wavefronts and bank conflicts, loads + stores, at the recorded sizes."""
    rows = []
    for variant in variants:
        for n in (2048, 2**16, MI, 4 * MI, LARGE):
            if not has(NCU, step=step, n=n, variant=variant):
                continue
            row = {**by_ncu(step, n, variant), **hardware_conflicts(step, n, variant)}
            rows.append(["`%s`" % variant, grouped(n), both(row, "wavefronts"),
                         both(row, "conflicts"),
                         both(row, "hardware")])
    return ["By ncu, on an %s:" % GPU["GPU"], "", *table(
        ["`--variant`", "n", "wavefronts, load + store", "bank conflicts, by source line",
         "by the hardware's counter"],
        *rows)]


def shuffled_banks():
    return banks(9, "shfl", "predicate")


def cooperative_banks():
    return banks(10, "backward")


def single_pass_banks():
    return banks(11, *TILES)


def pipeline_banks():
    return banks(12, "f32", "f64")


def pipeline_counters():
    """Step 12: the kernel of each size, by ncu where that is recorded."""
    sizes = [n for n in (512, 65536, MI, LARGE) if has(NCU, step=12, n=n, variant="f32")]
    counts = [by_ncu(12, n, "f32") for n in sizes]
    kernel = lambda n: find(NCU, step=12, n=n, variant="f32")[0]["kernel"]
    line = lambda what, cell: [what, *map(cell, counts)]
    words = lambda row, n: three((row["sectors_ld"] + row["sectors_st"]) * SECTOR / FLOAT / n)
    return ["As ncu counts them on an %s:" % GPU["GPU"], "", *table(
        ["n", *map(grouped, sizes)], ["kernel", *("`%s`" % kernel(n) for n in sizes)],
        line("wavefronts, load + store", lambda row: both(row, "wavefronts")),
        line("of which bank conflicts", lambda row: both(row, "conflicts")),
        line("requests to memory, load + store", lambda row: both(row, "requests")),
        line("sectors, load + store", lambda row: both(row, "sectors")),
        ["words in these sectors, for each of n",
         *(words(row, n) for row, n in zip(counts, sizes))])]
