#!/usr/bin/env python3
"""Draws how the lanes of a warp part at an if and meet behind it: notes/figures/lanes.svg."""

from svg import Figure

LANES = 8  # of the warp, in the picture
CELL, ROW, TOP, LEFT = 30, 34, 92, 300

# number, instruction, lanes that are at it when it runs
EVEN, ODD, ALL = "even", "odd", "all"
CODE = [
    (0, "and  %r2, %tid, 1", ALL),
    (1, "setp.eq %p, %r2, 0", ALL),
    (2, "@%p bra  5", ALL),
    (3, "mul  %r3, %r1, 3", ODD),
    (4, "bra  6", ODD),
    (5, "add  %r3, %r1, 7", EVEN),
    (6, "st   [%r4], %r3", ALL),
]


def takes_part(lane, group):
    return group == ALL or (lane % 2 == 0) == (group == EVEN)


def main():
    figure = Figure(LEFT + LANES * CELL + 290, TOP + len(CODE) * ROW + 42, "Lanes part and meet",
                    "Eight lanes run an if and an else; the fragment at the lowest instruction "
                    "runs.")
    figure.text(24, 30, "One warp, two ways, no stack", "head ink")
    figure.text(24, 52, "Of several fragments the one at the lowest instruction runs; at one "
                "instruction they merge.", "quiet")
    figure.text(LEFT + LANES * CELL / 2, 80, "lanes 0 to 7", "small quiet", "middle")

    for row, (number, text, group) in enumerate(CODE):
        y = TOP + row * ROW
        figure.text(24, y + 18, number, "quiet mono")
        figure.text(48, y + 18, text, "ink mono")
        for lane in range(LANES):
            on = takes_part(lane, group)
            style = "hot" if group == ALL else "good" if group == EVEN else "bad"
            style = style if on else "empty"
            figure.rect(LEFT + lane * CELL, y + 2, CELL - 4, ROW - 8, style)
    right = LEFT + LANES * CELL + 14
    notes = {2: "a split: even lanes wait at 5, odd ones go on to 3",
             3: "3 is lower than 5: odd lanes run",
             4: "they jump to 6, so 5 is now the lowest",
             5: "even lanes run until they come by 6 …",
             6: "… where the odd ones are: one fragment again"}
    for row, note in notes.items():
        figure.text(right, TOP + row * ROW + 18, note, "small quiet")
    y = TOP + len(CODE) * ROW + 24
    figure.text(24, y,
                "Seven instructions for all lanes instead of five or six for each: that is the "
                "price of divergence.", "quiet")
    figure.save("lanes.svg")


main()
