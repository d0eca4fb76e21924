"""course_rows.py -- the tables of notes/courses.md.

Used by tables.py.
"""
from records import read
from table_rows import table

ROWS, ABOUT = read("courses.csv")


def rows(key, *others):
    """A table of the rows that have the column `key`."""
    return table([key, *others], *([row[column] for column in (key, *others)]
                                   for row in ROWS if key in row))


def course_collections():
    return rows("collection", "programs", "ran", "remark")


def course_obstacles():
    return rows("obstacle", "programs", "what it was", "today")


def course_files():
    return rows("missing", "files", "repositories", "sole obstacle", "today")


def course_old():
    return rows("old code", "cases", "of", "unit")
