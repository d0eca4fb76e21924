#!/usr/bin/env python3
"""Draws the up-sweep's loop in step 6 and what step 7 makes of it: notes/figures/unrolled.svg."""

from svg import Figure

TREE, COPIES = 512, 3
LEFT, RIGHT, TOP, ROW, WIDTH = 72, 452, 86, 27, 300


def column(figure, x, y, lines):
    for text, style in lines:
        figure.box(x, y, WIDTH, ROW - 4, text, style, "small ink mono")
        y += ROW
    return y


def body(index, limit):
    """What a level does in both steps, around the lines that find the two indices."""
    return [("__syncthreads()", "cell"), ("thid < %s ?" % limit, "cell"), *index,
            ("ai += ai / 32, bi += bi / 32", "cell"), ("temp[bi] += temp[ai]", "hot")]


def main():
    levels = TREE.bit_length() - 1
    figure = Figure(RIGHT + WIDTH + 24, TOP + 15 * ROW + 84, "A loop unrolled",
                    "The loop counts, compares, multiplies and jumps; its nine copies do not.")
    figure.text(24, 30, "The up-sweep of %d leaves" % TREE, "head ink")
    figure.text(LEFT, TOP - 14, "step 6: one body, %d times" % levels, "ink")
    figure.text(RIGHT, TOP - 14, "step 7: %d copies, each with its constants" % levels, "ink")

    index = [("%ci = offset * (2 * thid + %d) - 1" % node, "bad") for node in (("a", 1), ("b", 2))]
    end = column(figure, LEFT, TOP, [("d > 0 ?", "bad"), *body(index, "d"),
                                     ("offset *= 2, d >>= 1", "bad")])
    side = LEFT - 22
    for x1, y1, x2, y2 in ((LEFT - 3, end - ROW / 2, side, end - ROW / 2),
                           (side, end - ROW / 2, side, TOP + ROW / 2)):
        figure.line(x1, y1, x2, y2, "line-bad")
    figure.arrow(side, TOP + ROW / 2, LEFT - 3, TOP + ROW / 2, "line-bad")

    y = TOP
    for level in range(COPIES):
        offset = 1 << level
        index = "ai = %d * thid%s, bi = %d * thid + %d" % (
            2 * offset, " + %d" % (offset - 1) if level else "", 2 * offset, 2 * offset - 1)
        y = column(figure, RIGHT, y, body([(index, "good")], TREE >> level + 1)) + 10
    figure.text(RIGHT + WIDTH / 2, y + 12, "… and %d more" % (levels - COPIES), "ink", "middle")

    figure.legend(y + 34, (LEFT, "bad", "needed only by the loop"),
                  (LEFT + 190, "good", "constants"), (LEFT + 290, "cell", "stays as it is"),
                  (LEFT + 410, "hot", "the addition"))
    figure.save("unrolled.svg")


main()
