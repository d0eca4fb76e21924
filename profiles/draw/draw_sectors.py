#!/usr/bin/env python3
"""Draws which sectors a warp's loads touch: in step 3 and step 4, sectors.svg; in step 5's two
kernels, increments.svg; in the patterns of step 0, patterns.svg; and how many threads add in each
round of a sum, share.svg; all in notes/figures/."""
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


def patterns():
    """Draws a warp's addresses and the sectors they touch, for the patterns of step 0."""
    WARP, WORDS = 32, 8  # lanes; floats in a sector
    SHOWN = 40  # sectors of memory in the picture
    WORD, LEFT, TOP, ROW = 2.2, 190, 76, 58
    SECTOR = WORDS * WORD
    GAP = 2.2

    # name: (note, the float that each lane reads)
    PATTERNS = {
        "scalar": ("aligned, consecutive", [lane for lane in range(WARP)]),
        "permuted": ("the same, lanes reversed", [WARP - 1 - lane for lane in range(WARP)]),
        "misaligned": ("one float further", [lane + 1 for lane in range(WARP)]),
        "same-word": ("one float for all", [0] * WARP),
        "structures": ("12 bytes: one of 3 loads", [3 * lane for lane in range(WARP)]),
        "strided": ("128 bytes apart", [32 * lane for lane in range(WARP)]),
    }

    width = LEFT + SHOWN * (SECTOR + GAP) + 24
    figure = Figure(width, TOP + len(PATTERNS) * ROW + 10, "Access patterns and sectors",
                    "Which 32-byte sectors a warp's 32 addresses touch, in six patterns.")
    figure.text(24, 30, "One load of a warp: 32 lanes, and the 32-byte sectors that it requests",
                "head ink")
    figure.text(24, 50,
                "Each box is a sector of eight floats; marked are the floats that lanes "
                        "need. Coloured boxes are requested.", "quiet")

    for number, (name, (note, words)) in enumerate(PATTERNS.items()):
        y = TOP + number * ROW
        touched = {word // WORDS for word in words}
        needed = 4 * len(set(words))
        requested = 32 * len(touched)
        style, colour = ("good", "green") if requested == needed else ("bad", "red")
        figure.text(24, y + 14, name, "ink")
        figure.text(24, y + 30, note, "small quiet")
        for sector in range(SHOWN):
            x = LEFT + sector * (SECTOR + GAP)
            figure.rect(x, y, SECTOR, 18, style if sector in touched else "empty", radius=1)
        for word in sorted(set(words)):
            if word // WORDS < SHOWN:
                x = LEFT + word // WORDS * (SECTOR + GAP) + word % WORDS * WORD
                figure.rect(x + 0.3, y + 4, WORD - 0.3, 10, colour, radius=0)
        outside = sum(1 for sector in touched if sector >= SHOWN)
        figure.text(LEFT, y + 34, "%d sector%s: %d bytes are requested, %d are needed: %g %%%s"
                    % (len(touched), "s" if len(touched) > 1 else "", requested, needed,
                       round(100 * needed / requested, 1),
                       "   (%d of the sectors are beyond the picture)" % outside if outside
                       else ""),
                    "small " + colour)
    figure.save("patterns.svg")


def share():
    """Draws a sum of 32 elements by 16 threads and by 4, addition by addition."""
    N = 32
    CELL, GAP, TOP, LEFT, BETWEEN = 22, 3, 92, 24, 56

    def rounds(threads):
        """Of each round the number of threads that add, and whether a barrier comes before it: each
        thread adds up its own elements, and then a tree adds the threads' sums."""
        own = [(threads, False)] * (N // threads - 1)
        tree, adding = [], threads // 2
        while adding:
            tree.append((adding, True))
            adding //= 2
        return own + tree

    def draw(figure, left, threads):
        all_rounds = rounds(threads)
        additions = sum(adding for adding, _ in all_rounds)
        barriers = sum(barrier for _, barrier in all_rounds)
        figure.text(left, TOP - 30, "%d threads, %d elements each" % (threads, N // threads), "ink")
        figure.text(left, TOP - 12, "%d additions, %d barriers" % (additions, barriers),
                    "small quiet")
        y = TOP
        for adding, barrier in all_rounds:
            if barrier:
                figure.line(left, y + 1, left + threads * CELL - GAP, y + 1, "line-bad")
                y += 6
            figure.cells([(left + k * CELL, y) for k in range(adding)], CELL - GAP, "hot")
            figure.cells([(left + k * CELL, y) for k in range(adding, threads)], CELL - GAP,
                         "empty")
            y += CELL
        return y

    right = LEFT + 16 * CELL + BETWEEN
    figure = Figure(right + 4 * CELL + 120, 350, "A thread's own share",
                    "With two elements for each thread, most threads wait at most barriers; with "
                    "eight, each thread adds seven times before the first barrier.")
    figure.text(LEFT, 30, "The sum of %d elements, round by round" % N, "head ink")
    bottom = max(draw(figure, LEFT, 16), draw(figure, right, 4))
    y = bottom + 24
    figure.cells([(LEFT, y - 13)], CELL - GAP, "hot")
    figure.text(LEFT + CELL + 4, y, "an addition", "small ink")
    figure.cells([(LEFT + 120, y - 13)], CELL - GAP, "empty")
    figure.text(LEFT + 120 + CELL + 4, y, "the thread waits", "small ink")
    figure.line(LEFT + 262, y - 4, LEFT + 290, y - 4, "line-bad")
    figure.text(LEFT + 298, y, "a barrier", "small ink")
    figure.save("share.svg")


strides()
increments()
patterns()
share()
