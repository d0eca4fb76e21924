#!/usr/bin/env python3
"""Draws what one thread of step 6 does with its two float4, as traced:
notes/figures/vectors.svg."""

from svg import Figure
from traced import accesses, stored

CELL, TOP, ROW = 48, 68, 80
LEFT_A, LEFT_B = 180, 470
TRACE = accesses(6, 2048)
THREAD = min(TRACE[0].lanes)


def vectors(store):
    """The thread's two float4, each as [(element, value), ...]."""
    return [access.vectors[THREAD] for access in TRACE if access.array and access.store == store]


def main():
    figure = Figure(720, TOP + 4 * ROW + 54, "Eight elements a thread",
                    "Two float4 are scanned in registers; only their totals enter the tree.")
    figure.text(24, 30, "Thread %d: two float4, one from each half of the block's part" % THREAD,
                "head ink")
    inputs, outputs = vectors(store=False), vectors(store=True)
    totals = stored(access for access in TRACE if access.epoch == 0 and not access.array)
    last = max(access.epoch for access in TRACE)
    before = [access.lanes[THREAD][1] for access in TRACE if access.epoch == last
              and not access.array]

    def quad(left, y, values, styles):
        for k, value in enumerate(values):
            figure.box(left + k * CELL, y, CELL, 32, value, styles[k])

    figure.label(TOP, "load4", "one access each")
    figure.label(TOP + ROW, "scan each", "in registers")
    figure.label(TOP + 2 * ROW, "totals", "in shared memory")
    figure.label(TOP + 3 * ROW, "after the tree", "the same leaf")
    figure.label(TOP + 4 * ROW, "store4", "sum before + own scan")

    for left, vector, (leaf, total), prefix, result in zip((LEFT_A, LEFT_B), inputs, totals.items(),
                                                           before, outputs):
        y, down = TOP, lambda k, style: figure.arrow(left + k * CELL, y + 34, left + k * CELL,
                                                     y + ROW - 3, style)
        quad(left, y, [value for _, value in vector], ["cell"] * 4)
        figure.text(left, y - 6, "elements %d to %d" % (vector[0][0], vector[-1][0]), "small quiet")
        down(2, "line")
        y += ROW
        # no trace of registers
        own = ["%g" % (float(value) - float(prefix)) for _, value in result[1:]] + [total]
        quad(left, y, own, ["cell", "cell", "cell", "hot"])
        down(3.5, "line-hot")
        y += ROW
        figure.box(left + 3 * CELL, y, CELL, 32, total, "hot")
        figure.text(left + 3 * CELL - 12, y + 14, "leaf %d," % (vector[0][0] // 4), "small quiet",
                    "end")
        figure.text(left + 3 * CELL - 12, y + 29, "temp[%d]" % leaf, "small quiet", "end")
        down(3.5, "line-hot")
        y += ROW
        figure.box(left + 3 * CELL, y, CELL, 32, prefix, "good")
        figure.text(left + 3 * CELL - 12, y + 14, "sum of elements", "small quiet", "end")
        figure.text(left + 3 * CELL - 12, y + 29, "0 to %d" % (vector[0][0] - 1), "small quiet",
                    "end")
        for k in range(4):
            figure.arrow(left + 3.5 * CELL, y + 34, left + (k + 0.5) * CELL, y + ROW - 3, "line")
        y += ROW
        quad(left, y, [value for _, value in result], ["good"] * 4)
    figure.save("vectors.svg")


main()
