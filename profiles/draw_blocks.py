#!/usr/bin/env python3
"""Draws the scan of a large array in blocks: notes/figures/blocks.svg."""

from svg import Figure

BLOCKS = [[3, 1, 7, 0], [4, 1, 6, 3], [2, 0, 5, 1], [1, 8, 2, 2]]
CELL, LEFT, TOP, ROW, BLOCK_GAP = 38, 150, 56, 84, 22


def exclusive(values):
    return [sum(values[:k]) for k in range(len(values))]


def main():
    size = len(BLOCKS[0])
    block_width = size * CELL
    right = LEFT + len(BLOCKS) * (block_width + BLOCK_GAP)
    figure = Figure(right + 6, TOP + 4 * ROW + 54, "A scan in blocks",
                    "Blocks are scanned, their sums are scanned, and each block gets its increment.")
    figure.text(24, 30, "Blocks of B = 4 elements, two levels", "head ink")

    def x(block, k=0.0):
        return LEFT + block * (block_width + BLOCK_GAP) + k * CELL

    def blocks(y, values, style):
        for b, block in enumerate(values):
            for k, value in enumerate(block):
                figure.box(x(b, k), y, CELL, 32, value, style)

    def label(y, first, second=""):
        figure.text(24, y + 14, first, "ink")
        figure.text(24, y + 31, second, "small quiet")

    sums = [sum(block) for block in BLOCKS]
    incr = exclusive(sums)
    scanned = [exclusive(block) for block in BLOCKS]
    centre = (LEFT + right - BLOCK_GAP) / 2
    sums_left = centre - len(sums) * CELL / 2

    y = TOP
    label(y, "input")
    blocks(y, BLOCKS, "cell")

    label(y + ROW, "scan_block", "each by itself")
    for b in range(len(BLOCKS)):
        figure.arrow(x(b, size / 2), y + 34, x(b, size / 2), y + ROW - 3)
    y += ROW
    blocks(y, scanned, "hot")

    label(y + ROW, "SUMS")
    for b in range(len(BLOCKS)):
        figure.arrow(x(b, size - 0.3), y + 34, sums_left + (b + 0.5) * CELL, y + ROW - 3)
    y += ROW
    for b, value in enumerate(sums):
        figure.box(sums_left + b * CELL, y, CELL, 32, value, "cell")

    label(y + ROW, "INCR", "scan_block again")
    figure.arrow(centre, y + 34, centre, y + ROW - 3)
    y += ROW
    for b, value in enumerate(incr):
        figure.box(sums_left + b * CELL, y, CELL, 32, value, "hot")

    label(y + ROW, "uniform_add", "INCR[j] to block j")
    for b in range(1, len(BLOCKS)):
        figure.arrow(sums_left + (b + 0.5) * CELL, y + 34, x(b, size / 2), y + ROW - 3, "line-hot")
    y += ROW
    blocks(y, [[v + incr[b] for v in block] for b, block in enumerate(scanned)], "good")
    figure.save("blocks.svg")


main()
