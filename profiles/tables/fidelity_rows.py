"""fidelity_rows.py -- what is compared in notes/fidelity.md: ncu's counters of memory instructions
in many patterns (fidelity.csv, copies.csv, matrices.csv in h200/) and what the runtime answers
(answers.csv), each equal to the emulator's or
explained by fidelity_differences.csv. tests/docs/test_fidelity.py runs the emulator and compares.
"""
import fnmatch

from records import read
from table_rows import table

COPIES, _ = read("h200/copies.csv")
MATRICES, _ = read("h200/matrices.csv")
DIFFER, _ = read("fidelity_differences.csv")
# Counters of copies that were recorded, and that the emulator does not offer: those of the hardware
# depend on what the L1 cache contains.
NOT_OFFERED = ["memory_l2_theoretical_sectors_global",
               "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
               "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"]
UNCOMPARED = ["operation", "bytes", "pattern", *NOT_OFFERED]
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
    for recorded in COPIES:
        case = {"space": "copy", "operation": recorded["operation"], "type": recorded["bytes"],
                "pattern": recorded["pattern"]}
        rows += [{**case, "counter": counter, "value": value}
                 for counter, value in recorded.items() if counter not in UNCOMPARED]
    for recorded in MATRICES:
        case = {"space": "matrix", "operation": recorded.pop("operation"),
                "type": recorded.pop("shape"), "pattern": recorded.pop("pattern")}
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


def computed():
    """Of each kind of functions, how many there are, and how many compute the same bits."""
    found, differing = {}, differing_functions()
    for row in COMPUTED:
        found.setdefault(row["kind"], []).append((row["kind"], row["function"]) in differing)
    found["all"] = sum(found.values(), [])
    return table(["kind", "functions", "equal", "differ"],
                 *([kind, len(differ), len(differ) - sum(differ), sum(differ)]
                   for kind, differ in found.items()))


def computed_differ():
    """What differs, with its bound; long lists of names are shortened."""
    rows = []
    for why in COMPUTED_DIFFER:
        names = list(dict.fromkeys(name.split()[0] for name in why["functions"].split("|")))
        shown = names if len(names) <= 4 else names[:3] + ["…"]
        rows.append([why["kind"], " ".join(f"`{name}`".replace("`…`", "…") for name in shown),
                     len(why["functions"].split("|")), why["bound"], why["why"]])
    return table(["kind", "functions", "number", "bound", "why"], *rows)


def suites():
    """For each suite that others wrote, how many tests passed, and why the others did not."""
    found = {}
    for row in read("suites.csv")[0]:
        ends = found.setdefault((row["suite"], row["package"], row["date"]), {})
        why = " (%s)" % row["why"].replace("|", "/") if row["why"] else ""
        ends.setdefault(row["outcome"], []).append(row["tests"] + why)
    outcomes = ["passed", "skipped", "refused", "failed", "cut"]
    return table(["suite", "package", "date", *outcomes],
                 *([suite, "`%s`" % package, date,
                    *("; ".join(ends.get(outcome, ["0"])) for outcome in outcomes)]
                   for (suite, package, date), ends in found.items()))
