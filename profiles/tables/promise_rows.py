"""promise_rows.py -- the tables of h200/promises.csv, in which step 12's promises were tried: a
function each.

Used by tables.py, as table_rows.py is.
"""
from records import PROMISES, PROMISES_ON, duration, grouped, has, machine, size, three
from table_rows import table

TYPES = {"f32": "float", "f64": "double"}


def of(name):
    return has(PROMISES, experiment=name)


def keys(rows, *names):
    """The different values of these columns, in order."""
    return list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))


def value(rows, variant, parameter, metric):
    """A number, or None."""
    found = [row[metric] for row in rows
             if (row["variant"], row["parameter"]) == (variant, parameter) and row[metric]]
    return float(found[0]) if found else None


def elements(n):
    """2^26 + 3."""
    power = 1 << (n.bit_length() - 1)
    return size(n) + (" + %d" % (n - power) if n > power else "") if n - power < 100 else grouped(n)


def measured_on():
    return ["On %s:" % machine(PROMISES_ON), ""]


def promises_bits():
    """Real numbers: elements that differ from the CPU's and from the first run's, and errors beside
    the bound."""
    rows = of("same-bits")

    def line(variant, n):
        get = lambda metric: value(rows, variant, n, metric)
        element, numbers = variant.split(" ", 1)
        cub = get("error of CUB in the second half")
        return ["%s, %s" % (TYPES[element], numbers), elements(int(n)),
                "%d" % get("differ from the CPU"),
                "%d" % get("differ from the first"), three(get("error")),
                three(get("error in the second half")),
                "%.0f" % get("bound"), "" if cub is None else three(cub)]
    runs = {int(row["runs"]) for row in rows}
    return measured_on() + table(
        ["random numbers", "n", "elements that differ from the CPU's",
         "elements that differ in %s runs" % max(runs), "error", "error in the second half",
         "bound", "CUB's error in the second half"],
        *(line(*key) for key in keys(rows, "variant", "parameter")))


def promises_ways():
    """Scans of which every element was compared: what they were, how many, how many elements were
    wrong."""
    ways, streams = of("every-way"), of("streams")

    def line(what, chosen):
        scans = sum(int(row.get("scans") or 1) for row in chosen)
        wrong = sum(float(row["wrong"]) for row in chosen)
        sizes = sorted({int(row["parameter"]) for row in chosen})
        return [what, ", ".join(map(elements, sizes)), grouped(scans), "%d" % wrong]
    large = lambda row: int(row["parameter"]) > 2**32
    usual = [row for row in ways if not large(row)]
    named = lambda *words: [row for row in usual if all(word in row["variant"] for word in words)]
    return measured_on() + table(
        ["", "elements", "scans", "elements wrong"],
        line("exclusive",
             [row for row in named("exclusive") if row["variant"].endswith("exclusive")]),
        line("inclusive",
             [row for row in named("inclusive") if row["variant"].endswith("inclusive")]),
        line("in place", named("in place")),
        line("misaligned", named("misaligned")),
        line("more than 2³² elements", [row for row in ways if large(row)]),
        line("four streams at once, float", has(streams, variant="four streams")),
        line("a graph launched again and again, float", has(streams, variant="graph")))


def promises_beside():
    """Scans while another kernel holds multiprocessors: a line for each n, a column for how many
    are held."""
    rows = of("beside")
    cases = [(kernel, *parameter.split(" beside "))
             for kernel, parameter in keys(rows, "variant", "parameter")]
    held = list(dict.fromkeys(case[2] for case in cases))

    def cell(kernel, n, how_many):
        parameter = "%s beside %s" % (n, how_many)
        ended = value(rows, kernel, parameter, "ended")
        if not ended:
            return "" if ended is None else "waits for it"
        seconds = value(rows, kernel, parameter, "time")
        return "ends" if seconds is None else duration(seconds)
    lines = list(dict.fromkeys((kernel, n) for kernel, n, _ in cases))
    return measured_on() + table(
        ["n", "kernel", *(how_many + " held" for how_many in held)],
        *([elements(int(n)), "`%s`" % kernel, *(cell(kernel, n, how_many) for how_many in held)]
          for kernel, n in lines))
