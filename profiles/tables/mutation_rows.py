"""mutation_rows.py -- the tables of notes/mutation.md, from what `make mutate-record` wrote.

Used by tables.py.
"""
import csv
import math
import os

from records import TOP
from table_rows import table

RESULT = os.path.join(TOP, "tests", "mutation", "result.csv")


def result():
    """Those of the mutations of all files; none if there is no result yet."""
    if not os.path.exists(RESULT):
        return []
    with open(RESULT, encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["sample"] == "all"]


def interval(share, number):
    """Wilson's: where the share of all mutations lies with a probability of 95 %, if `share` of a
    random number of them was found."""
    z = 1.96
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(
        share * (1 - share) / number + z * z / (4 * number * number))
    return middle - half, middle + half


def counts(name, rows):
    number = lambda result: sum(row["result"] == result for row in rows)
    killed, survived = number("killed"), number("survived")
    share = "%.1f %%" % (100 * killed / (killed + survived)) if killed + survived else ""
    return [name, killed + survived, killed, survived, share, number("equivalent")]


def mutation_folders():
    rows = result()
    if not rows:
        return ["Not recorded yet; `make mutate-record` does it."]
    seeds = sorted({int(row["seed"]) for row in rows})
    folder_of = lambda row: "/".join(os.path.dirname(row["file"]).split("/")[:3])
    folders = sorted({folder_of(row) for row in rows})
    tried = [row for row in rows if row["result"] in ("killed", "survived")]
    killed = sum(row["result"] == "killed" for row in tried) / len(tried)
    lines = [counts("`%s`" % folder,
                    [row for row in rows if folder_of(row) == folder])
             for folder in folders]
    head = ["folder", "mutations", "killed", "survived", "share killed", "equivalent, besides"]
    return ["Seed %s, %s. Of %d mutations %.1f %% were killed: of all mutations it is %.1f to "
            "%.1f %%, with a probability of 95 %%." % (
                ", ".join(map(str, seeds)), max(row["date"] for row in rows), len(tried),
                100 * killed, *(100 * bound for bound in interval(killed, len(tried)))), "",
            *table(head, *lines, counts("all", rows))]


def mutation_survivors():
    code = lambda text: "`%s`" % text.replace("|", "\\|")
    lines = [["`%s`" % os.path.basename(row["file"]), "`%s`" % row["function"], code(row["before"]),
              code(row["after"])] for row in result() if row["result"] == "survived"]
    return table(["file", "function", "the line", "with the mutation"],
                 *lines) if lines else ["None."]
