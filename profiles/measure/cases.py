"""cases.py -- recordings as tables: a row for each case, a column for each metric.

Programs print rows with a number each: its metric, value and maybe unit. Rows that agree in all
other columns belong to one case. It becomes one row, with a column for each metric, such as "time
(s)", where s is the unit. The cell of a metric that the case does not have is empty. A case with
two values of a metric was measured twice, and has two rows.

Each experiment has its own metrics. So if the first column is one of APART, each of its values has
its own table, and an empty line separates two tables.
"""
import csv
import io
import os
import re
import sys

APART = "experiment", "group", "space"


def read(path):
    """The rows of all tables of a file, by columns without units, and what its comments say:
    {"GPU": ..., "date": ...}."""
    comments, _, rows = parts(path)
    about = dict(re.findall(r"^# (\w+): (.*)$", comments, re.M))
    return [{name.split(" (")[0]: cell for name, cell in row.items()} for row in rows], about


def parts(path):
    """The comments of a file, the columns of its tables, and the rows of all of them."""
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    comments = "".join(line for line in lines if line.startswith("#"))
    tables = "".join(line for line in lines if not line.startswith("#")).split("\n\n")
    readers = [csv.DictReader(io.StringIO(table)) for table in tables]
    columns = dict.fromkeys(name for reader in readers for name in reader.fieldnames or [])
    rows = [row for reader in readers for row in reader]
    for row in rows:
        if None in row or None in row.values():
            sys.exit("%s: a row has not as many cells as columns; quote texts with commas: %s"
                     % (path, row))
    return comments, list(columns), rows


def write(file, columns, rows):
    """Tables of the rows. A table has those of the columns that its rows have."""
    tables = {}
    for row in rows:
        tables.setdefault(row[columns[0]] if columns[0] in APART else "", []).append(row)
    for number, table in enumerate(tables.values()):
        file.write("\n" if number else "")
        names = [name for name in columns if any(name in row for row in table)]
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def cases(values):
    """The columns and the rows of cases, from rows of a number each."""
    keys, metrics, rows, latest = {}, {}, [], {}
    for value in values:
        unit = value.pop("unit", "")
        metric = value.pop("metric") + (" (%s)" % unit if unit else "")
        number = value.pop("value")
        key = {name: cell for name, cell in value.items() if cell}
        case = latest.get(tuple(key.items()), {metric})
        if metric in case:
            case = latest[tuple(key.items())] = key
            rows.append(case)
        case[metric] = number
        keys.update(value)
        metrics[metric] = None
    return [*keys, *metrics], rows


# ---- some steps into a recording of all ----------------------------------------------------------

# Columns that form a group: rows that agree in all of these are replaced together. Columns that a
# file does not have are ignored.
KEYS = ["how", "program", "contender", "experiment", "step", "name", "variant", "element", "flush"]


def merge(new_path, path):
    """Of every step and variant that is in the new file, the rows in the other give way to the new
    ones; all rows then stand in the order of the steps, CUB last. GPU, driver, CUB and toolkit must
    be the same, or the table would compare what is not comparable; the date becomes the later one.
    A column that only one of the two has is empty in the other's rows."""
    comments, columns, new = parts(new_path)
    old_comments, old_columns, old = parts(path)
    about, old_about = (dict(re.findall(r"^# (\w+): (.*)$", text, re.M))
                        for text in (comments, old_comments))
    for key in ("GPU", "driver", "CUB", "toolkit"):
        if about.get(key) != old_about.get(key):
            sys.exit("measure: %s is of %s %s, and %s of %s: record all steps anew."
                     % (new_path, key, about.get(key), path, old_about.get(key)))
    if not new:
        sys.exit("measure: %s has no rows." % new_path)
    date = max(about.get("date", ""), old_about.get("date", ""))
    key = lambda row: tuple(row[name] for name in KEYS if name in columns and name in old_columns)
    replaced = {key(row) for row in new}
    rows = [row for row in old if key(row) not in replaced] + new
    # A stable order by program and version, or by step; CUB, which has step 0, comes last.
    is_cub = lambda row: row.get("name") == "cub" or row.get("contender") == "CUB"
    step = lambda row: 99 if is_cub(row) else int(row.get("step") or 0)
    rows.sort(key=lambda row: (row.get("program", ""), row.get("version", ""), step(row)))
    all_columns = old_columns + [name for name in columns if name not in old_columns]
    with open(path + ".new", "w", encoding="utf-8", newline="") as file:
        file.write(re.sub(r"^# date: .*", "# date: " + date, old_comments, flags=re.M))
        write(file, all_columns, rows)
    os.replace(path + ".new", path)
    print("%s: %d rows, of which %d new" % (path, len(rows), len(new)))
