"""bench_rows.py -- the tables of h200/bench.csv, in which everything was timed side by side, of
h200/promises.csv, in which step 12's promises were tried, of h200/python.csv, the Python package
beside PyTorch and CuPy, and of library.csv.

Where a size was timed in graphs, that is the time shown.
"""
import glob
import os
import re
import textwrap

from records import (COPIES, COUNTED, TABLES, TOP, by_ncu, cub, duration, emulated, find, grid,
                     grouped, has, machine, percent, read, runs, shown, size, sizes, table, three,
                     time, timed, times_as_fast)
import bits
from step_rows import teaches

SIDE_BY_SIDE, ON = read("h200/bench.csv")
NEWER, ON_NEWER = read("h200/newer.csv")
POWERS = [2**k for k in range(10, 31)]
WORDS_A_SECTOR = 8
WORDS_AT = 2**20  # the n of their column
SAME_AT = 2**24  # the n of the checksums
TYPES = {"f32": "float", "f64": "double", "i32": "int32", "i64": "uint64",
         "i16": "int16, sums of 32 bits",
         "i8": "int8, sums of 32 bits"}


def row_of(contender, n, element="f32", flush="read", variant=None):
    """The row of one contender at one size, or None; of its first variant, if none is given; in
    graphs, if there is one. Steps on the CPU have no rows of graphs: they stay cold."""
    rows = [row for row in SIDE_BY_SIDE if row["contender"] == contender and int(row["n"]) == n
            and row["seconds"] and row["element"] == element and row["flush"] == flush
            and row["right"] == "true"]
    rows = [row for row in rows if row["variant"] == (variant or rows[0]["variant"])]
    rows.sort(key=lambda row: row["mode"] != "graph")
    return rows[0] if rows else None


def seconds(contender, n, element="f32", flush="read", variant=None):
    row = row_of(contender, n, element, flush, variant)
    return float(row["seconds"]) if row else None


def roof(n, element="f32", flush="read"):
    """Seconds of the fastest copy, and its name."""
    found = [(seconds(name, n, element, flush), name) for name in COPIES]
    return min(((s, name) for s, name in found if s), default=(None, ""))


def contenders():
    """The steps in their order, then CUB."""
    steps = {int(row["step"]) for row in SIDE_BY_SIDE if row["step"] and row["element"] == "f32"}
    return ["step %d" % step for step in sorted(steps)] + ["CUB"]


@shown
def side_by_side():
    """Every step, CUB and the roof: time, share of the roof, words."""
    all_sizes = [n for n in (2**k for k in (12, 16, 20, 24, 26, 28, 30)) if roof(n)[0]]
    last = all_sizes[-1]
    head = ["", "words at " + size(WORDS_AT),
            *(cell for n in all_sizes for cell in (size(n), "of the roof")),
            "GB/s at " + size(last)]

    def words(name):
        """Read and written, in words of 4 bytes, as the emulator counts sectors."""
        row = row_of(name, WORDS_AT)
        if not row or not row["step"] or not has(COUNTED, step=row["step"], n=WORDS_AT,
                                                 variant=row["variant"]):
            return ""
        counts = emulated(row["step"], WORDS_AT, row["variant"])
        sectors = int(counts["sectors_ld"]) + int(counts["sectors_st"])
        return three(sectors * WORDS_A_SECTOR / WORDS_AT) + " n"

    def cells(name, n):
        mine, (top, _) = row_of(name, n), roof(n)
        return [time(mine), percent(top / float(mine["seconds"])) if top else ""] if mine else (
            ["", ""])
    rows = [[name, words(name), *(cell for n in all_sizes for cell in cells(name, n)),
             "%.0f" % float(row_of(name, last)["gb_per_s"]) if row_of(name, last) else ""]
            for name in contenders()]
    fastest = [roof(n) for n in all_sizes]
    rows.append(["roof", "2 n", *(cell for s, _ in fastest for cell in (duration(s), "")),
                 "%.0f" % (2 * 4 * last / fastest[-1][0] / 1e9)])
    names = ", ".join("%s %s" % (size(n), name) for n, (_, name) in zip(all_sizes, fastest))
    return ["![Time against n of all steps, CUB and the fastest copy](figures/side-by-side.svg)",
            "", "![The fastest copy's time as a share of theirs, against n]"
            "(figures/of-the-roof.svg)", "",
            "Floats, on %s, and %s:" % (machine(ON), cub(ON)), "", *table(head, *rows), "",
            "The fastest copy: %s." % names]


