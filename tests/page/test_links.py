"""test_links.py -- links in the page lead to chapters and places that it has, those that set the
player to what they promise; files of the repository that it does not have are text with a title."""
import json
import re
import unittest
from html.parser import HTMLParser
from urllib.parse import parse_qs

from browser import GO, PAGE, TOP, Page, need

class Chapter(HTMLParser):
    """The ids, links and titles of a chapter."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.titles = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a":
            self.links.append(values.get("href"))
        if values.get("class") == "file":
            self.titles.append(values["title"])


def chapters():
    """The name and the parsed text of each chapter of the page."""
    page = PAGE.read_text(encoding="utf-8")
    found = {name: json.loads(text) for name, text in re.findall(
        r'<script type="application/json" id="text-([^"]*)">(.*?)</script>', page, re.S)}
    found.update((name, text) for name, text in re.findall(
        r'<article id="chapter-([^"]*)"[^>]*>(.*?)</article>', page, re.S) if text)
    return {name: Chapter(text) for name, text in found.items()}


class Links(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("emcc", "pandoc")
        cls.chapters = chapters()

    def test_no_id_occurs_twice(self):
        ids = [one for chapter in self.chapters.values() for one in chapter.ids]
        self.assertGreater(len(ids), 100)
        self.assertEqual(len(ids), len(set(ids)))

    def test_every_link_leads_to_a_chapter_and_a_place_in_it(self):
        count = 0
        for name, chapter in self.chapters.items():
            for link in chapter.links:
                with self.subTest(chapter=name, link=link):
                    self.assertRegex(link or "", "^(https?:|#chapter=)")
                    if link.startswith("http"):
                        continue
                    state = parse_qs(link[1:])
                    self.assertIn(state["chapter"][0], self.chapters)
                    if "place" in state:
                        count += 1
                        self.assertIn("%s:%s" % (state["chapter"][0], state["place"][0]),
                                      self.chapters[state["chapter"][0]].ids)
        self.assertGreater(count, 10)

    def test_files_outside_of_the_page_are_named(self):
        titles = [one for chapter in self.chapters.values() for one in chapter.titles]
        self.assertGreater(len(titles), 20)
        for title in titles:
            with self.subTest(title=title):
                self.assertTrue((TOP / re.sub("^.*: ", "", title)).exists())


class Damaged(Page):
    def test_what_a_link_says_and_the_page_does_not_have_is_named(self):
        for fragment, names in (("n=513", "n"), ("n=1048576&variant=x", "n, variant"),
                                ("rules=x&seed=-1", "rules, seed"), ("launch=7", "launch"),
                                ("off=scan.cu:38", "removed barriers"), ("at=x", "at")):
            with self.subTest(fragment=fragment):
                self.open("#chapter=03-work-efficient&n=512&" + fragment)
                self.assertEqual(
                    self.wait_for(lambda: self.text(".widget .event") and self.text(".status")),
                    "The page does not have what the link says of: %s. "
                    "The emulator in this page has run the kernel." % names)
        self.choose("n", "64")
        self.assertNotIn("link", self.text(".status"))
        self.open("#chapter=03-work-efficient&n=64&seed=5&rules=fermi&off=scan.cu:37&at=4")
        self.wait_for(lambda: self.text(".event"))
        self.assertNotIn("link", self.text(".status"))

    def test_a_change_that_cannot_be_read_is_not_called_run(self):
        for edit in ("5", "1,2", "99999,0,abc", "0,99999,", "%E0%A4%A"):
            with self.subTest(edit=edit):
                self.open("#chapter=03-work-efficient&n=512&edit=" + edit)
                self.wait_for(lambda: self.text(".event"))
                self.assertTrue(self.text(".status").startswith(
                    "The link's change of the PTX cannot be read"), self.text(".status"))
                self.assertNotIn("edit", self.driver.current_url)
                self.assertNotEqual(self.counter("wavefronts of loads")[2], "")

    def test_a_launch_or_block_that_does_not_exist_is_another_one(self):
        for fragment in ("03-work-efficient&launch=7&block=3", "03-work-efficient&block=9",
                         "05-arbitrary-size&n=2048&launch=1&block=3",
                         "11-single-pass&n=9000&block=8"):
            with self.subTest(fragment=fragment):
                self.open("#chapter=" + fragment)
                self.wait_for(lambda: self.text(".event") == "Before the first instruction.")
                self.press("Step")
                self.assertRegex(self.text(".event"), "^Event 1 of .* Block 0")
                self.assertNotIn("block=", self.driver.current_url)

    def test_the_address_follows_many_steps(self):
        """Chromium leaves out changes of the address beyond 200 in a short time."""
        self.open("#chapter=03-work-efficient&n=8")
        self.js(
            "const bar = shown('.bar');"
            "for (let k = 0; k < 501; k++) {"
            "    bar.value = 1 + k % 7; bar.dispatchEvent(new Event('input')); }")
        self.assertRegex(self.text(".event"), "^Event 4 of")
        self.wait_for(lambda: "at=4" in self.driver.current_url)

    def test_the_copied_address_follows(self):
        self.open("#chapter=03-work-efficient&n=64")
        self.js("document.getElementById('copy').click()")
        self.press("Step")
        self.assertEqual(self.js(
            "return document.getElementById('address').value"), self.driver.current_url)

    def test_a_step_is_copied_as_one_file(self):
        self.open("#chapter=03-work-efficient")
        self.js("const b = shown('.one-file'); b.closest('details').open = true; b.click()")
        text = self.js("return shown('.one-file + textarea').value")
        self.assertTrue(text.startswith("// nvcc step3.cu"), text[:80])
        self.assertIn("int main(", text)


class Places(Page):
    def heading_top(self):
        return self.js("return document.activeElement.getBoundingClientRect().top")

    def focused(self):
        return self.js("return document.activeElement.id")

    def test_an_address_with_a_place_shows_it(self):
        self.open("#chapter=03-work-efficient&n=512&place=questions")
        self.assertEqual(self.focused(), "03-work-efficient:questions")
        self.wait_for(lambda: self.texts(".numbers tr"))
        self.assertTrue(-5 <= self.heading_top() <= 1100, self.heading_top())

    def test_a_place_in_the_same_chapter_keeps_the_widget(self):
        self.open("#chapter=02-naive&n=64")
        self.press("Step")
        self.js(
            "const link = document.createElement('a');"
            "link.href = '#chapter=02-naive&place=questions';"
            "document.querySelector('#chapter-02-naive').append(link); link.click();")
        self.assertEqual(self.focused(), "02-naive:questions")
        self.assertRegex(self.text(".event"), "^Event 1 of")
        self.assertIn("n=64", self.driver.current_url)
        self.press("Step")
        self.wait_for(lambda: "at=2" in self.driver.current_url)
        self.assertIn("place=questions", self.driver.current_url)

    def test_a_link_to_another_chapter_opens_it(self):
        self.open("#chapter=02-naive&n=512")
        self.js("document.querySelector('#chapter-02-naive "
                "a[href=\"#chapter=answers-02\"]').click()")
        self.wait_for(lambda: self.text("h1").startswith("Answers"))
        self.driver.back()
        self.wait_for(lambda: self.text("h1").startswith("Step 2"))

    def test_a_run_that_ends_late_does_not_lead_back(self):
        self.open("#chapter=11-single-pass")
        self.js("location.hash = '#chapter=13-compaction';"
                "history.replaceState(null, '', '#chapter=11-single-pass');")
        self.wait_for(lambda: self.text("h1").startswith("Step 13"))
        self.assertTrue(self.driver.current_url.endswith("#chapter=13-compaction"))

    def test_a_run_that_ends_late_does_not_change_the_address(self):
        self.open("#chapter=11-single-pass")
        self.js(
            "const number = document.querySelector('#chapter-11-single-pass [type=number]');"
            "document.querySelector('#chapter-11-single-pass .result').replaceChildren();"
            "number.value = 5; number.dispatchEvent(new Event('change'));"
            "location.hash = '#chapter=13-compaction'")
        self.wait_for(lambda: self.js(
            "return document.querySelector('#chapter-11-single-pass .result').textContent;"))
        self.wait_for(lambda: self.text("h1").startswith("Step 13"))
        self.assertTrue(self.driver.current_url.endswith("#chapter=13-compaction"))

    def test_an_unknown_place_or_chapter_is_no_error(self):
        self.open("#chapter=03-work-efficient&n=512&place=nowhere")
        self.open("#chapter=nowhere")
        self.assertTrue(self.text("h1").startswith("Step 3"))


LINK = re.compile(r'class=\\?"play-link\\?" href=\\?"(#chapter=[^"\\]*)\\?"')
# What the event at a named place says.
SAYS = {"first-conflict": r"(is a|are) bank conflicts?\.$", "worst-conflict": "are bank conflicts",
        "first-race": "(load|store)s? (from|to) shared", "first-shuffle": " shfl", "end": None,
        "first-vote": " vote"}


def links():
    text = PAGE.read_text(encoding="utf-8")
    return sorted({one.replace("&amp;", "&") for one in LINK.findall(text)})


class Play(Page):
    def test_every_link_leads_to_its_place(self):
        need("emcc", "pandoc")
        found = links()
        self.assertGreater(len(found), 15)
        chapters = {parse_qs(one[1:])["chapter"][0] for one in found}
        self.assertEqual(len(chapters), 9)  # each step that runs in the page
        before = None
        for link in found:
            with self.subTest(link=link):
                state = {name: values[0] for name, values in parse_qs(link[1:]).items()}
                if state["chapter"] == before:
                    self.js(GO, link, ".result, .event, .status, .findings")
                else:
                    self.load(link)
                before = state["chapter"]
                self.wait_for(lambda: re.match("Event [1-9]", self.text(".event")))
                self.check(state)

    def check(self, state):
        event, place = self.text(".event"), state["to"]
        if place.startswith("barrier-"):
            self.assertRegex(event, "(last of|only warp)")
        elif place == "end":
            self.assertRegex(event, r"^Event (\d+) of \1\. ")
        else:
            self.assertRegex(event, SAYS[place])
        self.assertNotIn("does not have", self.text(".status"))
        self.assertNotIn("to=", self.driver.current_url)
        if "off" in state:
            self.assertRegex(self.text(".status"), r"without the barrier in \S+:\d+\.$")
            self.assertIn("racecheck", self.text(".findings"))
            self.assertTrue(self.all(".code")[0].is_displayed())
        if "view" in state:
            self.assertTrue(self.all("[data-view=%s][aria-pressed=true]" % state["view"]))

    def test_a_link_of_the_shown_chapter_moves_its_player(self):
        self.open("#chapter=03-work-efficient")
        self.js(
            "[...document.querySelectorAll('#chapter-03-work-efficient .play-link')].find("
            "    (one) => one.textContent.includes('worst')).click()")
        self.wait_for(lambda: "15 of them are bank conflicts" in self.text(".event"))
        top = self.js("return shown('.host').getBoundingClientRect().top")
        self.assertLess(abs(top), 60)
        self.driver.back()
        self.wait_for(lambda: self.text(".event") == "Before the first instruction.")


if __name__ == "__main__":
    unittest.main()
