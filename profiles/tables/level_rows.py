"""level_rows.py -- the tables of shared memory level by level: by formula, and step 4's as the
emulator traced it (emulated/levels.csv) and as ncu counted it on an H200.

Used by tables.py. The formulas are explained in notes/03 and 04; tests/steps/predictions.c has
them, for a test, and ../measure/predicted.c prints them.
"""
from records import by_ncu, find, grouped, printed, read
from table_rows import PADDINGS, table

TRACED, _ = read("emulated/levels.csv")
PREDICTED = printed("build/tests/predicted/print")
WARP = 32
BANKS = {"hopper": 32, "g80": 16}


# ---- the formulas --------------------------------------------------------------------------------

def predicted(step, n, banks, variant=""):
    """What one block does between two barriers, a row each."""
    return find(PREDICTED, step=step, variant=variant, n=n, banks=banks)


def tree(step, n, banks, variant=""):
    """Of each level of the tree, by its offset, on the way up: there it stores once, so it has the
    conflicts of one store."""
    return {int(row["offset"]): row for row in predicted(step, n, banks, variant)[1:n.bit_length()]}


def conflicts(levels):
    return {offset: int(row["store_conflicts"]) for offset, row in levels.items()}


def ends(step, n, banks, variant=""):
    """Conflicts of storing what was loaded (block A); those of loading what is stored (block E) are
    as many."""
    return int(predicted(step, n, banks, variant)[0]["store_conflicts"])


# ---- the trace and the recording -----------------------------------------------------------------

def plus(pair):
    return "%s + %s" % tuple(map(grouped, pair))


def summed(rows, column):
    return sum(int(row[column] or 0) for row in rows)


def traced(step, variant, n, model, epochs):
    """Conflicts of loads and stores between some barriers."""
    rows = [row for row in find(TRACED, step=step, variant=variant, n=n, model=model)
            if int(row["epoch"]) in epochs]
    return [summed(rows, "wavefronts_" + op) - summed(rows, "ideal_" + op) for op in ("ld", "st")]


def epochs_of(n, offset):
    """How many barriers come before a level in the up-sweep and in the down-sweep."""
    level, height = offset.bit_length(), n.bit_length() - 1
    return level, 2 * height + 1 - level


# ---- the tables ----------------------------------------------------------------------------------

def sweep_work():
    n = 512
    return table(["n = %d: offset" % n, "additions", "loads + stores of warps"],
                 *([offset, int(level["load_lanes"]) - n, plus((level["loads"], level["stores"]))]
                   for offset, level in tree(2, n, WARP).items()))


def tree_conflicts():
    n, levels = 512, tree(3, 512, WARP)
    return table(["n = %d: offset" % n, "pairs", "warps × lanes", "ways",
                  "conflicts of one load, all warps"],
                 *([offset, n // 2 // offset, warps_and_lanes(n // 2 // offset),
                    levels[offset]["ways"], met] for offset, met in conflicts(levels).items()))


def warps_and_lanes(pairs):
    return "%d × %d" % (max(pairs // WARP, 1), min(pairs, WARP))


def padded_rows(n, model, scans):
    rows = []
    for name, step, padding in scans:
        which = step, n, BANKS[model], padding
        levels, end = conflicts(tree(*which)), ends(*which)
        cells = []
        for offset, met in levels.items():
            up, down = (traced(step, padding, n, model, [epoch]) for epoch in epochs_of(n, offset))
            same = up == [2 * met, met] and down == [3 * met, 2 * met]
            cells.append(met if same else "%d, traced %s, %s" % (met, plus(up), plus(down)))
        total = sum(levels.values())
        found = traced(step, padding, n, model, range(3 * n))
        row = [name, *cells, end, plus((5 * total + end, 3 * total + end)), plus(found)]
        if model == "hopper":
            counted = by_ncu(step, n, padding)
            row.append(plus((counted["conflicts_ld"], counted["conflicts_st"])))
        rows.append(row)
    head = ["n = %d, %d banks" % (n, BANKS[model]), *levels, "A, E", "all", "traced"]
    return table(head + ["H200"] * (model == "hopper"), *rows)


def padded_levels():
    scans = [("step 3", 3, ""), *(("`%s`" % p, 4, p) for p in PADDINGS)]
    return [*padded_rows(512, "hopper", scans), "", *padded_rows(2048, "hopper", scans)]


def padded_conflicts():
    """Conflicts of one load at each level, by formula, in the largest block."""
    n, paddings = 2048, ["", *PADDINGS[1:]]
    levels = {p: conflicts(tree(4 if p else 3, n, WARP, p)) for p in paddings}
    return table(["n = %d, %d banks" % (n, WARP), *levels[""]],
                 *(["`%s`" % p if p else "step 3", *levels[p].values()] for p in paddings))


def half_warp_levels():
    return padded_rows(512, "g80", [("step 3", 3, ""), ("`pad16`", 4, "pad16")])
