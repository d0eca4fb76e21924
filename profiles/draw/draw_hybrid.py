#!/usr/bin/env python3
"""Draws step 8's launches for 16 elements, two reduce steps deep: notes/figures/hybrid.svg."""

from svg import Figure

INPUT = [3, 1, 7, 0, 4, 1, 6, 3, 2, 0, 5, 1, 1, 8, 2, 2]
STEPS = 2  # reduce steps; the naive scan gets the 4 sums that they leave
CELL, LEFT, TOP, ROW, HEIGHT = 36, 210, 56, 66, 30


class Levels:
    def __init__(self, figure):
        self.figure, self.y, self.moved = figure, TOP, 0

    def x(self, k, width):
        """The left edge of cell k of a row whose cells stand for `width` elements each."""
        return LEFT + k * width * CELL + (width - 1) * CELL / 2

    def row(self, values, width, style, label, words=0, arrows=()):
        """The next row: (k, k before, width before) for each arrow from the row above."""
        if arrows:
            self.y += ROW
        for k, source, before in arrows:
            self.figure.arrow(self.x(source, before) + CELL / 2, self.y - ROW + HEIGHT + 2,
                              self.x(k, width) + CELL / 2, self.y - 3)
        self.figure.text(24, self.y + 13, label, "ink")
        if words:
            self.moved += words
            self.figure.text(24, self.y + 29, "%d words" % words, "small quiet")
        for k, value in enumerate(values):
            self.figure.box(self.x(k, width), self.y, CELL, HEIGHT, value, style)


def main():
    n = len(INPUT)
    left = n >> STEPS
    sweeps = max(1, (left - 1 - 1).bit_length())
    rows = 1 + STEPS + sweeps + STEPS
    figure = Figure(LEFT + n * CELL + 24, TOP + rows * ROW + 10, "The hybrid, launch by launch",
                    "Pairs are added, the few sums that are left are scanned naively, and the way "
                    "leads back down.")
    figure.text(24, 30, "Every row is written to device memory by one launch, and read by the next",
                "head ink")
    levels = Levels(figure)
    levels.row(INPUT, 1, "cell", "input")
    sums = [INPUT]
    for d in range(STEPS):
        below = sums[-1]
        sums.append([below[k] + below[k + 1] for k in range(0, len(below), 2)])
        pairs = [(k // 2, k, 1 << d) for k in range(len(below))]
        levels.row(sums[-1], 2 << d, "hot", "reduce_step", len(below) + len(sums[-1]), pairs)

    values, width = [0] + sums[-1][:-1], 1 << STEPS
    for sweep in range(sweeps):
        offset, shift = 1 << sweep, sweep == 0
        reads = [[j for j in (k - shift, k - shift - offset) if j >= 0] for k in range(left)]
        arrows = [(k, j, width) for k, sources in enumerate(reads) for j in sources]
        values = [v + (values[k - offset] if k >= offset else 0) for k, v in enumerate(values)]
        levels.row(values, width, "bad", "naive_step, offset %d" % offset, len(arrows)
                   + left, arrows)

    for d in reversed(range(STEPS)):
        below = sums[d]
        down = [values[k // 2] + (below[k - 1] if k % 2 else 0) for k in range(len(below))]
        arrows = [(k, k // 2, 2 << d) for k in range(len(below))]
        levels.row(down, 1 << d, "good", "down_step", len(values) + 2 * len(below), arrows)
        values = down
    expected = [sum(INPUT[:k]) for k in range(n)]
    assert values == expected
    figure.text(24, TOP + rows * ROW - 4,
                "%d words for %d elements. Each down_step also reads the pairs of its level."
                % (levels.moved, n), "quiet")
    figure.save("hybrid.svg")


main()
