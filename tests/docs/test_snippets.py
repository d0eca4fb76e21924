"""test_snippets.py -- the lines of programs that the chapters show stand in the sources of their
steps. Left out are the calls that show how to use a library, and chapters that abbreviate."""
import re
import unittest

from book import TOP, text_of

CHAPTERS = ["00-copy.md", "02-naive.md", "03-work-efficient.md", "04-conflict-free.md",
            "05-arbitrary-size.md", "06-vectorized.md", "07-unrolled.md", "08-off-chip.md",
            "10-cooperative.md", "11-single-pass.md", "12c-ring.md", "13-compaction.md",
            "14-summed-area-table.md", "15-radix-sort.md", "16-operators.md", "17-many-gpus.md"]
BLOCK = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
LIBRARY = re.compile(r"^### As a library\n.*?(?=^### |\Z)", re.M | re.S)
SOURCES = {".c", ".h", ".cu", ".cuh"}
PRINTED = {"((n) >> NUM_BANKS + (n) >> (2 * LOG_NUM_BANKS))"}  # the documents' own, with its error


def plain(text):
    """The lines of a program without comments and indentation."""
    lines = (re.sub(r"//.*", "", line).strip() for line in text.split("\n"))
    return {line for line in lines if line and line != "…"}


def shown_by(chapter):
    return set().union(*map(plain, BLOCK.findall(LIBRARY.sub("", text_of(chapter)))))


def sources(chapter):
    return set().union(*(plain(path.read_text(encoding="utf-8"))
                         for path in TOP.glob("steps/%s-*/**/*" % chapter[:2])
                         if path.suffix in SOURCES))


def stands_in(line, lines):
    """A line may be a part of a longer one, such as a function of one line."""
    return line in lines or any(line in other for other in lines)


class Snippets(unittest.TestCase):
    def test_lines_stand_in_the_sources(self):
        for chapter in CHAPTERS:
            lines = sources(chapter)
            with self.subTest(chapter=chapter):
                self.assertEqual([line for line in shown_by(chapter) - PRINTED
                                  if not stands_in(line, lines)], [])

    def test_lines_are_found(self):
        self.assertIn("temp[bi] += temp[ai];", sources("03-work-efficient.md"))
        self.assertFalse(stands_in("temp[bi] -= temp[ai];", sources("03-work-efficient.md")))
        self.assertGreater(len(set().union(*map(shown_by, CHAPTERS))), 60)


if __name__ == "__main__":
    unittest.main()
