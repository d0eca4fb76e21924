"""speed_rows.py -- the tables of notes/more/emulator-inside.md that tell how fast the emulator is,
from emulated/speed.csv.

Used by tables.py, as table_rows.py is.
"""
from records import find, read, size
from table_rows import table

SPEED, MACHINE = read("emulated/speed.csv")
MODES = "plain", "counters"
TOOLS = "memcheck", "racecheck", "initcheck", "synccheck"
ABOUT = {"arithmetic": "integers, in a loop",
         "divergence": "Collatz: each lane another number of rounds",
         "histogram": "atomics on 16 words of shared memory",
         "one counter": "atomics of all lanes on one word",
         "bytes": "loads and stores of one byte", "doubles": "`sqrt` and `sin` of doubles",
         "local array": "an array with indices known only at run time",
         "generic": "pointers into either memory",
         "calls": "a recursive function, not inlined",
         "scattered": "every lane in a sector of its own",
         "bank conflicts": "all lanes in one bank", "matrix product": "tiles of 16 x 16 floats",
         "tiny blocks": "131 072 empty blocks of one warp"}


def value(metric="rate", **wanted):
    return float(next(row[metric] for row in find(SPEED, **wanted) if row.get(metric)))


def rate(**wanted):
    return "%.0f" % value(cores=1, **wanted)


def emulator_speed():
    sizes = {(row["case"], int(row["n"])) for row in find(SPEED, group="scan", mode="counters")}
    rows = ([name, size(n),
             "%.2f" % (value("instructions", group="scan", case=name, n=n, cores=1) / 1e6),
             *(rate(group="scan", case=name, n=n, mode=mode) for mode in MODES)]
            for name, n in sorted(sizes))
    checked = table(["step 5 at 2²⁰", "plain", *TOOLS],
                    ["rate", *(rate(group="check", case="step 5", n=2**20, mode=mode)
                               for mode in ("plain", *TOOLS))],
                    ["bytes of memory per byte of the scan's arrays", "0",
                     *("%.1f" % checker_bytes(tool) for tool in TOOLS)])
    return ["Rates in millions of warp instructions per second and core (%s; processor time, "
            "medians of 7 runs):"
            % MACHINE["CPU"], "",
            *table(["scan", "n", "millions of warp instructions", "rate", "rate with counters"],
                   *rows), "", *checked]


def checker_bytes(tool):
    """Resident memory beyond that without checkers, for each byte that the scan's two arrays
    have."""
    arrays = 2 * 4 * 2**20
    memory = lambda mode: value("memory", group="check", mode=mode) * 2**20
    return max(0.0, (memory(tool) - memory("plain")) / arrays)


def emulator_elsewhere():
    rows = (["%s" % name, about, *(rate(group="micro", case=name, mode=mode) for mode in MODES)]
            for name, about in ABOUT.items())
    one, many = (value("launch", group="launches", n=16, cores=cores)
                 for cores in (1, cores_measured()))
    started = {row["case"]: row["processor"] for row in find(SPEED, group="startup")}
    most = sum(float(row["memory"]) for row in find(SPEED, group="blocks"))
    return [*table(["kernel", "what it does", "rate", "rate with counters"], *rows), "",
            "A launch of 16 empty blocks takes %.0f µs with one host thread, %.0f µs with %d. A "
            "small program starts, runs"
            % (one, many, cores_measured()),
            "two kernels and ends in %.1f ms of processor time; one that sorts with Thrust takes "
            "%.0f ms. 2²⁰ blocks of 1024"
            % (float(started["shared"]), float(started["thrust_sort"])),
            "threads that end at once take %.1f s. As many blocks as an H200 holds, all waiting "
            "for the last, take %.0f MiB."
            % (value("elapsed", group="blocks", case="that end at once"), most)]


def cores_measured():
    return max(int(row["cores"]) for row in SPEED)


def emulator_growth():
    by_n = find(SPEED, group="growth with n")
    by_block = find(SPEED, group="growth with the block")
    by_cores = find(SPEED, group="scan", case="step 5", n=2**20, mode="plain")
    work = value("instructions", group="scan", case="step 5", n=2**20, mode="plain", cores=1) / 1e6
    cell = lambda row: "%.0f" % float(row["rate"])
    return [*table(["n, step 5", *(size(int(row["n"])) for row in by_n)],
                   ["rate", *map(cell, by_n)]), "",
            *table(["threads per block, a sum by a tree", *(row["block"] for row in by_block)],
                   ["rate", *map(cell, by_block)]), "",
            *table(["cores, step 5 at 2²⁰", *(row["cores"] for row in by_cores)],
                   ["rate of each", *map(cell, by_cores)],
                   ["time, if the cores have no other work",
                    *("%.0f ms" % (1e3 * work / float(row["rate"]) / int(row["cores"]))
                      for row in by_cores)])]


def emulator_time():
    kinds = {"memory": "loads, stores, atomics",
             "arithmetic": "arithmetic, comparisons, conversions",
             "control": "the loop over instructions, branches, barriers, blocks",
             "counting": "counting",
             "host": "the host: copies, the operating system"}
    columns = [(step, mode) for step in ("step 5", "step 7") for mode in MODES]
    return table(["share of the time", *("%s, %s" % column for column in columns)],
                 *([what, *("%.0f %%" % value(kind, group="share", case=step, mode=mode)
                            for step, mode in columns)]
                   for kind, what in kinds.items()))
