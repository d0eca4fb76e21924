"""book.py -- the chapters of notes/ in their reading order, and what of a page is prose."""
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NOTES = TOP / "notes"
INDEX = NOTES / "README.md"

FENCE = re.compile(r"^```.*?^```[^\n]*$", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->|<summary>.*?</summary>|</?details>", re.S)
GENERATED = re.compile(r"<!-- begin .*?<!-- end [^\n]*-->", re.S)
TABLE = re.compile(r"^\|.*$", re.M)
IMAGE = re.compile(r"!\[[^]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^]]*)\]\(([^)]*)\)")
BESIDE = re.compile(r"^## (?:More|Questions)\b", re.M)


def text_of(name):
    return (NOTES / name).read_text(encoding="utf-8")


def reading_order():
    """The files of the chapters, as the numbered list of notes/README.md has them."""
    return re.findall(r"^\d+\. \[[^]]*\]\(([^)#]+)\)", INDEX.read_text(encoding="utf-8"), re.M)


def without_code(text):
    """The text without program text, commands, output and comments."""
    return re.sub(r"`[^`]*`", " ", COMMENT.sub(" ", FENCE.sub(" ", text)))


def prose(text):
    """What a reader has to read before "More" and the questions, without tables and code. The part
    "More" may stand behind the questions, too."""
    beside = BESIDE.search(text)
    main = text[:beside.start()] if beside else text
    main = IMAGE.sub(" ", TABLE.sub(" ", GENERATED.sub(" ", FENCE.sub(" ", main))))
    return LINK.sub(r"\1", COMMENT.sub(" ", main))


def words(text):
    """Words and numbers; signs that stand alone are none."""
    return [word for word in text.split() if re.search(r"\w", word)]
