"""fidelity_rows.py -- the tables of what the emulator and a GPU do: counters of memory instructions
in many patterns and what the runtime answers (notes/fidelity.md; tests/docs/test_fidelity.py runs
the emulator and compares), what functions and tensor cores compute, and what the checkers find.
"""
import fnmatch
import math
import re
import struct
import sys
import textwrap

from records import power, read, runs, shown, table
from recording import catalogues  # records.py finds it

# ---- counters and answers ------------------------------------------------------------------------

DIFFER, _ = read("fidelity_differences.csv")
# A counter of copies that no rule gives in all patterns: the emulator's has a name of its own.
OWN_NAMES = {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum":
             "emu__wavefronts_mem_shared_op_ldgsts.sum"}


def numbers():
    """A row for each number of the recordings. The type of a copy is its number of bytes, that of a
    move of matrices its shape."""
    rows = []
    for recorded in read("h200/fidelity.csv")[0]:
        case = {key: recorded.pop(key) for key in ("space", "counter", "pattern")}
        for instruction, value in recorded.items():
            operation, kind = instruction.split()
            rows.append({**case, "operation": operation, "type": kind, "value": value})
    for space, kind, recording in (("copy", "bytes", "h200/copies.csv"),
                                   ("matrix", "shape", "h200/matrices.csv")):
        for recorded in read(recording)[0]:
            case = {"space": space, "operation": recorded.pop("operation"),
                    "type": recorded.pop(kind), "pattern": recorded.pop("pattern")}
            rows += [{**case, "counter": counter, "value": value}
                     for counter, value in recorded.items()]
    return [row for row in rows if row["value"]]


RECORDED = numbers()
# What the runtime answers. In the table of differences a call is a counter.
ANSWERS = [{"space": "runtime", "operation": "call", "type": "-", "pattern": "all",
            "counter": row["call"], "value": row["answer"]}
           for row in read("h200/answers.csv")[0]]


