#!/usr/bin/env python3
"""Draws what a launch consists of, and which memory belongs to whom: notes/figures/grid.svg."""

from svg import Figure

BLOCKS, WARPS, LANES = 4, 8, 32  # of the launch <<<4, 256>>>
LEFT, WIDTH = 24, 512            # of the rows of threads
RIGHT = LEFT + WIDTH + 40        # of the memories
BOX, STEP, TITLE = 40, 104, 22
CHOSEN = 1  # the block and the warp that are opened


def funnel(figure, x, width, y):
    """Lines from the chosen box towards the ends of the row below, down to its title."""
    for begin, end in ((x, LEFT), (x + width, LEFT + WIDTH)):
        part = 1 - TITLE / (STEP - BOX)
        figure.line(begin, y, begin + part * (end - begin), y + STEP - BOX - TITLE)


def main():
    figure = Figure(RIGHT + 290, 400, "Grid, block, warp, lane",
                    "A grid of 4 blocks, a block of 8 warps, a warp of 32 lanes, and the memory "
                    "that each level has.")
    figure.text(LEFT, 30, "The threads of square<<<4, 256>>>", "head ink")
    figure.text(RIGHT, 30, "and their memory", "head ink")

    rows = [("the grid: 4 blocks, in any order", BLOCKS, "block %d"),
            ("block 1: 256 threads in 8 warps", WARPS, "warp %d"),
            ("warp 1 of block 1: 32 lanes, which execute the same instruction", LANES, "")]
    memories = [("global memory", "all threads of all blocks, and the host's copies", "cell"),
                ("shared memory", "the threads of one block, while the block runs", "good"),
                ("registers", "one thread: i, out, in, …", "hot")]
    y = 70
    for (title, count, label), (name, owner, style) in zip(rows, memories):
        width = WIDTH / count
        figure.text(LEFT, y - 8, title, "quiet")
        for k in range(count):
            chosen = k == CHOSEN and count != LANES
            figure.rect(LEFT + k * width, y, width - 2, BOX,
                        style if chosen or count == LANES else "empty")
            if label:
                figure.text(LEFT + (k + 0.5) * width, y + 25, label % k, "ink small", "middle")
        if count == LANES:
            for k in (0, 31):
                figure.text(LEFT + (k + 0.5) * width, y + 25, k, "ink tiny", "middle")
        else:
            funnel(figure, LEFT + CHOSEN * width, width - 2, y + BOX)
        figure.rect(RIGHT, y, 220, BOX, style)
        figure.text(RIGHT + 12, y + 25, name, "ink")
        figure.text(RIGHT, y + BOX + 18, owner, "small quiet")
        y += STEP
    figure.text(LEFT, y + 14, "Lane 5 of warp 1 of block 1 has threadIdx.x = 32 + 5 = 37, "
                "and i = 1 · 256 + 37 = 293.", "quiet")
    figure.save("grid.svg")


main()
