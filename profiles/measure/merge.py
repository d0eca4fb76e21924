#!/usr/bin/env python3
"""merge.py -- puts what gpu.sh has recorded of some steps into the recording of all of them.

usage: profiles/measure/merge.py NEW.csv RECORDED.csv [NEW.csv RECORDED.csv ...]

as in  STEPS="8 9" profiles/measure/gpu.sh build/profiles verify
       profiles/measure/merge.py build/profiles/verify.csv profiles/h200/verify.csv

Of every step and variant that is in NEW, the rows in RECORDED give way to the new ones; all rows
then stand in the order of the steps, CUB last. GPU, driver and toolkit have to be the same, or the
table would compare what is not comparable; the date becomes the later one. A column that only one
of the two has is empty in the other's rows.
"""
import os
import re
import sys

import cases

# Columns that form a group: rows that agree in all of these are replaced together. Columns that a
# file does not have are ignored.
KEYS = ["how", "program", "contender", "experiment", "step", "name", "variant", "element", "flush"]
ABOUT = re.compile(r"^# (\w+): (.*)$", re.M)


def comments_of(new, recorded, paths):
    ours, theirs = (dict(ABOUT.findall(comments)) for comments in (new, recorded))
    for key in ("GPU", "driver", "toolkit"):
        if ours.get(key) != theirs.get(key):
            sys.exit("merge.py: %s is of %s %s, and %s of %s: record all steps anew."
                     % (paths[0], key, ours.get(key), paths[1], theirs.get(key)))
    date = max(ours.get("date", ""), theirs.get("date", ""))
    return re.sub(r"^# date: .*", "# date: " + date, recorded, flags=re.M)


def merge(new_path, path):
    comments, columns, new = cases.parts(new_path)
    old_comments, old_columns, old = cases.parts(path)
    if not new:
        sys.exit("merge.py: %s has no rows." % new_path)
    key = lambda row: tuple(row[name] for name in KEYS if name in columns and name in old_columns)
    replaced = {key(row) for row in new}
    rows = [row for row in old if key(row) not in replaced] + new
    # A stable order by program and version, or by step; CUB, which has step 0, comes last, as
    # gpu.sh has it.
    is_cub = lambda row: row.get("name") == "cub" or row.get("contender") == "CUB"
    step = lambda row: 99 if is_cub(row) else int(row.get("step") or 0)
    rows.sort(key=lambda row: (row.get("program", ""), row.get("version", ""), step(row)))
    all_columns = old_columns + [name for name in columns if name not in old_columns]
    with open(path + ".new", "w", encoding="utf-8", newline="") as file:
        file.write(comments_of(comments, old_comments, (new_path, path)))
        cases.write(file, all_columns, rows)
    os.replace(path + ".new", path)
    print("%s: %d rows, of which %d new" % (path, len(rows), len(new)))


def main():
    paths = sys.argv[1:]
    if not paths or len(paths) % 2:
        sys.exit(__doc__)
    for new, recorded in zip(paths[::2], paths[1::2]):
        merge(new, recorded)


main()
