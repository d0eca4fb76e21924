#!/usr/bin/env python3
"""Draws the scans of a block as traced: Blelloch's two sweeps over 8 elements (up-sweep.svg and
down-sweep.svg), the naive sweeps (naive.svg), a scan in blocks of 4 (blocks.svg), and one thread of
step 6 (vectors.svg), all in notes/figures/."""
from svg import Figure
from traced import accesses, loaded, moves, stored


N, HEIGHT = 8, 3
CELL, GAP, LEFT, TOP, ROW = 56, 14, 130, 56, 78
WIDTH = LEFT + N * (CELL + GAP) + 6
TRACE = [access for access in accesses(3, N)]
CLEARED = "if (thid == 0) temp[n - 1] = 0;"


def x(k):
    """The left edge of the cell of element k; the naive scan's two buffers are one above the
    other."""
    return LEFT + k % N * (CELL + GAP)


def middle(k):
    return x(k) + CELL / 2


def row(figure, y, label, values, hot, note="", threads=()):
    figure.text(24, y + 16, label, "ink")
    figure.text(24, y + 32, note, "small quiet")
    for k in range(N):
        figure.box(x(k), y, CELL, 34, values[k], hot.get(k, "cell"))
        if k in threads:
            figure.text(x(k) + 4, y + 12, "t%d" % threads[k], "tiny quiet")


def level(figure, y, epoch, values, threads):
    """Draws one level's arrows from the row at y, changes the values, and draws them below; returns
    its additions."""
    trace = [a for a in TRACE if a.epoch == epoch and not a.array and a.source != CLEARED]
    hot, sums, offset = {}, 0, 0
    for lane, sources, place, value in moves(trace):
        adds = len(sources) > 1
        for source in sources:
            shift = 6 * ((source > place) - (source < place))
            figure.arrow(middle(source), y + 36, middle(place) + shift, y + ROW - 3, "line-hot"
                         if adds else "line")
        hot[place], threads[place] = "hot" if adds else "good", lane
        values[place] = value
        sums += adds
        offset = max(offset, *(abs(source - place) for source in sources))
    row(figure, y + ROW, "offset = %d" % offset, values, hot, "%d addition%s"
        % (sums, "s" if sums > 1 else ""),
        {place: threads[place] for place in hot})
    return sums


def sentence(sums, rest):
    return "%s = %d additions%s" % (" + ".join(map(str, sums)), sum(sums), rest)


def up_sweep(values):
    figure = Figure(WIDTH, TOP + HEIGHT * ROW + 86, "The up-sweep over 8 elements",
                    "Pairs are added, level by level, until the last element is the sum of all.")
    figure.text(24, 30, "Up-sweep: each right child gets its left sibling's sum added", "head ink")
    row(figure, TOP, "input", values, {})
    sums = [level(figure, TOP + k * ROW, k + 1, values, {}) for k in range(HEIGHT)]
    figure.text(24, TOP + HEIGHT * ROW + 68,
                sentence(sums, "; t0 is thread 0. Grey cells stay as they are."), "quiet")
    figure.save("up-sweep.svg")


def down_sweep(values):
    figure = Figure(WIDTH, TOP + (HEIGHT + 1) * ROW + 86, "The down-sweep over 8 elements",
                    "The root is cleared; then each node's value goes to its left child, and with "
                    "the left child's sum added to its right child.")
    figure.text(24, 30, "Down-sweep: left child = parent, right child = parent + left child's sum",
                "head ink")
    row(figure, TOP, "up-sweep's", values, {}, "result")
    root = stored(access for access in TRACE if access.source == CLEARED)
    values.update(root)
    row(figure, TOP + ROW, "root = 0", values, dict.fromkeys(root, "good"))
    for place in root:
        figure.arrow(middle(place), TOP + 36, middle(place), TOP + ROW - 3)
    sums = [level(figure, TOP + k * ROW, k + HEIGHT, values, {}) for k in range(1, HEIGHT + 1)]
    figure.text(24, TOP + (HEIGHT + 1) * ROW + 68, "Green cells were moved, blue ones added: "
                + sentence(sums, " and as many moves."), "quiet")
    figure.save("down-sweep.svg")


