"""ncu.py -- runs ncu and the emulator; what they print, as rows with a number each: step, variant,
n, kernel, launch, line, metric, value, unit, source. cases.py makes a table of them.

Rows without a line are totals of a launch. A source line is named such that comments and lines
above it may change: by its file, its text, and its place among the lines of that file with the same
text, as in "scan.cu#2" for the second of them. """
import csv
import os
import re
import sys
import tempfile

from recording import run

EMU = "build/emu/emu"
# At the clocks of everyday runs. RAW: totals of launches, without prefixes such as "kilo".
NCU = "ncu", "--clock-control", "none"
RAW = "--csv", "--page", "raw", "--print-units", "base"

# What profiles record, by ncu's names; the emulator has the same. Conflicts and wavefronts of
# shared memory are the hardware's own, and hold arbitration between blocks.
METRICS = [
    *("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum" % op for op in ("ld", "st")),
    *("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum" % op for op in ("ld", "st", "atom")),
    *("smsp__sass_inst_executed_op_shared_%s.sum" % op for op in ("ld", "st")),
    *("l1tex__t_%s_pipe_lsu_mem_global_op_%s.sum" % (what, op)
      for what in ("requests", "sectors") for op in ("ld", "st")),
    *("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_%s.ratio" % op
      for op in ("ld", "st")),
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"]
# What only a GPU can tell. Instructions are those of the machine.
METRICS_GPU = [
    "gpu__time_duration.sum", "smsp__inst_executed.sum", "dram__bytes_read.sum",
    "dram__bytes_write.sum", "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active", "launch__registers_per_thread",
    "launch__occupancy_limit_shared_mem"]
# How long a launch takes, and which part of the GPU is busy how much of that time.
ELAPSED = "%s.avg.pct_of_peak_sustained_elapsed"
METRICS_LIMITS = ["gpu__time_duration.sum", *(ELAPSED % name for name in (
    "sm__issue_active", "lts__throughput", "dram__throughput",
    "lts__ltcfabric2ltc_cycles_active"))]
# The same; sums over all schedulers and the cycles in which they have a warp; warps in each state,
# for each instruction issued: a warp is in one of them in every cycle.
METRICS_STALLS = [
    "gpu__time_duration.sum", ELAPSED % "lts__throughput", ELAPSED % "dram__throughput",
    "dram__bytes_read.sum", "dram__bytes_write.sum",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    *("smsp__%s.sum" % name for name in (
        "cycles_active", "issue_active", "warps_eligible", "warps_active")),
    *("smsp__average_warps_issue_stalled_%s_per_issue_active.ratio" % name for name in (
        "barrier branch_resolving dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard "
        "math_pipe_throttle membar mio_throttle misc no_instruction not_selected selected "
        "short_scoreboard sleeping tex_throttle wait").split())]

# The Source page: machine instructions, and the columns of what they access.
COLUMNS = {("LDS", "STS"): {"wavefronts": "L1 Wavefronts Shared",
                            "ideal": "L1 Wavefronts Shared Ideal"},
           ("LDG", "STG", "LD.",
            "ST."): {"sectors": "L2 Theoretical Sectors Global"}}  # LD, ST: by generic addresses
OPERATIONS = {"LDS": "ld", "STS": "st", "LDG": "ld", "STG": "st", "LD.": "ld", "ST.": "st"}


def pages(metrics, *command, lines="cuda,sass", options=(), **how):
    """What ncu says while it counts, its raw page, and its Source page."""
    with tempfile.TemporaryDirectory() as folder:
        said = run(*NCU, *options, "--metrics", ",".join(metrics), "--section", "SourceCounters",
                   "--import-source", "yes", "-f", "-o", folder + "/report", *command, both=True,
                   **how).stdout
        page = lambda *which: run("ncu", "--import", folder + "/report.ncu-rep", *which,
                                  check=False).stdout
        return said, page(*RAW), page("--csv", "--page", "source", "--print-source", lines)


def logged(*command, **how):
    """What a run under emu writes into its log."""
    with tempfile.TemporaryDirectory() as folder:
        run(EMU, "--log-file", folder + "/log", *command, **how)
        with open(folder + "/log", encoding="utf-8") as file:
            return file.read()


def of_scan(scan, metrics, *command):
    """Rows of a scan's launches, and of its source lines."""
    said, raw, lines = pages(metrics, *command, check=False)
    try:
        rows = totals(raw, scan, metrics)
        return rows + source(lines, scan, len({row["launch"] for row in rows}))
    except ValueError as error:
        raise ValueError("%s\n%s\n%s\n" % (error, said[-500:], raw[-500:])) from None


def number(text):
    return int(text.replace(",", "") or 0)


def function_name(text):
    """scan_block of "void scan_block<(padding)0>(float *, int)" """
    return re.sub(r"[<(].*", "", text).split()[-1]


def row(scan, kernel, launch, metric, count, unit="", line=("", "")):
    step, variant, n = scan
    return {"step": str(step), "variant": variant, "n": str(n), "kernel": kernel,
            "launch": str(launch), "line": line[0], "metric": metric, "value": str(count),
            "unit": unit, "source": line[1]}


def table(text):
    """Columns, units and rows of `--csv --page raw`."""
    rows = list(csv.reader(line for line in text.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        raise ValueError("ncu printed no launches")
    return rows[0], rows[1], rows[2:]


def totals(text, scan, metrics):
    """Rows of `--csv --page raw`, of these metrics alone: ncu adds many device attributes."""
    names, units, launches = table(text)
    missing = [metric for metric in metrics if metric not in names]
    if missing:
        raise ValueError("ncu printed no " + ", ".join(missing))
    return [row(scan, function_name(launch[names.index("Kernel Name")]), index, metric,
                launch[names.index(metric)].replace(",", ""), units[names.index(metric)])
            for index, launch in enumerate(launches) for metric in metrics]


class Lines:
    """The lines of one file, counted from 1 in the order in which they are added."""

    def __init__(self, path):
        self.file = os.path.basename(path)
        self.names = {}  # of a line's number
        self.equal = {}  # number of lines with this text so far

    def add(self, number, text):
        """Name and text of a line; the same again if that number was added before."""
        if number not in self.names:
            self.equal[text] = self.equal.get(text, 0) + 1
            self.names[number] = "%s#%d" % (self.file, self.equal[text])
        return self.names[number], text


def source(text, scan, expected):
    """Sums of `--csv --page source --print-source cuda,sass` over the machine code of each source
    line: wavefronts of shared memory and how few would do (ideal), and sectors of global memory,
    for loads (ld) and stores (st). Unlike the hardware's counters they hold no arbitration. Lines
    without such accesses have no row.

    `expected` is how many launches there were. Of several, ncu 2025.3 prints each instruction, or
    each page, twice. A kernel of several source files has a page for each; an instruction that is
    on two (of a function and of its call) counts on the first."""
    launches = []  # [kernel, {(line, metric): value}, {files}, {addresses of instructions}]
    columns, file, line, lines, fresh = [], "", ("", ""), {}, False
    for cells in csv.reader(text.splitlines()):
        if cells[:1] == ["File Path"]:
            file = os.path.basename(cells[1])
        elif cells[:1] == ["Function Name"]:
            kernel = function_name(cells[1])
            if not launches or launches[-1][0] != kernel or file in launches[-1][2]:
                launches.append([kernel, {}, set(), set()])
            launches[-1][2].add(file)
            fresh = True
        elif cells[:3] == ["Line No", "Source", "Address"]:
            if not fresh:  # the same page, printed again
                launches.append([kernel, {}, {file}, set()])
            columns, fresh, seen = cells, False, launches[-1][3]
        elif launches and columns and len(cells) == len(columns):
            if cells[0]:
                line = lines.setdefault(file, Lines(file)).add(int(cells[0]), cells[1].strip())
            is_new = cells[2].startswith("0x") and cells[2] not in seen
            words = cells[3].split() if is_new else []
            seen.add(cells[2])
            opcode = next((word[:3] for word in words if word[:3] in OPERATIONS), None)
            for opcodes, counters in COLUMNS.items():
                for name, column in counters.items() if opcode in opcodes else ():
                    key = line, "source_%s_%s" % (name, OPERATIONS[opcode])
                    counts = launches[-1][1]
                    counts[key] = counts.get(key, 0) + int(cells[columns.index(column)])
    pages = [launch[:2] for launch in launches]
    if len(pages) == 2 * expected and pages[0::2] == pages[1::2]:
        pages = pages[0::2]
    if len(pages) != expected:
        raise ValueError("ncu printed %d Source pages for %d launches" % (len(pages), expected))
    return [row(scan, kernel, index, metric, count, line=line)
            for index, (kernel, counts) in enumerate(pages)
            for (line, metric), count in counts.items()]


def emulated_lines(text, scan):
    """The same of the emulator's `--csv --page source`."""
    metrics = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum",
               "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_%s.sum",
               "l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum")
    lines = list(csv.reader(text.splitlines()))
    if len(lines) < 3:
        sys.exit("the emulator counted no lines: was the kernel compiled with -lineinfo?")
    files, found = {}, []
    for cells in lines[2:]:
        launch, kernel, path, line = cells[:4]
        counted = dict(zip(lines[0], cells))
        if path not in files:
            with open(path, encoding="utf-8") as file:
                named = Lines(path)
                files[path] = [named.add(k, text.strip())
                               for k, text in enumerate(file.read().splitlines(), 1)]
        for op in ("ld", "st"):
            wavefronts, conflicts, sectors = (int(counted[metric % op]) for metric in metrics)
            counts = ({"wavefronts": wavefronts, "ideal": wavefronts - conflicts} if wavefronts
                      else {})
            if sectors:
                counts["sectors"] = sectors
            found += [row(scan, kernel, launch, "source_%s_%s" % (what, op), count,
                          line=files[path][int(line) - 1]) for what, count in counts.items()]
    return found
