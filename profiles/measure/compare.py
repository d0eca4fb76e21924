#!/usr/bin/env python3
"""compare.py -- the counters of steps: what `make profileN` and `make compare` run.

usage: compare.py profile STEP    counts one scan, by ncu on a GPU or on the emulator
       compare.py                 shows counters side by side

`profile` writes build/profiles/DEVICE/stepNN[-VARIANT]-N.csv, in the form of h200/counters.csv.
DEVICE=cuda|emu, N=512 and VARIANT=pad16 choose; without DEVICE it is cuda if the machine has a GPU,
ncu, and the permission to read the counters.

The second form compares A=3 with B=4:pad16, with N elements, and with LINES=1 also by source line.
It counts on the emulator; beside its numbers stand those recorded on an H200, and those of your own
GPU if `make profileN` has written them. A ratio is B over A. Without A and B it shows every scan, a
row each, with 512 elements for steps of one block (2 to 4) and 65536 for the others; STEPS="8 9"
and VARIANTS="naive" choose some of them.

A=old.csv B=new.csv compares two recordings, of one scan or many, emulated or not, and counts
nothing. Of two that hold one scan each (STEPS, VARIANTS and SIZES leave out the others) all numbers
are shown, of two that hold many those that differ.
"""
import os
import re
import sys
import textwrap

import ncu
from cases import read
from recording import (TOP, about_gpu, choose, head, help_of, limit, run, steps, table_of, value,
                       variants)

WIDTH = 100  # of a terminal
PROFILES = os.path.join(TOP, "profiles")
RECORDED = os.path.join(PROFILES, "h200", "counters.csv")
CONFLICTS = "source_wavefronts_%s - source_ideal_%s"

