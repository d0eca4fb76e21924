#!/usr/bin/env python3
"""Draws when two accesses are in order and when they are a hazard: notes/figures/order.svg."""

from svg import Figure

LEFT, TOP, WIDTH, STEP = 24, 96, 250, 44


def main():
    figure = Figure(3 * WIDTH + 4 * LEFT, 400, "Order and hazard",
                    "Three pairs of threads: no barrier, a barrier, and a flag with fences.")
    figure.text(LEFT, 30, "Is there a path of arrows from one access to the other?", "head ink")
    figure.text(LEFT, 52,
                "If there is none, in either direction, no run of the program shows that it is "
                "right.", "quiet")

    def column(number, title, style):
        x = LEFT + number * (WIDTH + LEFT)
        figure.rect(x, 72, WIDTH, 286, "empty")
        figure.text(x + 12, 92, title, style)
        return x

    def event(x, row, side, text, style="cell"):
        left = x + 12 + side * 118
        figure.box(left, TOP + 26 + row * STEP, 108, 28, text, style, "ink mono small")

    def down(x, row, side, style="line"):
        centre = x + 66 + side * 118
        figure.arrow(centre, TOP + 55 + row * STEP, centre, TOP + 25 + (row + 1) * STEP, style)

    def names(x):
        figure.text(x + 66, TOP + 18, "thread 0", "small quiet", "middle")
        figure.text(x + 184, TOP + 18, "thread 1", "small quiet", "middle")

    x = column(0, "a hazard", "red")
    names(x)
    event(x, 0, 0, "s[0] = a", "bad")
    event(x, 3, 1, "b = s[0]", "bad")
    figure.text(x + 125, TOP + 26 + 5 * STEP - 12, "no path: RAW hazard", "small red", "middle")
    figure.text(x + 125, TOP + 26 + 5 * STEP + 4, "(even if the lanes ran in step)", "small quiet",
                "middle")

    x = column(1, "in order: a barrier", "green")
    names(x)
    event(x, 0, 0, "s[0] = a", "good")
    down(x, 0, 0, "line-hot")
    figure.box(x + 12, TOP + 26 + STEP, 226, 28, "__syncthreads()", "hot", "ink mono small")
    down(x, 1, 1, "line-hot")
    event(x, 2, 1, "b = s[0]", "good")
    figure.text(x + 125, TOP + 26 + 5 * STEP - 12, "what is above the barrier", "small quiet",
                "middle")
    figure.text(x + 125, TOP + 26 + 5 * STEP + 4, "is known below it", "small quiet", "middle")

    x = column(2, "in order: a flag", "green")
    names(x)
    event(x, 0, 0, "sum[b] = a", "good")
    down(x, 0, 0, "line-hot")
    event(x, 1, 0, "__threadfence()", "hot")
    down(x, 1, 0, "line-hot")
    event(x, 2, 0, "flag = 1", "hot")
    event(x, 3, 1, "flag == 1 ?", "hot")
    figure.arrow(x + 112, TOP + 40 + 2 * STEP + 8, x + 134, TOP + 33 + 3 * STEP, "line-hot")
    down(x, 3, 1, "line-hot")
    event(x, 4, 1, "b = sum[b]", "good")
    figure.text(LEFT, 384,
                "Red: the two accesses in question, without order. Green: with it. Blue: what "
                "makes the order.", "quiet")
    figure.save("order.svg")


main()