@shown
def cpu_gpu():
    """first-kernel.md: the loop on the CPU beside step 5, for few floats and for many."""
    few, many, core, gpu = 2**10, 2**24, "step 1", "step 5"
    lost = max(n for n in POWERS if n < many and seconds(core, n) < seconds(gpu, n))
    text = ("For %s floats the loop takes %s and the GPU %s, so the loop wins, as it does up to %s."
            " For %s floats the loop takes %s and the GPU %s: the GPU is %.0f times as fast. (%s, "
            "CUDA %s; the floats are in the GPU's memory already.)"
            % (size(few), duration(seconds(core, few)), duration(seconds(gpu, few)), size(lost),
               size(many), duration(seconds(core, many)), duration(seconds(gpu, many)),
               seconds(core, many) / seconds(gpu, many), ON["GPU"], ON["toolkit"]))
    return ["![Time of the loop and of a GPU against n](figures/cpu-gpu.svg)", "",
            *textwrap.wrap(text, 100)]


README_VARIANTS = {11: "tile8192"}
ONE_BLOCK = {2: "-", 3: "-", 4: "pad32"} # these scan no more than a block holds


def continued(step):
    """The step of which the kernel's header says "Same as step K except"."""
    for path in glob.glob(os.path.join(TOP, "steps", teaches(step)[0], "scan.c*")):
        with open(path, encoding="utf-8") as file:
            found = re.search(r"Same as step (\d+) except", file.read())
        if found:
            return int(found[1])
    return None


def in_readme(step):
    """n, seconds and the share of the roof; None for one block, which has little but the launch."""
    if step in ONE_BLOCK:
        return 512, float(timed(step, 512, ONE_BLOCK[step])["seconds"]), None
    took = seconds("step %d" % step, 2**24, variant=README_VARIANTS.get(step))
    return 2**24, took, roof(2**24)[0] / took


@shown
def steps():
    """README's: each scan, what it teaches, how long it takes, and what that is against the step
    that it continues."""
    rows = []
    for step in range(13):
        (folder, lesson), (n, took, share) = teaches(step), in_readme(step)
        before, conflicts, times = continued(step), "", ""
        if step in ONE_BLOCK:
            counted = by_ncu(step, n, ONE_BLOCK[step])
            conflicts = grouped(counted["conflicts_ld"] + counted["conflicts_st"])
        if before and in_readme(before)[0] == n:
            times = "%s (%d)" % (three(in_readme(before)[1] / took), before)
        name = "[%d](steps/%s) [%s](notes/%s.md)" % (step, folder, folder[3:], folder)
        if step in README_VARIANTS:
            name += " `%s`" % README_VARIANTS[step]
        rows.append([name, lesson, "512" if n == 512 else size(n), duration(took),
                     percent(share) if share else "", conflicts, times])
    return table(["step", "what it teaches", "n", "time", "of the roof", "conflicts",
                  "times as fast (as step)"], *rows)


# ---- step 12 and CUB -----------------------------------------------------------------------------

HEAD = ["n", "step 12", cub(ON), "roof", "times CUB", "of the roof", "the fastest copy"]


def beside(n_list, element="f32", flush="read"):
    """Lines of step 12, CUB and the roof at each size that has all three."""
    for n in n_list:
        ours, theirs, (top, how) = (seconds("step 12", n, element, flush),
                                    seconds("CUB", n, element, flush), roof(n, element, flush))
        if ours and theirs and top:
            yield [size(n), duration(ours), duration(theirs), duration(top),
                   "%.2f" % (theirs / ours), percent(top / ours), how]


TABLES["cub"] = lambda: [cub(ON)]


@shown
def faster_than_cub():
    ratio = lambda n: seconds("CUB", n) / seconds("step 12", n)
    has_both = lambda n: seconds("step 12", n) and seconds("CUB", n)
    all_sizes = [n for k in POWERS for n in (k - 1, k, k + 1) if has_both(n)]
    losses = [n for n in all_sizes if ratio(n) < 1]
    return table(HEAD, *beside(POWERS)) + [
        "", "Of %d sizes (powers of two, and these ± 1), %s is faster at %d%s." % (
            len(all_sizes), cub(ON), len(losses),
            ": " + ", ".join(map(grouped, losses)) if losses else ""),
        "At the sizes n - 1 and n + 1, step 12 is at least %.2f times as fast as CUB."
        % min(ratio(n) for n in all_sizes if n not in POWERS)]


BY_TYPE = sizes(10, 14, 18, 20, 21, 22, 26, 28, 30), ["f32", "i32", "i64", "f64", "i16", "i8"]


@shown
def other_types():
    """Times CUB and of the roof, by type."""
    def cell(element, n):
        return next(("%s (%s)" % (row[4], row[5]) for row in beside([n], element)), "")
    return grid("", *BY_TYPE, cell)


@shown
def newer_cub():
    """Times CUB, of a later release than the toolkit's."""
    def cell(element, n):
        rows = {row["mode"]: row for row in NEWER if row["contender"] == "step 12"
                and row["element"] == element and int(row["n"]) == n and row["right"] == "true"}
        return three(float(rows.get("graph", rows["cold"])["times_cub"]))
    return ["Times as fast as %s, on %s:" % (cub(ON_NEWER), machine(ON_NEWER)), "",
            *grid("", *BY_TYPE, cell)]


