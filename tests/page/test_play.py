"""test_play.py -- links in the chapters that set the player: each one leads to what it promises."""
import re
import unittest
from urllib.parse import parse_qs

from browser import GO, Page
from page_files import PAGE, need

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
                    self.driver.execute_script(GO, link, ".result, .event, .status, .findings")
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
        self.driver.execute_script(
            "[...document.querySelectorAll('#chapter-03-work-efficient .play-link')].find("
            "    (one) => one.textContent.includes('worst')).click()")
        self.wait_for(lambda: "15 of them are bank conflicts" in self.text(".event"))
        top = self.driver.execute_script(
            "return document.querySelector('article:not([hidden]) .host')"
            ".getBoundingClientRect().top")
        self.assertLess(abs(top), 60)
        self.driver.back()
        self.wait_for(lambda: self.text(".event") == "Before the first instruction.")


if __name__ == "__main__":
    unittest.main()
