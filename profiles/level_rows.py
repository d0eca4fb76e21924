"""level_rows.py -- the tables of shared memory level by level: by formula, as the emulator traced it (emulated/levels.csv),
and as ncu counted it on an H200.

Used by tables.py. The formulas are explained in notes/03 and 04; tests/predictions.c has them in C, for a test.
"""
from records import GPU, NCU, by_ncu, find, grouped, read
from table_rows import MI, PADDINGS, table

TRACED, _ = read("emulated/levels.csv")
WARP, B = 32, 512
BANKS = {"hopper": 32, "g80": 16}
PADDED = {"": (0, 0), "pad16": (16, 1), "pad32": (32, 1), "pad32x2": (32, 2)}  # a word after so many; how often over
UP, DOWN = ["temp[bi] += temp[ai];"], ["float t = temp[ai];", "temp[ai] = temp[bi];", "temp[bi] += t;"]


# ---- the formulas --------------------------------------------------------------------------------

def ways(lanes, stride, banks, run=0, levels=0):
    """How many of so many lanes meet in a bank. All powers of two."""
    if levels == 0:
        return min(max(lanes * stride // banks, 1), lanes)
    if stride >= run:
        return ways(lanes, stride // run, banks, run, levels - 1)
    if run < banks:
        return 2 if lanes > run else 1
    return ways(min(lanes, run // stride), stride, banks)


def conflicts(threads, stride, banks, padding=""):
    """Of one access by so many threads, in groups of as many lanes as there are banks."""
    lanes = min(threads, banks)
    return threads // lanes * (ways(lanes, stride, banks, *PADDED[padding]) - 1)


def tree(n, banks, padding=""):
    """Conflicts of one access at each level, by offset."""
    return {1 << k: conflicts(n >> k + 1, 2 << k, banks, padding) for k in range(n.bit_length() - 1)}


def ends(n, banks, padding=""):
    """Conflicts of storing what was loaded (block A), and of loading what is stored (block E)."""
    if padding:
        return 2 * conflicts(n // 2, 1, banks, padding)  # one from each half
    return 0 if banks == WARP else 2 * conflicts(n // 2, 2, banks)  # neighbours: of 8 bytes, or of twice 4


# ---- the trace and the recording -----------------------------------------------------------------

def plus(pair):
    return "%s + %s" % tuple(map(grouped, pair))


def traced(step, variant, n, model, epochs):
    """Conflicts of loads and stores between some barriers."""
    rows = [row for row in find(TRACED, step=step, variant=variant, n=n, model=model) if int(row["epoch"]) in epochs]
    return [sum(int(row["wavefronts"]) - int(row["ideal"]) for row in rows if row["operation"] == op) for op in ("ld", "st")]


def on_lines(step, variant, n, lines):
    """Conflicts of loads and stores on ncu's Source page, of lines with these texts."""
    sums = {"ld": 0, "st": 0}
    for row in find(NCU, step=step, variant=variant, n=n):
        if row["source"] in lines and row["metric"].startswith(("source_wavefronts", "source_ideal")):
            sums[row["metric"][-2:]] += int(row["value"]) * (1 if "wavefronts" in row["metric"] else -1)
    return list(sums.values())


def epochs_of(n, offset):
    """How many barriers come before a level in the up-sweep and in the down-sweep."""
    level, height = offset.bit_length(), n.bit_length() - 1
    return level, 2 * height + 1 - level


# ---- the tables ----------------------------------------------------------------------------------

def sweep_levels():
    n, rows, sums = 512, [], [0, 0]
    for k in range(n.bit_length() - 1):
        offset = 1 << k
        now = [row for row in find(TRACED, step=2, n=n, model="hopper") if int(row["epoch"]) == k + 1]
        loads = [row for row in now if row["operation"] == "ld"]
        found = [sum(int(row["requests"]) for row in loads), sum(int(row["requests"]) for row in now if row not in loads)]
        added = sum(int(row["lanes"]) for row in loads) - n
        predicted = [2 * n // WARP - offset // WARP, n // WARP]
        sums = [sums[0] + n - offset, sums[1] + added]
        rows.append([offset, n - offset, added, plus(predicted), plus(found), "0 + 0",
                     plus(traced(2, "", n, "hopper", [k + 1]))])
    rows.append(["all", sums[0], sums[1], "", "", "0 + 0", plus(traced(2, "", n, "hopper", range(1, n)))])
    return table(["n = %d: offset" % n, "additions", "traced", "instructions of warps, load + store", "traced",
                  "conflicts", "traced"], *rows)


def tree_levels():
    n, rows, total = 512, [], 0
    for offset, met in tree(n, WARP).items():
        pairs = n // 2 // offset
        up, down = epochs_of(n, offset)
        total += met
        rows.append([offset, pairs, "%d × %d" % (max(pairs // WARP, 1), min(pairs, WARP)),
                     ways(min(pairs, WARP), 2 * offset, WARP), met, plus((2 * met, met)), plus(traced(3, "", n, "hopper", [up])),
                     plus((3 * met, 2 * met)), plus(traced(3, "", n, "hopper", [down]))])
    height = n.bit_length() - 1
    rows.append(["all", n - 1, "", "", total, plus((2 * total, total)), plus(traced(3, "", n, "hopper", range(1, height + 1))),
                 plus((3 * total, 2 * total)), plus(traced(3, "", n, "hopper", range(height + 1, 2 * height + 1)))])
    rows.append(["H200", "", "", "", "", "", plus(on_lines(3, "", n, UP)), "", plus(on_lines(3, "", n, DOWN))])
    return table(["n = %d: offset" % n, "pairs", "warps × lanes", "ways", "conflicts an access", "up-sweep", "traced",
                  "down-sweep", "traced"], *rows)


def padded_rows(n, model, scans):
    rows = []
    for name, step, padding in scans:
        levels, end = tree(n, BANKS[model], padding), ends(n, BANKS[model], padding)
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
    head = ["n = %d, %d banks" % (n, BANKS[model]), *tree(n, WARP), "A, E", "all", "traced"]
    return table(head + ["H200"] * (model == "hopper"), *rows)


def padded_levels():
    scans = [("step 3", 3, ""), *(("`%s`" % p, 4, p) for p in PADDINGS)]
    return [*padded_rows(512, "hopper", scans), "", *padded_rows(2048, "hopper", scans)]


def half_warp_levels():
    return padded_rows(512, "g80", [("step 3", 3, ""), ("`pad16`", 4, "pad16")])


def block_levels():
    """The conflicts of step 5 with unpadded trees, of 1 Mi elements: 2048 blocks, 4 for their sums, 1 for those."""
    blocks = [MI // B]
    while blocks[-1] > 1:
        blocks.append(-(-blocks[-1] // B))
    a_tree, end = sum(tree(B, WARP).values()), 2 * conflicts(B // 2, 2, WARP)
    full, all_of_them = " + ".join(map(str, blocks[:-1])), " + ".join(map(str, blocks))
    ld = sum(blocks) * 5 * a_tree + sum(blocks[:-1]) * end
    st = sum(blocks) * (3 * a_tree + end)
    counted = by_ncu(5, MI, "work-efficient")
    return table(["%s elements, `work-efficient`" % grouped(MI), "predicted", "on an %s" % GPU["GPU"]],
                 ["loads", "(%s) · %d + (%s) · %d = %s" % (all_of_them, 5 * a_tree, full, end, grouped(ld)),
                  grouped(counted["conflicts_ld"])],
                 ["stores", "(%s) · (%d + %d) = %s" % (all_of_them, 3 * a_tree, end, grouped(st)),
                  grouped(counted["conflicts_st"])])
