#!/usr/bin/env python3
"""Draws the figures of measured times with gnuplot, from h200/verify.csv: notes/figures/times.svg
(the documents' Figure 39-7) and block-scans.svg (Figure 39-8); and from h200/bench.csv
side-by-side.svg, the steps, and of-the-roof.svg, the fastest copy's time as a share of theirs; and
from h200/experiments.csv selects.svg.

usage: plot.py           draws them
       plot.py --check   changes nothing; fails if a figure was drawn from older numbers

A figure carries a digest of its data, so that what gnuplot's version changes does not make it
stale.
"""
import hashlib
import os
import re
import subprocess
import sys

from svg import FIGURES
import application_rows
import bench_rows
from records import GPU, TIMED

MICRO = 1e6

# title, step, variant, gnuplot's colour and point
CURVES = {
    "times": ("Time of a scan of n floats", [
        ("C on one core (step 1)", 1, "exclusive", "#6e7781", 1),
        ("step 5", 5, "conflict-free", "#bc4c00", 2),
        ("step 6", 6, "", "#8250df", 3),
        ("step 7", 7, "", "#1a7f37", 4),
        ("CUB", 0, "", "#0969da", 5),
        ("a copy of as many bytes", None, "", "#24292f", 0)]),
    "block-scans": ("Step 5 with three scans of a block, and steps 6 and 7", [
        ("naive", 5, "naive", "#6e7781", 1),
        ("work-efficient", 5, "work-efficient", "#bc4c00", 2),
        ("conflict-free", 5, "conflict-free", "#8250df", 3),
        ("vectorized (step 6)", 6, "", "#1a7f37", 4),
        ("unrolled (step 7)", 7, "", "#0969da", 5)]),
}

# From bench.csv, where all were timed side by side.
COLOURS = ["#6e7781", "#bc4c00", "#8250df", "#1a7f37", "#bf3989", "#9a6700", "#0550ae", "#cf222e",
           "#116329"]


NEAR = ("step 6", "step 8", "step 9")  # near the curves of steps 7 and 5, from 2^20 on


def side_by_side():
    """The GPU's scans whose curves lie apart, CUB and the fastest copy."""
    names = [name for name in bench_rows.contenders()
             if name not in ("step 0", "step 1", "CUB", *NEAR)]
    curves = [(name, name, "", COLOURS[k % len(COLOURS)], k % 13 + 1)
              for k, name in enumerate(names)]
    return curves + [("CUB (NVIDIA's library)", "CUB", "", "#0969da", 5),
                     ("the fastest copy", "roof", "", "#24292f", 0)]


CURVES["cpu-gpu"] = ("Adding up n floats one by one, and on a GPU", [
    ("one core of the CPU", "step 1", "", "#6e7781", 1),
    ("a GPU", "step 5", "", "#bc4c00", 2)])

SHARES = "of-the-roof"  # the figure whose curves are per cent, not µs
CURVES["side-by-side"] = ("Time of a scan of n floats", side_by_side())
CURVES[SHARES] = ("How near each comes to the fastest copy of n floats", [
    curve for curve in side_by_side() if curve[0] != "the fastest copy"])


# From experiments.csv: the document's Figure 39-11.
SELECTS = "selects"
CURVES[SELECTS] = ("Time of a compaction of n int32, of which one half is kept", [
    ("document", (SELECTS, "document"), "", "#bc4c00", 2),
    ("atomic (no order)", (SELECTS, "atomic"), "", "#8250df", 3),
    ("CUB", (SELECTS, "cub"), "", "#0969da", 5),
    ("fast", (SELECTS, "fast"), "", "#1a7f37", 4),
    ("a copy of n elements", (SELECTS, "copy"), "", "#24292f", 0)])


def share_curve(name):
    points = [(n, bench_rows.roof(n)[0], bench_rows.seconds(name, n)) for n in bench_rows.POWERS]
    return [(n, 100 * top / seconds) for n, top, seconds in points if top and seconds]


