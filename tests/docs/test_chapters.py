"""test_chapters.py -- the book. A chapter uses no term of the glossary before the chapter that
introduces it, in the reading order of notes/README.md, unless it links the term; asks before its
table answers; and shows lines that stand in the sources of its step, but for calls of a library and
chapters that abbreviate. Each step says which step it continues, make diffN prints the difference,
and the steps that a reader compares differ in few lines."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from book import LINK, NOTES, TOP, reading_order, text_of, without_code
from step_table import steps_with

ASKING = ("02-naive", "03-work-efficient", "04-conflict-free", "05-arbitrary-size",
            "06-vectorized", "07-unrolled", "09-warp-shuffle", "11-single-pass")
QUESTION = re.compile(r"\*\*Predict first\.\*\* ([^<]*)\n\n"
                      r"<!-- predict: ([^|\n]*) \| ([^|\n]*) \| ([^\n]*) -->\n\n")
CHAPTERS = sorted({path.name for path in NOTES.glob("[0-9]*.md")} -
                  {"01-sequential.md", "12-pipeline.md", "12b-bulk-copies.md"})  # shortened code
BLOCK = re.compile(r"^```c\n(.*?)^```$", re.M | re.S)
LIBRARY = re.compile(r"^### As a library\n.*?(?=^### |\Z)", re.M | re.S)
SOURCES = {".c", ".h", ".cu", ".cuh"}
PRINTED = {"((n) >> NUM_BANKS + (n) >> (2 * LOG_NUM_BANKS))"}  # the documents' own, with its error
# Changed lines between the kernels of two steps, at most.
MOST = {3: 80, 4: 40, 5: 100, 6: 85, 7: 6}


def glossary():
    """{term: (its text, the page that introduces it)}"""
    entries = re.split(r"^### ", text_of("glossary.md"), flags=re.M)[1:]
    terms = {}
    for entry in entries:
        term, text = entry.split("\n", 1)
        terms[term] = text, LINK.findall(text)[-1][1]
    return terms


def forms(term):
    """The regular expression of a term, or of several of it."""
    words_of = re.escape(term).replace(r"\ ", r"\s+")
    ending = words_of[:-1] + "(?:y|ies)" if term.endswith("py") else words_of + "s?"
    return re.compile(r"(?<![\w-])%s(?![\w-])" % ending, re.I)


def uses(page):
    """The text of a page without code and addresses, in which links to the glossary are gone."""
    text = without_code(text_of(page))
    linked = {target.split("#")[1] for _, target in LINK.findall(text)
              if target.startswith("glossary.md#")}
    return LINK.sub(lambda link: " " if "glossary.md" in link[2] else link[1], text), linked


def early(order, terms):
    """(page, term, the page that introduces it) of each term that comes too early."""
    long_first = sorted(terms, key=len, reverse=True)
    for place, page in enumerate(order):
        text, linked = uses(page)
        for term in long_first:
            introduced = terms[term][1]
            later = introduced not in order[:place + 1]
            if later and term.replace(" ", "-").lower() not in linked and forms(term).search(text):
                yield page, term, introduced
            text = forms(term).sub(" ", text)


class Glossary(unittest.TestCase):
    def test_terms_are_sorted_and_lead_to_a_chapter_that_has_them(self):
        terms = glossary()
        self.assertGreater(len(terms), 50)
        self.assertEqual(list(terms), sorted(terms, key=str.lower))
        for term, (text, page) in terms.items():
            with self.subTest(term=term):
                self.assertTrue((NOTES / page).exists(), page)
                self.assertTrue(forms(term).search(without_code(text_of(page))),
                                "notes/%s has no such word" % page)
                sentence = LINK.sub("", text).strip()
                self.assertRegex(sentence, r"^[^.]*\.$", "one sentence")

    def test_no_term_comes_before_its_chapter(self):
        for page, term, introduced in early(reading_order(), glossary()):
            with self.subTest(page=page, term=term):
                self.fail('notes/%s says "%s", which notes/%s introduces later: link it to'
                          " glossary.md#%s, or say it otherwise"
                          % (page, term, introduced, term.replace(" ", "-").lower()))

    def test_links_to_the_glossary_lead_to_a_term(self):
        anchors = {term.replace(" ", "-").lower() for term in glossary()}
        for page in NOTES.rglob("*.md"):
            for anchor in re.findall(r"glossary\.md#([\w-]+)", page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name):
                    self.assertIn(anchor, anchors)


class Book(unittest.TestCase):
    def test_the_reading_order_has_every_chapter_once(self):
        order = reading_order()
        self.assertEqual(len(order), len(set(order)))
        chapters = {path.name for path in NOTES.glob("[0-9]*.md")} | {"first-kernel.md"}
        self.assertEqual(set(order), chapters, "notes/README.md lists the chapters")


def cells(line):
    """The cells of a table's line, without the marks of code."""
    return [cell.strip().strip("`").replace("`", "") for cell in line.strip("|").split("|")]