@shown
def flushes():
    """The same by reading and by memset: what lines that are not written back cost."""
    def cell(n, column):
        name, flush = column
        return next((time(row) for row in SIDE_BY_SIDE if row["contender"] == name
                     and int(row["n"]) == n and row["element"] == "f32" and row["flush"] == flush
                     and row["mode"] == "cold" and row["seconds"]), "")
    columns = {(name, flush): name + ", read" if flush == "read" else flush
               for name in ("step 12", "CUB", "cudaMemcpyAsync") for flush in ("read", "memset")}
    return grid("n", columns, {n: size(n) for n in POWERS[::2] if cell(n, ("step 12", "memset"))},
                cell)


def ranges(powers):
    """2¹⁶ to 2²⁰, 2²² of [16, 17, 18, 19, 20, 22]."""
    return ", ".join(size(2**a) if a == b else "%s %s %s"
                     % (size(2**a), "and" if b == a + 1 else "to", size(2**b))
                     for a, b in runs(powers))


@shown
def pipeline_times():
    """Step 12's chapter: every second power of two, and at which powers of two CUB is faster, by
    type, and by how much at most."""
    said = []
    for element, name in TYPES.items():
        pairs = [(seconds("CUB", n, element), seconds("step 12", n, element), n) for n in POWERS]
        found = [(ours / theirs, n.bit_length() - 1) for theirs, ours, n in pairs
                 if theirs and ours and theirs < ours]
        if found:
            said.append("of %s at %s (by up to %.0f %%)" % (
                name.split(",")[0], ranges([k for _, k in found]), 100 * (max(found)[0] - 1)))
    losses = ("At these %s is faster than step 12: scans " + "; ".join(said) + "." if said else
              "At no power of two is %s faster than step 12, for any of the six types.") % cub(ON)
    return ["Floats, on %s:" % machine(ON), "", *table(HEAD, *beside(POWERS[::2])), "",
            *textwrap.wrap(losses, 115)]


@shown
def pipeline_types():
    """Step 12's chapter: all types at three sizes."""
    all_sizes = [2**20, 2**26, 2**28]
    cells = lambda element, n: next(([row[1], row[4], row[5]] for row in beside([n], element)),
                                    ["", "", ""])
    return table(["", *(cell for n in all_sizes for cell in (size(n), "times CUB", "of the roof"))],
                 *([name, *(cell for n in all_sizes for cell in cells(element, n))]
                   for element, name in TYPES.items()))


# ---- promises ------------------------------------------------------------------------------------

PROMISES, PROMISED_ON = read("h200/promises.csv")
MEASURED_ON = ["On %s:" % machine(PROMISED_ON), ""]


def promised(name):
    return has(PROMISES, experiment=name)


def keys(rows, *names):
    """The different values of these columns, in order."""
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def value(rows, variant, parameter, metric):
    """A number, or None."""
    return next((float(row[metric]) for row in rows if row[metric] and (
        row["variant"], row["parameter"]) == (variant, parameter)), None)


def elements(n):
    """2^26 + 3."""
    power = 1 << (n.bit_length() - 1)
    return size(n) + (" + %d" % (n - power) if n > power else "") if n - power < 100 else grouped(n)


@shown
def promises_bits():
    """Real numbers: elements that differ from the CPU's and from the first run's, and errors beside
    the bound."""
    rows = promised("same-bits")

    def line(variant, n):
        get = lambda metric: value(rows, variant, n, metric)
        element, numbers = variant.split(" ", 1)
        theirs = get("error of CUB in the second half")
        return ["%s, %s" % (TYPES[element], numbers), elements(int(n)),
                "%d" % get("differ from the CPU"), "%d" % get("differ from the first"),
                three(get("error")), three(get("error in the second half")),
                "%.0f" % get("bound"), "" if theirs is None else three(theirs)]
    return MEASURED_ON + table(
        ["random numbers", "n", "elements that differ from the CPU's",
         "elements that differ in %s runs" % max(int(row["runs"]) for row in rows), "error",
         "error in the second half", "bound", "CUB's error in the second half"],
        *(line(*key) for key in keys(rows, "variant", "parameter")))


@shown
def checksums():
    """Of scans that have the same bits in every recording of measure/bits.py."""
    known, machines = bits.recorded()
    head = ("Checksums of scans of %s numbers, on the CPU (step 12), on the emulator as an H200, "
            "an A100 and a T4%s; of step 17 with 1, 2, 3 and 4 ranks:" % (size(SAME_AT), "".join(
                ", and on " + machine(about) for about in machines if "GPU" in about)))
    scans = dict.fromkeys(scan for n, _, scan in known if int(n) == SAME_AT)
    return [*textwrap.wrap(head, 100), "", *table(["scan", "float", "double"], *(
        [scan, *("`%s`" % known[str(SAME_AT), of, scan] for of in ("f32", "f64"))]
        for scan in scans))]