def bench_curve(name):
    points = [(n, bench_rows.roof(n)[0] if name == "roof" else bench_rows.seconds(name, n))
              for n in bench_rows.POWERS]
    return [(n, MICRO * seconds) for n, seconds in points if seconds]


def curve(step, variant):
    """(n, µs) of a scan; step None: of the copy beside step 7's runs; a name: of that contender in
    bench.csv."""
    if isinstance(step, str):
        return bench_curve(step)
    if isinstance(step, tuple):
        return [(n, MICRO * seconds) for n, seconds in application_rows.selects_curve(step[1], 50)]
    rows = [row for row in TIMED if row["step"] == str(7 if step is None else step)
            and row["variant"] == variant and row["seconds"]]
    points = []
    for row in rows:
        n = int(row["n"])
        if n & (n - 1):
            continue  # a neighbour of a power of two
        seconds = float(row["seconds"])
        points.append((n, MICRO * (seconds * float(row["roof_fraction"]) if step is None
                                   else seconds)))
    return sorted(points)


def script(name):
    title, curves = CURVES[name]
    values = lambda step, variant: share_curve(step) if name == SHARES else curve(step, variant)
    points = [(label, values(step, variant), colour, point)
              for label, step, variant, colour, point in curves]
    lines = ["set title '%s, %s (median, cold L2)' font ',15'" % (title, GPU["GPU"]),
             "set logscale x 2", "set logscale y 10", "set format x '2^{%L}'",
             "set format y '10^{%L}'", "set grid lc rgb '#d0d7de'",
             "set xlabel 'n'", "set ylabel 'µs'", "set key top left reverse Left",
             "set border lc rgb '#59636e'"]
    if name == SHARES:
        lines += ["unset logscale y", "set format y '%g %%'", "set yrange [0:100]", "set ylabel ''",
                  "set key outside right top"]
    plots = []
    for number, (label, data, colour, point) in enumerate(points):
        if not data:
            sys.exit("plot.py: no recording has times of %s" % label)
        lines.append("$data%d << END" % number)
        lines += ["%d %.6g" % pair for pair in data]
        lines.append("END")
        style = "lines dt 2" if point == 0 else "linespoints pt %d ps 0.7" % point
        plots.append("$data%d with %s lw 1.6 lc rgb '%s' title '%s'"
                     % (number, style, colour, label.replace("'", "''")))
    return "\n".join(lines + ["plot " + ", ".join(plots), ""])


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def without_unused(svg):
    """What gnuplot writes, without empty groups, and marks and filters that nothing uses."""
    svg = re.sub(r"\t?<g [^>]*>\n\t?</g>\n", "", svg)
    defined = r"\t<(\w+) (?:[^>]* )?id='%s'[^>]*(?:/>|>.*?</\1>)\n"
    names = re.findall(r"\bid='(\w+)'", svg)
    for name in reversed(names):  # a mark may use one that stands before it
        if "#" + name not in svg:
            svg = re.sub(defined % name, "", svg, flags=re.S)
    return svg


def draw(name):
    text = script(name)
    path = os.path.join(FIGURES, name + ".svg")
    terminal = ("set terminal svg size 780,480 font 'sans-serif,12' background '#ffffff'\n"
                "set encoding utf8\n")
    drawn = subprocess.run(["gnuplot"], input=terminal + text, capture_output=True, text=True)
    if drawn.returncode or not drawn.stdout.strip():
        sys.exit("plot.py: gnuplot failed: " + drawn.stderr.strip())
    with open(path, "w", encoding="utf-8") as file:
        file.write(without_unused(drawn.stdout).rstrip() + "\n<!-- data: %s -->\n" % digest(text))


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = []
    for name in CURVES:
        path = os.path.join(FIGURES, name + ".svg")
        if not sys.argv[1:]:
            draw(name)
        elif (not os.path.exists(path)
              or digest(script(name)) not in open(path, encoding="utf-8").read()):
            stale.append(name + ".svg")
    if stale:
        sys.exit("out of date: notes/figures/%s; `make docs` renews them" % ", ".join(stale))


main()
