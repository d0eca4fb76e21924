#!/usr/bin/env python3
"""Draws grids, warps and lanes, in notes/figures/: step 9, a warp's scan by shuffles, shuffle.svg,
and how a block puts the scans of its warps together, shuffle-block.svg; a function for each other
figure."""
from svg import Figure


VALUES = [3, 1, 7, 0, 4, 1, 6, 3]  # the documents' example
CELL, GAP, LEFT, TOP, ROW = 56, 14, 150, 78, 84

WARPS, SLOT, SLOT_GAP = 8, 40, 6  # of the block's picture
TOTALS = [3, 1, 7, 0, 4, 1, 6, 3, 2, 5, 0, 4, 1, 7, 3, 2]  # of its warps, a and then b


def x(lane):
    return LEFT + lane * (CELL + GAP)


def draw_warp():
    lanes = len(VALUES)
    figure = Figure(x(lanes) + 6, TOP + 4 * ROW + 82, "A scan by shuffles",
                    "Three sweeps of eight lanes: each takes the value of the lane 1, 2, then 4 "
                    "places before it.")
    figure.text(24, 30, "Lanes hand their registers to each other", "head ink")
    figure.text(24, 52, "Eight lanes stand for the 32 of a warp.", "quiet")

    def row(y, label, values, styles):
        figure.text(24, y + 22, label, "ink mono")
        for lane in range(lanes):
            figure.box(x(lane), y, CELL, 34, values[lane], styles[lane])

    y, values, d = TOP, VALUES, 1
    row(y, "x", values, ["cell"] * lanes)
    while d < lanes:
        for lane in range(lanes):
            middle = x(lane) + CELL / 2
            if lane >= d:
                figure.arrow(x(lane - d) + CELL / 2, y + 36, middle - 5, y + ROW - 3, "line-hot")
            figure.line(middle, y + 36, middle, y + ROW - 3)
        values = [values[lane] + (values[lane - d] if lane >= d else 0) for lane in range(lanes)]
        y += ROW
        row(y, "d = %d" % d, values, ["hot" if lane >= d else "cell" for lane in range(lanes)])
        figure.text(24, y + 38, "p true in lanes %d to %d" % (d, lanes - 1), "small quiet")
        d *= 2
    for lane in range(1, lanes):
        figure.arrow(x(lane - 1) + CELL / 2, y + 36, x(lane) + CELL / 2 - 5, y + ROW - 3,
                     "line-hot")
    y += ROW
    row(y, "exclusive", [0] + values[:-1], ["cell"] + ["hot"] * (lanes - 1))
    figure.text(24, y + 62,
                "Blue arrows are shuffles. The first d lanes get their own value back, and "
                "their predicate p is false.", "quiet")
    figure.save("shuffle.svg")


def draw_block():
    width = 2 * WARPS * (SLOT + SLOT_GAP)
    left, figure = 24, Figure(width + 48, 440, "A block's scan in two levels",
                              "Sixteen totals of eight warps go through shared memory, where one "
                              "warp scans them.")
    at = lambda slot: left + slot * (SLOT + SLOT_GAP)
    names = ["%s%d" % (half, warp) for half in "ab" for warp in range(WARPS)]
    before = [sum(TOTALS[:slot]) for slot in range(2 * WARPS)]
    figure.text(24, 30, "Sixteen floats of shared memory, two barriers", "head ink")

    def row(y, height, values, style):
        for slot, value in enumerate(values):
            figure.box(at(slot), y, SLOT, height, value, style)

    def arrows(y, to):
        for slot in range(2 * WARPS):
            figure.arrow(at(slot) + SLOT / 2, y, at(slot) + SLOT / 2, to)

    def barrier(y, said):
        figure.line(24, y, 24 + width - SLOT_GAP, y, "line-bad")
        figure.text(24 + width - SLOT_GAP, y - 5, said, "small red", "end")

    for slot, name in enumerate(names):
        figure.text(at(slot) + SLOT / 2, 60, name, "small quiet", "middle")
    row(66, 34, TOTALS, "hot")
    figure.text(24, 117,
                "Each warp scans by shuffles, and its last lane gets its total: a0 is that of "
                "warp 0's first float4, b0 that of its second.", "small quiet")
    arrows(124, 148)
    row(150, 30, TOTALS, "good")
    barrier(202, "__syncthreads(): all totals are stored")
    arrows(210, 228)
    figure.rect(24, 230, width - SLOT_GAP, 34, "hot")
    figure.text(24 + width / 2, 251,
                "Warp 0 scans the sixteen totals by shuffles, and writes back what lies before "
                "each:", "ink", "middle")
    arrows(266, 284)
    row(286, 30, before, "good")
    barrier(338, "__syncthreads(): the scanned totals are stored")
    arrows(346, 364)
    row(366, 34, ["+%d" % sum_before for sum_before in before], "hot")
    figure.text(24, 418,
                "Each thread adds the sum before its warp and the sum before it within the warp.",
                "small quiet")
    figure.save("shuffle-block.svg")


