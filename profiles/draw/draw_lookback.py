#!/usr/bin/env python3
"""Draws a moment of step 11, in which tile 9 looks back: notes/figures/look-back.svg."""

from svg import Figure

SUMS = [3, 1, 7, 0, 4, 1, 6, 3, 2, 5, 8, 4]  # of the tiles' elements
KNOWN = 5  # tiles up to KNOWN have published a prefix, tiles up to TOLD an aggregate
TILE, TOLD = 9, 9
CELL, LEFT, TOP, ROW = 58, 120, 62, 78


def main():
    right = LEFT + len(SUMS) * CELL
    figure = Figure(right + 24, TOP + 3 * ROW + 52, "A tile looks back",
                    "A tile adds the aggregates of those before it until it comes to a prefix.")
    figure.text(24, 30, "Tile %d looks back" % TILE, "head ink")

    y = TOP
    figure.label(y, "tile", "its own sum")
    for t, value in enumerate(SUMS):
        figure.text(LEFT + (t + 0.5) * CELL, y - 8, t, "small quiet", "middle")
        figure.box(LEFT + t * CELL + 3, y, CELL - 6, 32, value if t <= TOLD else "…",
                   "cell" if t <= TOLD else "empty")
        figure.arrow(LEFT + (t + 0.5) * CELL, y + 34, LEFT + (t + 0.5) * CELL, y + ROW - 3)

    y += ROW
    figure.label(y, "state", "published")
    found = []
    for t in range(len(SUMS)):
        if t <= KNOWN:
            word, style = "P %d" % sum(SUMS[:t + 1]), "good"
        elif t <= TOLD:
            word, style = "A %d" % SUMS[t], "hot"
        else:
            word, style = "empty", "empty"
        figure.box(LEFT + t * CELL + 3, y, CELL - 6, 32, word, style, "small ink mono")
        if KNOWN <= t < TILE:
            found.append(sum(SUMS[:t + 1]) if t == KNOWN else SUMS[t])

    y += ROW
    before = sum(found)
    figure.label(y, "look_back", "nearest first")
    at = LEFT + (TILE + 0.5) * CELL
    for t in range(KNOWN, TILE):
        figure.arrow(LEFT + (t + 0.5) * CELL, y - ROW + 34, LEFT + (t + 0.5) * CELL, y - 3,
                     "line-hot")
    figure.box(LEFT + KNOWN * CELL + 3, y, (TILE - KNOWN) * CELL - 6, 32,
               " + ".join(map(str, reversed(found))) + " = %d" % before, "hot")
    figure.arrow(LEFT + TILE * CELL - 2, y + 16, LEFT + TILE * CELL + 24, y + 16, "line-hot")

    y += ROW
    figure.label(y, "publishes", "its prefix")
    figure.box(LEFT + TILE * CELL + 3, y, CELL - 6, 32, "P %d" % (before + SUMS[TILE]), "good",
               "small ink mono")
    figure.arrow(at, y - ROW + 38, at, y - 3, "line-hot")
    figure.text(LEFT + TILE * CELL - 8, y + 20, "%d before + %d of its own:" % (before, SUMS[TILE]),
                "small quiet", "end")
    figure.save("look-back.svg")


main()
