#!/usr/bin/env python3
"""Draws step 9: a warp's scan by shuffles, notes/figures/shuffle.svg, and how a block puts the
scans of its warps together, notes/figures/shuffle-block.svg."""

from svg import Figure

VALUES = [3, 1, 7, 0, 4, 1, 6, 3]  # the documents' example
CELL, GAP, LEFT, TOP, ROW = 56, 14, 150, 78, 84

WARPS, SLOT, SLOT_GAP = 8, 40, 6  # of the block's picture


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
    left, figure = 24, Figure(width + 48, 380, "A block's scan in two levels",
                              "Sixteen totals of eight warps go through shared memory, where one "
                              "warp scans them.")
    at = lambda slot: left + slot * (SLOT + SLOT_GAP)
    figure.text(24, 30, "Sixteen floats of shared memory, two barriers", "head ink")
    halves = "ab"

    def warps(y, style, said):
        for slot in range(2 * WARPS):
            figure.box(at(slot), y, SLOT, 34, "%s%d" % (halves[slot // WARPS], slot % WARPS), style)
        figure.text(24, y + 52, said, "small quiet")

    def barrier(y, said):
        figure.line(24, y, 24 + width - SLOT_GAP, y, "line-bad")
        figure.text(24 + width - SLOT_GAP, y - 5, said, "small red", "end")

    warps(52, "hot",
          "Each warp scans its threads' totals by shuffles: those of the first float4 (a), and of "
          "the second (b).")
    for slot in range(2 * WARPS):
        figure.arrow(at(slot) + SLOT / 2, 110, at(slot) + SLOT / 2, 134)
        figure.box(at(slot), 136, SLOT, 30, slot, "good")
        figure.arrow(at(slot) + SLOT / 2, 196, at(slot) + SLOT / 2, 214)
        figure.arrow(at(slot) + SLOT / 2, 284, at(slot) + SLOT / 2, 302)
    barrier(186, "__syncthreads(): all totals are stored")
    figure.rect(24, 216, width - SLOT_GAP, 34, "hot")
    figure.text(24 + width / 2, 237,
                "Warp 0 scans the sixteen totals by shuffles, and writes back what lies before "
                "each.",
                "ink", "middle")
    barrier(274, "__syncthreads(): the scanned totals are stored")
    warps(304, "hot",
          "Each thread adds the sum before its warp and the sum before it within the warp.")
    figure.save("shuffle-block.svg")


draw_warp()
draw_block()
