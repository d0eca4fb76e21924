#!/usr/bin/env python3
"""Turns the emulator's trace (./stepN --trace FILE, standard input) into rows of a CSV file.

usage: trace.py STEP VARIANT N [WARP [LANE]]

Every access has a row, or only those of one warp or lane; a whole warp's are without values.

A trace's columns are explained in common/emu/watch/trace.h. Rows name a source line by its text, so
that they stay as they are when lines are added above it.
"""
import csv
import glob
import os
import struct
import sys

TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
WORD, APART = 4, 256  # bytes: of an element; between two arrays in global memory


def source(step, place, texts={}):
    """The text of scan.cu:42 in a step's folder."""
    name, line = place.split(":")
    if (step, name) not in texts:
        with open(glob.glob(os.path.join(TOP, "steps", "%02d-*" % int(step), name))[0],
                  encoding="utf-8") as file:
            texts[step, name] = file.read().splitlines()
    return texts[step, name][int(line) - 1].strip()


def short(kernel):
    """scan_block of _Z10scan_blockPfPKfi."""
    digits = "".join(c for c in kernel[2:4] if c.isdigit())
    return kernel[2 + len(digits):][:int(digits)]


def number(bits):
    return "%g" % struct.unpack("<f", struct.pack("<I", int(bits, 16)))[0]


class Arrays:
    """The arrays in global memory, a letter each in order of first use: A0 is the first element of
    the first."""

    def __init__(self, rows):
        used = sorted({int(a, 16) for row in rows if row["space"] == "global"
                       for a in row["addresses"].split()})
        starts = [a for before, a in zip([-APART] + used, used) if a - before >= APART]
        self.start_of = {a: max(start for start in starts if start <= a) for a in used}
        self.letters = {}

    def place(self, address):
        start = self.start_of[address]
        letter = self.letters.setdefault(start, chr(ord("A") + len(self.letters)))
        return "%s%d" % (letter, (address - start) // WORD)


def lane_numbers(mask):
    return [lane for lane in range(32) if int(mask, 16) >> lane & 1]


def accesses(rows, step, variant, n, warp=None, lane=None):
    arrays = Arrays(rows)
    for row in rows:
        lanes = lane_numbers(row["mask"])
        if warp is not None and row["warp"] != warp or lane is not None and int(lane) not in lanes:
            continue
        places = [int(a, 16) for a in row["addresses"].split()]
        places = [arrays.place(a) if row["space"] == "global" else a // WORD for a in places]
        values = ["+".join(map(number, value.split(","))) for value in row["values"].split()]
        if lane is not None:
            here = lanes.index(int(lane))
            one = slice(here, here + 1)
            lanes, places, values = lanes[one], places[one], values[one]
        elif warp is not None:
            values = []
        yield [step, variant, n, row["launch"], short(row["kernel"]), row["block"], row["warp"],
               row["epoch"],
               row["operation"], row["space"], "%x" % sum(1 << lane for lane in lanes),
               " ".join(map(str, places)),
               " ".join(values), source(step, row["line"])]


def main():
    rows = list(csv.DictReader(sys.stdin, delimiter="\t"))
    csv.writer(sys.stdout, lineterminator="\n").writerows(accesses(rows, *sys.argv[1:]))


main()