@shown
def promises_ways():
    """Scans of which every element was compared: what they were, how many, how many elements were
    wrong."""
    streams = promised("streams")
    large = [row for row in promised("every-way") if int(row["parameter"]) > 2**32]
    usual = [row for row in promised("every-way") if row not in large]

    def line(what, chosen):
        wrong = sum(float(row["wrong"]) for row in chosen)
        return [what, ", ".join(map(elements, sorted({int(row["parameter"]) for row in chosen}))),
                grouped(sum(int(row.get("scans") or 1) for row in chosen)), "%d" % wrong]
    named = lambda word: [row for row in usual if word in row["variant"]]
    ending = lambda word: [row for row in usual if row["variant"].endswith(word)]
    return MEASURED_ON + table(
        ["", "elements", "scans", "elements wrong"],
        line("exclusive", ending("exclusive")), line("inclusive", ending("inclusive")),
        line("in place", named("in place")), line("misaligned", named("misaligned")),
        line("more than 2³² elements", large),
        line("four streams at once, float", has(streams, variant="four streams")),
        line("a graph launched again and again, float", has(streams, variant="graph")))


@shown
def promises_beside():
    """Scans while another kernel holds multiprocessors: a line for each n, a column for how many
    are held."""
    rows = promised("beside")
    cases = [(kernel, *parameter.split(" beside "))
             for kernel, parameter in keys(rows, "variant", "parameter")]
    held = list(dict.fromkeys(case[2] for case in cases))

    def cell(kernel, n, how_many):
        parameter = "%s beside %s" % (n, how_many)
        ended = value(rows, kernel, parameter, "ended")
        if not ended:
            return "" if ended is None else "waits for it"
        took = value(rows, kernel, parameter, "time")
        return "ends" if took is None else duration(took)
    return MEASURED_ON + table(
        ["n", "kernel", *(how_many + " held" for how_many in held)],
        *([elements(int(n)), "`%s`" % kernel, *(cell(kernel, n, how_many) for how_many in held)]
          for kernel, n in dict.fromkeys((kernel, n) for kernel, n, _ in cases)))


# ---- Python and the library ----------------------------------------------------------------------

SHOWN = [("cumsum", 20), ("cumsum", 28), ("cumsum of columns", 24), ("cummax", 20), ("cummax", 28),
         ("cummax indices", 20), ("cummax indices", 28), ("logcumsumexp", 20), ("logcumsumexp", 28),
         ("affine recurrence", 28), ("select", 20), ("select", 28), ("nonzero", 20),
         ("nonzero", 28), ("sort", 20), ("sort", 28), ("argsort", 20), ("argsort", 28),
         ("host", 10)]
NAMES = {"cumsum of columns": "`cumsum`, axis 0 of [2²³, 2]", "affine recurrence": "`affine_scan`",
         "cummax indices": "`cummax` with indices",
         "host": "a call of `cumsum`, host alone"}


@shown
def python_times():
    times, where = read("h200/python.csv")

    def median(operation, contender, n):
        """Of the first row whose contender begins so; None without one."""
        return next((float(row["median"]) for row in find(times, operation=operation, n=n)
                     if row["contender"].startswith(contender)), None)

    def line(operation, n, ours):
        own, cells = median(operation, ours, n), []
        for other in ("torch", "cupy"):
            theirs = median(operation, other, n)
            cells += [duration(theirs), times_as_fast(theirs, own)] if theirs else ["", ""]
        what = NAMES.get(operation, "`%s`" % operation) + ours.removeprefix("upsweep")
        return [what, size(n), duration(own), *cells]
    rows = [line(operation, 2**k, way) for operation, k in SHOWN for way in (
        ["upsweep by mask", "upsweep by predicate"] if operation == "select" else ["upsweep"])]
    return ["Medians with a cold L2, in one process, on %s, PyTorch %s:"
            % (machine(where), where["PyTorch"]), "",
            *table(["function", "n", "upsweep", "PyTorch", "times ours", "CuPy", "times ours"],
                   *rows)]


@shown
def library_size():
    (row, *_), about = read("library.csv")
    return ["With `ALL_GPUS=1` `libupsweep.so` has %.0f MB: machine code for compute capabilities"
            % (float(row["shared"]) / 1e6),
            "%s, and PTX. nvcc takes %.0f s of processor time for it, and on %s %.0f s pass."
            % (", ".join("%s.%s" % (gpu[:-1], gpu[-1]) for gpu in row["gpus"].split()),
               float(row["processor"]), about["CPU"].split(", ")[-1], float(row["elapsed"]))]
