"""bench_rows.py -- the tables of h200/bench.csv, in which everything was timed side by side: a
function each.

Used by tables.py, as table_rows.py is. Where a size was timed in graphs, that is the time shown.
"""
import glob
import os
import re
import textwrap

from records import (COUNTED, SIDE_BY_SIDE, SIDE_BY_SIDE_ON, TOP, by_ncu, duration, emulated,
                     grouped, has, machine, percent, size, three, time, timed)
from table_rows import table, teaches

SHOWN = [2**12, 2**16, 2**20, 2**24, 2**26, 2**28, 2**30]
POWERS = [2**k for k in range(10, 31)]
COPIES = ["cudaMemcpyAsync", "float4 kernel", "bulk copies"]
WORDS_A_SECTOR = 8
WORDS_AT = 2**20  # the n of their column


def best_mode(rows):
    """Of a size's rows those in graphs, if there are any."""
    graphs = [row for row in rows if row["mode"] == "graph"]
    return graphs or [row for row in rows if row["mode"] == "cold"]


def row_of(contender, n, element="f32", flush="read", variant=None):
    """The row of one contender at one size, or None; of its first variant, if none is given. Steps
    on the CPU have no rows of graphs: they stay cold."""
    rows = [row for row in SIDE_BY_SIDE if row["contender"] == contender and int(row["n"]) == n
            and row["seconds"]
            and row["element"] == element and row["flush"] == flush and row["right"] == "true"]
    rows = [row for row in rows if row["variant"] == (variant or rows[0]["variant"])]
    return best_mode(rows)[0] if rows else None


def seconds(contender, n, element="f32", flush="read", variant=None):
    row = row_of(contender, n, element, flush, variant)
    return float(row["seconds"]) if row else None


def roof(n, element="f32", flush="read"):
    """Seconds of the fastest copy, and its name."""
    found = [(seconds(name, n, element, flush), name) for name in COPIES]
    return min(((s, name) for s, name in found if s), default=(None, ""))


def contenders():
    """The steps in their order, then CUB."""
    steps = sorted({int(row["step"]) for row in SIDE_BY_SIDE if row["step"]
                    and row["element"] == "f32"})
    return ["step %d" % step for step in steps] + ["CUB"]


def words(contender):
    """Read and written, in words of 4 bytes, as the emulator counts sectors; "": nobody counts."""
    row = row_of(contender, WORDS_AT)
    if not row or not row["step"] or not has(COUNTED, step=row["step"], n=WORDS_AT,
                                             variant=row["variant"]):
        return ""
    counts = emulated(row["step"], WORDS_AT, row["variant"])
    sectors = int(counts["sectors_ld"]) + int(counts["sectors_st"])
    return three(sectors * WORDS_A_SECTOR / WORDS_AT) + " n"


def cells(contender, n):
    mine = row_of(contender, n)
    if not mine:
        return ["", ""]
    top, _ = roof(n)
    return [time(mine), percent(top / float(mine["seconds"])) if top else ""]


def side_by_side():
    """Every step, CUB and the roof: time, share of the roof, words."""
    shown = [n for n in SHOWN if roof(n)[0]]
    last = shown[-1]
    head = ["", "words at " + size(WORDS_AT),
            *(cell for n in shown for cell in (size(n), "of the roof")),
            "GB/s at " + size(last)]
    rows = []
    for name in contenders():
        row = row_of(name, last)
        rate = "%.0f" % float(row["gb_per_s"]) if row else ""
        rows.append([name, words(name), *(cell for n in shown for cell in cells(name, n)),
                     rate])
    fastest = [roof(n) for n in shown]
    rows.append(["roof", "2 n", *(cell for s, _ in fastest for cell in (duration(s), "")),
                 "%.0f" % (2 * 4 * last / fastest[-1][0] / 1e9)])
    names = ", ".join("%s %s" % (size(n), name) for n, (_, name) in zip(shown, fastest))
    figures = ["![Time against n of all steps, CUB and the fastest copy](figures/side-by-side.svg)",
               "",
               "![The fastest copy's time as a share of theirs, against n]"
               "(figures/of-the-roof.svg)"]
    return [*figures, "", "Floats, on %s:" % machine(SIDE_BY_SIDE_ON), "", *table(head, *rows), "",
            "The fastest copy: %s." % names]


