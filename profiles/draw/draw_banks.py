#!/usr/bin/env python3
"""Draws memory, in notes/figures/: which lane uses which bank, before and after padding, as traced,
banks.svg (one level of the tree) and bank-levels.svg (all of them, on 32 banks and on the 16 of
2007); rows of 32 words, padding.svg; and PTX's state spaces, spaces.svg."""
from collections import Counter

from svg import Figure
from traced import accesses


WARP, LEVELS, N = 32, 9, 512
UP_SWEEP = "temp[bi] += temp[ai];"
SCANS = {"step 3": accesses(3, N), "pad16": accesses(4, N, "pad16"),
         "pad32": accesses(4, N, "pad32")}


def left_children(scan, level):
    """{lane: word}: what the first warp reads as temp[ai], the lower of the two loads of a
    level."""
    loads = [a for a in SCANS[scan] if a.epoch == level + 1 and a.source == UP_SWEEP
             and not a.store]
    lowest = min(loads, key=lambda access: access.lanes[0])
    return {lane: place for lane, (place, _) in lowest.lanes.items()}


def met(words, banks, lanes):
    """{lane: (bank, how many of the first lanes meet there)}"""
    bank = {lane: word % banks for lane, word in words.items() if lane < lanes}
    crowd = Counter(bank.values())
    return {lane: (b, crowd[b]) for lane, b in bank.items()}


def ways(lanes):
    return max(crowd for _, crowd in lanes.values())


# ---- one level -----------------------------------------------------------------------------------

LEVEL = 3  # offset = 8
DOT, LEFT, TOP = 11, 76, 96


def panel(figure, left, title, scan):
    lanes = met(left_children(scan, LEVEL), WARP, WARP)
    crowd, width = ways(lanes), WARP * DOT
    style, fill = ("red", "bad") if crowd > 1 else ("green", "good")

    figure.text(left, TOP - 36, title, "ink")
    figure.text(left, TOP - 18, "%d wavefront%s for one load" % (crowd, "s" if crowd > 1 else ""),
                style)
    figure.rect(left, TOP, width, width, "empty", radius=0)
    for bank in sorted({bank for bank, many in lanes.values() if many > 1}):
        figure.rect(left + bank * DOT, TOP, DOT, width, fill, radius=0)
    for step in range(4, WARP, 4):
        figure.line(left + step * DOT, TOP, left + step * DOT, TOP + width)
        figure.line(left, TOP + step * DOT, left + width, TOP + step * DOT)
    for lane, (bank, _) in lanes.items():
        figure.dot(left + (bank + 0.5) * DOT, TOP + (lane + 0.5) * DOT, 4, style)
    for bank in range(0, WARP, 4):
        figure.text(left + (bank + 0.5) * DOT, TOP + width + 15, bank, "small quiet", "middle")
        figure.text(left - 6, TOP + (bank + 0.8) * DOT, bank, "small quiet", "end")
    figure.text(left + width / 2, TOP + width + 34, "bank", "quiet", "middle")
    figure.text(left - 26, TOP + width / 2 + 2.5 * DOT, "lane", "quiet", "end")


def one_level():
    width = WARP * DOT
    second = LEFT + width + 76
    figure = Figure(second + width + 30, TOP + width + 52, "Lanes and banks",
                    "At a distance of 16 words, 32 lanes share two banks; with one word of padding "
                    "after every 32, each lane has a bank of its own.")
    figure.text(24, 30, "The 32 lanes of a warp read temp[ai] in the up-sweep, offset = %d"
                % (1 << LEVEL), "head ink")
    panel(figure, LEFT, "step 3: temp[ai]", "step 3")
    panel(figure, second, "step 4: temp[ai + (ai >> 5)]", "pad32")
    figure.save("banks.svg")


# ---- all levels ----------------------------------------------------------------------------------

SIDE, APART, HEADING, DOWN = 80, 10, 142, 126  # of the small panels
ROWS = [("step 3", "step 3", 32), ("pad16", "i + (i >> 4)", 32), ("pad32", "i + (i >> 5)", 32),
        ("step 3", "step 3", 16), ("pad16", "i + (i >> 4)", 16)]


def axes(figure, top, banks):
    """Lanes beside the first panel of a row, and banks below it."""
    last = str(banks - 1)
    for at, lane in ((8, "0"), (SIDE, last)):
        figure.text(HEADING - 5, top + at, lane, "tiny quiet", "end")
    figure.text(HEADING - 5, top + SIDE / 2 + 3, "lane", "tiny quiet", "end")
    for at, bank, anchor in ((0, "0", "start"), (SIDE / 2, "bank", "middle"), (SIDE, last, "end")):
        figure.text(HEADING + at, top + SIDE + 11, bank, "tiny quiet", anchor)


