#!/usr/bin/env python3
"""tables.py -- writes the tables of README.md and notes/ from the CSV files beside it.

usage: profiles/tables/tables.py           brings every table up to date
       profiles/tables/tables.py --check   changes nothing; names stale files, and fails

A table stands between the lines `<!-- begin NAME ... -->` and `<!-- end NAME -->`, or words
within a line; records.TABLES has what makes them. lab-task-N is the task of lab N, from
common/tools/labs/tasks.txt, which `make labN` prints.
"""
import glob
import os
import re
import sys

import bench_rows, emulator_rows, experiment_rows  # noqa: E401, F401 (they fill TABLES)
import fidelity_rows, rank_rows, step_rows  # noqa: E401, F401
from records import TABLES, TOP

REGION = re.compile(r"(<!-- begin ([a-z0-9-]+)[^\n]*?-->(\n?)).*?(<!-- end \2 -->)", re.S)


def lines_of(path, name):
    """What stands in the region of this name."""
    if name.startswith("lab-task-"):
        with open(os.path.join(TOP, "common/tools/labs/tasks.txt"), encoding="utf-8") as file:
            task = file.read().split("\n== %s\n" % name[len("lab-task-"):])[1]
        return task.split("\n== ")[0].splitlines()
    if name not in TABLES:
        sys.exit("%s: nothing in profiles/tables makes the table %s" % (path, name))
    return TABLES[name]()


def fill(path, text):
    """The text with every region filled."""
    begins, regions = text.count("<!-- begin "), len(REGION.findall(text))
    if begins != regions or begins != text.count("<!-- end "):
        sys.exit("%s: %d regions begin, but only %d have an end of their name"
                 % (path, begins, regions))

    return REGION.sub(lambda match: "".join((match[1], "\n".join(lines_of(path, match[2])),
                                             match[3], match[4])), text)


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