def cpu_gpu():
    """first-kernel.md: the loop on the CPU beside step 5, for few floats and for many."""
    few, many = 2**10, 2**24
    core, gpu = ("step 1", "step 5")
    lost = max(n for n in POWERS if n < many and seconds(core, n) < seconds(gpu, n))
    text = ("For %s floats the loop takes %s and the GPU %s, so the loop wins, as it does up to %s."
            " For %s floats the loop takes %s and the GPU %s: the GPU is %.0f times as fast. (%s, "
            "CUDA %s; the floats are in the GPU's memory already.)"
            % (size(few), duration(seconds(core, few)), duration(seconds(gpu, few)), size(lost),
               size(many), duration(seconds(core, many)), duration(seconds(gpu, many)),
               seconds(core, many) / seconds(gpu, many), SIDE_BY_SIDE_ON["GPU"],
               SIDE_BY_SIDE_ON["toolkit"]))
    return ["![Time of the loop and of a GPU against n](figures/cpu-gpu.svg)", "",
            *textwrap.wrap(text, 100)]


README_VARIANTS = {11: "tile8192"}
ONE_BLOCK = (2, 3, 4) # these scan no more than a block holds


def continued(step):
    """The step of which the kernel's header says "Same as step K except"."""
    folder, _ = teaches(step)
    for path in glob.glob(os.path.join(TOP, "steps", folder, "scan.c*")):
        with open(path, encoding="utf-8") as file:
            found = re.search(r"Same as step (\d+) except", file.read())
        if found:
            return int(found[1])
    return None


def in_readme(step):
    """n, seconds and the share of the roof; None for one block, which has little but the launch."""
    variant = README_VARIANTS.get(step)
    if step in ONE_BLOCK:
        row = timed(step, 512, {4: "pad32"}.get(step, "-"))
        return 512, float(row["seconds"]), None
    took = seconds("step %d" % step, 2**24, variant=variant)
    return 2**24, took, roof(2**24)[0] / took


def steps():
    """README's: each scan, what it teaches, how long it takes, and what that is against the step
    that it continues."""
    rows = []
    for step in range(13):
        (folder, lesson), (n, took, share) = teaches(step), in_readme(step)
        before, conflicts, times = continued(step), "", ""
        if step in ONE_BLOCK:
            counted = by_ncu(step, n, {4: "pad32"}.get(step, "-"))
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


def beside(n_list, element="f32", flush="read"):
    """Lines of step 12, CUB and the roof at each size that has all three."""
    rows = []
    for n in n_list:
        ours, cub, (top, how) = (seconds("step 12", n, element, flush),
                                 seconds("CUB", n, element, flush),
                                 roof(n, element, flush))
        if not (ours and cub and top):
            continue
        rows.append([size(n), duration(ours), duration(cub),
                     duration(top),
                     "%.2f" % (cub / ours), percent(top / ours), how])
    return rows


HEAD = ["n", "step 12", "CUB", "roof", "times CUB", "of the roof", "the fastest copy"]


def faster_than_cub():
    rows = beside(POWERS)
    sizes = [n for k in POWERS for n in (k - 1, k, k + 1) if seconds("step 12", n)
             and seconds("CUB", n)]
    losses = [n for n in sizes if seconds("step 12", n) > seconds("CUB", n)]
    near = [n for k in POWERS for n in (k - 1, k + 1) if seconds("step 12", n)
            and seconds("CUB", n)]
    least = min(((seconds("CUB", n) / seconds("step 12", n), n) for n in near), default=None)
    said = ["", "Of %d sizes (powers of two, and these ± 1), CUB is faster at %d%s." % (
        len(sizes), len(losses), ": " + ", ".join(map(grouped, losses)) if losses else "")]
    if least:
        said.append("At the sizes n - 1 and n + 1, step 12 is at least %.2f times "
                    "as fast as CUB." % least[0])
    return table(HEAD, *rows) + said


