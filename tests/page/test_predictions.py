"""test_predictions.py -- the page asks a chapter's question before it shows the table."""
import unittest

from browser import Page

# The right answer of each chapter, another way to write it or a near one, and a wrong one.
ANSWERS = {"02-naive": ("384", "380", "512"), "03-work-efficient": ("14", "14.0", "16"),
           "04-conflict-free": ("1", "1", "31"), "05-arbitrary-size": ("0 + 0", "0", "375 + 225"),
           "06-vectorized": ("3", "3", "5"), "07-unrolled": ("77 976", "77,976", "8"),
           "09-warp-shuffle": ("8208", "8 208", "16"),
           "11-single-pass": ("135 408 + 132 095", "131,072 + 131,072", "3")}
TABLE = """const place = document.querySelector("article:not([hidden]) .predict");
let one = place;
do one = one.nextElementSibling; while (one.tagName !== "TABLE");
return getComputedStyle(one).display;"""
WRITE = """const form = document.querySelector("article:not([hidden]) .predict form");
form.querySelector("input").value = arguments[0];
form.querySelector("[type=submit]").click();
return document.querySelector("article:not([hidden]) .predict .verdict").textContent;"""


class Predictions(Page):
    def table(self):
        return self.driver.execute_script(TABLE)

    def write(self, guess):
        return self.driver.execute_script(WRITE, guess)

    def test_the_table_appears_with_the_prediction(self):
        self.load()
        for chapter, (right, near, wrong) in ANSWERS.items():
            with self.subTest(chapter=chapter):
                self.go("#chapter=" + chapter)
                self.assertEqual(self.table(), "none")
                self.assertEqual(self.write("?"), "Write a number.")
                self.assertEqual(self.write(right + " %"),
                                 "The answer is no share. Write a number without %.")
                self.assertEqual(self.table(), "none")
                self.assertEqual(self.write(wrong), "It is %s, not %s." % (right, wrong))
                self.assertNotEqual(self.table(), "none")
                self.assertEqual(self.write(right), "Right: %s." % right)
                self.assertRegex(self.write(near), "^(Right: |Close. It is )")
                cells = self.texts("td.answer")
                self.assertEqual(len(cells), 1)
                self.assertEqual(cells[0].replace("\u00a0", " "), right)

    def test_signs_and_exponents_belong_to_a_number(self):
        self.open("#chapter=03-work-efficient")
        for guess in ("-14", "\u221214", "14e3", "1e4"):
            self.assertEqual(self.write(guess), "It is 14, not %s." % guess)
        for guess in ("+14", "1.4e1", "14 conflicts"):
            self.assertEqual(self.write(guess), "Right: 14.")

    def test_a_reader_may_ask_for_the_table(self):
        self.open("#chapter=07-unrolled")
        self.press("Show the table")
        self.assertNotEqual(self.table(), "none")
        self.go("#chapter=06-vectorized")
        self.go("#chapter=07-unrolled")
        self.assertNotEqual(self.table(), "none")

    def test_other_tables_are_shown(self):
        self.open("#chapter=04-conflict-free")
        shown = self.driver.execute_script(
            "return [...document.querySelectorAll('#chapter-04-conflict-free > table')]"
            ".map((one) => one.checkVisibility())")
        self.assertEqual(shown.count(False), 1)
        self.assertGreater(shown.count(True), 2)


if __name__ == "__main__":
    unittest.main()
