#!/usr/bin/env python3
"""Draws Blelloch's two sweeps over 8 elements, as traced: notes/figures/up-sweep.svg and
down-sweep.svg."""

from svg import Figure
from traced import accesses, loaded, moves, stored

N, HEIGHT = 8, 3
CELL, GAP, LEFT, TOP, ROW = 56, 14, 130, 56, 78
TRACE = [access for access in accesses(3, N)]
CLEARED = "if (thid == 0) temp[n - 1] = 0;"


def x(k):
    return LEFT + k * (CELL + GAP)


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
    figure = Figure(x(N) + 6, TOP + HEIGHT * ROW + 86, "The up-sweep over 8 elements",
                    "Pairs are added, level by level, until the last element is the sum of all.")
    figure.text(24, 30, "Up-sweep: each right child gets its left sibling's sum added", "head ink")
    row(figure, TOP, "input", values, {})
    sums = [level(figure, TOP + k * ROW, k + 1, values, {}) for k in range(HEIGHT)]
    figure.text(24, TOP + HEIGHT * ROW + 68,
                sentence(sums, "; t0 is thread 0. Grey cells stay as they are."), "quiet")
    figure.save("up-sweep.svg")


def down_sweep(values):
    figure = Figure(x(N) + 6, TOP + (HEIGHT + 1) * ROW + 86, "The down-sweep over 8 elements",
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


VALUES = loaded(access for access in TRACE if access.array == "A")
up_sweep(VALUES)
down_sweep(VALUES)