def barrier():
    """Draws what a barrier is for, with two warps."""
    LEFT, TIME, ROW = 110, 66, 44  # where time begins, pixels for a part of it, pixels for a warp
    NAMES = ("warp 0", "warp 1")

    def bars(figure, y, bars_of):
        """For each warp, a name and its bars: (from, to, text, style)."""
        for w, parts in enumerate(bars_of):
            figure.text(24, y + w * ROW + 20, NAMES[w], "ink")
            for begin, end, text, style in parts:
                x, width = LEFT + begin * TIME, (end - begin) * TIME
                figure.rect(x, y + w * ROW, width - 3, ROW - 12, style)
                figure.text(x + width / 2 - 1, y + w * ROW + 20, text, "small ink", "middle")

    figure = Figure(720, 334, "What a barrier is for",
                    "Without a barrier warp 1 loads a number that warp 0 has not stored yet.")
    figure.text(24, 30, "Thread 32, in warp 1, needs the number of thread 31, in warp 0",
                "head ink")

    figure.text(LEFT, 58, "without a barrier: warp 1 happens to be faster", "quiet")
    bars(figure, 68, [[(2, 4, "store part[31]", "hot")],
                      [(0, 2, "store part[32]", "hot"), (2, 4, "load part[31]", "bad")]])
    figure.text(LEFT + 4.2 * TIME, 68 + ROW + 20, "it may load what was there before", "red")

    figure.text(LEFT, 190, "with __syncthreads()", "quiet")
    bars(figure, 200, [[(2, 4, "store part[31]", "hot"), (4.1, 6, "load part[30]", "good")],
                       [(0, 2, "store part[32]", "hot"), (2, 4, "waits", "empty"),
                        (4.1, 6, "load part[31]", "good")]])
    figure.line(LEFT + 4.02 * TIME, 192, LEFT + 4.02 * TIME, 200 + 2 * ROW, "line-hot")
    figure.text(LEFT + 4.02 * TIME, 200 + 2 * ROW + 16, "the barrier: no thread passes before "
                "all have arrived", "small quiet", "middle")
    figure.text(LEFT, 322, "time →", "small quiet")
    figure.save("barrier.svg")


