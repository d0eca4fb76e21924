"""setting_rows.py -- the table of the emulator's variables, from common/emu/command/settings.inc.

Used by tables.py.
"""
import os
import re

from records import TOP
from table_rows import table

SETTINGS = os.path.join(TOP, "common", "emu", "command", "settings.inc")
ROW = re.compile(r"^(SETTING|VARIABLE)\((.*?)\)$", re.M | re.S)
FIELD = re.compile(r'((?:"(?:\\.|[^"])*"\s*)+|[^",]+)(?:,\s*|$)')
TEXT = re.compile(r'"((?:\\.|[^"])*)"')


def fields(row):
    """The arguments of a macro; texts that follow each other are one, and NULL is empty."""
    for field in FIELD.findall(row):
        texts = TEXT.findall(field)
        yield "".join(texts).replace("\\n", " ") if texts else field.strip().replace("NULL", "")


def emulator_variables():
    with open(SETTINGS, encoding="utf-8") as file:
        text = file.read()
    rows = []
    for macro, row in ROW.findall(text[text.index("*/"):]):
        name, _, least, most, takes, standard, *rest = fields(row)
        option, _, argument, _ = rest[:-1] if macro == "SETTING" else ("", "", "", "")
        written = "`--%s`" % " ".join(filter(None, (option, argument))) if option else ""
        rows.append(["`EMU_%s`" % name, takes or "%s to %s" % (least, most), standard,
                     written.replace("|", "\\|"), rest[-1]])
    return table(["variable", "takes", "default", "option", "meaning"], *rows)
