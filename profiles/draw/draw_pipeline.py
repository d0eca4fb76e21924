#!/usr/bin/env python3
"""Draws, in notes/figures/: one launch of step 10, cooperative.svg; a moment of step 11, in which a
tile looks back, look-back.svg, and what it does with a tile, tile-by-tile.svg; of step 12 a block's
ring at one moment, ring.svg, where a prefix comes from, prefix.svg, and, as recorded on a GPU by
the experiment timeline, which role works at which tile, timeline.svg."""
from svg import Figure
from records import EXPERIMENTS, has


STAGES = 6


# ---- what step 11 loses --------------------------------------------------------------------------

# What a block does with a tile, and for how long: drawn, not measured.
WORK = [("load", 120, "bad"), ("scan", 60, "good"), ("look back", 120, "cell"),
        ("store", 60, "bad")]


def tile_by_tile():
    left, y, x = 110, 62, 110
    figure = Figure(left + 2 * 370 + 24, 190, "One tile after another",
                    "A block moves bytes only at the begin and at the end of its tile.")
    figure.text(24, 30, "Step 11: a block does one thing after the other, then the next block "
                "begins", "head ink")
    figure.text(24, y + 19, "the block")
    figure.text(24, y + 71, "its bytes")
    for _ in range(2):
        figure.box(x + 120, y + 52, 177, 28, "none moves", "empty", "small quiet")
        for name, width, style in WORK:
            figure.box(x, y, width - 3, 28, name, style, "small ink")
            if style == "bad":
                figure.rect(x, y + 52, width - 3, 28, style)
            x += width
        x += 10
    figure.arrow(left, y + 100, x - 13, y + 100)
    figure.text(left, y + 117, "time", "small quiet")
    figure.save("tile-by-tile.svg")


# ---- one point in time ---------------------------------------------------------------------------

CELL, GAP, LEFT, TOP, HEIGHT = 96, 12, 150, 96, 62
# The content of each stage, and the work on it.
RING = [(1188, "is scanned", "good"), (1311, "sum published", "cell"),
        (1420, "sum published", "cell"), (1555, "is summed up", "hot"), (1690, "is copied", "bad"),
        (1822, "is copied", "bad")]
SUMMED, LOOK = 3, 1.5  # the stage that the sum warps work on, and where the look warp is drawn


def ring():
    middle = lambda stage: LEFT + stage * (CELL + GAP) + CELL / 2
    width = LEFT + STAGES * (CELL + GAP) + 24
    figure = Figure(width, TOP + 316, "A moment of one block",
                    "Copies, sums and the scan are each at work at another tile of the ring.")
    figure.text(24, 30, "One block, one moment: each role is at another tile of the ring",
                "head ink")

    y = TOP - 44
    figure.label(y, "warps", "14 in the block")
    for stage, text in ((0, "scan: 8"), (SUMMED, "sum: 4"), (5, "load: 1")):
        figure.box(middle(stage) - 38, y, 76, 28, text, "empty", "small ink")
        figure.arrow(middle(stage), y + 29, middle(stage), TOP + 6)
    figure.box(middle(LOOK) - 92, y + 116 + HEIGHT + 40, 184, 28, "look: 1", "empty", "small ink")

    y = TOP + 8
    figure.label(y + 14, "ring", "6 × 32 KiB")
    for stage, (tile, text, style) in enumerate(RING):
        left = LEFT + stage * (CELL + GAP)
        figure.rect(left, y, CELL, HEIGHT, style)
        figure.text(left + CELL / 2, y + 26, "tile %d" % tile, "ink", "middle")
        figure.text(left + CELL / 2, y + 44, text, "small quiet", "middle")

    # Sums go out, all blocks' sums come in, a prefix goes to the scan.
    y = TOP + 162
    figure.arrow(middle(SUMMED), TOP + 8 + HEIGHT + 2, middle(SUMMED), y + 82, "line-hot")
    figure.text(middle(SUMMED) + 8, TOP + 8 + HEIGHT + 26, "its sum", "small blue")
    figure.line(middle(LOOK) - 92, y + 26, middle(0), y + 26)
    figure.arrow(middle(0), y + 26, middle(0), TOP + 8 + HEIGHT + 2)
    figure.text(middle(0) + 8, TOP + 8 + HEIGHT + 62, "its prefix", "small quiet")
    figure.arrow(middle(LOOK), y + 82, middle(LOOK), y + 42)

    y += 84
    figure.label(y, "states", "of all blocks' tiles")
    count, size = 24, (STAGES * (CELL + GAP) - GAP) / 24
    for i in range(count):
        known = i < 15 or i in (16, 17)
        figure.rect(LEFT + i * size, y, size - 3, 30, "hot" if known else "empty")
    figure.text(LEFT, y + 48, "sums published, by whichever block had the tile", "small quiet")
    figure.text(LEFT + STAGES * (CELL + GAP) - GAP, y + 48, "not yet published", "small quiet",
                "end")
    figure.save("ring.svg")


# ---- where a prefix comes from -------------------------------------------------------------------

DRAWN, LAST, TILE = 8, 22, 40  # lanes; this block's last tile, and the one that needs its prefix


