#!/usr/bin/env python3
"""Draws the way of a launch through the emulator: notes/figures/launch.svg."""

from svg import Figure

WIDTH, HEIGHT = 780, 480
BOX = 38


def main():
    figure = Figure(WIDTH, HEIGHT, "The way of a launch",
                    "From the program's call through PTX to blocks, warps and the door to memory.")
    figure.text(24, 30, "What happens at scan<<<grid, block>>>(out, in, n)", "head ink")

    def stage(x, y, width, name, file, style="cell"):
        figure.rect(x, y, width, BOX, style)
        figure.text(x + width / 2, y + 17, name, "ink", "middle")
        figure.text(x + width / 2, y + 31, file, "small quiet mono", "middle")

    # Once a kernel: text to code.
    figure.text(24, 66, "once a kernel", "quiet")
    across = [("the call", "cuda_launch.c", "cell"), ("fat binary", "fatbin.c", "cell"),
              ("PTX text", "ptx*.c", "cell"), ("decoded code", "decode*.c", "hot")]
    width, gap, top = 160, 30, 78
    for k, (name, file, style) in enumerate(across):
        x = 24 + k * (width + gap)
        stage(x, top, width, name, file, style)
        if k:
            figure.arrow(x - gap + 3, top + BOX / 2, x - 4, top + BOX / 2)

    # Once a launch: the grid, on the host's cores.
    y = 166
    figure.text(24, y - 12, "once a launch", "quiet")
    figure.arrow(24 + 3.5 * width + 3 * gap, top + BOX + 3, 24 + 3.5 * width + 3 * gap, y - 4,
                 "line-hot")
    figure.rect(24, y, 3 * width + 2 * gap, 70, "empty")
    figure.text(36, y + 18, "grid", "ink")
    figure.text(36, y + 34, "scheduler.c", "small quiet mono")
    for b in range(10):
        style = "good" if b < 2 else "cell" if b > 5 else "hot"
        figure.box(116 + b * 42, y + 12, 36, 28, b, style)
    figure.text(116, y + 60, "two run, each on a host thread; four wait for their turn;"
                " four have not begun", "small quiet")
    stage(24 + 3 * (width + gap), y + 4, width, "launch", "launch.c")
    figure.arrow(24 + 3 * (width + gap) - 4, y + 23, 24 + 3 * width + 2 * gap + 5, y + 23)

    # A block's time slice.
    y = 282
    figure.text(24, y - 12, "a block's slice: its warps take turns", "quiet")
    figure.arrow(60, 238, 60, y - 28, "line-hot")
    stage(24, y, width, "block, barriers", "block.c", "good")
    stage(24 + width + gap, y, width, "which lanes are next", "warp.c")
    stage(24 + 2 * (width + gap), y, width, "the loop", "exec.c", "hot")
    stage(24 + 3 * (width + gap), y, width, "32 lanes at once", "ops_*.c", "hot")
    for k in (1, 2, 3):
        x = 24 + k * (width + gap)
        figure.arrow(x - gap + 3, y + BOX / 2, x - 4, y + BOX / 2)

    # All accesses to memory go through one function.
    y = 372
    figure.arrow(24 + 3.5 * width + 3 * gap, 282 + BOX + 3, 24 + 3.5 * width + 3 * gap, y - 4,
                 "line-hot")
    figure.text(24, y - 12, "every access to memory: it passes the door, which hands it on",
                "quiet")
    stage(24 + 3 * (width + gap), y, width, "the door", "ops_door.c", "bad")
    beside = [("where the bytes are", "memory.c"), ("banks and sectors", "counters.c"),
              ("hazards, first reads", "the checkers")]
    bus = y + BOX + 16  # a line from the door, below the boxes, with an arrow up to each
    door = 24 + 3.5 * width + 3 * gap
    figure.line(door, y + BOX, door, bus)
    figure.line(24 + width / 2, bus, door, bus)
    for k, (name, file) in enumerate(beside):
        x = 24 + k * (width + gap)
        stage(x, y, width, name, file)
        figure.arrow(x + width / 2, bus, x + width / 2, y + BOX + 3)
    figure.text(24, y + 80, "Bounds, alignment, counting, tracing and checking are done there and "
                "nowhere else.", "quiet")
    figure.save("launch.svg")


main()
