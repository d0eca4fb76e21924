#!/usr/bin/env python3
"""Draws a warp's addresses and the sectors they touch, for the patterns of step 0:
notes/figures/patterns.svg."""

from svg import Figure

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


def main():
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


main()
