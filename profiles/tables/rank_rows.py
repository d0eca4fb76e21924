"""rank_rows.py -- the tables of step 17, scans by several GPUs, from ranks.csv; and the model that
predicts their times.

draw_times.py draws the model.
"""
import math

from records import duration, find, grouped, has, read, shown, size, table, three

RANKS, RANKS_ON = read("h200/ranks.csv")
VERIFIED, _ = read("h200/ranks_verified.csv")

SIZES = sorted({int(row["parameter"].split("n=")[1].split()[0]) for row in RANKS
                if row["variant"] == "step12"})
MEASURED = sorted({int(row["parameter"].split("ranks=")[1]) for row in RANKS
                   if row["variant"] == "step12"})  # numbers of GPUs
SMALL, LARGE, LARGEST = SIZES[0], 2**30, SIZES[-1]
FLOAT = 4  # bytes

# What is assumed of a network between machines, which was not measured.
NETWORK_LATENCY, NETWORK_RATE = 10e-6, 50e9  # s, B/s
MACHINES = 1024
NODE_SUMS = 1024  # at most: steps/17-many-gpus/parts/part.h


def value(variant, parameter, metric="time"):
    return float(find(RANKS, variant=variant, parameter=parameter)[0][metric])


def seconds(variant, n, ranks, op="sum"):
    return value(variant, "%s n=%d ranks=%d" % (op, n, ranks))


def recorded(variant, ranks):
    return has(RANKS, variant=variant, parameter="sum n=%d ranks=%d" % (LARGE, ranks))


# ---- the model ---------------------------------------------------------------------------------

class Model:
    """T(P, n) = n / P (reduce + finish) + L(P): the two passes over a part, and a latency that n
    does not change. All constants are of runs with one GPU, and of a flag between two."""

    def __init__(self):
        self.reduce = seconds("reduce", LARGEST, 1) / LARGEST  # s for an element
        self.finish = seconds("finish", LARGEST, 1) / LARGEST
        self.latency = seconds("scan peer", SMALL, 1) - SMALL * (self.reduce + self.finish)
        self.flag = value("flag there and back", "ranks=2", "time_each") / 2  # one way
        self.step12 = seconds("step12", LARGEST, 1) / LARGEST
        self.step12_latency = seconds("step12", SMALL, 1) - SMALL * self.step12

    def added(self, gpus):
        """What the exchange adds. Machines gather in log2 P rounds: in each, twice as many sums."""
        if gpus == 1:
            return 0
        if gpus < MACHINES:
            return self.flag
        return (math.ceil(math.log2(gpus)) * NETWORK_LATENCY
                + NODE_SUMS * FLOAT * (gpus - 1) / gpus / NETWORK_RATE)

    def time(self, gpus, n):
        return n / gpus * (self.reduce + self.finish) + self.latency + self.added(gpus)

    def one_gpu(self, n):
        """Of step 12's scan."""
        return n * self.step12 + self.step12_latency

    def speed_up(self, gpus, n):
        return self.one_gpu(n) / self.time(gpus, n)

    def ceiling(self, gpus):
        """The speed-up of very many elements."""
        return gpus * self.step12 / (self.reduce + self.finish)

    def crossover(self, gpus):
        """From how many elements on it is faster than step 12 on one GPU."""
        late = self.latency + self.added(gpus) - self.step12_latency
        return late / (self.step12 - (self.reduce + self.finish) / gpus)


MODEL = Model()


def error(n, gpus):
    """How far the model is above what was measured, as a part of it."""
    return MODEL.time(gpus, n) / seconds("scan peer", n, gpus) - 1


def measured_crossover(gpus):
    """The same from the measured times, between the two recorded sizes around it; None: it is not
    among them."""
    ratio = lambda n: math.log(seconds("step12", n, gpus) / seconds("scan peer", n, gpus))
    for low, high in zip(SIZES, SIZES[1:]):
        if ratio(low) < 0 <= ratio(high):
            share = -ratio(low) / (ratio(high) - ratio(low))
            return 2 ** (math.log2(low) + share * math.log2(high / low))
    return None


