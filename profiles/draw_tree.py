#!/usr/bin/env python3
"""Draws Blelloch's two sweeps over 8 elements: notes/figures/up-sweep.svg and down-sweep.svg."""

from svg import Figure

VALUES = [3, 1, 7, 0, 4, 1, 6, 3]  # the documents' example
CELL, GAP, LEFT, TOP, ROW = 56, 14, 130, 56, 78
N = len(VALUES)


def x(k):
    return LEFT + k * (CELL + GAP)


def middle(k):
    return x(k) + CELL / 2


def row(figure, y, label, values, hot, note=""):
    figure.text(24, y + 22, label, "ink")
    figure.text(24, y + 38, note, "small quiet")
    for k in range(N):
        figure.box(x(k), y, CELL, 34, values[k], hot.get(k, "cell"))


def up_sweep():
    figure = Figure(x(N) + 6, TOP + 3 * ROW + 86, "The up-sweep over 8 elements",
                    "Pairs are added, level by level, until the last element is the sum of all.")
    figure.text(24, 30, "Up-sweep: each right child gets its left sibling's sum added", "head ink")
    values, y = list(VALUES), TOP
    row(figure, y, "input", values, {})
    offset = 1
    while offset < N:
        hot = {}
        for ai in range(offset - 1, N, 2 * offset):
            bi = ai + offset
            values[bi] += values[ai]
            hot[bi] = "hot"
            figure.arrow(middle(ai), y + 36, middle(bi) - 6, y + ROW - 3, "line-hot")
            figure.arrow(middle(bi), y + 36, middle(bi), y + ROW - 3, "line-hot")
        y += ROW
        row(figure, y, "offset = %d" % offset, values, hot,
            "%d addition%s" % (len(hot), "s" if len(hot) > 1 else ""))
        offset *= 2
    figure.text(24, y + 68, "4 + 2 + 1 = 7 additions. Grey cells stay as they are.", "quiet")
    figure.save("up-sweep.svg")
    return values


def down_sweep(values):
    figure = Figure(x(N) + 6, TOP + 4 * ROW + 86, "The down-sweep over 8 elements",
                    "The root is cleared; then each node's value goes to its left child, and with "
                    "the left child's sum added to its right child.")
    figure.text(24, 30, "Down-sweep: left child = parent, right child = parent + left child's sum",
                "head ink")
    y = TOP
    row(figure, y, "up-sweep's", values, {}, "result")
    y += ROW
    values[N - 1] = 0
    row(figure, y, "root = 0", values, {N - 1: "good"})
    figure.arrow(middle(N - 1), y - ROW + 36, middle(N - 1), y - 3)
    offset = N // 2
    while offset > 0:
        hot = {}
        for ai in range(offset - 1, N, 2 * offset):
            bi = ai + offset
            values[ai], values[bi] = values[bi], values[bi] + values[ai]
            hot[ai], hot[bi] = "good", "hot"
            figure.arrow(middle(bi), y + 36, middle(ai) + 6, y + ROW - 3)
            figure.arrow(middle(bi), y + 36, middle(bi), y + ROW - 3, "line-hot")
            figure.arrow(middle(ai), y + 36, middle(bi) - 6, y + ROW - 3, "line-hot")
        y += ROW
        row(figure, y, "offset = %d" % offset, values, hot,
            "%d addition%s" % (len(hot) // 2, "s" if len(hot) > 2 else ""))
        offset //= 2
    figure.text(24, y + 68, "Green cells were moved, blue ones added: 1 + 2 + 4 = 7 additions "
                            "and 7 moves.", "quiet")
    figure.save("down-sweep.svg")


down_sweep(up_sweep())
