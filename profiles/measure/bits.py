#!/usr/bin/env python3
"""bits.py -- what `make bits` runs: has every scan of real numbers the bits that were recorded?

usage: profiles/measure/bits.py [N...]     of N elements, such as 2^30, instead of the usual numbers

Prints checksums of step 12's scans, of its additions on the CPU, of step 16's, and, if ./step17 is
built, of its scans by 1 to 4 ranks, beside those of profiles/*/same_bits.csv.
"""
import csv
import glob
import itertools
import os
import re
import sys

import cases
from recording import TOP, about_cpu, about_gpu, failed, make, output, part, value

RANKS_MOST = 2**24  # elements: step 17 judges its results on the host


def rows(sizes, gpu=None):
    """n, type, scan, device, checksum; of an emulated GPU or, without its name, as usual."""
    env = {"EMU_GPU": gpu, "LD_LIBRARY_PATH": TOP + "/build/emu"} if gpu else {}
    found = [line.split(",") for line in output("build/profiles/bits", *map(value, sizes),
                                                env=env).splitlines()]
    yield from found
    numbers = [n for n in dict.fromkeys(row[0] for row in found) if int(n) <= RANKS_MOST]
    for n, of, ranks in itertools.product(numbers if os.path.exists(TOP + "/step17") else [],
                                          ("f32", "f64"), range(1, 5)):
        (row,) = csv.DictReader(output("common/build/run17.sh", ranks, "--real", "--n", n, "--type",
                                       of, "--reps", 0, "--csv", env=env).splitlines())
        yield [n, of, "step 17", "%d rank%s" % (ranks, "s"[:ranks - 1]), row["checksum"]]


def compared(sizes, known, gpu=None):
    """These rows, and whether the checksum is the known one. One that is not known is kept, to
    compare the next device's with."""
    for *key, by, checksum in rows(sizes, gpu):
        new = tuple(key) not in known
        same = known.setdefault(tuple(key), checksum) == checksum
        yield *key, by, checksum, "not recorded" if new else "the same" if same else "differs"


def record(sizes=(), gpus=(None,)):
    """A row for each scan, whatever did it; SIZES chooses others."""
    make("build/profiles/bits")
    known = {}
    for gpu in gpus:
        for row in compared(os.environ.get("SIZES", "").split() or sizes, known, gpu):
            if row[-1] == "differs":
                failed(" ".join(row))
    return "n,type,scan,checksum\n" + "".join(
        "%s,%s,%s,%s\n" % (*key, checksum) for key, checksum in known.items())


WHAT = "Checksums of scans of real numbers: see bits.cu."
part("gpu", "GPU", WHAT, "same-bits", about_gpu, "same_bits")(record)
part("bits", "", WHAT, "emulated-bits", about_cpu, "same_bits", "profiles/emulated")(
    lambda: record(("1000", "100003", "2^23", "2^24"), ("h200", "a100", "t4")))


def recorded():
    """{(n, type, scan): checksum} of all recordings, and what their comments say."""
    known, machines = {}, []
    for path in sorted(glob.glob(TOP + "/profiles/*/same_bits.csv")):
        found, about = cases.read(path)
        machines.append(about)
        for *key, checksum in (row.values() for row in found):
            if known.setdefault(tuple(key), checksum) != checksum:
                sys.exit("%s: other recordings have other bits of %s" % (path, " ".join(key)))
    return known, machines


def main(sizes):
    differ = 0
    for size in sizes:
        if not re.fullmatch(r"2\^[0-4]?\d|[1-9]\d{0,14}", size):
            sys.exit("bits: N=%s: give a number of elements, such as 1000 or 2^24." % size)
    for row in compared(sizes, recorded()[0]):
        differ += row[-1] == "differs"
        print("%-11s%-5s%-24s%-26s%s  %s" % row)
    return differ and ("bits: %d of these scans have other bits than profiles/*/same_bits.csv, by "
                       "an error here or in the compiler; please report it." % differ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