def prefix():
    cell, rows, left, y = 62, TILE // DRAWN + 1, 190, 92
    figure = Figure(left + DRAWN * cell + 40, y + rows * 34 + 150, "A prefix from sums alone",
                    "Each lane adds up every eighth tile's sum, and goes on from its last sum.")
    figure.text(24, 30, "The look warp computes the prefix of tile %d; its last was that of tile %d"
                % (TILE, LAST), "head ink")
    figure.text(24, 50, "%d lanes are drawn, of 32" % DRAWN, "small quiet")
    figure.label(y, "states", "each tile's sum")
    for tile in range(rows * DRAWN):
        style = "cell" if tile < LAST else "hot" if tile < TILE else "empty"
        figure.box(left + tile % DRAWN * cell, y + tile // DRAWN * 34, cell - 4, 28, tile, style,
                   "small ink" if tile < TILE else "small quiet")
    bottom = y + rows * 34
    figure.label(bottom + 26, "lanes' sums", "in registers")
    for lane in range(DRAWN):
        middle = left + lane * cell + cell / 2 - 2
        figure.text(middle, y - 8, "lane %d" % lane, "tiny quiet", "middle")
        figure.arrow(middle, bottom, middle, bottom + 20, "line-hot")
        figure.box(left + lane * cell, bottom + 24, cell - 4, 28, "+", "good")
    figure.box(left, bottom + 72, DRAWN * cell - 4, 28, "added by shuffles: the prefix of "
               "tile %d" % TILE, "good", "small ink")
    figure.arrow(left + DRAWN * cell / 2, bottom + 54, left + DRAWN * cell / 2, bottom + 69)
    figure.legend(bottom + 120, (left, "cell", "already in the lanes' sums"),
                  (left + 190, "hot", "new: all loaded at once"),
                  (left + 370, "empty", "not needed"))
    figure.save("prefix.svg")


# ---- as recorded ---------------------------------------------------------------------------------

WIDTH, ROW, BAR, AXIS = 760, 24, 18, 124
ROLES = [("sum", "hot", "4 warps"), ("look", "cell", "1 warp"), ("scan", "good", "8 warps"),
         ("store", "good", "8 warps")]


def spans():
    """{role: [(begin, end), ...]} in cycles, a pair for each tile of the block, and the tiles'
    numbers."""
    rows = has(EXPERIMENTS, experiment="12-timeline")
    found = {(row["variant"], row["parameter"]): row for row in rows}
    count = len([key for key in found if key[0] == "tile"])
    at = lambda role, k: tuple(float(found[role, "k=%d" % k][end]) for end in ("begin", "end"))
    return ({role: [at(role, k) for k in range(count)]
             for role in ("copy", "sum", "look", "scan", "store")},
            [int(found["tile", "k=%d" % k]["number"]) for k in range(count)])


def bar(figure, x, y, span, style, text=""):
    left, right = x(span[0]), x(span[1])
    figure.rect(left, y, max(right - left, 1), BAR, style, radius=2)
    if right - left > 6 * len(text) + 2:
        figure.text((left + right) / 2, y + 13, text, "tiny ink mono", "middle")


def timeline():
    roles, tiles = spans()
    last = max(end for _, end in roles["store"])
    x = lambda cycles: AXIS + WIDTH * cycles / last
    bottom = 66 + (STAGES + len(ROLES)) * ROW + 20
    figure = Figure(AXIS + WIDTH + 24, bottom + 66, "Which role works at which tile, and when",
                    "One block of step 12 on a GPU: stages of its ring and roles of its warps "
                    "against time.")
    figure.text(24, 30, "%d tiles of one block, by the clock of its multiprocessor" % len(tiles),
                "head ink")

    for stage in range(STAGES):
        y = 50 + stage * ROW
        figure.text(24, y + 13, "stage %d" % stage, "small ink")
        for k in range(stage, len(tiles), STAGES):
            copy, scan = roles["copy"][k], roles["scan"][k]
            bar(figure, x, y, copy, "bad", str(k))
            bar(figure, x, y, (copy[1], max(copy[1], scan[0])), "cell")
    for i, (role, style, warps) in enumerate(ROLES):
        y = 66 + (STAGES + i) * ROW
        figure.text(24, y + 13, role, "small ink")
        figure.text(AXIS - 8, y + 13, warps, "tiny quiet", "end")
        for k, span in enumerate(roles[role]):
            bar(figure, x, y, span, style, str(k))

    step = next(s for s in (500, 1000, 2000, 5000, 10000, 20000) if last / s < 12)
    figure.line(AXIS, bottom, AXIS + WIDTH, bottom)
    for cycles in range(0, int(last) + 1, step):
        figure.line(x(cycles), bottom, x(cycles), bottom + 4)
        figure.text(x(cycles), bottom + 16, cycles, "tiny quiet", "middle")
    figure.text(AXIS + WIDTH, bottom + 28, "cycles", "tiny quiet", "end")
    figure.legend(bottom + 36, (AXIS, "bad", "copy in flight"),
                  (AXIS + 130, "cell", "has arrived, is not yet scanned"))
    figure.save("timeline.svg")


def cooperative():
    """Draws step 10's one launch, with three blocks of two or three tiles each."""
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


def look_back():
    """Draws a moment of step 11, in which tile 9 looks back."""
    SUMS = [3, 1, 7, 0, 4, 1, 6, 3, 2, 5, 8, 4]  # of the tiles' elements
    KNOWN = 5  # tiles up to KNOWN have published a prefix, tiles up to TOLD an aggregate
    TILE, TOLD = 9, 9
    CELL, LEFT, TOP, ROW = 58, 120, 62, 78

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


tile_by_tile()
ring()
prefix()
timeline()
cooperative()
look_back()
