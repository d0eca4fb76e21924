"""test_glossary.py -- a chapter uses no term of notes/glossary.md before the chapter that
introduces it, in the reading order of notes/README.md, unless it links the term to the glossary."""
import re
import unittest

from book import LINK, NOTES, reading_order, text_of, without_code


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


if __name__ == "__main__":
    unittest.main()
