#!/usr/bin/env python3
"""Draws the naive scan's sweeps over 8 elements: notes/figures/naive.svg."""

from svg import Figure

VALUES = [3, 1, 7, 0, 4, 1, 6, 3]  # the documents' example
CELL, GAP, LEFT, TOP, ROW = 56, 14, 130, 56, 84


def x(k):
    return LEFT + k * (CELL + GAP)


def main():
    n = len(VALUES)
    figure = Figure(x(n) + 6, TOP + 4 * ROW + 94, "The naive scan of 8 elements",
                    "Three sweeps: each element adds the one 1, 2, then 4 places to its left.")
    figure.text(24, 30, "Each sweep reads one buffer and writes the other", "head ink")

    def row(y, label, values, styles):
        figure.text(24, y + 22, label, "ink")
        for k in range(n):
            figure.box(x(k), y, CELL, 34, values[k], styles[k])

    y = TOP
    row(y, "input", VALUES, ["cell"] * n)
    values = [0] + VALUES[:-1]
    for k in range(1, n):
        figure.arrow(x(k - 1) + CELL / 2, y + 36, x(k) + CELL / 2, y + ROW - 3)
    y += ROW
    row(y, "shifted", values, ["cell"] * n)

    offset = 1
    while offset < n:
        for k in range(n):
            middle = x(k) + CELL / 2
            figure.arrow(middle, y + 36, middle, y + ROW - 3,
                         "line-hot" if k >= offset else "line")
            if k >= offset:
                figure.arrow(x(k - offset) + CELL / 2, y + 36, middle - 5, y + ROW - 3, "line-hot")
        values = [values[k] + (values[k - offset] if k >= offset else 0) for k in range(n)]
        y += ROW
        row(y, "offset = %d" % offset, values, ["hot" if k >= offset else "cell" for k in range(n)])
        figure.text(24, y + 38, "%d additions" % (n - offset), "small quiet")
        offset *= 2
    figure.text(24, y + 76, "Blue cells add, grey ones copy: 7 + 6 + 4 = 17 additions, "
                            "where the loop of step 1 does 7.", "quiet")
    figure.save("naive.svg")


main()
