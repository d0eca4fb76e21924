"""older_rows.py -- the table of GPUs before Hopper: how long a scan, a selection and a sort would
take there, by what the emulator counts and what NVIDIA says of the GPU.

Used by tables.py.
"""
import os
import re

from records import TOP, duration, find, read, size
from table_rows import table

COUNTED, _ = read("emulated/older.csv")
MODELS = os.path.join(TOP, "common", "emu", "machine", "device.c")
GPUS = {"t4": "T4", "a100": "A100", "rtx4090": "RTX 4090"}
SECTOR = 32  # bytes
SCHEDULERS = 4  # of a multiprocessor; each issues an instruction of a warp in a clock
# What is done, n, and where it is counted: (step, variant) of the library's and of a simpler form.
CASES = [("sum of f32", 2**24, (12, "f32"), (11, "")),
         ("sum of f32", 2**23, (12, "f32"), (11, "")),
         ("sum of i32", 2**23, (12, "i32"), (11, "")),
         ("sum of f32 by step 16", 2**21, (16, "sum"), (11, "")),
         ("selection", 2**24, (13, "fast"), (13, "document")),
         ("sort", 2**20, (15, "fast"), (15, "document"))]


def counted(gpu, n, step, variant):
    return find(COUNTED, gpu=gpu, n=n, step=step, variant=variant)[0]


def rates(gpu):
    """Bytes of device memory in a second, and instructions of warps."""
    with open(MODELS, encoding="utf-8") as file:
        model = re.search(r'\.key = "%s".*?}' % gpu, file.read(), re.S)[0]
    of = lambda field: int(re.search(r"\.%s = (\d+)" % field, model)[1])
    return (2 * 1e3 * of("memory_clock_khz") * of("memory_bus_bits") / 8,
            SCHEDULERS * 1e3 * of("clock_khz") * of("sms"))


def apart(row, counter):
    """Without the exchange of sums between blocks: these sums stay in the L2 cache, and how often a
    block polls them is chance."""
    return int(row[counter]) - int(row["look-back " + counter])


def bounds(gpu, row):
    """The seconds that its bytes take, and its instructions."""
    bandwidth, issued = rates(gpu)
    return SECTOR * apart(row, "sectors") / bandwidth, apart(row, "instructions") / issued


def older_gpus():
    def cells(n, *scans):
        return [duration(max(bounds(gpu, counted(gpu, n, *scan))))
                for gpu in GPUS for scan in scans]
    return table(["what", "n", *(head for name in GPUS.values() for head in (name, "simpler"))],
                 *([what, size(n), *cells(n, *scans)] for what, n, *scans in CASES))
