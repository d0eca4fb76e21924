#!/usr/bin/env python3
"""Draws a sum of 32 elements by 16 threads and by 4, addition by addition:
notes/figures/share.svg."""

from svg import Figure

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
    figure.text(left, TOP - 12, "%d additions, %d barriers" % (additions, barriers), "small quiet")
    y = TOP
    for adding, barrier in all_rounds:
        if barrier:
            figure.line(left, y + 1, left + threads * CELL - GAP, y + 1, "line-bad")
            y += 6
        figure.cells([(left + k * CELL, y) for k in range(adding)], CELL - GAP, "hot")
        figure.cells([(left + k * CELL, y) for k in range(adding, threads)], CELL - GAP, "empty")
        y += CELL
    return y


def main():
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


main()
