#!/usr/bin/env python3
"""What step 14 has to give for small pictures, pixel by pixel, for summed_area.bats.

usage: pictures.py make FILE.pgm|FILE.ppm WIDTH HEIGHT MAXIMUM SEED    a random picture;
                                                       SEED white: a white one
       pictures.py floats FILE.pfm|FILE.npy WIDTH HEIGHT CHANNELS ORDER    random floats;
                                                       ORDER < or >: of their bytes
       pictures.py box PICTURE W                       its box filter, as PGM or PPM on stdout
       pictures.py blur PICTURE DEPTH FOCUS W          its depth of field
       pictures.py table PICTURE FILE.npy TYPE [MODULO]   is FILE its table, of this type?
       pictures.py near FILE.npy WIDTH HEIGHT CHANNELS ERROR   is it the table of `floats`, but for
                                                       this part of its pixels' magnitudes?
"""
from fractions import Fraction
import math
import random
import re
import struct
import sys


def read(path):
    """Width, height, channels, maximum and the samples."""
    with open(path, "rb") as file:
        content = file.read()
    kind, width, height, maximum = re.match(rb"P([56])\s+(\d+)\s+(\d+)\s+(\d+)\s", content).groups()
    channels = 1 if kind == b"5" else 3
    width, height, maximum = int(width), int(height), int(maximum)
    count = width * height * channels
    form = ">%d%s" % (count, "B" if maximum < 256 else "H")
    return width, height, channels, maximum, struct.unpack(form, content[-struct.calcsize(form):])


def write(file, width, height, channels, maximum, samples):
    file.write(b"P%d\n%d %d\n%d\n" % (5 if channels == 1 else 6, width, height, maximum))
    file.write(struct.pack(">%d%s" % (len(samples), "B" if maximum < 256 else "H"), *samples))


def make(path, width, height, maximum, seed):
    channels = 1 if path.endswith(".pgm") else 3
    source = random.Random(seed)
    samples = [maximum if seed == "white" else source.randint(0, maximum)
               for _ in range(width * height * channels)]
    with open(path, "wb") as file:
        write(file, width, height, channels, maximum, samples)


def float_samples(count):
    """Numbers that floats hold, of either sign and of very different magnitudes."""
    source = random.Random(5)
    return [source.randint(-(1 << 24), 1 << 24) * 2.0 ** source.randint(-40, 0)
            for _ in range(count)]


def npy_header(order, shape):
    text = "{'descr': '%sf4', 'fortran_order': False, 'shape': %s, }" % (order, shape)
    return b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + text.ljust(117).encode() + b"\n"


def floats(path, width, height, channels, order):
    samples, row = float_samples(width * height * channels), width * channels
    with open(path, "wb") as file:
        if path.endswith(".pfm"):
            kind, sign = b"f" if channels == 1 else b"F", b"-" if order == "<" else b""
            file.write(b"P%s\n%d %d\n%s1.0\n" % (kind, width, height, sign))
            samples = [s for y in range(height)[::-1] for s in samples[y * row:y * row + row]]
        else:
            shape = (height, width) if channels == 1 else (height, width, channels)
            file.write(npy_header(order, shape))
        file.write(struct.pack("%s%df" % (order, len(samples)), *samples))


def sums(samples, row, channels):
    """The table in the order of the samples, exactly."""
    table = []
    for i, sample in enumerate(samples):
        left = table[i - channels] if i % row >= channels else 0
        above = table[i - row] if i >= row else 0
        both = table[i - row - channels] if i >= row and i % row >= channels else 0
        table.append(Fraction(sample) + left + above - both)
    return table


def near(path, width, height, channels, error):
    samples = float_samples(width * height * channels)
    with open(path, "rb") as file:
        content = file.read()
    got = struct.unpack("<%df" % len(samples), content[-4 * len(samples):])
    want = sums(samples, width * channels, channels)
    magnitudes = sums([abs(s) for s in samples], width * channels, channels)
    error = Fraction(error)
    assert all(abs(Fraction(g) - w) <= error * m for g, w, m in zip(got, want, magnitudes))
    assert any(Fraction(g) != w for g, w in zip(got, want)) # or all sums were exact


def mean(picture, x, y, before, behind, channel):
    width, height, channels, _, samples = picture
    window = [samples[(j * width + i) * channels + channel]
              for j in range(max(y - before, 0), min(y + behind, height - 1) + 1)
              for i in range(max(x - before, 0), min(x + behind, width - 1) + 1)]
    return (sum(window) + len(window) // 2) // len(window)


def filtered(picture, reach):
    width, height, channels, maximum, _ = picture
    samples = [mean(picture, x, y, *reach(x, y), c) for y in range(height) for x in range(width)
               for c in range(channels)]
    write(sys.stdout.buffer, width, height, channels, maximum, samples)


def blur(picture, depth, focus, most):
    width, _, _, maximum, depths = depth
    white = 255 if picture[3] < 256 else 65535
    depths = [(d * white + maximum // 2) // maximum for d in depths]
    sharp = math.floor(focus * white + 0.5)
    farthest = max(sharp, white - sharp)

    def reach(x, y):
        away = abs(depths[y * width + x] - sharp)
        return ((away * ((most - 1) // 2) + farthest // 2) // farthest,) * 2

    filtered(picture, reach)


def table(picture, path, kind, modulo):
    width, height, channels, _, samples = picture
    want = []
    for y in range(height):
        left = [0] * channels
        for k in range(width * channels):
            left[k % channels] += samples[y * width * channels + k]
            want.append(left[k % channels] + (want[(y - 1) * width * channels + k] if y else 0))
    with open(path, "rb") as file:
        content = file.read()
    length, = struct.unpack("<H", content[8:10])
    shape = "(%d, %d)" % (height, width)
    if channels > 1:
        shape = "(%d, %d, %d)" % (height, width, channels)
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    assert content[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0
    assert content[10:10 + length].decode().rstrip() == header, content[10:10 + length]
    form = {"<u4": "I", "<u8": "Q", "<f4": "f"}[kind]
    values = struct.unpack("<%d%s" % (len(want), form), content[10 + length:])
    assert list(values) == [w % modulo for w in want]


def main(command, *a):
    if command == "make":
        make(a[0], int(a[1]), int(a[2]), int(a[3]), a[4])
    elif command == "floats":
        floats(a[0], int(a[1]), int(a[2]), int(a[3]), a[4])
    elif command == "near":
        near(a[0], int(a[1]), int(a[2]), int(a[3]), float(a[4]))
    elif command == "box":
        width = int(a[1])
        filtered(read(a[0]), lambda x, y: ((width - 1) // 2, width // 2))
    elif command == "blur":
        blur(read(a[0]), read(a[1]), float(a[2]), int(a[3]))
    else:
        table(read(a[0]), a[1], a[2], int(a[3]) if len(a) > 3 else 1 << 64)


main(*sys.argv[1:])
