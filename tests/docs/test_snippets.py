"""test_snippets.py -- the lines of programs that chapters 00 and 02 to 07 show stand in the sources
of their steps."""
import re
import unittest

from book import TOP, text_of

CHAPTERS = ["00-copy.md", "02-naive.md", "03-work-efficient.md", "04-conflict-free.md",
            "05-arbitrary-size.md", "06-vectorized.md", "07-unrolled.md"]
BLOCK = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
PRINTED = {"((n) >> NUM_BANKS + (n) >> (2 * LOG_NUM_BANKS))"}  # the documents' own, with its error


def plain(text):
    """The lines of a program without comments and indentation."""
    lines = (re.sub(r"//.*", "", line).strip() for line in text.split("\n"))
    return {line for line in lines if line and line != "…"}


def sources(chapter):
    return set().union(*(plain(path.read_text(encoding="utf-8"))
                         for path in TOP.glob("steps/%s-*/*.[ch]u*" % chapter[:2])),
                       *(plain(path.read_text(encoding="utf-8"))
                         for path in TOP.glob("steps/%s-*/*.h" % chapter[:2])))


class Snippets(unittest.TestCase):
    def test_lines_stand_in_the_sources(self):
        for chapter in CHAPTERS:
            shown = set().union(*map(plain, BLOCK.findall(text_of(chapter))))
            with self.subTest(chapter=chapter):
                self.assertEqual(shown - sources(chapter) - PRINTED, set())

    def test_lines_are_found(self):
        self.assertIn("temp[bi] += temp[ai];", sources("03-work-efficient.md"))
        shown = set().union(*(plain(block) for chapter in CHAPTERS
                              for block in BLOCK.findall(text_of(chapter))))
        self.assertGreater(len(shown), 25)


if __name__ == "__main__":
    unittest.main()
