#!/usr/bin/env python3
"""tables.py -- writes the tables of README.md and notes/ from the CSV files beside it.

usage: profiles/tables/tables.py           brings every table up to date
       profiles/tables/tables.py --check   changes nothing; names stale files, and fails

A table stands between the lines `<!-- begin NAME ... -->` and `<!-- end NAME -->`; table_rows.py or
another of ROWS has a function of that name (`_` for `-`). lab-task-N is the task of lab N, from
common/labs/tasks/, which `make labN` prints.
"""
import glob
import os
import re
import sys

import application_rows
import bench_rows
import course_rows
import experiment_rows
import fidelity_rows
import level_rows
import memory_rows
import older_rows
import promise_rows
import python_rows
import rank_rows
import setting_rows
import speed_rows
import stall_rows
import table_rows
import tensor_rows
from records import TOP

ROWS = (table_rows, level_rows, memory_rows, speed_rows, experiment_rows, application_rows,
        bench_rows, course_rows,
        promise_rows, python_rows, fidelity_rows, rank_rows, setting_rows, tensor_rows, older_rows,
        stall_rows)
REGION = re.compile(r"(<!-- begin ([a-z0-9-]+)[^\n]*-->\n).*?(<!-- end \2 -->\n)", re.S)


def lines_of(path, name):
    """What stands in the region of this name."""
    if name.startswith("lab-task-"):
        task = os.path.join(TOP, "common/labs/tasks", name[len("lab-task-"):] + ".md")
        with open(task, encoding="utf-8") as file:
            return file.read().splitlines()
    function = name.replace("-", "_")
    make = next((getattr(rows, function) for rows in ROWS if hasattr(rows, function)), None)
    if make is None:
        sys.exit("%s: no function in %s makes the table %s"
                 % (path, ", ".join(rows.__name__ + ".py" for rows in ROWS), name))
    return make()


def fill(path, text):
    """The text with every region filled."""
    begins, regions = text.count("<!-- begin "), len(REGION.findall(text))
    if begins != regions or begins != text.count("<!-- end "):
        sys.exit("%s: %d regions begin, but only %d have an end of their name"
                 % (path, begins, regions))

    return REGION.sub(lambda match: "%s%s\n%s" % (match[1], "\n".join(lines_of(path, match[2])),
                                                  match[3]), text)


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    stale = []
    for path in ["README.md", *sorted(glob.glob("notes/**/*.md", root_dir=TOP,
                                                recursive=True))]:
        with open(os.path.join(TOP, path), encoding="utf-8") as file:
            text = file.read()
        filled = fill(path, text)
        if filled == text:
            continue
        stale.append(path)
        if not sys.argv[1:]:
            with open(os.path.join(TOP, path), "w", encoding="utf-8") as file:
                file.write(filled)
    if sys.argv[1:] and stale:
        sys.exit("out of date: %s; `make docs` renews them" % ", ".join(stale))


main()
