#!/usr/bin/env python3
"""Draws what one thread of step 6 does with its two float4: notes/figures/vectors.svg."""

from svg import Figure

A, B = [3, 1, 7, 0], [4, 1, 6, 3]
BEFORE_A, BEFORE_B = 20, 90  # what the tree says lies before them
CELL, TOP, ROW = 48, 58, 80
LEFT_A, LEFT_B = 180, 470


def inclusive(values):
    return [sum(values[:k + 1]) for k in range(len(values))]


def main():
    figure = Figure(720, TOP + 4 * ROW + 54, "Eight elements a thread",
                    "Two float4 are scanned in registers; only their totals enter the tree.")
    figure.text(24, 30, "One thread: two float4, one from each half of the block's part", "head ink")

    def label(y, first, second=""):
        figure.text(24, y + 14, first, "ink")
        figure.text(24, y + 31, second, "small quiet")

    def quad(left, y, values, styles):
        for k, value in enumerate(values):
            figure.box(left + k * CELL, y, CELL, 32, value, styles[k])

    def down(y, k=2.0, style="line"):
        for left in (LEFT_A, LEFT_B):
            figure.arrow(left + k * CELL, y + 34, left + k * CELL, y + ROW - 3, style)

    y = TOP
    label(y, "load4", "one access each")
    quad(LEFT_A, y, A, ["cell"] * 4)
    quad(LEFT_B, y, B, ["cell"] * 4)
    down(y)

    y += ROW
    label(y, "scan each", "in registers")
    sums_a, sums_b = inclusive(A), inclusive(B)
    quad(LEFT_A, y, sums_a, ["cell", "cell", "cell", "hot"])
    quad(LEFT_B, y, sums_b, ["cell", "cell", "cell", "hot"])
    down(y, 3.5, "line-hot")

    y += ROW
    label(y, "totals", "in shared memory")
    for left, total in ((LEFT_A, sums_a[3]), (LEFT_B, sums_b[3])):
        figure.box(left + 3 * CELL, y, CELL, 32, total, "hot")
    figure.text(LEFT_A + 3 * CELL - 12, y + 21, "other threads' …", "small quiet", "end")
    figure.text(LEFT_B + 3 * CELL - 12, y + 21, "other threads' …", "small quiet", "end")
    down(y, 3.5, "line-hot")

    y += ROW
    label(y, "the tree", "as in step 5")
    for left, before in ((LEFT_A, BEFORE_A), (LEFT_B, BEFORE_B)):
        figure.box(left + 3 * CELL, y, CELL, 32, before, "good")
        figure.text(left + 3 * CELL - 12, y + 21, "all before it:", "small quiet", "end")
        for k in range(4):
            figure.arrow(left + 3.5 * CELL, y + 34, left + (k + 0.5) * CELL, y + ROW - 3, "line")

    y += ROW
    label(y, "store4", "before + own scan")
    quad(LEFT_A, y, [BEFORE_A + s for s in [0] + sums_a[:3]], ["good"] * 4)
    quad(LEFT_B, y, [BEFORE_B + s for s in [0] + sums_b[:3]], ["good"] * 4)
    figure.save("vectors.svg")


main()