def is_among(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def explanations(row):
    """The rows of fidelity_differences.csv that a row of the recording belongs to."""
    return [why for why in DIFFER
            if row["space"] in why["spaces"].split()
            and is_among(row["operation"], why["operations"].split())
            and is_among(row["type"], why["types"].split())
            and is_among(row["pattern"], why["patterns"].split("|"))
            and is_among(row["counter"], why["counters"].split("|"))]


@shown
def fidelity():
    """For each operation its patterns, and how many numbers are equal or explained."""
    found = {}
    for row in RECORDED + ANSWERS:
        types, equal, explained = found.setdefault((row["space"], row["operation"]), ({}, [], []))
        types.setdefault(row["type"], set()).add(row["pattern"])
        (explained if explanations(row) else equal).append(row)
    rows = []
    last = {"copy": 2, "matrix": 3, "runtime": 4}
    loads_first = lambda item: last.get(item[0][0], "." in item[0][1])
    for (space, operation), (types, equal, explained) in sorted(found.items(), key=loads_first):
        patterns = max(len(names - {"all"}) for names in types.values())
        rows.append([space, "`%s`" % operation, " ".join(types), patterns or "together",
                     len(equal), len(explained)])
    return table(["space", "instruction", "types", "patterns", "numbers equal", "explained"], *rows)


@shown
def fidelity_differ():
    """The explanations, and how many numbers each is about."""
    explained = [explanations(row) for row in RECORDED + ANSWERS]
    rows = [(why, sum(why in reasons for reasons in explained)) for why in DIFFER]
    return table(["instructions", "counters", "numbers", "why"],
                 *([" ".join((why["spaces"], why["operations"], why["types"])),
                    why["counters"].replace("|", " ").replace("*", "…"), count, why["why"]]
                   for why, count in rows))


COMPUTED, _ = read("h200/functions.csv")
COMPUTED_DIFFER, _ = read("functions_differences.csv")


def differing_functions():
    """(kind, name) of the functions that compute other bits on the emulator."""
    return {(why["kind"], name) for why in COMPUTED_DIFFER for name in why["functions"].split("|")}


@shown
def computed():
    """Of each kind of functions, how many there are, and how many compute the same bits."""
    found, differing = {}, differing_functions()
    for row in COMPUTED:
        found.setdefault(row["kind"], []).append((row["kind"], row["function"]) in differing)
    found["all"] = sum(found.values(), [])
    return table(["kind", "functions", "equal", "differ"],
                 *([kind, len(differ), len(differ) - sum(differ), sum(differ)]
                   for kind, differ in found.items()))


@shown
def computed_differ():
    """What differs, with its bound; long lists of names are shortened."""
    rows = []
    for why in COMPUTED_DIFFER:
        names = list(dict.fromkeys(name.split()[0] for name in why["functions"].split("|")))
        shown = names if len(names) <= 4 else names[:3] + ["…"]
        rows.append([why["kind"], " ".join(f"`{name}`".replace("`…`", "…") for name in shown),
                     len(why["functions"].split("|")), why["bound"], why["why"]])
    return table(["kind", "functions", "number", "bound", "why"], *rows)


# ---- tensor cores, by inputs that tell rules apart (measure/tensor.cu) ---------------------------

TENSOR, _ = read("h200/tensor.csv")
# For each type of results: struct's letter, the bits of its mantissa, and a series' first shift.
FORMATS = {"f16": ("e", 10, 6), "f32": ("f", 23, 6), "f64": ("d", 52, 40)}


def number_of(bits, letter):
    return struct.unpack(">" + letter, bytes.fromhex(bits))[0]


def tensor_cases(kind, pattern):
    """For each instruction the recorded bits of this case."""
    return {row["instruction"]: row["hash"].split() for row in TENSOR
            if row["kind"] == kind and re.fullmatch(pattern, row["cases"])}


def smallest_kept(series, letter, first):
    """What is left of the last 1.5 · 2^-s, s = first, first + 1, …, that is not lost."""
    last = max(k for k, bits in enumerate(series) if number_of(bits, letter))
    exponent = -(first + last)
    if last == len(series) - 1:
        return "all, to " + power(exponent)
    return "%s of 1.5 · %s" % (power(round(math.log2(number_of(series[last], letter)))),
                               power(exponent))


def places(mask, k):
    """The numbers of the bits in a mask, with runs as "2 to 7"; c is bit k."""
    texts = ["%d to %d" % (a, b) if b > a else str(a)
             for a, b in runs(n for n in range(k) if mask >> n & 1)]
    if len(texts) > 3:
        texts[2:-1] = ["…"]
    return ", ".join(texts + ["c"] * (mask >> k & 1)) or "none"


@shown
def tensor_sums():
    """A row for each instruction on floating-point numbers."""
    groups = tensor_cases("groups", "0 and 1")
    widths = tensor_cases("width", r"16/16 at 0 cancelled and 24/16.*")
    sums = tensor_cases("rounding", "16/16 at 0 and 31/16.*")
    rows = []
    for instruction, (mask,) in groups.items():
        parts = instruction.split(".")
        letter, mantissa, first = FORMATS[parts[3]]
        k = int(re.search(r"k(\d+)", parts[0])[1])
        # 31/16 at this shift is 15.5 times the place of the last bit.
        rounded = sums[instruction][mantissa - 3 - first]
        above = int(rounded, 16) - int.from_bytes(struct.pack(">" + letter, 1.0), "big")
        is_narrow = parts[4] in ("e4m3", "e5m2")  # too narrow to express x and 15.5 ulps
        kept = smallest_kept(widths[instruction], letter, first)
        rows.append(["`%s`" % ".".join([parts[0], *parts[3:]]), places(int(mask, 16), k),
                     "" if is_narrow or letter == "e" else kept, "" if is_narrow else above])
    return table(["instruction", "where 2⁻¹⁶ is kept", "least x that is kept", "ulps above 1"],
                 *rows)


# ---- checkers ------------------------------------------------------------------------------------

CHECKED_BY_GPU, CHECKED_ON = read("h200/checks.csv")
CHECKED, _ = read("emulated/checks.csv")
CHECKS_DIFFER, _ = read("checks_differences.csv")
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]


def findings(rows):
    """How many findings, by program, version and tool; None where the run was stopped at its limit
    of time."""
    count = lambda errors, warnings: None if errors == "?" else int(errors) + int(warnings)
    return {(row["program"], row["version"], tool):
            count(row[tool + " errors"], row[tool + " warnings"])
            for row in rows for tool in TOOLS if row.get(tool + " errors")}


NOT_RECORDED = "not recorded"


