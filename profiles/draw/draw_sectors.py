#!/usr/bin/env python3
"""Draws which sectors a warp's loads touch in step 3 and in step 4: notes/figures/sectors.svg, and
those of its warps in step 5's two kernels: notes/figures/increments.svg."""

from svg import Figure

LANES, SECTOR = 32, 8  # words of a sector
LEFT, CELL, GAP, SECTOR_GAP = 24, 10, 2, 5
ROW = 66


def width(words):
    return words * CELL + words // SECTOR * SECTOR_GAP


def style_of(sector, used):
    """Not touched, wasted in part, or used up."""
    words = sum(word // SECTOR == sector for word in used)
    return "good" if words == SECTOR else "bad" if words else "empty"


def row(figure, y, title, words, used, left=LEFT):
    """Words of global memory in their sectors; those that a lane wants are blue. Sectors of which
    no word is used are empty."""
    touched = sorted({word // SECTOR for word in used})
    figure.text(left, y, title, "small ink")
    spare, wanted = [], []
    for word in range(words):
        corner = left + width(word // SECTOR * SECTOR) + word % SECTOR * CELL, y + 16
        if word in used:
            wanted.append(corner)
        elif word // SECTOR in touched:
            spare.append(corner)
    for sector in range(words // SECTOR):
        figure.rect(left + width(sector * SECTOR) - 2, y + 13, SECTOR * CELL + 2, CELL + 4,
                    style_of(sector, used), radius=2)
    figure.cells(spare, CELL - GAP, "empty")
    figure.cells(wanted, CELL - GAP, "hot")
    note = "%d sector%s, %d of %d bytes used" % (
        len(touched), "s" * (len(touched) > 1), 4 * len(used), 4 * SECTOR * len(touched))
    figure.text(left, y + 42, note, "small quiet")


def strides():
    words = 2 * LANES
    figure = Figure(2 * LEFT + width(words), 330, "Sectors of a warp's loads",
                    "In step 3 each of two loads touches eight sectors and uses half of each; in "
                    "step 4 each touches four and uses all of them.")
    figure.text(LEFT, 30, "A warp loads 64 elements, two for each lane", "head ink")
    y = 58
    row(figure, y, "step 3, g_idata[2 * thid]: lane k takes word 2k", words, range(0, words, 2))
    row(figure, y + ROW, "step 3, g_idata[2 * thid + 1]: the same sectors once more", words,
        range(1, words, 2))
    row(figure, y + 2 * ROW, "step 4, g_idata[thid]: lane k takes word k", words, range(LANES))
    row(figure, y + 3 * ROW, "step 4, g_idata[thid + n/2]: the other half, somewhere else", words,
        range(LANES))
    figure.save("sectors.svg")


def increments():
    column = 2 * LEFT + width(LANES)
    figure = Figure(2 * column - LEFT, 356, "Sectors of a warp in step 5's kernels",
                    "scan_block loads and stores each element once, uniform_add once more, with a "
                    "sector for the increment.")
    figure.text(LEFT, 30, "The way of a warp's 32 elements through step 5", "head ink")
    y = 62
    for number, (kernel, rows) in enumerate([
            ("scan_block", [("loads the elements", range(LANES)),
                            ("stores their sums in the block", range(LANES))]),
            ("uniform_add", [("loads these sums again", range(LANES)),
                             ("loads the block's increment: one float", [0]),
                             ("stores the results", range(LANES))])]):
        left = LEFT + number * (column - LEFT)
        figure.text(left, y, kernel, "ink mono")
        for k, (title, used) in enumerate(rows):
            row(figure, y + 28 + k * ROW, title, LANES if len(used) > 1 else SECTOR, used, left)
    figure.text(LEFT, y + 260, "a copy:", "ink")
    figure.text(LEFT + 90, y + 260, "4 + 4 sectors", "ink")
    figure.text(LEFT, y + 280, "step 5:", "ink")
    figure.text(LEFT + 90, y + 280, "8 + 8 sectors, and one more for the increment", "ink")
    figure.save("increments.svg")


strides()
increments()
