"""level_rows.py -- the tables of shared memory level by level, by formula.

Used by tables.py. The formulas are explained in notes/03 and 04; tests/steps/predictions.c has
them, for a test that compares each level with the emulator's trace, and ../measure/predicted.c
prints them.
"""
from records import find, printed
from table_rows import PADDINGS, table

PREDICTED = printed("build/tests/predicted/print")
WARP = 32


def tree(step, n, variant=""):
    """Of each level of the tree, by its offset, on the way up: there it stores once, so it has the
    conflicts of one store."""
    rows = find(PREDICTED, step=step, variant=variant, n=n, banks=WARP)
    return {int(row["offset"]): row for row in rows[1:n.bit_length()]}


def conflicts(levels):
    return {offset: int(row["store_conflicts"]) for offset, row in levels.items()}


def sweep_work():
    n = 512
    return table(["n = %d: offset" % n, "additions", "loads + stores of warps"],
                 *([offset, int(level["load_lanes"]) - n,
                    "%s + %s" % (level["loads"], level["stores"])]
                   for offset, level in tree(2, n).items()))


def tree_conflicts():
    n, levels = 512, tree(3, 512)
    return table(["n = %d: offset" % n, "pairs", "warps × lanes", "ways",
                  "conflicts of one load, all warps"],
                 *([offset, n // 2 // offset, warps_and_lanes(n // 2 // offset),
                    levels[offset]["ways"], met] for offset, met in conflicts(levels).items()))


def warps_and_lanes(pairs):
    return "%d × %d" % (max(pairs // WARP, 1), min(pairs, WARP))


def padded_conflicts():
    """Conflicts of one load at each level, by formula, in the largest block."""
    n, paddings = 2048, ["", *PADDINGS[1:]]
    levels = {p: conflicts(tree(4 if p else 3, n, p)) for p in paddings}
    return table(["n = %d, %d banks" % (n, WARP), *levels[""]],
                 *(["`%s`" % p if p else "step 3", *levels[p].values()] for p in paddings))
