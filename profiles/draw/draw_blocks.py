#!/usr/bin/env python3
"""Draws the scan of 16 elements in blocks of 4 (./step5-B4), as traced:
notes/figures/blocks.svg."""

from svg import Figure
from traced import accesses, loaded, stored

N, B = 16, 4
BLOCKS = N // B
CELL, LEFT, TOP, ROW, BLOCK_GAP = 34, 150, 56, 84, 66
SUM_GAP = 10  # from a part to its sum
TRACE = accesses(5, N, "conflict-free")
INPUT, SUMS, RESULT = "A", "B", "C"  # the arrays, in order of first use
PARTS, SCAN_OF_SUMS, UNIFORM_ADD = range(3)  # the launches


def of(launch, array):
    return [access for access in TRACE if access.launch == launch and access.array == array]


def main():
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


main()