def tables(text):
    """All tables of a text, each as rows of cells."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        yield [cells(line) for line in block.splitlines() if not line.startswith("|---")]


class Predictions(unittest.TestCase):
    def test_every_chapter_with_a_kernel_in_the_page_asks_first(self):
        for chapter in ASKING:
            with self.subTest(chapter=chapter):
                text = text_of(chapter + ".md")
                self.assertEqual(text.count("<!-- predict"), len(QUESTION.findall(text)))
                self.assertGreater(len(QUESTION.findall(text)), 0)

    def test_the_next_table_answers(self):
        for chapter in ASKING:
            text = text_of(chapter + ".md")
            for question in QUESTION.finditer(text):
                words, head, row, column = question.groups()
                with self.subTest(chapter=chapter, question=words):
                    self.assertTrue(words.rstrip().endswith("?"))
                    table = next(t for t in tables(text[question.end():]) if t[0][0] == head)
                    answer = next(r for r in table if r[0] == row)[table[0].index(column)]
                    self.assertRegex(answer, r"\d")


def plain(text):
    """The lines of a program without comments and indentation."""
    lines = (re.sub(r"//.*", "", line).strip() for line in text.split("\n"))
    return {line for line in lines if line and line != "…"}


def shown_by(chapter):
    return set().union(*map(plain, BLOCK.findall(LIBRARY.sub("", text_of(chapter)))))


def sources(chapter):
    """Those of the chapter's step. Step 16's engine is a part of the library."""
    folders = ["steps/%s-*" % chapter[:2]] + ["common/tools/library/scan"] * (chapter[:2] == "16")
    return set().union(*(plain(path.read_text(encoding="utf-8"))
                         for folder in folders for path in TOP.glob(folder + "/**/*")
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


class Alone(unittest.TestCase):
    """`make aloneN`: each file compiles without the repository's folders, is right, and notices
    what is wrong."""

    def run_of(self, text, folder, *sizes):
        path = Path(folder) / "step.cu"
        path.write_text(text, encoding="utf-8")
        toolkit = subprocess.check_output(["common/build/toolkit.sh"], cwd=TOP, text=True).strip()
        subprocess.run([toolkit + "/bin/nvcc", "-cudart", "shared", "-Werror", "all-warnings",
                        "-arch=compute_90", "-code=compute_90", "-o", "step", "step.cu"],
                       cwd=folder, check=True)
        return [subprocess.run([TOP / "build/emu/emu", "--log-file", "/dev/null", "./step", n],
                               cwd=folder, capture_output=True, text=True) for n in sizes]

    def test_the_loop_is_c(self):
        text = subprocess.check_output(["common/build/alone.py", "1"], cwd=TOP, text=True)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-x", "c", "-", "-o", "step1"],
                           cwd=folder, input=text, text=True, check=True)
            for n in "0", "1", "1000":
                run = subprocess.run(["./step1", n], cwd=folder, capture_output=True, text=True)
                self.assertTrue(run.stdout.startswith("right: %s elements, " % n), run)

    def test_each_is_right_slow(self):
        for step in (0, *range(2, 13)):
            text = subprocess.check_output(["common/build/alone.py", str(step)], cwd=TOP, text=True)
            self.assertRegex(text.split("\n")[0], r"^// nvcc (-arch=sm_90 )?step%d\.cu " % step)
            sizes = ("1", "512") if 1 < step < 5 else ("1", "512", "100003")
            with self.subTest(step=step), tempfile.TemporaryDirectory() as folder:
                for n, run in zip(sizes, self.run_of(text, folder, *sizes)):
                    self.assertTrue(run.stdout.startswith("right: %s elements, " % n), run)
                    self.assertEqual(run.returncode, 0)

    def test_a_wrong_one_says_so_slow(self):
        text = subprocess.check_output(["common/build/alone.py", "3"], cwd=TOP, text=True)
        spoiled = text.replace("if (thid == 0) temp[n - 1] = 0;", "")
        self.assertNotEqual(spoiled, text)
        with tempfile.TemporaryDirectory() as folder:
            run, = self.run_of(spoiled, folder, "512")
        self.assertRegex(run.stdout, r"^wrong: element \d+ is \S+, not \S+\n$")
        self.assertEqual(run.returncode, 1)


def diff(step):
    # Without MAKEFLAGS, this make takes no part in the jobs of a make that runs the tests.
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    done = subprocess.run(["make", "-s", "--no-print-directory", "diff%s" % step], cwd=TOP,
                          env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def source(step):
    [folder] = TOP.glob("steps/%02d-*" % step)
    return (folder / "scan.cu").read_text(encoding="utf-8")


class Ladder(unittest.TestCase):
    def test_each_step_names_the_one_that_it_continues(self):
        for step in steps_with("kind", "scan"):
            with self.subTest(step=step):
                named = re.findall(r"^ \* Same as step (\d+) except", source(step), re.M)
                self.assertEqual(len(named), 1)
                self.assertLess(int(named[0]), step)

    def test_diffs_are_short_slow(self):
        for step, most in MOST.items():
            with self.subTest(step=step):
                code, output, errors = diff(step)
                self.assertEqual((code, errors), (0, ""))
                first, rest = output.split("\n--- ", 1)
                self.assertRegex(first, r"^Same as step %d except: " % (step - 1))
                changed = re.findall(r"^[-+](?![-+][-+] )", rest, re.M)
                self.assertLessEqual(len(changed), most)

    def test_only_what_differs_is_shown(self):
        """Step 7 differs from step 6 in two lines; names and headers do not count."""
        changed = re.findall(r"^[-+]([^-+].*)", diff(7)[1], re.M)
        self.assertEqual([line.split(" //")[0] for line in changed],
                         ["#pragma unroll 1", "#pragma unroll"] * 2)

    def test_applications_show_what_they_change(self):
        for step in steps_with("kind", "application"):
            with self.subTest(step=step):
                code, output, _ = diff(step)
                self.assertEqual(code, 0)
                self.assertTrue(output.startswith("Same as "), output[:80])
                self.assertIn("\n+++ steps/%d-" % step, output)

    def test_a_step_without_one_says_so(self):
        for step, why in (("1", "step 1 continues no other step"),
                          ("17", "step 17 has no scan.cu to compare"),
                          ("x", "N is the number of a step, not x")):
            with self.subTest(step=step):
                code, output, errors = diff(step)
                self.assertNotEqual(code, 0)
                self.assertEqual(output, "")
                self.assertIn(why, errors)


if __name__ == "__main__":
    unittest.main()
