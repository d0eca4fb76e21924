#!/usr/bin/env python3
"""Draws PTX's state spaces, who sees them and where the emulator keeps them:
notes/figures/spaces.svg."""

from svg import Figure

LEFT, TOP, ROW = 24, 88, 52
COLUMNS = [LEFT, 130, 276, 464, 680]

# name, PTX, threads that see it, what the emulator holds, style
SPACES = [
    ("registers", ".reg", "a thread", "32 lanes in a row, per warp", "cell"),
    ("local", ".local", "a thread", "a stretch per lane", "cell"),
    ("shared", ".shared", "a block", "an array per resident block", "hot"),
    ("of the cluster", ".shared::cluster", "blocks of a cluster", "those blocks' arrays", "hot"),
    ("global", ".global", "all grids, the host by copies", "one store, apart from its addresses",
     "good"),
    ("constant", ".const", "all grids, read only", "in the same store", "good"),
    ("parameters", ".param", "all threads, read only", "a copy per launch", "cell"),
]
INSTRUCTIONS = ["mov, add, …", "LDL  STL", "LDS  STS  ATOMS", "LD  ST  ATOM",
                "LDG  STG  ATOMG  RED",
                "LDC", "LDC"]


def main():
    figure = Figure(872, TOP + len(SPACES) * ROW + 44, "State spaces",
                    "The memories that PTX names, who sees each, and what machine code calls them.")
    figure.text(LEFT, 30, "The memories that PTX names", "head ink")
    for x, title in zip(COLUMNS, ["", "in PTX", "who sees it", "in the emulator",
                                  "machine code (sm_90)"]):
        figure.text(x, 66, title, "quiet")
    for row, (name, ptx, who, where, style) in enumerate(SPACES):
        y = TOP + row * ROW
        figure.rect(LEFT - 10, y - 8, 844, ROW - 8, style)
        figure.text(LEFT, y + 19, name, "ink")
        figure.text(COLUMNS[1], y + 19, ptx, "ink mono small")
        figure.text(COLUMNS[2], y + 19, who, "ink small")
        figure.text(COLUMNS[3], y + 19, where, "ink small")
        figure.text(COLUMNS[4], y + 19, INSTRUCTIONS[row], "ink mono small")
    figure.text(LEFT, TOP + len(SPACES) * ROW + 22,
                "A generic address is a window: its highest bits say "
                "shared, local or parameter; everything else is global.", "quiet")
    figure.save("spaces.svg")


main()
