"""memory_rows.py -- the tables of steps 8 and 10: how often the elements move through device
memory, and how long that takes.

Used by tables.py.
"""
import textwrap

from records import TIMED, emulated, grouped, has, size, three
from table_rows import FLOAT, LARGE, MI, SECTOR, seconds, table, times_table

HYBRIDS = ["hybrid", "tree", "naive"]  # step 8
BLOCKS = [(5, "conflict-free"), (6, ""), (7, "")]  # with shared memory


def words(row, *ops):
    """Words moved for each element, by the sectors that were counted."""
    return three(sum(int(row["sectors_" + op]) for op in ops) * SECTOR / FLOAT / int(row["n"]))


def moved(*columns):
    """What 2^20 floats make move: columns are (heading, step, variant)."""
    rows = [(heading, emulated(step, MI, variant)) for heading, step, variant in columns]
    line = lambda what, cell: [what, *(cell(row) for _, row in rows)]
    return table(["n = " + grouped(MI), *(heading for heading, _ in rows)],
                 line("launches", lambda row: row["launches"]),
                 line("additions", lambda row: grouped(row["adds_counted"])),
                 line("sectors loaded", lambda row: grouped(row["sectors_ld"])),
                 line("sectors stored", lambda row: grouped(row["sectors_st"])),
                 line("words loaded for each element", lambda row: words(row, "ld")),
                 line("words stored for each element", lambda row: words(row, "st")),
                 line("both", lambda row: words(row, "ld", "st")))


def off_chip():
    return moved(("step 5", 5, "conflict-free"), *(("`%s`" % v, 8, v) for v in HYBRIDS))


def off_chip_times():
    ratio = lambda n, step, variant: seconds(8, n, "hybrid") / seconds(step, n, variant)
    best = {step: max((ratio(n, step, variant), n)
                      for n in sorted({int(row["n"]) for row in has(TIMED, step=step)})
                      if has(TIMED, step=8, n=n, variant="hybrid")) for step, variant in BLOCKS}
    times = ["step %d at most %s times (at %s)" % (step, three(most), size(n))
             for step, (most, n) in best.items()]
    said = ("On this GPU the steps with shared memory are faster than `hybrid`: %s. At %s the "
            "factors are %s."
            % (", ".join(times), size(2**28),
               ", ".join("%s (step %d)" % (three(ratio(2**28, step, variant)), step)
                         for step, variant in BLOCKS)))
    return times_table(("step 5", 5, "conflict-free"), ("step 7", 7, ""),
                       *(("`%s`" % v, 8, v) for v in HYBRIDS)) + [
        "", *textwrap.wrap(said, 110)]


def cooperative():
    return moved(("step 9", 9, "shfl"), ("step 10", 10, "backward"))


def cooperative_times():
    faster = lambda n: 100 * (seconds(10, n, "forward") / seconds(10, n, "backward") - 1)
    said = "The time of `forward`, compared with `backward`: " + ", ".join(
        "%+.1f %% at %s" % (faster(n), size(n)) for n in (2**22, LARGE, 2**26, 2**28)) + "."
    return times_table(("step 9", 9, "shfl"), ("`backward`", 10, "backward"),
                       ("`forward`", 10, "forward")) + ["", said]
