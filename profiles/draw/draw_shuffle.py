#!/usr/bin/env python3
"""Draws step 9: a warp's scan by shuffles, notes/figures/shuffle.svg, and how a block puts the
scans of its warps together, notes/figures/shuffle-block.svg."""

from svg import Figure

VALUES = [3, 1, 7, 0, 4, 1, 6, 3]  # the documents' example
CELL, GAP, LEFT, TOP, ROW = 56, 14, 150, 78, 84

WARPS, SLOT, SLOT_GAP = 8, 40, 6  # of the block's picture
TOTALS = [3, 1, 7, 0, 4, 1, 6, 3, 2, 5, 0, 4, 1, 7, 3, 2]  # of its warps, a and then b


def x(lane):
    return LEFT + lane * (CELL + GAP)


def draw_warp():
    lanes = len(VALUES)
    figure = Figure(x(lanes) + 6, TOP + 4 * ROW + 82, "A scan by shuffles",
                    "Three sweeps of eight lanes: each takes the value of the lane 1, 2, then 4 "
                    "places before it.")
    figure.text(24, 30, "Lanes hand their registers to each other", "head ink")
    figure.text(24, 52, "Eight lanes stand for the 32 of a warp.", "quiet")

    def row(y, label, values, styles):
        figure.text(24, y + 22, label, "ink mono")
        for lane in range(lanes):
            figure.box(x(lane), y, CELL, 34, values[lane], styles[lane])

    y, values, d = TOP, VALUES, 1
    row(y, "x", values, ["cell"] * lanes)
    while d < lanes:
        for lane in range(lanes):
            middle = x(lane) + CELL / 2
            if lane >= d:
                figure.arrow(x(lane - d) + CELL / 2, y + 36, middle - 5, y + ROW - 3, "line-hot")
            figure.line(middle, y + 36, middle, y + ROW - 3)
        values = [values[lane] + (values[lane - d] if lane >= d else 0) for lane in range(lanes)]
        y += ROW
        row(y, "d = %d" % d, values, ["hot" if lane >= d else "cell" for lane in range(lanes)])
        figure.text(24, y + 38, "p true in lanes %d to %d" % (d, lanes - 1), "small quiet")
        d *= 2
    for lane in range(1, lanes):
        figure.arrow(x(lane - 1) + CELL / 2, y + 36, x(lane) + CELL / 2 - 5, y + ROW - 3,
                     "line-hot")
    y += ROW
    row(y, "exclusive", [0] + values[:-1], ["cell"] + ["hot"] * (lanes - 1))
    figure.text(24, y + 62,
                "Blue arrows are shuffles. The first d lanes get their own value back, and "
                "their predicate p is false.", "quiet")
    figure.save("shuffle.svg")


def draw_block():
    width = 2 * WARPS * (SLOT + SLOT_GAP)
    left, figure = 24, Figure(width + 48, 440, "A block's scan in two levels",
                              "Sixteen totals of eight warps go through shared memory, where one "
                              "warp scans them.")
    at = lambda slot: left + slot * (SLOT + SLOT_GAP)
    names = ["%s%d" % (half, warp) for half in "ab" for warp in range(WARPS)]
    before = [sum(TOTALS[:slot]) for slot in range(2 * WARPS)]
    figure.text(24, 30, "Sixteen floats of shared memory, two barriers", "head ink")

    def row(y, height, values, style):
        for slot, value in enumerate(values):
            figure.box(at(slot), y, SLOT, height, value, style)

    def arrows(y, to):
        for slot in range(2 * WARPS):
            figure.arrow(at(slot) + SLOT / 2, y, at(slot) + SLOT / 2, to)

    def barrier(y, said):
        figure.line(24, y, 24 + width - SLOT_GAP, y, "line-bad")
        figure.text(24 + width - SLOT_GAP, y - 5, said, "small red", "end")

    for slot, name in enumerate(names):
        figure.text(at(slot) + SLOT / 2, 60, name, "small quiet", "middle")
    row(66, 34, TOTALS, "hot")
    figure.text(24, 117,
                "Each warp scans by shuffles, and its last lane gets its total: a0 is that of "
                "warp 0's first float4, b0 that of its second.", "small quiet")
    arrows(124, 148)
    row(150, 30, TOTALS, "good")
    barrier(202, "__syncthreads(): all totals are stored")
    arrows(210, 228)
    figure.rect(24, 230, width - SLOT_GAP, 34, "hot")
    figure.text(24 + width / 2, 251,
                "Warp 0 scans the sixteen totals by shuffles, and writes back what lies before "
                "each:", "ink", "middle")
    arrows(266, 284)
    row(286, 30, before, "good")
    barrier(338, "__syncthreads(): the scanned totals are stored")
    arrows(346, 364)
    row(366, 34, ["+%d" % sum_before for sum_before in before], "hot")
    figure.text(24, 418,
                "Each thread adds the sum before its warp and the sum before it within the warp.",
                "small quiet")
    figure.save("shuffle-block.svg")


draw_warp()
draw_block()