# label, ncu's name or a difference of two columns of its Source page, what it means
ROWS = [
    ("bank conflicts, loads", CONFLICTS % ("ld", "ld"),
     "wavefronts beyond the least that would do"),
    ("bank conflicts, stores", CONFLICTS % ("st", "st"), ""),
    ("wavefronts, loads", "source_wavefronts_ld", "passes through shared memory"),
    ("wavefronts, stores", "source_wavefronts_st", ""),
    ("shared loads", "smsp__sass_inst_executed_op_shared_ld.sum", "instructions of warps"),
    ("shared stores", "smsp__sass_inst_executed_op_shared_st.sum", ""),
    ("global loads", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
     "instructions of warps: requests"),
    ("global stores", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", ""),
    ("sectors, loads", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "32 bytes each"),
    ("sectors, stores", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", ""),
    ("additions", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "of floats, by threads"),
    ("instructions", "smsp__inst_executed.sum", "of the machine, by warps"),
    ("bytes from memory", "dram__bytes_read.sum", "what the caches did not have"),
    ("bytes to memory", "dram__bytes_write.sum", ""),
    ("time, ns", "gpu__time_duration.sum", "under ncu, which is slower than alone"),
]


class Scan:
    """The counters of one scan: summed over its launches, and by source line."""

    def __init__(self, rows, place="emulator"):
        self.place = place
        self.rows = rows
        self.step, self.variant, self.n = (rows[0][key] for key in ("step", "variant", "n"))
        self.name = "step " + self.step + ("" if self.variant == "-" else " " + self.variant)

    def value(self, name, line=None):
        if " - " in name:
            parts = [self.value(part, line) for part in name.split(" - ")]
            return None if None in parts else parts[0] - parts[1]
        found = [float(row[name]) for row in self.rows
                 if row.get(name) and (line is None or (row["kernel"], row["source"]) == line)]
        if not found and name.startswith("source_") and self.lines():
            return 0  # the scan, or the line, has no such accesses
        return sum(found) if found else None

    def lines(self):
        """(kernel, source) of each line with accesses, in the order of the file."""
        return dict.fromkeys((row["kernel"], row["source"]) for row in self.rows if row.get("line"))


def recorded(scan, path):
    """The same scan as recorded in a file of many; None: it is not there."""
    rows = [row for row in read(path)[0] if (row["step"], row["variant"], row["n"]) ==
            (scan.step, scan.variant, scan.n)] if os.path.exists(path) else []
    return Scan(rows) if rows else None


def own(scan):
    """The same scan on the user's GPU, if it was profiled."""
    variant = "" if scan.variant == "-" else "-" + scan.variant
    path = os.path.join(TOP, "build/profiles/cuda",
                        "step%02d%s-%s.csv" % (int(scan.step), variant, scan.n))
    return recorded(scan, path)


def number(value):
    return "." if value is None else "{:,}".format(int(value)).replace(",", " ")


def ratio(a, b):
    return "." if not a or b is None else "%.2f" % (b / a)


def asked(scan):
    """Is it among those that STEPS, VARIANTS and SIZES name?"""
    words = lambda name: os.environ.get(name, "").split()
    sizes = [str(value(size)) for size in words("SIZES") or words("N")]
    return all(not wanted or has in wanted for wanted, has in (
        (words("STEPS"), scan.step), (words("VARIANTS"), scan.variant), (sizes, scan.n)))


def scans_of(path):
    """All scans of a file that were asked for, by what they are."""
    found, about = read(path)
    place = " ".join(filter(None, [about.get("GPU", "emulator").replace("NVIDIA ", ""),
                                   about.get("date")]))
    rows = {}
    for row in found:
        rows.setdefault((row["step"], row["variant"], row["n"]), []).append(row)
    scans = {key: Scan(mine, place) for key, mine in rows.items()}
    return {key: scan for key, scan in scans.items() if asked(scan)}


def recordings(path_a, path_b, lines):
    of_a, of_b = scans_of(path_a), scans_of(path_b)
    for path, scans in (path_a, of_a), (path_b, of_b):
        if not scans:
            sys.exit("compare: %s has no such scan" % path)
    if len(of_a) == len(of_b) == 1:
        (a,), (b,) = of_a.values(), of_b.values()
        compare(a, b, [("", a, b)])
        if lines:
            by_line(a, b)
        return
    table, both, numbers = [["", "n", "", "A", "B", "ratio"]], [key for key in of_a
                                                                if key in of_b], 0
    if not both:
        sys.exit("compare: no scan is in both files")
    for a, b in ((of_a[key], of_b[key]) for key in both):
        for label, name, _ in ROWS:
            x, y = a.value(name), b.value(name)
            numbers += None not in (x, y)
            if None not in (x, y) and x != y:
                table.append([a.name, a.n, label, number(x), number(y), ratio(x, y)])
    print("A: %s, %s\nB: %s, %s\n" % (path_a, of_a[both[0]].place, path_b, of_b[both[0]].place))
    if len(table) > 1:
        show(table, left=(0, 2))
        print()
    print("%d scans are in both; of %d numbers %d are equal."
          % (len(both), numbers, numbers - len(table) + 1))


def aligned(table, left=(0,), gap="  "):
    """The rows as lines: the columns in `left` to the left, the others to the right."""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return [gap.join(cell.ljust(width) if k in left else cell.rjust(width)
                     for k, (cell, width) in enumerate(zip(row, widths))).rstrip()
            for row in table]


def show(table, left=(0,)):
    print("\n".join(aligned(table, left)))


def places(a, b):
    """Pairs of scans and where they were counted."""
    pairs = [("emulator", a, b)]
    for name, find in (("this GPU", own), ("H200, recorded", lambda s: recorded(s, RECORDED))):
        found = find(a), find(b)
        if all(found):
            pairs.append((name, *found))
    return pairs


def compare(a, b, pairs):
    print("%s and %s, n = %s%s\n" % (a.name, b.name, a.n, "" if a.n == b.n else " and " + b.n))
    head = [[""], [""]]
    for name, x, y in pairs:
        head[0] += [name, "", ""] if name else [x.place, y.place, ""]
        head[1] += [x.name, y.name, "ratio"]
    table, legend = head, []
    for label, name, meaning in ROWS:
        values = [(x.value(name), y.value(name)) for _, x, y in pairs]
        if all(v is None for pair in values for v in pair):
            continue
        table.append([label]
                     + [cell for x, y in values for cell in (number(x), number(y), ratio(x, y))])
        legend += ["%s: %s" % (label.removesuffix(", loads"), meaning)] if meaning else []
    show(table)
    print("\n" + textwrap.fill("; ".join(legend) + ".", WIDTH))
    if len(pairs) == 1 and pairs[0][0]:
        print("\nNo recording on an H200 has both scans at this size.")


def by_line(a, b):
    """Shared memory, line after line; a line of B that A has as well stands beside it."""
    where = a.place if a.place == b.place else a.place + ", " + b.place
    print("\nBy source line (%s): wavefronts of loads + stores, and the conflicts among them\n"
          % where)
    table = [["", a.name, "conflicts", b.name, "conflicts", ""]]
    cells = lambda scan, line: [number((scan.value("source_wavefronts_ld", line) or 0)
                                       + (scan.value("source_wavefronts_st", line) or 0)),
                                number((scan.value(CONFLICTS % ("ld", "ld"), line) or 0)
                                       + (scan.value(CONFLICTS % ("st", "st"), line) or 0))]
    empty = [".", "."]
    of_a, of_b = a.lines(), b.lines()
    shared = lambda scan, line: any(scan.value("source_wavefronts_" + op, line)
                                    for op in ("ld", "st"))
    for line in list(of_a) + [line for line in of_b if line not in of_a]:
        kernel, source = line
        if not shared(a, line) and not shared(b, line):
            continue  # an access to global memory
        table.append([kernel, *(cells(a, line) if line in of_a else empty),
                      *(cells(b, line) if line in of_b else empty), source])
    for line in aligned(table, left=(0, 5)):
        print(line if len(line) <= WIDTH else line[:WIDTH - 1] + "…")


def columns():
    """The columns of a table of scans: a short label, and the counter's name."""
    short = {"bank conflicts": "conflicts", "loads": "ld", "stores": "st", ",": ""}
    for label, name, _ in ROWS[:11]:
        if label.startswith("shared"):
            continue
        for long, word in short.items():
            label = label.replace(long, word)
        yield label, name


def reasons(step, variant, counter, table=None):
    """Why a counter of a scan differs on an H200: all that counters_differences.csv says of it."""
    if table is None:
        table, _ = read(os.path.join(PROFILES, "counters_differences.csv"))
    return [row["why"] for row in table
            if step in row["steps"].split() and counter in row["counters"].split("|")
            and any(variant == name or name == "*" for name in row["variants"].split())]


def explain(differing):
    """Prints the differences, grouped by their reason, and each reason once below its group.
    differing: (scan, label, here, there)."""
    table, groups = [["", "n", "counter", "emulator", "H200"]], []
    for scan, label, here, there in differing:
        why = reasons(scan.step, scan.variant, label)
        table.append([scan.name, scan.n, label, number(here), number(there)])
        groups.append(why[0] if len(why) == 1 else
                      "profiles/counters_differences.csv has %d reasons" % len(why))
    head, *lines = aligned(table, left=(0, 2))
    print("\nThose with a *, as recorded on an H200, and why they differ:\n\n  " + head)
    for why in dict.fromkeys(groups):
        for line, group in zip(lines, groups):
            if group == why:
                print("  " + line)
        indent = 6 * " "
        print(textwrap.fill(why + ".", WIDTH, initial_indent=indent, subsequent_indent=indent))


def everything(scans):
    """One row a scan: the emulator's numbers, with a * where an H200's differ."""
    names = list(columns())
    kinds = [label.rsplit(" ", 1) if " " in label else ["", label] for label, _ in names]
    short = {"wavefronts": "wavefr.", "conflicts": "confl.", "additions": "adds"}
    kinds = [(short.get(kind, kind), short.get(op, op) + " ") for kind, op in kinds]
    table = [["", ""] + [kind if op != "st " else "" for kind, op in kinds],
             ["step", "n", *(op for _, op in kinds)]]
    equal, differing = 0, []
    for scan in scans:
        other = recorded(scan, RECORDED)
        cells = []
        for label, name in names:
            here, there = scan.value(name), other.value(name) if other else None
            differs = there not in (None, here)
            equal += there is not None and there == here
            if differs:
                differing.append((scan, label, here, there))
            cells.append(number(here).replace(" ", "") + ("*" if differs else " "))
        table.append([scan.name.removeprefix("step "), scan.n, *cells])
    for line in aligned(table, gap=" "):
        print(line)
    print("\nOf these numbers %d were recorded on an H200 and are equal, and %d differ: those with "
          "a *." % (equal, len(differing)))
    if differing:
        explain(differing)


# ---- counting ------------------------------------------------------------------------------------

def fail(why, status=1):
    print("compare: " + why, file=sys.stderr)
    sys.exit(status)


def no_ncu(command):
    """Why ncu cannot be used here; "" if it can."""
    try:
        if run("nvidia-smi", check=False).returncode:
            return "there is no usable GPU"
        said = run("ncu", "--metrics", "launch__registers_per_thread,"
                   "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", *command, check=False,
                   both=True).stdout
    except FileNotFoundError as missing:
        return ("ncu is not installed (it comes with the CUDA toolkit, package cuda-nsight-compute)"
                if missing.filename == "ncu" else "there is no usable GPU")
    return ("ncu may not read the counters: as root, run it with sudo, or let everybody, with "
            "\"options nvidia NVreg_RestrictProfilingToAdminUsers=0\" in a file in "
            "/etc/modprobe.d and a restart" if "ERR_NVGPUCTRPERM" in said else "")


def by_ncu(scan, command):
    try:
        return ncu.of_scan(scan, ncu.METRICS + ncu.METRICS_GPU, *command)
    except ValueError as error:
        return fail(str(error))


def by_emulator(scan, command):
    raw = ncu.logged("--csv", "--metrics", ",".join(ncu.METRICS), *command)
    lines = ncu.logged("--csv", "--page", "source", *command)
    return ncu.totals(raw, scan, ncu.METRICS) + ncu.emulated_lines(lines, scan)


def profile(step, variant="", n=None, device=""):
    """Counts one scan; the name of its file."""
    if not os.access("%s/step%s" % (TOP, step), os.X_OK):
        fail("there is no ./step%s; make step%s builds it" % (step, step), 2)
    n = n or re.search(r"^Default n: (\d+)", help_of(step), re.M)[1]
    default = re.search(r"^Variants: (\S+) \(default\)", help_of(step), re.M)
    variant = variant or (default[1] if default else "-")
    command = lambda on: ["./step%s" % step, "--device", on, *choose(variant), "--n", n, "--reps",
                          "0"]
    if device != "emu":
        why = no_ncu(command("cuda"))
        if why and device == "cuda":
            fail(why + "; DEVICE=emu counts without a GPU", 3)
        if why:
            print("profile: %s; so the emulator counts" % why)
        device = "emu" if why else "cuda"
    rows = (by_emulator if device == "emu" else by_ncu)((step, variant, n), command(device))
    path = "build/profiles/%s/step%02d%s-%s.csv" % (
        device, int(step), "" if variant == "-" else "-" + variant, n)
    os.makedirs(os.path.dirname(os.path.join(TOP, path)), exist_ok=True)
    how = "the emulator" if device == "emu" else "ncu --clock-control none"
    with open(os.path.join(TOP, path + ".new"), "w", encoding="utf-8") as file:
        file.write(head("%s: counters of one scan of step %s, n = %s." % (how, step, n),
                        *(about_gpu() if device == "cuda" else [])) + table_of(rows))
    os.replace(os.path.join(TOP, path + ".new"), os.path.join(TOP, path))
    return path


def count(scan, n):
    """Counts STEP[:VARIANT] on the emulator."""
    step, _, variant = scan.partition(":")
    return Scan(read(os.path.join(TOP, profile(step, variant, n, "emu")))[0])


def main(arguments):
    a, b, n, variant, device = (os.environ.get(name, "")
                                for name in ("A", "B", "N", "VARIANT", "DEVICE"))
    lines = bool(os.environ.get("LINES"))
    if arguments[:1] == ["profile"] and len(arguments) == 2:
        print("profile: " + profile(arguments[1], variant, n, device))
    elif arguments:
        sys.exit(__doc__)
    elif not a and not b:
        everything([count("%d:%s" % (step, name.strip("-")),
                          n or ("512" if limit(step) else "65536"))
                    for step in steps(2) for name in variants(step)])
    elif not a or not b:
        fail("it takes two, as in: make compare A=3 B=4", 2)
    elif ".csv" in a + b:
        for path in (a, b):
            if not os.path.isfile(path):
                fail("there is no file " + path, 2)
        recordings(a, b, lines)
    else:
        a, b = count(a, n or "512"), count(b, n or "512")
        compare(a, b, places(a, b))
        if lines:
            by_line(a, b)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:  # as in: make compare | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