def naive():
    """Draws the naive scan's sweeps over 8 elements, as traced."""
    ROW, TRACE = 84, accesses(2, N)
    SWEEPS = max(access.epoch for access in TRACE if access.store and not access.array)

    figure = Figure(WIDTH, TOP + (SWEEPS + 1) * ROW + 94,
                    "The naive scan of 8 elements",
                    "Three sweeps: each element adds the one 1, 2, then 4 places to its left.")
    figure.text(24, 30, "Each sweep reads one buffer and writes the other", "head ink")

    def row(y, label, notes, values, hot=()):
        figure.text(24, y + 14, label, "ink")
        for i, note in enumerate(notes):
            figure.text(24, y + 29 + 14 * i, note, "small quiet")
        for k, value in values.items():
            figure.box(x(k), y, CELL, 34, value, "hot" if k in hot else "cell")

    y, additions = TOP, []
    first = [access for access in TRACE if access.epoch == 0]
    row(y, "input", [], loaded(a for a in first if a.array))
    for k in set(range(N)) - set(loaded(a for a in first if a.array)):
        figure.box(x(k), y, CELL, 34, "not read", "empty", "small quiet")
    for lane, sources, place, _ in moves(first):
        for source in sources:
            figure.arrow(middle(source), y + 36, middle(place), y + ROW - 3)
    y += ROW
    row(y, "shifted", ["buffer %d" % (min(stored(a for a in first if not a.array)) // N)],
        stored(a for a in first if not a.array))

    for sweep in range(1, SWEEPS + 1):
        trace = [a for a in TRACE if a.epoch == sweep and not a.array]
        hot = {}
        for lane, sources, place, _ in moves(trace):
            adds = len(sources) > 1
            for source in sources:
                figure.arrow(middle(source), y + 36, middle(place)
                             - (5 if middle(source) < middle(place) else 0), y + ROW - 3,
                             "line-hot" if adds else "line")
            if adds:
                hot[place] = max(sources) - min(sources)
        y += ROW
        additions.append(len(hot))
        row(y, "offset = %d" % max(hot.values()),
            ["%d additions" % len(hot), "into buffer %d" % (min(stored(trace)) // N)],
            stored(trace), hot)
    figure.text(24, y + 76,
                "Blue cells add, grey ones copy: %s = %d additions, where the loop of step 1 does "
                "%d."
                % (" + ".join(map(str, additions)), sum(additions), N - 1), "quiet")
    figure.save("naive.svg")


def blocks():
    """Draws the scan of 16 elements in blocks of 4 (./step5-B4), as traced."""
    N, B = 16, 4
    BLOCKS = N // B
    CELL, LEFT, TOP, ROW, BLOCK_GAP = 34, 150, 56, 84, 66
    SUM_GAP = 10  # from a part to its sum
    TRACE = accesses(5, N, "conflict-free")
    INPUT, SUMS, RESULT = "A", "B", "C"  # the arrays, in order of first use
    PARTS, SCAN_OF_SUMS, UNIFORM_ADD = range(3)  # the launches

    def of(launch, array):
        return [access for access in TRACE if access.launch == launch and access.array == array]

    block_width = B * CELL
    right = LEFT + BLOCKS * (block_width + BLOCK_GAP)
    figure = Figure(right + 6, TOP + 4 * ROW + 54, "A scan in blocks",
                    "Blocks are scanned, their sums are scanned, and each block gets its "
                    "increment.")
    figure.text(24, 30, "Blocks of B = %d elements, two levels" % B, "head ink")
    centre = (LEFT + right - BLOCK_GAP) / 2

    def x(k):
        """The left edge of element k, which may lie between two."""
        return LEFT + k * CELL + int(k // B) * BLOCK_GAP

    def sum_x(block):
        return centre + (block - BLOCKS / 2) * CELL

    def row(y, label, note, values, style, left):
        figure.text(24, y + 14, label, "ink")
        figure.text(24, y + 31, note, "small quiet")
        for k, value in values.items():
            figure.box(left(k), y, CELL, 32, value, style[k] if isinstance(style, dict) else style)

    y = TOP
    row(y, "input", "", loaded(of(PARTS, INPUT)), "cell", x)
    for block in range(BLOCKS):
        figure.arrow(x(block * B + B / 2), y + 34, x(block * B + B / 2), y + ROW - 3)
    y += ROW
    parts = stored(of(PARTS, RESULT))
    row(y, "scan_block", "each part by itself", parts, "hot", x)
    for access in of(PARTS, SUMS):
        for block, total in stored([access]).items():
            left = x(access.block * B) + block_width + SUM_GAP
            figure.box(left, y, CELL, 32, total, "cell")
            figure.text(left + CELL / 2, y - 6, "sum", "small quiet", "middle")
            figure.arrow(left + CELL / 2, y + 34, sum_x(block + 0.5), y + ROW - 3)
    y += ROW
    row(y, "SUMS", "the sums of the parts", stored(of(PARTS, SUMS)), "cell", sum_x)
    figure.arrow(centre, y + 34, centre, y + ROW - 3)
    y += ROW
    row(y, "INCR", "their exclusive scan", stored(of(SCAN_OF_SUMS, SUMS)), "hot", sum_x)
    for block in sorted({access.block for access in TRACE if access.launch == UNIFORM_ADD}):
        mine = [access for access in TRACE if access.launch == UNIFORM_ADD
                and access.block == block]
        results = stored(mine)
        for increment in loaded(access for access in mine if access.array == SUMS):
            figure.arrow(sum_x(increment + 0.5), y + 34, x(min(results) + B / 2), y + ROW - 3,
                         "line-hot")
    y += ROW
    added = stored(of(UNIFORM_ADD, RESULT))
    row(y, "uniform_add", "adds INCR[j] to part j", {**parts, **added},
        {k: "good" if k in added else "hot" for k in parts}, x)
    figure.save("blocks.svg")


def vectors():
    """Draws what one thread of step 6 does with its two float4, as traced."""
    CELL, TOP, ROW = 48, 68, 80
    LEFT_A, LEFT_B = 180, 470
    TRACE = accesses(6, 2048)
    THREAD = min(TRACE[0].lanes)

    def vectors(store):
        """The thread's two float4, each as [(element, value), ...]."""
        return [a.vectors[THREAD] for a in TRACE if a.array and a.store == store]

    figure = Figure(720, TOP + 4 * ROW + 54, "Eight elements a thread",
                    "Two float4 are scanned in registers; only their totals enter the tree.")
    figure.text(24, 30, "Thread %d: two float4, one from each half of the block's part" % THREAD,
                "head ink")
    inputs, outputs = vectors(store=False), vectors(store=True)
    totals = stored(access for access in TRACE if access.epoch == 0 and not access.array)
    last = max(access.epoch for access in TRACE)
    before = [access.lanes[THREAD][1] for access in TRACE if access.epoch == last
              and not access.array]

    def quad(left, y, values, styles):
        for k, value in enumerate(values):
            figure.box(left + k * CELL, y, CELL, 32, value, styles[k])

    figure.label(TOP, "load4", "one access each")
    figure.label(TOP + ROW, "scan each", "in registers")
    figure.label(TOP + 2 * ROW, "totals", "in shared memory")
    figure.label(TOP + 3 * ROW, "after the tree", "the same leaf")
    figure.label(TOP + 4 * ROW, "store4", "sum before + own scan")

    for left, vector, (leaf, total), prefix, result in zip((LEFT_A, LEFT_B), inputs, totals.items(),
                                                           before, outputs):
        y, down = TOP, lambda k, style: figure.arrow(left + k * CELL, y + 34, left + k * CELL,
                                                     y + ROW - 3, style)
        quad(left, y, [value for _, value in vector], ["cell"] * 4)
        figure.text(left, y - 6, "elements %d to %d" % (vector[0][0], vector[-1][0]), "small quiet")
        down(2, "line")
        y += ROW
        # no trace of registers
        own = ["%g" % (float(value) - float(prefix)) for _, value in result[1:]] + [total]
        quad(left, y, own, ["cell", "cell", "cell", "hot"])
        down(3.5, "line-hot")
        y += ROW
        figure.box(left + 3 * CELL, y, CELL, 32, total, "hot")
        figure.text(left + 3 * CELL - 12, y + 14, "leaf %d," % (vector[0][0] // 4), "small quiet",
                    "end")
        figure.text(left + 3 * CELL - 12, y + 29, "temp[%d]" % leaf, "small quiet", "end")
        down(3.5, "line-hot")
        y += ROW
        figure.box(left + 3 * CELL, y, CELL, 32, prefix, "good")
        figure.text(left + 3 * CELL - 12, y + 14, "sum of elements", "small quiet", "end")
        figure.text(left + 3 * CELL - 12, y + 29, "0 to %d" % (vector[0][0] - 1), "small quiet",
                    "end")
        for k in range(4):
            figure.arrow(left + 3.5 * CELL, y + 34, left + (k + 0.5) * CELL, y + ROW - 3, "line")
        y += ROW
        quad(left, y, [value for _, value in result], ["good"] * 4)
    figure.save("vectors.svg")


VALUES = loaded(access for access in TRACE if access.array == "A")
up_sweep(VALUES)
down_sweep(VALUES)
naive()
blocks()
vectors()
