#!/usr/bin/env python3
"""cheats.py FOLDER [NAME...] -- writes submissions to lab 3 into FOLDER as students hand them in:
NAME.cu is what stands below `== NAME` in cheats.txt; without names, all of them. A line `//@ PART`
becomes the part of this name, and @TOP@ the path of the repository.

cheats.py --compare FOLDER GRADES -- prints each row of a grades.csv that is not what the file in
FOLDER expects in its line `// expect: LEAST MOST REASON`. REASON is part of the reason."""
import csv
import os
import re
import sys
from pathlib import Path

EXPECT = re.compile(r"^// expect: (\S+) (\S+) ?(.*)$", re.M)


def write(folder, *names):
    text = Path(__file__).with_name("cheats.txt").read_text(encoding="utf-8")
    below = {mark + name: part for mark, name, part in
             re.findall(r"^(==|@@) (.*)\n((?:(?!==|@@).*\n?)*)", text, re.M)}
    for name in names or [one[2:] for one in below if one[:2] == "=="]:
        made = re.sub(r"^//@ (.*)\n", lambda part: below["@@" + part[1]], below["==" + name],
                      flags=re.M)
        assert EXPECT.search(made), name
        Path(folder, os.path.basename(name) + ".cu").write_text(
            re.sub(r"\n\n+", "\n", made).replace("@TOP@", os.getcwd()), encoding="utf-8")


def compare(folder, grades):
    with open(grades, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            path = Path(folder, row["file"])
            expected = path.is_file() and EXPECT.search(path.read_text(encoding="utf-8"))
            if expected and not (row["status"] == "judged" and expected[3] in row["reason"] and
                                 float(expected[1]) <= float(row["points"]) <= float(expected[2])):
                print("%(file)s: %(status)s, %(points)s points because of %(reason)s" % row,
                      expected[0], sep=", and not ")


if sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
else:
    write(*sys.argv[1:])
