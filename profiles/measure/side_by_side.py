"""side_by_side.py -- functions of the Python package, of PyTorch and of CuPy, timed in one process;
part `python` of measure.py runs it.

Prints CSV: operation, contender, n, median and quartiles in seconds, runs, and whether the result
was right. Before each run 256 MiB are written, which empties L2 and lets the host run ahead: so the
events around a call time the GPU's work and what the call waits for. Runs of the contenders are
interleaved. The rows `host` are the time in which one call of 10 000 returns: n = 1 024, with out=.
"""
import os
import statistics
import sys
import time

try:
    import numpy
    import torch
except ImportError as error:
    sys.exit("side_by_side.py: this python3 has no PyTorch or no NumPy: %s" % error)
try:
    import cupy
except ImportError:
    cupy = None
import upsweep

FLUSHED = 256 << 20  # bytes, more than any L2
AHEAD = 2_000_000  # cycles in which the GPU spins
MOST, LEAST, SECONDS = 31, 5, 8.0  # runs of a contender; time of an operation, if there are LEAST
EACH, BATCHES = 500, 20  # calls of a batch that the GPU's queue can hold
TWO_SIZES, SIZES = (2**20, 2**28), tuple(2**k for k in range(10, 29, 2))
COLUMNS = (2**23, 2)


def as_torch(result):
    """The values of any contender's result, in one dimension."""
    if isinstance(result, tuple):
        result = result[0]
    if cupy and isinstance(result, cupy.ndarray):
        result = torch.from_dlpack(result)
    return result.reshape(-1)


def near(result, expected):
    """Equal, or within rounding of sums of positive numbers."""
    if result.shape != expected.shape:
        return False
    if not result.dtype.is_floating_point:
        return bool((result == expected).all())
    parts = zip(result.split(2**26), expected.split(2**26))
    return all(bool(((a - b).abs() <= 1e-3 * b.abs() + 1e-3).all()) for a, b in parts)


class Operation:
    """What is compared: inputs for n elements, the contenders' calls, and what is right. The inputs
    of CuPy are its own arrays of the same memory."""

    def __init__(self, name, sizes, inputs, right, **contenders):
        self.name, self.sizes, self.inputs, self.right = name, sizes, inputs, right
        self.contenders = {name.replace("_", " "): call for name, call in contenders.items()
                           if cupy or not name.startswith("cupy")}


def numbers(n):
    return [torch.rand(n, device="cuda")]


def integers(n):
    return [torch.randint(-2**31, 2**31 - 1, (n,), dtype=torch.int32, device="cuda")]


def masked(n):
    x = torch.rand(n, device="cuda")
    return [x, x >= 0.5]


def bits(n):
    """Zeros and ones, whose sums are exact."""
    return [torch.randint(0, 2, COLUMNS, device="cuda").float()]


def maps(n):
    return [torch.rand(n, device="cuda"), torch.rand(n, device="cuda")]


def recurrence(a, b):
    """By doubling, in float64."""
    a, b, d = a.double(), b.double(), 1
    while d < len(a):
        b = torch.cat([b[:d], a[d:] * b[:-d] + b[d:]])
        a = torch.cat([a[:d], a[d:] * a[:-d]])
        d *= 2
    return b


def last_of_largest(x):
    x = x.cpu().numpy()
    largest = numpy.where(x == numpy.maximum.accumulate(x), numpy.arange(len(x)), 0)
    return torch.from_numpy(numpy.maximum.accumulate(largest)).cuda()


def stable_order(x):
    return torch.sort(x, stable=True)[1]


OPERATIONS = [
    Operation("cumsum", SIZES, numbers, lambda x: torch.cumsum(x.double(), 0),
              upsweep=upsweep.cumsum, torch=lambda x: torch.cumsum(x, 0),
              cupy=lambda x: cupy.cumsum(x)),
    Operation("cumsum of columns", (COLUMNS[0] * COLUMNS[1],), bits,
              lambda x: torch.stack([torch.cumsum(x[:, k].double(), 0) for k in (0, 1)], 1),
              upsweep=lambda x: upsweep.cumsum(x, 0), torch=lambda x: torch.cumsum(x, 0),
              cupy=lambda x: cupy.cumsum(x, 0)),
    Operation("cummax", TWO_SIZES, numbers,
              lambda x: torch.from_numpy(numpy.maximum.accumulate(x.cpu().numpy())).cuda(),
              upsweep_values=upsweep.cummax, torch_with_indices=lambda x: torch.cummax(x, 0)),
    Operation("cummax indices", TWO_SIZES, numbers, last_of_largest,
              upsweep=lambda x: upsweep.cummax(x, indices=True)[1],
              torch=lambda x: torch.cummax(x, 0)[1]),
    Operation("logcumsumexp", SIZES, numbers,
              lambda x: torch.log(torch.cumsum(torch.exp(x.double()), 0)),
              upsweep=upsweep.logcumsumexp, torch=lambda x: torch.logcumsumexp(x, 0)),
    Operation("affine recurrence", TWO_SIZES, maps, recurrence, upsweep=upsweep.affine_scan),
    Operation("select", TWO_SIZES, masked, lambda x, mask: x.cpu()[mask.cpu()].cuda(),
              upsweep_by_mask=upsweep.select,
              upsweep_by_predicate=lambda x, mask: upsweep.select(x, between=(0.5, None)),
              torch=torch.masked_select,
              cupy=lambda x, mask: x[mask]),
    Operation("nonzero", TWO_SIZES, masked,
              lambda x, mask: torch.from_numpy(numpy.flatnonzero(mask.cpu().numpy())).cuda(),
              upsweep=lambda x, mask: upsweep.nonzero(mask),
              torch=lambda x, mask: torch.nonzero(mask),
              cupy=lambda x, mask: cupy.flatnonzero(mask)),
    Operation("sort", TWO_SIZES, integers,
              lambda x: torch.from_numpy(numpy.sort(x.cpu().numpy())).cuda(),
              upsweep_values=upsweep.sort, torch_with_indices=torch.sort,
              cupy_values=lambda x: cupy.sort(x)),
    Operation("argsort", TWO_SIZES, integers, stable_order,
              upsweep=upsweep.argsort, torch=lambda x: torch.argsort(x, stable=True),
              cupy=lambda x: cupy.argsort(x)),
]