# ---- tables ------------------------------------------------------------------------------------

TYPE = RANKS_ON["GPU"].split(" of ")[1]  # of GPU


def on_gpus(what):
    return ["%s on %s GPUs (CUDA %s, driver %s):"
            % (what, TYPE, RANKS_ON["toolkit"], RANKS_ON["driver"]), ""]


def gpus_of(count):
    return "1 GPU" if count == 1 else "%d GPUs" % count


def millions(n):
    return "%s million" % (three(n / 1e6) if n < 999.5e6 else grouped(round(n / 1e6)))


def times_as_fast(ratio):
    return ("%.2f ×" if ratio < 9.995 else "%.0f ×") % ratio


@shown
def ranks_times():
    """Step 17 beside step 12, which was measured in the same run as the most GPUs."""
    many = MEASURED[1:]
    ratio = lambda n, p: seconds("step12", n, p) / seconds("scan peer", n, p)
    launched = "scan peer without a graph"
    return on_gpus("Time of a sum of n floats with `--exchange peer` (a graph, cold L2)") + table(
        ["n", "step 12, 1 GPU", "step 17, 1 GPU",
         *(cell for p in many for cell in (gpus_of(p), "speed-up")), "without a graph"],
        *([size(n), duration(seconds("step12", n, many[-1])), duration(seconds("scan peer", n, 1)),
           *(cell for p in many for cell in (
               duration(seconds("scan peer", n, p)), times_as_fast(ratio(n, p)))),
           duration(seconds(launched, n, many[-1]))]
          for n in SIZES))


@shown
def ranks_weak():
    """The same number of elements for each GPU, where such sizes were measured."""
    doubled = [p for p in MEASURED if p & (p - 1) == 0]
    shares = [n for n in SIZES if all(n * p in SIZES for p in doubled)]
    return on_gpus("Time of step 17 with the same number of floats for each GPU") + table(
        ["for each GPU", *map(gpus_of, doubled)],
        *([size(n), *(duration(seconds("scan peer", n * p, p)) for p in doubled)] for n in shares))


@shown
def ranks_passes():
    """Which rates the passes have, and why the ceiling is not exactly 2/3 P."""
    at = lambda variant: seconds(variant, LARGE, 1)
    rate = lambda variant, words: "%.2f TB/s" % (words * FLOAT * LARGE / at(variant) / 1e12)
    rows = [("read", "reading alone", 1), ("reduce", "first pass", 1), ("copy", "a copy", 2),
            ("finish", "second pass", 2), ("step12", "step 12", 2)]
    return on_gpus("Rates with %s floats" % size(LARGE)) + table(
        ["", "words per element", "time", "rate"],
        *([what, words, duration(at(variant)), rate(variant, words)]
          for variant, what, words in rows))


EXCHANGES = ["peer", "nccl", "mpi", "exscan"]


@shown
def ranks_exchanges():
    most = MEASURED[-1]
    names = [name for name in EXCHANGES if recorded("scan " + name, most)]
    cell = lambda what, name, n: duration(seconds("%s %s" % (what, name), n, most))
    link = lambda variant: "%.0f GB/s" % (value(variant, "ranks=2", "rate") / 1e9)
    return on_gpus("Times of %d ranks" % most) + table(
        ["`--exchange`", "the exchange alone, %s floats" % size(SMALL),
         "a sum of %s floats" % size(SMALL), "of %s" % size(LARGE)],
        ["(a graph of an empty kernel)", duration(seconds("empty kernel", SMALL, most)), "", ""],
        *(["`%s`" % name, cell("exchange", name, SMALL), cell("scan", name, SMALL),
           cell("scan", name, LARGE)] for name in names)) + [
        "",
        *([] if "nccl" in names else ["NCCL was not on the machine, so `nccl` has no row."]),
        "A flag goes over NVLink to the other GPU and back in %s."
        % duration(value("flag there and back", "ranks=2", "time_each")),
        "A copy to the other GPU moves %s, and copies both ways at a time %s each way."
        % (link("copy to a peer"), link("copies to each other"))]