def other_types():
    """Times CUB and of the roof, by type."""
    names = ["f32", "i32", "i64", "f64", "i16", "i8"]
    shown = [2**10, 2**14, 2**18, 2**22, 2**26, 2**28, 2**30]
    rows = []
    for element in names:
        found = {row[0]: row for row in beside(shown, element)}
        if found:
            rows.append([element, *("%s (%s)" % (found[size(n)][4], found[size(n)][5])
                                    if size(n) in found else ""
                                    for n in shown)])
    return table(["", *(size(n) for n in shown)], *rows)


def flushes():
    """The same by reading and by memset: what lines that are not written back cost."""
    rows = []
    for n in POWERS[::2]:
        pair = []
        for name in ("step 12", "CUB", "cudaMemcpyAsync"):
            for flush in ("read", "memset"):
                cold = [row for row in SIDE_BY_SIDE if row["contender"] == name
                        and int(row["n"]) == n
                        and row["element"] == "f32" and row["flush"] == flush
                        and row["mode"] == "cold" and row["seconds"]]
                pair.append(time(cold[0]) if cold else "")
        if pair[1]:
            rows.append([size(n), *pair])
    head = ["n", "step 12, read", "memset", "CUB, read", "memset", "cudaMemcpyAsync, read",
            "memset"]
    return table(head, *rows)


def pipeline_times():
    """Step 12's chapter: every second power of two, and where CUB is faster."""
    rows = beside(POWERS[::2])
    return ["Floats, on %s:" % machine(SIDE_BY_SIDE_ON), "", *table(HEAD, *rows), "",
            *losses()]


TYPES = {"f32": "float", "f64": "double", "i32": "int32", "i64": "uint64",
         "i16": "int16, sums of 32 bits",
         "i8": "int8, sums of 32 bits"}


def runs(powers):
    """2¹⁶ to 2²⁰, 2²² of [16, 17, 18, 19, 20, 22]."""
    said = []
    for k in powers:
        if said and said[-1][1] == k - 1:
            said[-1][1] = k
        else:
            said.append([k, k])
    return ", ".join(size(2**a) if a == b else "%s %s %s"
                     % (size(2**a), "and" if b == a + 1 else "to", size(2**b))
                     for a, b in said)


def losses():
    """A sentence: at which powers of two CUB is faster, by type, and by how much at most."""
    said = []
    for element, name in TYPES.items():
        pairs = [(seconds("CUB", n, element), seconds("step 12", n, element), n) for n in POWERS]
        found = [(ours / cub, n.bit_length() - 1) for cub, ours, n in pairs if cub and ours
                 and cub < ours]
        if found:
            said.append("of %s at %s (by up to %.0f %%)" % (
                name.split(",")[0], runs([k for _, k in found]), 100 * (max(found)[0] - 1)))
    return textwrap.wrap("At these CUB is faster than step 12: scans " + "; ".join(said) + "."
                         if said else
                         "At no power of two is CUB faster than step 12, for any of the six types.",
                         115)


def pipeline_types():
    """Step 12's chapter: all types at three sizes."""
    shown = [2**20, 2**26, 2**28]
    rows = []
    for element, name in TYPES.items():
        found = {row[0]: row for row in beside(shown, element)}
        if found:
            rows.append([name, *(cell for n in shown for cell in (
                (found[size(n)][1], found[size(n)][4], found[size(n)][5]) if size(n) in found
                else ("", "", "")))])
    head = ["", *(cell for n in shown for cell in (size(n), "times CUB", "of the roof"))]
    return table(head, *rows)
