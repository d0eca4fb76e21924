#!/usr/bin/env python3
"""Draws step 12, in notes/figures/: what step 11 does with a tile, tile-by-tile.svg; a block's ring
at one moment, ring.svg; where a prefix comes from, prefix.svg; and, as recorded on a GPU by the
experiment timeline, which role works at which tile, timeline.svg."""

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
    rows = has(EXPERIMENTS, experiment="timeline")
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


tile_by_tile()
ring()
prefix()
timeline()
