"""step_table.py -- reads steps/steps.csv. Its columns: what a step is (kind); which compiler judges
its lab; whether the page and --quiz show its trace; at how many sizes ncu counts it; the source of
its library; of which steps it is linked with the library; from which it includes headers; the
experiment that ./bench runs for it; the file that it continues, and in which one (`make diffN`).
Cells have words with ":" between them, or "-". The Makefile and scripts of the shell read it, too.
"""
import csv
from pathlib import Path

with open(Path(__file__).resolve().parents[2] / "steps/steps.csv", encoding="utf-8") as file:
    ROWS = {int(row["step"]): row for row in csv.DictReader(file)}


def steps_with(column, *words):
    """The numbers of the steps that have one of these words there."""
    return [step for step, row in ROWS.items() if row[column] in words]
