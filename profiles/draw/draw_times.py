#!/usr/bin/env python3
"""Draws measured times against n. From h200/verify.csv: notes/figures/times.svg (the documents'
Figure 39-7) and block-scans.svg (Figure 39-8); from h200/bench.csv: cpu-gpu.svg, side-by-side.svg,
and of-the-roof.svg, the fastest copy's time as a share of theirs; from h200/experiments.csv:
selects.svg (Figure 39-11); from h200/ranks.csv: ranks.svg, and what the model predicts."""
import math

from svg import BLUE, CLASSES, GREEN, INK, QUIET, RED, Figure
import experiment_rows
import bench_rows
from rank_rows import MACHINES, MEASURED, MODEL, SIZES, seconds
from records import GPU, TIMED, power

MICRO = 1e6
PURPLE, PINK, BROWN = ("#8250df", "#a371f7"), ("#bf3989", "#f778ba"), ("#9a6700", "#d29922")
COLOURS = [QUIET, RED, PURPLE, GREEN, PINK, BROWN, ("#0550ae", "#79c0ff"), ("#cf222e", "#ff7b72"),
           ("#116329", "#7ee787")]
NEAR = ("step 6", "step 8", "step 9")  # near the curves of steps 7 and 5, from 2^20 on
WIDTH, HEIGHT, LEFT, TOP, KEY, BOTTOM = 780, 480, 70, 72, 190, 46


def timed(step, variant=""):
    """(n, µs) of a scan in verify.csv, for powers of two."""
    return [(int(row["n"]), MICRO * float(row["seconds"])) for row in TIMED
            if row["step"] == str(step) and row["variant"] == variant and row["seconds"]
            and not int(row["n"]) & (int(row["n"]) - 1)]


def copied():
    """That of the copy beside step 7's runs."""
    share = {int(row["n"]): float(row["roof_fraction"]) for row in TIMED
             if row["step"] == "7" and row["seconds"]}
    return [(n, time * share[n]) for n, time in timed(7)]


def beside(name):
    """That of a contender in bench.csv; "roof": of the fastest copy."""
    points = [(n, bench_rows.roof(n)[0] if name == "roof" else bench_rows.seconds(name, n))
              for n in bench_rows.POWERS]
    return [(n, MICRO * seconds) for n, seconds in points if seconds]


def of_the_roof(name):
    points = [(n, bench_rows.roof(n)[0], bench_rows.seconds(name, n)) for n in bench_rows.POWERS]
    return [(n, 100 * top / seconds) for n, top, seconds in points if top and seconds]


def selected(way):
    return [(n, MICRO * seconds) for n, seconds in experiment_rows.selects_curve(way, 50)]


def marks(low, high, base):
    """The powers of the base from `low` to `high`."""
    first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    return [base ** k for k in range(first, last + 1)]


def draw(name, title, curves, share=False):
    """Curves are (label, colour, points); a share is drawn in per cent, a time on a scale of powers
    of ten."""
    figure = Figure(WIDTH, HEIGHT, title, "Curves: %s." % ", ".join(c[0] for c in curves))
    figure.text(24, 28, title, "head ink")
    figure.text(24, 45, "%s, median, cold L2" % GPU["GPU"], "small quiet")
    points = [point for _, _, curve in curves for point in curve]
    across = marks(min(n for n, _ in points), max(n for n, _ in points), 2)
    low, high = min(y for _, y in points), max(y for _, y in points)
    up = list(range(0, math.ceil(high / 20) * 20 + 1, 20)) if share else marks(low, high, 10)
    scale = (lambda y: y) if share else math.log
    right, bottom = WIDTH - KEY, HEIGHT - BOTTOM

    def place(n, y):
        part = (scale(y) - scale(up[0])) / (scale(up[-1]) - scale(up[0]))
        return (LEFT + (right - LEFT) * math.log(n / across[0]) / math.log(across[-1] / across[0]),
                bottom - (bottom - TOP) * part)

    for n in across[::2]:
        figure.line(*place(n, up[0]), *place(n, up[-1]))
        figure.text(place(n, up[0])[0], bottom + 18, power(round(math.log2(n))), "small quiet",
                    "middle")
    for y in up:
        figure.line(*place(across[0], y), *place(across[-1], y))
        figure.text(LEFT - 8, place(across[0], y)[1] + 4,
                    "%d %%" % y if share else power(round(math.log10(y)), 10), "small quiet",
                    "end")
    figure.text((LEFT + right) / 2, HEIGHT - 10, "n", "small quiet", "middle")
    if not share:
        figure.text(24, TOP - 6, "µs", "small quiet")
    for k, (label, colour, curve) in enumerate(curves):
        CLASSES["curve%d" % k] = {"stroke": colour, "fill": ("none", "none")}
        CLASSES["mark%d" % k] = {"fill": colour}
        at = [place(n, y) for n, y in sorted(curve)]
        figure.path("M" + "L".join("%.1f %.1f" % xy for xy in at), "curve%d" % k)
        for x, y in at:
            figure.dot(round(x, 1), round(y, 1), 2.2, "mark%d" % k)
        y = TOP + 12 + 20 * k
        figure.path("M%d %dh24" % (right + 14, y), "curve%d" % k)
        figure.dot(right + 26, y, 2.2, "mark%d" % k)
        figure.text(right + 44, y + 4, label, "small ink")
    figure.save(name + ".svg")


def main():
    draw("times", "Time of a scan of n floats", [
        ("C on one core (step 1)", QUIET, timed(1, "exclusive")),
        ("step 5", RED, timed(5, "conflict-free")), ("step 6", PURPLE, timed(6)),
        ("step 7", GREEN, timed(7)), ("CUB", BLUE, timed(0)),
        ("a copy of as many bytes", INK, copied())])
    draw("block-scans", "Step 5 with three scans of a block, and steps 6 and 7", [
        ("naive", QUIET, timed(5, "naive")), ("work-efficient", RED, timed(5, "work-efficient")),
        ("conflict-free", PURPLE, timed(5, "conflict-free")),
        ("vectorized (step 6)", GREEN, timed(6)), ("unrolled (step 7)", BLUE, timed(7))])
    draw("cpu-gpu", "Adding up n floats one by one, and on a GPU", [
        ("one core of the CPU", QUIET, beside("step 1")), ("a GPU", RED, beside("step 5"))])
    names = [name for name in bench_rows.contenders()
             if name not in ("step 0", "step 1", "CUB", *NEAR)]
    steps = [(name, COLOURS[k % len(COLOURS)], name) for k, name in enumerate(names)]
    steps += [("CUB (NVIDIA's library)", BLUE, "CUB")]
    draw("side-by-side", "Time of a scan of n floats",
         [(label, colour, beside(of)) for label, colour, of in steps]
         + [("the fastest copy", INK, beside("roof"))])
    draw("of-the-roof", "How near each comes to the fastest copy of n floats",
         [(label, colour, of_the_roof(of)) for label, colour, of in steps], share=True)
    draw("selects", "Time of a compaction of n int32, of which one half is kept", [
        ("document", RED, selected("document")), ("atomic (no order)", PURPLE, selected("atomic")),
        ("CUB", BLUE, selected("cub")), ("fast", GREEN, selected("fast")),
        ("a copy of n elements", INK, selected("copy"))])


def ranks():
    """How many times as fast as one GPU several GPUs are, as measured and as the model predicts."""
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
ranks()