@shown
def checks():
    """Both tools' verdicts on the wrong programs, then on the right ones. Programs that have not
    been run on a GPU are in the table only."""
    theirs, ours = findings(CHECKED_BY_GPU), findings(CHECKED)
    programs = sorted({row["program"] for row in CHECKED_BY_GPU})
    rows, files = [], catalogues()
    for program in sorted({row["program"] for row in CHECKED}.union(programs)):
        cells = []
        for tool in TOOLS:
            key = program, "wrong", tool
            pair = theirs.get(key, NOT_RECORDED), ours[key]
            text = " / ".join("waits" if found is None else str(found) for found in pair)
            cells.append(text if any(pair) or None in pair else "")
        rows.append(["[%s](../../tests/cases/checks/%s.cu)" % (program, files[program]),
                     *cells])
    same = len(theirs) - len(differences(theirs, ours))
    right = [(program, "right", tool) for program in programs for tool in TOOLS]
    clean = [sum(found[key] == 0 for key in right) for found in (theirs, ours)]
    return [*textwrap.wrap(
        "%d programs, in a wrong and a right version, were run under %d tools. In %d of %d runs "
        "both found something or "
        "both found nothing. In the right versions compute-sanitizer found nothing in %d of %d "
        "runs and gave no verdict "
        "in %d; the emulator found nothing in %d. The table shows the number of findings in the "
        "wrong versions: "
        "compute-sanitizer on an %s / emulator.%s" % (
            len(programs), len(TOOLS), same, len(theirs), clean[0], len(right),
            sum(theirs[key] is None for key in right), clean[1], CHECKED_ON["GPU"],
            " %d more programs have not been run on a GPU (%s)."
            % (len(rows) - len(programs), NOT_RECORDED) if len(rows) > len(programs) else ""),
        120),
            "", *table(["program", *TOOLS], *rows)]


def verdict(found):
    """None where there is none, as the run was stopped; whether anything was found."""
    return None if found is None else found > 0


def differences(theirs, ours):
    """The runs in which the two tools' verdicts differ: (program, version, tool)."""
    return {key for key in theirs if verdict(theirs[key]) != verdict(ours[key])}


def explained(row, differ):
    """The differences that a row of checks_differences.csv is about: those of its programs, of
    which each may be a pattern, as init-shared*, under its tools. Exits if there is none for one of
    these words."""
    def under(key, program):
        return (key[1] == row["version"] and key[2] in row["tools"].split()
                and fnmatch.fnmatchcase(key[0], program))

    keys = set()
    for program in row["programs"].split():
        found = {key for key in differ if under(key, program)}
        for tool in row["tools"].split():
            if not any(key[2] == tool for key in found):
                sys.exit("profiles/checks_differences.csv: %s, %s, %s: no difference"
                         % (program, row["version"], tool))
        keys |= found
    return keys


def finder(found_by_them, found_by_us):
    return "compute-sanitizer" if found_by_them else "the emulator" if found_by_us else "neither"


def differ_rows(row, keys, theirs, ours):
    """A row of the table for programs that differ under the same tools, with the same finder."""
    groups = {}
    for program in sorted({key[0] for key in keys}):
        for by in ("compute-sanitizer", "the emulator", "neither"):
            under = [tool for tool in TOOLS if (key := (program, row["version"], tool)) in keys
                     and finder(theirs[key], ours[key]) == by]
            if under:
                groups.setdefault((", ".join(under), by), []).append(program)
    right = " (right)" if row["version"] == "right" else ""
    return [[", ".join(programs) + right, under, by, row["why"]]
            for (under, by), programs in groups.items()]


@shown
def checks_differ():
    """The runs in which only one found something: each is explained by one row of the file, and
    nothing else is."""
    theirs, ours = findings(CHECKED_BY_GPU), findings(CHECKED)
    rows, unexplained = [], differences(theirs, ours)
    differ = set(unexplained)
    for row in CHECKS_DIFFER:
        keys = explained(row, differ)
        if keys - unexplained:
            sys.exit("profiles/checks_differences.csv explains %s twice"
                     % "/".join(min(keys - unexplained)))
        unexplained -= keys
        rows += differ_rows(row, keys, theirs, ours)
    if unexplained:
        sys.exit("profiles/checks_differences.csv does not explain %s"
                 % ", ".join(map("/".join, sorted(unexplained))))
    return table(["programs", "tools", "found by", "why"], *rows)
