"""recordings.py -- finds numbers in profiles/h200/*.csv for the tests beside it, through the reader
of profiles/."""
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "profiles" / "tables"))
import rank_rows  # noqa: E402,F401  (it lies in profiles/)
import records  # noqa: E402
import stall_rows  # noqa: E402,F401
import table_rows  # noqa: E402

SIZES = {"16": 1 << 16, "Mi": 1 << 20, "24": 1 << 24, "28": 1 << 28}
tables = {}


def number(file, column, **where):
    """The number in `column` of the first row of profiles/h200/FILE that has these cells; a hyphen
    may stand for a space. A row that is not there is an error: a conclusion about it would hold for
    nothing."""
    if file not in tables:
        tables[file] = records.read("h200/" + file)[0]
    for row in tables[file]:
        if all(row[key].replace("-", " ") == str(wanted).replace("-", " ")
               for key, wanted in where.items()):
            return float(row[column])
    raise LookupError("%s has no %s of %s" % (file, column, where))


def seconds(step, variant, n):
    """Seconds of a step, with an empty L2; the variant is "" where a step has none."""
    return number("verify.csv", "seconds", step=step, variant=variant, n=n)


def median_roof(n):
    """Seconds of the fastest copy of n floats, as the tables of the chapters have it."""
    return table_rows.roof(n)


def share(step, variant, n):
    """Its share of the roof."""
    return median_roof(n) / seconds(step, variant, n)


def bench_roof(n, mode, flush):
    """Seconds of the fastest copy of n floats in ./bench."""
    return min(number("bench.csv", "seconds", contender=copy, element="f32", n=n, mode=mode,
                      flush=flush)
               for copy in ("cudaMemcpyAsync", "float4 kernel", "bulk copies"))


def value(experiment, variant, parameter, metric="time"):
    """What an experiment printed."""
    return number("experiments.csv", metric, experiment=experiment, variant=variant,
                  parameter=parameter)


def of_roof(contender, element):
    """A contender's share of the roof at 2^28, from ./bench."""
    return number("bench.csv", "roof_fraction", contender=contender, element=element, n=SIZES["28"],
                  mode="cold",
                  flush="read")
