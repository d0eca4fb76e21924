"""python_rows.py -- the tables of notes/use.md: the Python package beside PyTorch and CuPy, from
h200/python.csv, and how large the library for all GPUs is, from library.csv.

Used by tables.py, as table_rows.py is.
"""
from records import duration, find, machine, read, size
from table_rows import table, times_as_fast

TIMES, WHERE = read("h200/python.csv")
SHOWN = [("cumsum", 2**20), ("cumsum", 2**28), ("cumsum of columns", 2**24), ("cummax", 2**20),
         ("cummax", 2**28), ("cummax indices", 2**20), ("cummax indices", 2**28),
         ("logcumsumexp", 2**20), ("logcumsumexp", 2**28),
         ("affine recurrence", 2**28), ("select", 2**20), ("select", 2**28), ("nonzero", 2**20),
         ("nonzero", 2**28), ("sort", 2**20), ("sort", 2**28), ("argsort", 2**20),
         ("argsort", 2**28), ("host", 2**10)]
NAMES = {"cumsum of columns": "`cumsum`, axis 0 of [2²³, 2]", "affine recurrence": "`affine_scan`",
         "cummax indices": "`cummax` with indices",
         "host": "a call of `cumsum`, host alone"}


def seconds(operation, contender, n):
    """The median of the first row whose contender begins so; None without one."""
    return next((float(row["median"]) for row in find(TIMES, operation=operation, n=n)
                 if row["contender"].startswith(contender)), None)


def beside(operation, n, ours="upsweep"):
    own = seconds(operation, ours, n)
    cells = []
    for other in ("torch", "cupy"):
        theirs = seconds(operation, other, n)
        cells += [duration(theirs), times_as_fast(theirs, own)] if theirs else ["", ""]
    what = NAMES.get(operation, "`%s`" % operation)
    if ours != "upsweep":
        what += " " + ours.split(" ", 1)[1]
    return [what, size(n), duration(own), *cells]


def python_times():
    rows = []
    for operation, n in SHOWN:
        ways = ["upsweep by mask", "upsweep by predicate"] if operation == "select" else ["upsweep"]
        rows += [beside(operation, n, way) for way in ways]
    return ["Medians with a cold L2, in one process, on %s, PyTorch %s:"
            % (machine(WHERE), WHERE["PyTorch"]), "",
            *table(["function", "n", "upsweep", "PyTorch", "times ours", "CuPy", "times ours"],
                   *rows)]


def library_size():
    rows, about = read("library.csv")
    row = rows[0]
    return ["With `ALL_GPUS=1` `libupsweep.so` has %.0f MB: machine code for compute capabilities"
            % (float(row["shared"]) / 1e6),
            "%s, and PTX. nvcc takes %.0f s of processor time for it, and on %s %.0f s pass."
            % (", ".join("%s.%s" % (gpu[:-1], gpu[-1]) for gpu in row["gpus"].split()),
               float(row["processor"]), about["CPU"].split(", ")[-1], float(row["elapsed"]))]