def small_panel(figure, left, top, lanes, banks):
    dot = SIDE / banks
    figure.rect(left, top, SIDE, SIDE, "empty", radius=0)
    for style, crowded in (("red", True), ("green", False)):
        corners = [(left + bank * dot, top + lane * dot) for lane, (bank, many) in lanes.items()
                   if (many > 1) == crowded]
        if corners:
            figure.cells(corners, dot, style)
    crowd = ways(lanes)
    figure.text(left + SIDE / 2, top + SIDE + 25, "%d-way" % crowd if crowd > 1 else "free",
                "small " + ("red" if crowd > 1 else "green"), "middle")


def all_levels():
    figure = Figure(HEADING + LEVELS * (SIDE + APART) + 8, 76 + len(ROWS) * DOWN,
                    "Lanes and banks, level by level",
                    "Without padding the conflicts double from level to level, up to 16-way; "
                    "padding removes them.")
    figure.text(24, 30,
                "The lanes that read temp[ai] in the up-sweep over %d elements, and their banks"
                % N, "head ink")
    for level in range(LEVELS):
        figure.text(HEADING + level * (SIDE + APART) + SIDE / 2, 58, "offset %d" % (1 << level),
                    "small quiet", "middle")
    for i, (scan, title, banks) in enumerate(ROWS):
        top = 68 + i * DOWN
        figure.text(24, top + 34, title, "ink")
        figure.text(24, top + 50, "%d banks" % banks, "small quiet")
        figure.text(24, top + 64, "a warp" if banks == WARP else "half a warp", "small quiet")
        axes(figure, top, banks)
        for level in range(LEVELS):
            small_panel(figure, HEADING + level * (SIDE + APART), top,
                        met(left_children(scan, level), banks, banks), banks)
    figure.save("bank-levels.svg")


def padding():
    """Draws shared memory as rows of 32 words, without and with padding."""
    BANKS, ROWS = 32, 5
    LEFT, CELL, GAP = 90, 20, 2
    WANTED = [0, 32, 64, 96]  # words that four lanes want at once: a stride of 32

    def rows(figure, y, place_of, words, title, style):
        """Rows of places; `place_of` says where a word lies. Places without a word are padding."""
        figure.text(24, y, title, "ink")
        y += 28
        for bank in (0, 1, 2, 3, 31):
            figure.text(LEFT + bank * CELL + CELL / 2 - 1, y - 6, bank, "quiet tiny", "middle")
        figure.text(24, y - 6, "bank", "quiet small")
        word_at = {place_of(word): word for word in range(words)}
        plain, padding = [], []
        for place in range(BANKS * ROWS):
            row, bank = divmod(place, BANKS)
            x, top = LEFT + bank * CELL, y + row * CELL
            if place not in word_at:
                padding += [(x, top)] * (place < place_of(words - 1))
            elif word_at[place] not in WANTED:
                plain.append((x, top))
            else:
                figure.rect(x, top, CELL - GAP, CELL - GAP, style, radius=2)
                figure.text(x + (CELL - GAP) / 2, top + 12.5, word_at[place], "ink tiny", "middle")
        figure.cells(plain, CELL - GAP, "cell")
        if padding:
            figure.cells(padding, CELL - GAP, "quiet")

    words = 4 * BANKS
    figure = Figure(LEFT + BANKS * CELL + 24, 330, "Padding shifts each row",
                    "Without padding words 0, 32, 64 and 96 lie in bank 0; with a word of padding "
                    "after every 32 they lie in banks 0 to 3.")
    figure.text(24, 30, "Four lanes want the words 0, 32, 64 and 96", "head ink")
    rows(figure, 62, lambda word: word, words,
         "without padding all four lie in bank 0: four wavefronts", "bad")
    rows(figure, 196, lambda word: word + word // BANKS, words,
         "one unused word after every 32 (dark): they lie in banks 0, 1, 2 and 3: one wavefront",
         "good")
    figure.save("padding.svg")


def spaces():
    """Draws PTX's state spaces, who sees them and where the emulator keeps them."""
    LEFT, TOP, ROW = 24, 88, 52
    COLUMNS = [LEFT, 130, 276, 464, 680]

    # name, PTX, threads that see it, what the emulator holds, style
    SPACES = [
        ("registers", ".reg", "a thread", "32 lanes in a row, per warp", "cell"),
        ("local", ".local", "a thread", "a stretch per lane", "cell"),
        ("shared", ".shared", "a block", "an array per resident block", "hot"),
        ("of the cluster", ".shared::cluster", "blocks of a cluster", "those blocks' arrays",
         "hot"),
        ("global", ".global", "all grids, the host by copies",
         "one store, apart from its addresses", "good"),
        ("constant", ".const", "all grids, read only", "in the same store", "good"),
        ("parameters", ".param", "all threads, read only", "a copy per launch", "cell"),
    ]
    INSTRUCTIONS = ["mov, add, …", "LDL  STL", "LDS  STS  ATOMS", "LD  ST  ATOM",
                    "LDG  STG  ATOMG  RED",
                    "LDC", "LDC"]

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


one_level()
all_levels()
padding()
spaces()
