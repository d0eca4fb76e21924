#!/usr/bin/env python3
"""Draws how many times as fast as one GPU several GPUs are, by the number of elements, as measured
and as the model of rank_rows.py predicts: notes/figures/ranks.svg."""

import math

from svg import Figure
from rank_rows import MACHINES, MEASURED, MODEL, SIZES, seconds

WIDTH, HEIGHT = 780, 470
LEFT, RIGHT, TOP, BOTTOM = 64, 640, 64, 410
LEAST, MOST = 20, 40  # powers of two: elements
LOWEST, HIGHEST = -4, 10  # powers of two: speed-ups
CURVES = {2: ("hot", "blue"), 4: ("hot", "blue"), 8: ("hot", "blue"), MACHINES: ("bad", "red")}
STEPS = 2  # of a curve, for each power of two


def x_of(power):
    return LEFT + (power - LEAST) / (MOST - LEAST) * (RIGHT - LEFT)


def y_of(speed_up):
    return BOTTOM - (math.log2(speed_up) - LOWEST) / (HIGHEST - LOWEST) * (BOTTOM - TOP)


def axes(figure):
    for power in range(LEAST, MOST + 1, 2):
        figure.line(x_of(power), BOTTOM, x_of(power), BOTTOM + 4)
        figure.text(x_of(power) - 2, BOTTOM + 20, "2", "small quiet", "end")
        figure.text(x_of(power) - 1, BOTTOM + 14, power, "tiny quiet")
    for power in range(LOWEST, HIGHEST + 1, 2):
        text = str(2 ** power) if power >= 0 else "1/%d" % 2 ** -power
        figure.line(LEFT, y_of(2 ** power), RIGHT, y_of(2 ** power))
        figure.text(LEFT - 8, y_of(2 ** power) + 4, text, "small quiet", "end")
    figure.text((LEFT + RIGHT) / 2, BOTTOM + 38, "n", "quiet", "middle")
    figure.text(RIGHT - 4, y_of(1) + 14, "step 12 on one GPU: 1", "small quiet", "end")


def curve(figure, gpus):
    style, words = CURVES[gpus]
    points = [(power / STEPS, MODEL.speed_up(gpus, 2 ** (power / STEPS)))
              for power in range(STEPS * LEAST, STEPS * MOST + 1)]
    points = [(x_of(power), y_of(speed_up)) for power, speed_up in points
              if speed_up >= 2 ** LOWEST]
    for (x1, y1), (x2, y2) in zip(points, points[1:]):
        figure.line(x1, y1, x2, y2, style)
    who = "%d GPUs" % gpus if gpus < MACHINES else "%d machines" % gpus
    figure.text(RIGHT + 8, points[-1][1] + 4, who, "small " + words)


def dots(figure, gpus):
    for n in SIZES:
        measured = seconds("step12", n, gpus) / seconds("scan peer", n, gpus)
        figure.dot(x_of(math.log2(n)), y_of(measured), 3.5, CURVES[gpus][1])


def main():
    figure = Figure(WIDTH, HEIGHT, "Speed-up over one GPU",
                    "Measured points and curves of the model, for 2, 4 and 8 GPUs and %d machines."
                    % MACHINES)
    figure.text(24, 28, "How many times as fast as step 12 on one GPU", "head ink")
    figure.text(24, 46, "sums of n floats; dots are measured, curves are the model", "small quiet")
    axes(figure)
    for gpus in CURVES:
        curve(figure, gpus)
        if gpus in MEASURED:
            dots(figure, gpus)
    figure.save("ranks.svg")


main()
