"""tensor_rows.py -- what the tensor cores of an H200 compute for a few inputs that tell rules apart
(h200/tensor.csv), for notes/more/tensor-cores.md. The inputs are in
profiles/measure/fidelity/tensor.cu.
"""
import math
import re
import struct

from records import read
from table_rows import table

ROWS, _ = read("h200/tensor.csv")
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# For each type of results: struct's letter, the bits of its mantissa, and a series' first shift.
FORMATS = {"f16": ("e", 10, 6), "f32": ("f", 23, 6), "f64": ("d", 52, 40)}


def power(exponent):
    return "2" + str(exponent).translate(SUPERSCRIPTS)


def number(bits, letter):
    return struct.unpack(">" + letter, bytes.fromhex(bits))[0]


def cases(kind, pattern):
    """For each instruction the recorded bits of this case."""
    return {row["instruction"]: row["hash"].split() for row in ROWS
            if row["kind"] == kind and re.fullmatch(pattern, row["cases"])}


def smallest_kept(series, letter, first):
    """What is left of the last 1.5 · 2^-s, s = first, first + 1, …, that is not lost."""
    last = max(k for k, bits in enumerate(series) if number(bits, letter))
    exponent = -(first + last)
    if last == len(series) - 1:
        return "all, to " + power(exponent)
    return "%s of 1.5 · %s" % (power(round(math.log2(number(series[last], letter)))),
                               power(exponent))


def places(mask, k):
    """The numbers of the bits in a mask, with runs as "2 to 7"; c is bit k."""
    runs = []
    for n in (n for n in range(k) if mask >> n & 1):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    texts = ["%d to %d" % (a, b) if b > a else str(a) for a, b in runs]
    if len(texts) > 3:
        texts[2:-1] = ["…"]
    return ", ".join(texts + ["c"] * (mask >> k & 1)) or "none"


def tensor_sums():
    """A row for each instruction on floating-point numbers."""
    groups, widths = cases("groups", "0 and 1"), cases("width", r"16/16 at 0 cancelled and 24/16.*")
    sums = cases("rounding", "16/16 at 0 and 31/16.*")
    rows = []
    for instruction, (mask,) in groups.items():
        parts = instruction.split(".")
        letter, mantissa, first = FORMATS[parts[3]]
        k = int(re.search(r"k(\d+)", parts[0])[1])
        # 31/16 at this shift is 15.5 times the place of the last bit.
        rounded = sums[instruction][mantissa - 3 - first]
        above = int(rounded, 16) - int.from_bytes(struct.pack(">" + letter, 1.0), "big")
        is_narrow = parts[4] in ("e4m3", "e5m2")  # too narrow to express x and 15.5 ulps
        kept = smallest_kept(widths[instruction], letter, first)
        rows.append(["`%s`" % ".".join([parts[0], *parts[3:]]), places(int(mask, 16), k),
                     "" if is_narrow or letter == "e" else kept, "" if is_narrow else above])
    return table(["instruction", "where 2⁻¹⁶ is kept", "least x that is kept", "ulps above 1"],
                 *rows)