def timed(call, inputs, flushed):
    """Seconds of a call on the GPU, after L2 has been emptied."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    flushed.fill_(1)
    torch.cuda._sleep(AHEAD)
    begin.record()
    result = call(*inputs)
    end.record()
    end.synchronize()
    del result
    return begin.elapsed_time(end) / 1000


def row(operation, contender, n, seconds, right):
    quartiles = statistics.quantiles(seconds, n=4, method="inclusive")
    print(operation, contender, n, *("%.4g" % s for s in (
        statistics.median(seconds), quartiles[0], quartiles[2])), len(seconds),
        "true" if right else "false", sep=",", flush=True)
    return right


def side_by_side(operation, n, flushed):
    """Prints a row for each contender; returns whether all were right."""
    inputs = operation.inputs(n)
    expected = operation.right(*inputs).reshape(-1)
    given = {name: [cupy.from_dlpack(x) for x in inputs] if name.startswith("cupy") else inputs
             for name in operation.contenders}
    right = {name: near(as_torch(call(*given[name])), expected)
             for name, call in operation.contenders.items()}
    del expected
    torch.cuda.empty_cache()
    for name, call in operation.contenders.items():
        timed(call, given[name], flushed)
    seconds = {name: [] for name in right}
    began = time.monotonic()
    for done in range(MOST):
        if done >= LEAST and time.monotonic() - began > SECONDS:
            break
        for name, call in operation.contenders.items():
            seconds[name].append(timed(call, given[name], flushed))
    return all([row(operation.name, name, n, seconds[name], right[name]) for name in right])


def host():
    """Prints how long one call takes on the host."""
    n = 1024
    x, out = torch.rand(n, device="cuda"), torch.empty(n, device="cuda")
    calls = {"upsweep": lambda: upsweep.cumsum(x, out=out),
             "torch": lambda: torch.cumsum(x, 0, out=out)}
    if cupy:
        a, b = cupy.from_dlpack(x), cupy.from_dlpack(out)
        calls["cupy"] = lambda: cupy.cumsum(a, out=b)
        calls["upsweep of cupy arrays"] = lambda: upsweep.cumsum(a, out=b)
    expected, right, seconds = torch.cumsum(x.double(), 0), {}, {name: [] for name in calls}
    for name, call in calls.items():
        out.zero_()
        for _ in range(EACH):
            call()
        torch.cuda.synchronize()
        right[name] = near(out, expected)
    for _ in range(BATCHES):
        for name, call in calls.items():
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(EACH):
                call()
            seconds[name].append((time.perf_counter() - began) / EACH)
    torch.cuda.synchronize()
    return all([row("host", name, n, seconds[name], right[name]) for name in calls])


def main():
    if sys.argv[1:] == ["--versions"]:
        print("PyTorch: %s, CuPy: %s, Python: %s" % (
            torch.__version__, cupy.__version__ if cupy else "none", sys.version.split()[0]))
        return 0
    chosen = os.environ.get("ROWS", "").split()
    torch.manual_seed(37)
    flushed = torch.empty(FLUSHED // 4, dtype=torch.int32, device="cuda")
    print("operation,contender,n,median (s),lower quartile (s),upper quartile (s),runs,right")
    right = True
    for operation in OPERATIONS:
        for n in operation.sizes:
            if not chosen or operation.name.split()[0] in chosen:
                try:
                    right &= side_by_side(operation, n, flushed)
                except torch.cuda.OutOfMemoryError:
                    print("%s of %d: not enough memory" % (operation.name, n), file=sys.stderr)
                    right = False
                torch.cuda.empty_cache()
                if cupy:
                    cupy.get_default_memory_pool().free_all_blocks()
                upsweep.free_workspaces()
    if not chosen or "host" in chosen:
        right &= host()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
