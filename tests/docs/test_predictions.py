"""test_predictions.py -- a chapter asks before its table answers: the comment behind the question
names a cell of the next table with that first head, and the cell holds a number."""
import re
import unittest

from book import text_of

CHAPTERS = ("02-naive", "03-work-efficient", "04-conflict-free", "05-arbitrary-size",
            "06-vectorized", "07-unrolled", "09-warp-shuffle", "11-single-pass")
QUESTION = re.compile(r"\*\*Predict first\.\*\* ([^<]*)\n\n"
                      r"<!-- predict: ([^|\n]*) \| ([^|\n]*) \| ([^\n]*) -->\n\n")


def cells(line):
    """The cells of a table's line, without the marks of code."""
    return [cell.strip().strip("`").replace("`", "") for cell in line.strip("|").split("|")]


def tables(text):
    """All tables of a text, each as rows of cells."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        yield [cells(line) for line in block.splitlines() if not line.startswith("|---")]


class Predictions(unittest.TestCase):
    def test_every_chapter_with_a_kernel_in_the_page_asks_first(self):
        for chapter in CHAPTERS:
            with self.subTest(chapter=chapter):
                text = text_of(chapter + ".md")
                self.assertEqual(text.count("<!-- predict"), len(QUESTION.findall(text)))
                self.assertGreater(len(QUESTION.findall(text)), 0)

    def test_the_next_table_answers(self):
        for chapter in CHAPTERS:
            text = text_of(chapter + ".md")
            for question in QUESTION.finditer(text):
                words, head, row, column = question.groups()
                with self.subTest(chapter=chapter, question=words):
                    self.assertTrue(words.rstrip().endswith("?"))
                    table = next(t for t in tables(text[question.end():]) if t[0][0] == head)
                    answer = next(r for r in table if r[0] == row)[table[0].index(column)]
                    self.assertRegex(answer, r"\d")


if __name__ == "__main__":
    unittest.main()
