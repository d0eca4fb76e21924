#!/usr/bin/env python3
"""Draws which lane meets which bank, before and after padding: notes/figures/banks.svg."""

from svg import Figure

LANES = BANKS = 32
OFFSET = 8  # the up-sweep's fourth level
DOT, LEFT, TOP = 11, 76, 96


def index(lane):
    """The left child that a lane reads (ai in the listings)."""
    return OFFSET * (2 * lane + 1) - 1


def panel(figure, left, title, padding):
    banks = [(index(lane) + padding(index(lane))) % BANKS for lane in range(LANES)]
    crowd = max(banks.count(bank) for bank in banks)
    style, fill = ("red", "bad") if crowd > 1 else ("green", "good")
    width = BANKS * DOT

    figure.text(left, TOP - 36, title, "ink")
    figure.text(left, TOP - 18, "%d wavefront%s for one load" % (crowd, "s" if crowd > 1 else ""), style)
    figure.rect(left, TOP, width, LANES * DOT, "empty", radius=0)
    for bank in sorted(set(banks)):
        if banks.count(bank) > 1:
            figure.rect(left + bank * DOT, TOP, DOT, LANES * DOT, fill, radius=0)
    for step in range(4, BANKS, 4):
        figure.line(left + step * DOT, TOP, left + step * DOT, TOP + LANES * DOT)
        figure.line(left, TOP + step * DOT, left + width, TOP + step * DOT)
    for lane, bank in enumerate(banks):
        figure.dot(left + (bank + 0.5) * DOT, TOP + (lane + 0.5) * DOT, 4, style)
    for bank in range(0, BANKS, 4):
        figure.text(left + (bank + 0.5) * DOT, TOP + LANES * DOT + 15, bank, "small quiet", "middle")
        figure.text(left - 6, TOP + (bank + 0.8) * DOT, bank, "small quiet", "end")
    figure.text(left + width / 2, TOP + LANES * DOT + 34, "bank", "quiet", "middle")
    figure.text(left - 26, TOP + LANES * DOT / 2 + 2.5 * DOT, "lane", "quiet", "end")


def main():
    panel_width = BANKS * DOT
    second = LEFT + panel_width + 76
    figure = Figure(second + panel_width + 30, TOP + LANES * DOT + 52, "Lanes and banks",
                    "At a stride of 16 words, 32 lanes meet in two banks; with one word of padding "
                    "after every 32 they meet in 32.")
    figure.text(24, 30, "The 32 lanes of a warp read temp[ai] in the up-sweep, offset = %d" % OFFSET,
                "head ink")
    panel(figure, LEFT, "step 3: temp[ai]", lambda i: 0)
    panel(figure, second, "step 4: temp[ai + (ai >> 5)]", lambda i: i >> 5)
    figure.save("banks.svg")


main()