def grid():
    """Draws what a launch consists of, and which memory belongs to whom."""
    BLOCKS, WARPS, LANES = 4, 8, 32  # of the launch <<<4, 256>>>
    LEFT, WIDTH = 24, 512            # of the rows of threads
    RIGHT = LEFT + WIDTH + 40        # of the memories
    BOX, STEP, TITLE = 40, 104, 22
    CHOSEN = 1  # the block and the warp that are opened

    def funnel(figure, x, width, y):
        """Lines from the chosen box towards the ends of the row below, down to its title."""
        for begin, end in ((x, LEFT), (x + width, LEFT + WIDTH)):
            part = 1 - TITLE / (STEP - BOX)
            figure.line(begin, y, begin + part * (end - begin), y + STEP - BOX - TITLE)

    figure = Figure(RIGHT + 290, 400, "Grid, block, warp, lane",
                    "A grid of 4 blocks, a block of 8 warps, a warp of 32 lanes, and the memory "
                    "that each level has.")
    figure.text(LEFT, 30, "The threads of square<<<4, 256>>>", "head ink")
    figure.text(RIGHT, 30, "and their memory", "head ink")

    rows = [("the grid: 4 blocks, in any order", BLOCKS, "block %d"),
            ("block 1: 256 threads in 8 warps", WARPS, "warp %d"),
            ("warp 1 of block 1: 32 lanes, which execute the same instruction", LANES, "")]
    memories = [("global memory", "all threads of all blocks, and the host's copies", "cell"),
                ("shared memory", "the threads of one block, while the block runs", "good"),
                ("registers", "one thread: i, out, in, …", "hot")]
    y = 70
    for (title, count, label), (name, owner, style) in zip(rows, memories):
        width = WIDTH / count
        figure.text(LEFT, y - 8, title, "quiet")
        for k in range(count):
            chosen = k == CHOSEN and count != LANES
            figure.rect(LEFT + k * width, y, width - 2, BOX,
                        style if chosen or count == LANES else "empty")
            if label:
                figure.text(LEFT + (k + 0.5) * width, y + 25, label % k, "ink small", "middle")
        if count == LANES:
            for k in (0, 31):
                figure.text(LEFT + (k + 0.5) * width, y + 25, k, "ink tiny", "middle")
        else:
            funnel(figure, LEFT + CHOSEN * width, width - 2, y + BOX)
        figure.rect(RIGHT, y, 220, BOX, style)
        figure.text(RIGHT + 12, y + 25, name, "ink")
        figure.text(RIGHT, y + BOX + 18, owner, "small quiet")
        y += STEP
    figure.text(LEFT, y + 14, "Lane 5 of warp 1 of block 1 has threadIdx.x = 32 + 5 = 37, "
                "and i = 1 · 256 + 37 = 293.", "quiet")
    figure.save("grid.svg")


