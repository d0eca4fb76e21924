#!/usr/bin/env python3
"""Draws the naive scan's sweeps over 8 elements, as traced: notes/figures/naive.svg."""

from svg import Figure
from traced import accesses, loaded, moves, stored

N = 8
CELL, GAP, LEFT, TOP, ROW = 56, 14, 130, 56, 84
TRACE = accesses(2, N)
SWEEPS = max(access.epoch for access in TRACE if access.store and not access.array)


def x(k):
    """The left edge of the cell of element k; its two buffers are one above the other."""
    return LEFT + k % N * (CELL + GAP)


def middle(k):
    return x(k) + CELL / 2


def main():
    figure = Figure(x(N - 1) + CELL + 20, TOP + (SWEEPS + 1) * ROW + 94,
                    "The naive scan of 8 elements",
                    "Three sweeps: each element adds the one 1, 2, then 4 places to its left.")
    figure.text(24, 30, "Each sweep reads one buffer and writes the other", "head ink")

    def row(y, label, notes, values, hot=()):
        figure.text(24, y + 14, label, "ink")
        for i, note in enumerate(notes):
            figure.text(24, y + 29 + 14 * i, note, "small quiet")
        for k, value in values.items():
            figure.box(x(k), y, CELL, 34, value, "hot" if k in hot else "cell")

    y, additions = TOP, []
    first = [access for access in TRACE if access.epoch == 0]
    row(y, "input", [], loaded(a for a in first if a.array))
    for k in set(range(N)) - set(loaded(a for a in first if a.array)):
        figure.box(x(k), y, CELL, 34, "not read", "empty", "small quiet")
    for lane, sources, place, _ in moves(first):
        for source in sources:
            figure.arrow(middle(source), y + 36, middle(place), y + ROW - 3)
    y += ROW
    row(y, "shifted", ["buffer %d" % (min(stored(a for a in first if not a.array)) // N)],
        stored(a for a in first if not a.array))

    for sweep in range(1, SWEEPS + 1):
        trace = [a for a in TRACE if a.epoch == sweep and not a.array]
        hot = {}
        for lane, sources, place, _ in moves(trace):
            adds = len(sources) > 1
            for source in sources:
                figure.arrow(middle(source), y + 36, middle(place)
                             - (5 if middle(source) < middle(place) else 0), y + ROW - 3,
                             "line-hot" if adds else "line")
            if adds:
                hot[place] = max(sources) - min(sources)
        y += ROW
        additions.append(len(hot))
        row(y, "offset = %d" % max(hot.values()),
            ["%d additions" % len(hot), "into buffer %d" % (min(stored(trace)) // N)],
            stored(trace), hot)
    figure.text(24, y + 76,
                "Blue cells add, grey ones copy: %s = %d additions, where the loop of step 1 does "
                "%d."
                % (" + ".join(map(str, additions)), sum(additions), N - 1), "quiet")
    figure.save("naive.svg")


main()
