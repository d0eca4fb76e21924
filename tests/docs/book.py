"""book.py -- the chapters of notes/ in their reading order."""
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NOTES = TOP / "notes"
INDEX = NOTES / "README.md"

FENCE = re.compile(r"^```.*?^```[^\n]*$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->|<summary>.*?</summary>|</?details>", re.S)
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")


def text_of(name):
    return (NOTES / name).read_text(encoding="utf-8")


def reading_order():
    """The files of the chapters, as the numbered list of notes/README.md has them."""
    return re.findall(r"^\d+\. \[[^]]*\]\(([^)#]+)\)", INDEX.read_text(encoding="utf-8"), re.M)


def without_code(text):
    """The text without program text, commands, output and comments."""
    return re.sub(r"`[^`]*`", " ", COMMENT.sub(" ", FENCE.sub(" ", text)))
