"""emulator_rows.py -- the tables that tell of the emulator: how fast it is, its variables, what
scans would take on GPUs before Hopper, by what it counts and what NVIDIA says of the GPU, and which
courses and test suites run on it.
"""
import os
import re

from records import TABLES, TOP, duration, find, read, shown, size, table

# ---- speed ---------------------------------------------------------------------------------------

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


@shown
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


@shown
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


@shown
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


@shown
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


# ---- variables -----------------------------------------------------------------------------------

SETTINGS = os.path.join(TOP, "common", "tools", "emu", "command", "settings.inc")
ROW = re.compile(r"^(SETTING|VARIABLE)\((.*?)\)$", re.M | re.S)
FIELD = re.compile(r'((?:"(?:\\.|[^"])*"\s*)+|[^",]+)(?:,\s*|$)')
TEXT = re.compile(r'"((?:\\.|[^"])*)"')


def fields(row):
    """The arguments of a macro; texts that follow each other are one, and NULL is empty."""
    for field in FIELD.findall(row):
        texts = TEXT.findall(field)
        yield "".join(texts).replace("\\n", " ") if texts else field.strip().replace("NULL", "")


@shown
def emulator_variables():
    with open(SETTINGS, encoding="utf-8") as file:
        text = file.read()
    rows = []
    for macro, row in ROW.findall(text[text.index("*/"):]):
        name, _, least, most, takes, standard, *rest = fields(row)
        option, _, argument, _ = rest[:-1] if macro == "SETTING" else ("", "", "", "")
        written = "`--%s`" % " ".join(filter(None, (option, argument))) if option else ""
        rows.append(["`EMU_%s`" % name, takes or "%s to %s" % (least, most), standard,
                     written.replace("|", "\\|"), rest[-1]])
    return table(["variable", "takes", "default", "option", "meaning"], *rows)


# ---- GPUs before Hopper --------------------------------------------------------------------------

OLDER, _ = read("emulated/older.csv")
MODELS = os.path.join(TOP, "common", "tools", "emu", "machine", "device.c")
GPUS = {"t4": "T4", "a100": "A100", "rtx4090": "RTX 4090"}
SECTOR = 32  # bytes
SCHEDULERS = 4  # of a multiprocessor; each issues an instruction of a warp in a clock
# What is done, n, and where it is counted: (step, variant) of the library's and of a simpler form.
SCANS = [("sum of f32", 2**24, (12, "f32"), (11, "")),
         ("sum of f32", 2**23, (12, "f32"), (11, "")),
         ("sum of i32", 2**23, (12, "i32"), (11, "")),
         ("sum of f32 by step 16", 2**21, (16, "sum"), (11, "")),
         ("selection", 2**24, (13, "fast"), (13, "document")),
         ("sort", 2**20, (15, "fast"), (15, "document"))]


def counted(gpu, n, step, variant):
    return find(OLDER, gpu=gpu, n=n, step=step, variant=variant)[0]


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


@shown
def older_gpus():
    def cells(n, *scans):
        return [duration(max(bounds(gpu, counted(gpu, n, *scan))))
                for gpu in GPUS for scan in scans]
    return table(["what", "n", *(head for name in GPUS.values() for head in (name, "simpler"))],
                 *([what, size(n), *cells(n, *scans)] for what, n, *scans in SCANS))


# ---- what others wrote ---------------------------------------------------------------------------

MOST_CAUSES = 3


@shown
def suites():
    """For each suite that others wrote, how many tests passed, and why the others did not: of many
    reasons the first ones."""
    def said(ends):
        more = ends[MOST_CAUSES:]
        rest = sum(int(end.split()[0]) for end in more)
        others = ["%d (%d other reasons)" % (rest, len(more))] if more else []
        return "; ".join(ends[:MOST_CAUSES] + others)
    found = {}
    for row in read("suites.csv")[0]:
        ends = found.setdefault((row["suite"], row["package"], row["date"]), {})
        why = " (%s)" % row["why"].replace("|", "/") if row["why"] else ""
        ends.setdefault(row["outcome"], []).append(row["tests"] + why)
    outcomes = ["passed", "skipped", "refused", "failed", "cut"]
    return table(["suite", "package", "date", *outcomes],
                 *([suite, "`%s`" % package, date,
                    *(said(ends.get(outcome, ["0"])) for outcome in outcomes)]
                   for (suite, package, date), ends in found.items()))


def courses(key, *others):
    """A table of the rows of courses.csv that have the column `key`."""
    return table([key, *others], *([row[column] for column in (key, *others)]
                                   for row in read("courses.csv")[0] if key in row))


TABLES |= {
    "course-collections": lambda: courses("collection", "programs", "ran", "remark"),
    "course-obstacles": lambda: courses("obstacle", "programs", "what it was", "today"),
    "course-files": lambda: courses("missing", "files", "repositories", "sole obstacle", "today"),
    "course-old": lambda: courses("old code", "cases", "of", "unit")}
