#!/usr/bin/env python3
"""Draws what a barrier is for, with two warps: notes/figures/barrier.svg."""

from svg import Figure

LEFT, TIME, ROW = 110, 66, 44  # where time begins, pixels for a part of it, pixels for a warp
NAMES = ("warp 0", "warp 1")


def bars(figure, y, bars_of):
    """For each warp, a name and its bars: (from, to, text, style)."""
    for w, parts in enumerate(bars_of):
        figure.text(24, y + w * ROW + 20, NAMES[w], "ink")
        for begin, end, text, style in parts:
            x, width = LEFT + begin * TIME, (end - begin) * TIME
            figure.rect(x, y + w * ROW, width - 3, ROW - 12, style)
            figure.text(x + width / 2 - 1, y + w * ROW + 20, text, "small ink", "middle")


def main():
    figure = Figure(720, 334, "What a barrier is for",
                    "Without a barrier warp 1 loads a number that warp 0 has not stored yet.")
    figure.text(24, 30, "Thread 32, in warp 1, needs the number of thread 31, in warp 0",
                "head ink")

    figure.text(LEFT, 58, "without a barrier: warp 1 happens to be faster", "quiet")
    bars(figure, 68, [[(2, 4, "store part[31]", "hot")],
                      [(0, 2, "store part[32]", "hot"), (2, 4, "load part[31]", "bad")]])
    figure.text(LEFT + 4.2 * TIME, 68 + ROW + 20, "it may load what was there before", "red")

    figure.text(LEFT, 190, "with __syncthreads()", "quiet")
    bars(figure, 200, [[(2, 4, "store part[31]", "hot"), (4.1, 6, "load part[30]", "good")],
                       [(0, 2, "store part[32]", "hot"), (2, 4, "waits", "empty"),
                        (4.1, 6, "load part[31]", "good")]])
    figure.line(LEFT + 4.02 * TIME, 192, LEFT + 4.02 * TIME, 200 + 2 * ROW, "line-hot")
    figure.text(LEFT + 4.02 * TIME, 200 + 2 * ROW + 16, "the barrier: no thread passes before "
                "all have arrived", "small quiet", "middle")
    figure.text(LEFT, 322, "time →", "small quiet")
    figure.save("barrier.svg")


main()