@shown
def ranks_constants():
    picoseconds = lambda per: "%s ps per element" % three(per * 1e12)
    alone = "the pass alone, 1 GPU, %s floats" % size(LARGEST)
    return on_gpus("Constants of the model, measured") + table(
        ["constant", "is measured as", "value"],
        ["first pass", alone, picoseconds(MODEL.reduce)],
        ["second pass", alone, picoseconds(MODEL.finish)],
        ["latency of the launches", "a scan of %s floats by 1 GPU, without its passes"
         % size(SMALL), duration(MODEL.latency)],
        ["latency of the exchange", "half of a flag there and back", duration(MODEL.flag)],
        ["step 12", "1 GPU, %s floats" % size(LARGEST), picoseconds(MODEL.step12)],
        ["latency of step 12", "a scan of %s floats in the run with 1 GPU, less the time by the "
         "line above" % size(SMALL), duration(MODEL.step12_latency)])


@shown
def ranks_predicted():
    many = MEASURED[1:]
    return on_gpus("Predicted and measured times") + table(
        ["n", "predicted, %s" % gpus_of(many[-1]), "measured",
         *("error, %s" % gpus_of(p) for p in reversed(many))],
        *([size(n), duration(MODEL.time(many[-1], n)), duration(seconds("scan peer", n, many[-1])),
           *("%+.1f %%" % (100 * error(n, p)) for p in reversed(many))] for n in SIZES))


PREDICTED = [2, 4, 8, MACHINES]


@shown
def ranks_crossover():
    def row(p):
        found = measured_crossover(p) if p in MEASURED else None
        who = gpus_of(p) if p < MACHINES else "%d machines" % p
        return [who, three(2 * p / 3), three(MODEL.ceiling(p)),
                times_as_fast(MODEL.speed_up(p, 2**30)), times_as_fast(MODEL.speed_up(p, 2**34)),
                millions(MODEL.crossover(p)), millions(found) if found else ""]
    return ["Speed-up over step 12 on one GPU, by the model:", ""] + table(
        ["", "2/3 P", "limit of the model", "n = 2³⁰", "n = 2³⁴", "faster from n =", "measured"],
        *(row(p) for p in PREDICTED))


@shown
def ranks_right():
    right = [row for row in VERIFIED if row["right"] == "true" and row["verify"] == "full"]
    sums = {row["parameter"] for row in RANKS if row["variant"] == "bits"}
    peer = sum(row["exchange"] == "peer" for row in VERIFIED)
    return ["On %s, %d of %d runs of `./step17` gave the right value of each of %s elements: "
            "%d with `peer`," % (gpus_of(MEASURED[-1]), len(right), len(VERIFIED),
                                 grouped(VERIFIED[0]["n"]), peer),
            "one for each type and operator, and %d sums of floats with the other exchanges. Each "
            "scan of real numbers," % (len(VERIFIED) - peer),
            "of %d kinds and sizes, had the same checksum with %s." % (
                len(sums),
                " and ".join(", ".join(map(gpus_of, MEASURED)).rsplit(", ", 1)))]


@shown
def ranks_summary():
    """README's line."""
    return ["On %d %s GPUs it scans %s floats in %s, %s times as fast as step 12 on one of them."
            % (MEASURED[-1], TYPE, size(LARGE),
               duration(seconds("scan peer", LARGE, MEASURED[-1])),
               three(seconds("step12", LARGE, MEASURED[-1])
                     / seconds("scan peer", LARGE, MEASURED[-1])))]
