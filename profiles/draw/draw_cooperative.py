#!/usr/bin/env python3
"""Draws step 10's one launch, with three blocks of two or three tiles each:
notes/figures/cooperative.svg."""

from svg import Figure

TILES = [[3, 1, 7, 0], [4, 1, 6, 3], [2, 0, 5, 1], [1, 8, 2, 2], [0, 3, 1, 4], [5, 0, 2, 6],
         [1, 1, 4, 2]]
BLOCKS = 3
CELL, GAP, RANGE_GAP, LEFT, TOP, HEIGHT = 23, 5, 26, 150, 60, 30


def ranges():
    """Tiles [first, last) of each block, as in scan_grid."""
    each, more = divmod(len(TILES), BLOCKS)
    return [(each * j + min(more, j), each * (j + 1) + min(more, j + 1)) for j in range(BLOCKS)]


def block_of(tile):
    return next(j for j, (first, last) in enumerate(ranges()) if first <= tile < last)


def x(tile, k=0.0):
    return LEFT + tile * (4 * CELL + GAP) + block_of(tile) * RANGE_GAP + k * CELL


def middle(j):
    first, last = ranges()[j]
    return (x(first) + x(last - 1, 4)) / 2


def tiles(figure, y, values, style):
    for t, tile in enumerate(values):
        for k, value in enumerate(tile):
            figure.box(x(t, k), y, CELL, HEIGHT, value, style, "small ink mono")


def main():
    width = x(len(TILES) - 1, 4) + 24
    figure = Figure(width, TOP + 362, "One cooperative launch",
                    "Blocks sum up their ranges, wait for each other, and scan their ranges with a "
                    "carry.")
    figure.text(24, 30,
                "7 tiles, 3 blocks: all blocks run at the same time, so they can wait for each "
                "other", "head ink")
    y = TOP
    figure.label(y, "input", "read once")
    tiles(figure, y, TILES, "cell")
    for j, (first, last) in enumerate(ranges()):
        figure.text(middle(j), y - 8, "block %d" % j, "small quiet", "middle")

    sums = [sum(sum(tile) for tile in TILES[first:last]) for first, last in ranges()]
    y += 80
    figure.label(y, "g_sums", "of each block")
    for j, value in enumerate(sums):
        wanted = j + 1 < BLOCKS
        figure.box(middle(j) - 25, y, 50, HEIGHT, value if wanted else "–", "hot" if wanted
                   else "empty")
        if wanted:
            for tile in range(*ranges()[j]):
                figure.arrow(x(tile, 2), y - 46, middle(j), y - 3, "line-hot")

    y += 62
    bar = y
    y += 58
    figure.label(y, "carry", "the sums before")
    for j in range(BLOCKS):
        figure.box(middle(j) - 25, y, 50, HEIGHT, sum(sums[:j]), "good")
        for i in range(j):
            figure.arrow(middle(i) + 10, y - 92, middle(j) - 8 * (j - i), y - 3)

    figure.rect(LEFT, bar, width - LEFT - 24, 24, "bad")
    figure.text((LEFT + width - 24) / 2, bar + 17,
                "grid.sync(): no block goes on before all have arrived", "red", "middle")

    y += 80
    figure.label(y, "output", "read again, written")
    before, scanned = 0, []
    for tile in TILES:
        scanned.append([before + sum(tile[:k]) for k in range(4)])
        before += sum(tile)
    tiles(figure, y, scanned, "good")
    for j, (first, last) in enumerate(ranges()):
        figure.arrow(middle(j), y - 48, x(first, 1), y - 3)
        for tile in range(first, last - 1):
            figure.arrow(x(tile, 3), y + HEIGHT + 16, x(tile + 1, 1), y + HEIGHT + 16, "line-hot")
    figure.text(LEFT, y + HEIGHT + 40, "tile by tile: the carry grows by each tile's sum",
                "small quiet")
    figure.save("cooperative.svg")


main()