def hybrid():
    """Draws step 8's launches for 16 elements, two reduce steps deep."""
    INPUT = [3, 1, 7, 0, 4, 1, 6, 3, 2, 0, 5, 1, 1, 8, 2, 2]
    STEPS = 2  # reduce steps; the naive scan gets the 4 sums that they leave
    CELL, LEFT, TOP, ROW, HEIGHT = 36, 210, 56, 66, 30

    class Levels:
        def __init__(self, figure):
            self.figure, self.y, self.moved = figure, TOP, 0

        def x(self, k, width):
            """The left edge of cell k of a row whose cells stand for `width` elements each."""
            return LEFT + k * width * CELL + (width - 1) * CELL / 2

        def row(self, values, width, style, label, words=0, arrows=()):
            """The next row: (k, k before, width before) for each arrow from the row above."""
            if arrows:
                self.y += ROW
            for k, source, before in arrows:
                self.figure.arrow(self.x(source, before) + CELL / 2, self.y - ROW + HEIGHT + 2,
                                  self.x(k, width) + CELL / 2, self.y - 3)
            self.figure.text(24, self.y + 13, label, "ink")
            if words:
                self.moved += words
                self.figure.text(24, self.y + 29, "%d words" % words, "small quiet")
            for k, value in enumerate(values):
                self.figure.box(self.x(k, width), self.y, CELL, HEIGHT, value, style)

    n = len(INPUT)
    left = n >> STEPS
    sweeps = max(1, (left - 1 - 1).bit_length())
    rows = 1 + STEPS + sweeps + STEPS
    figure = Figure(LEFT + n * CELL + 24, TOP + rows * ROW + 10, "The hybrid, launch by launch",
                    "Pairs are added, the few sums that are left are scanned naively, and the way "
                    "leads back down.")
    figure.text(24, 30, "Every row is written to device memory by one launch, and read by the next",
                "head ink")
    levels = Levels(figure)
    levels.row(INPUT, 1, "cell", "input")
    sums = [INPUT]
    for d in range(STEPS):
        below = sums[-1]
        sums.append([below[k] + below[k + 1] for k in range(0, len(below), 2)])
        pairs = [(k // 2, k, 1 << d) for k in range(len(below))]
        levels.row(sums[-1], 2 << d, "hot", "reduce_step", len(below) + len(sums[-1]), pairs)

    values, width = [0] + sums[-1][:-1], 1 << STEPS
    for sweep in range(sweeps):
        offset, shift = 1 << sweep, sweep == 0
        reads = [[j for j in (k - shift, k - shift - offset) if j >= 0] for k in range(left)]
        arrows = [(k, j, width) for k, sources in enumerate(reads) for j in sources]
        values = [v + (values[k - offset] if k >= offset else 0) for k, v in enumerate(values)]
        levels.row(values, width, "bad", "naive_step, offset %d" % offset, len(arrows)
                   + left, arrows)

    for d in reversed(range(STEPS)):
        below = sums[d]
        down = [values[k // 2] + (below[k - 1] if k % 2 else 0) for k in range(len(below))]
        arrows = [(k, k // 2, 2 << d) for k in range(len(below))]
        levels.row(down, 1 << d, "good", "down_step", len(values) + 2 * len(below), arrows)
        values = down
    expected = [sum(INPUT[:k]) for k in range(n)]
    assert values == expected
    figure.text(24, TOP + rows * ROW - 4,
                "%d words for %d elements. Each down_step also reads the pairs of its level."
                % (levels.moved, n), "quiet")
    figure.save("hybrid.svg")


def lanes():
    """Draws how the lanes of a warp part at an if and meet behind it."""
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


def launch():
    """Draws the way of a launch through the emulator."""
    WIDTH, HEIGHT = 780, 480
    BOX = 38

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


def order():
    """Draws when two accesses are in order and when they are a hazard."""
    LEFT, TOP, WIDTH, STEP = 24, 96, 250, 44

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


def unrolled():
    """Draws the up-sweep's loop in step 6 and what step 7 makes of it."""
    TREE, COPIES = 512, 3
    LEFT, RIGHT, TOP, ROW, WIDTH = 72, 452, 86, 27, 300

    def column(figure, x, y, lines):
        for text, style in lines:
            figure.box(x, y, WIDTH, ROW - 4, text, style, "small ink mono")
            y += ROW
        return y

    def body(index, limit):
        """What a level does in both steps, around the lines that find the two indices."""
        return [("__syncthreads()", "cell"), ("thid < %s ?" % limit, "cell"), *index,
                ("ai += ai / 32, bi += bi / 32", "cell"), ("temp[bi] += temp[ai]", "hot")]

    levels = TREE.bit_length() - 1
    figure = Figure(RIGHT + WIDTH + 24, TOP + 15 * ROW + 84, "A loop unrolled",
                    "The loop counts, compares, multiplies and jumps; its nine copies do not.")
    figure.text(24, 30, "The up-sweep of %d leaves" % TREE, "head ink")
    figure.text(LEFT, TOP - 14, "step 6: one body, %d times" % levels, "ink")
    figure.text(RIGHT, TOP - 14, "step 7: %d copies, each with its constants" % levels, "ink")

    index = [("%ci = offset * (2 * thid + %d) - 1" % node, "bad") for node in (("a", 1), ("b", 2))]
    end = column(figure, LEFT, TOP, [("d > 0 ?", "bad"), *body(index, "d"),
                                     ("offset *= 2, d >>= 1", "bad")])
    side = LEFT - 22
    for x1, y1, x2, y2 in ((LEFT - 3, end - ROW / 2, side, end - ROW / 2),
                           (side, end - ROW / 2, side, TOP + ROW / 2)):
        figure.line(x1, y1, x2, y2, "line-bad")
    figure.arrow(side, TOP + ROW / 2, LEFT - 3, TOP + ROW / 2, "line-bad")

    y = TOP
    for level in range(COPIES):
        offset = 1 << level
        index = "ai = %d * thid%s, bi = %d * thid + %d" % (
            2 * offset, " + %d" % (offset - 1) if level else "", 2 * offset, 2 * offset - 1)
        y = column(figure, RIGHT, y, body([(index, "good")], TREE >> level + 1)) + 10
    figure.text(RIGHT + WIDTH / 2, y + 12, "… and %d more" % (levels - COPIES), "ink", "middle")

    figure.legend(y + 34, (LEFT, "bad", "needed only by the loop"),
                  (LEFT + 190, "good", "constants"), (LEFT + 290, "cell", "stays as it is"),
                  (LEFT + 410, "hot", "the addition"))
    figure.save("unrolled.svg")


draw_warp()
draw_block()
barrier()
grid()
hybrid()
lanes()
launch()
order()
unrolled()
