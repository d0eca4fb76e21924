"""test_reading.py -- the page as a book: from chapter to chapter and back, search, the phone, links
that skip, names of links, print, and a text that is no PTX."""
import unittest

from browser import Page

PHONE = (390, 844)
ACTIVE = "const one = document.activeElement; return [one.tagName, one.textContent.trim()];"
SIDEWAYS = """return allShown(":is(pre, table)")
    .filter((one) => one.checkVisibility() && !one.closest(".widget"))
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.tagName);"""


class Reading(Page):
    def test_skip_links_stay_in_the_chapter(self):
        self.open("#chapter=04-conflict-free")
        for link in self.driver.find_elements("css selector", "a.skip"):
            link.send_keys("\n")
            self.assertTrue(self.text("h1").startswith("Step 4"))
            self.assertIn("chapter=04-conflict-free", self.driver.current_url)
            wanted = ["BUTTON", "Play"] if link.get_attribute("id") == "skip" else [
                "H1", self.text("h1")]
            self.assertEqual(self.js(ACTIVE), wanted)

    def test_play_is_among_the_first_stops_of_the_first_screen(self):
        self.load()
        body = self.driver.find_element("css selector", "body")
        for stops in range(1, 20):
            (self.driver.switch_to.active_element if stops > 1 else body).send_keys("\t")
            if self.js(ACTIVE)[1] == "Play":
                break
        self.assertLess(stops, 17)

    def test_a_chosen_chapter_is_seen_on_a_phone(self):
        self.size(*PHONE)
        self.load()
        self.js("document.getElementById('contents').open = true;"
                "document.querySelector('nav a[href*=\"13\"]').click()")
        self.wait_for(lambda: self.text("h1").startswith("Step 13"))
        top = self.js("return shown('h1').getBoundingClientRect().top")
        self.assertLess(top, 300)

    def test_back_returns_to_where_the_reader_was(self):
        self.open("#chapter=03-work-efficient")
        self.js("scrollTo(0, 900)")
        self.wait_for(lambda: self.js("return (history.state || {}).scroll") == 900)
        self.js(
            "document.querySelector('#chapter-03-work-efficient .neighbours a:last-child').click()")
        self.wait_for(lambda: self.text("h1").startswith("Step 4"))
        self.wait_for(lambda: self.js("return scrollY") == 0)
        self.driver.back()
        self.wait_for(lambda: self.text("h1").startswith("Step 3"))
        self.wait_for(lambda: self.js("return scrollY") == 900)

    def test_chapters_follow_each_other(self):
        self.load("#chapter=first-kernel")
        names = []
        for _ in range(3):
            self.wait_for(lambda: self.texts("h1") and self.texts("h1")[0] not in names)
            names.append(self.texts("h1")[0])
            self.js("shown('.neighbours a:last-child').click()")
        self.assertEqual([name[:6] for name in names[1:]], ["Step 1", "Step 2"])

    def test_links_have_names_and_the_list_has_no_numbers_of_its_own(self):
        self.load("#chapter=03-work-efficient")
        self.wait_for(lambda: self.texts("a"))
        links = self.js("return allShown('a, nav a').map((one) => one.textContent)")
        self.assertEqual([one for one in links if one.endswith(".md")], [])
        self.assertIn("Answers: step 3", links)
        self.assertEqual(self.js("return document.querySelectorAll('nav ol').length"), 0)

    def test_a_term_opens_where_the_word_stands(self):
        found = None
        for chapter in ("00-copy", "03-work-efficient", "12-pipeline", "first-kernel",
                        "02-naive", "01-sequential"):
            self.load("#chapter=" + chapter)
            self.wait_for(lambda: self.texts("h1"))
            found = self.all("a[href^='#chapter=glossary&place=']")
            if found:
                break
        self.assertTrue(found)
        place = found[0].get_attribute("href").split("place=")[1]
        address = self.driver.current_url
        self.js("arguments[0].click()", found[0])
        self.assertEqual(len(self.all(".term[data-term='%s'] p" % place)), 1)
        self.assertEqual(self.driver.current_url, address)
        self.js("arguments[0].click()", found[0])
        self.assertEqual(self.all(".term"), [])

    def test_a_heading_has_a_link(self):
        self.load("#chapter=03-work-efficient")
        link = self.wait_for(lambda: self.all("h2 .here"))[0]
        self.js("arguments[0].click()", link)
        self.assertIn("place=the-pictures", self.driver.current_url)

    def test_code_that_scrolls_can_be_focused(self):
        self.size(*PHONE)
        self.load("#chapter=13-compaction")
        found = self.wait_for(lambda: self.all("pre[tabindex]"))
        self.assertEqual({one.get_attribute("aria-label") for one in found}, {"Code"})

    def test_print_has_no_controls_and_cuts_nothing(self):
        self.media("print")
        self.size(720, 1000)
        for chapter in ("03-work-efficient", "12d-measurements"):
            self.load("#chapter=" + chapter)
            self.wait_for(lambda: self.texts("h1"))
            for selector in ("nav", "header", ".widget"):
                shown = [one for one in self.driver.find_elements("css selector", selector)
                         if one.is_displayed()]
                self.assertEqual(shown, [], selector)
            self.assertEqual(self.js(SIDEWAYS), [])

    def test_forced_colours_keep_the_line_that_runs(self):
        self.media(forced_colors="active")
        self.open("#chapter=03-work-efficient&code=1&at=9")
        self.assertEqual(self.js("return getComputedStyle(shown('tr.runs')).outlineStyle"), "solid")


    def test_the_first_chapter_needs_no_installation(self):
        self.load("#chapter=first-kernel")
        self.wait_for(lambda: self.all("[data-code=first3]"))
        for command in ("make setup", "make first", "not in the page"):
            self.assertNotIn(command, " ".join(self.texts("> :is(p, pre)")))

    def test_output_of_a_terminal_fits_its_box(self):
        self.size(1366, 768)
        for chapter in ("02-naive", "11-single-pass"):
            self.load("#chapter=" + chapter)
            self.wait_for(lambda: self.all("pre"))
            self.assertNotIn("PRE", self.js(SIDEWAYS))


class Search(Page):
    def search(self, words):
        self.js(
            "const field = document.getElementById('search'); field.value = arguments[0];"
            "field.dispatchEvent(new Event('input'))", words)
        return self.wait_for(lambda: self.js(
            "const links = [...document.querySelectorAll('#found a')].map((one) => one.hash);"
            "return links.length ? links : document.getElementById('found').textContent"))

    def test_all_chapters_are_searched(self):
        self.open("#chapter=02-naive")
        found = self.search("decoupled look-back")
        self.assertTrue(any("chapter=11-single-pass" in one for one in found), found)
        self.assertTrue(all("place=" in one for one in found), found)
        self.js("document.querySelector('#found a').click()")
        chapter = found[0].split("=")[1].split("&")[0]
        self.wait_for(lambda: self.all("h1") and chapter in self.driver.current_url)
        self.search("xyzzy")
        self.wait_for(lambda: self.js(
            "return document.getElementById('found').textContent") == "Nothing was found.")
        self.assertTrue(any("warp-shuffle" in one for one in self.search("shuffle")))

    def test_hits_are_words_of_named_chapters(self):
        self.open("#chapter=02-naive")
        self.assertIn("chapter=glossary&place=race", self.search("race")[0])
        found = self.js(
            "return [...document.querySelectorAll('#found li')].map((one) => one.textContent)")
        for one in found[:5]:
            self.assertRegex(one, r"in (A |Step|Glossary|Answers|Err|The |Copies)")
            self.assertRegex(one, r"(?i)\brace\b")
        self.search("this thread's")
        self.assertNotIn("&#", self.js("return document.getElementById('found').textContent"))


class OwnText(Page):
    def test_there_is_a_kernel_to_begin_with(self):
        self.load("#chapter=own")
        editor = self.wait_for(lambda: self.all("textarea[aria-label='Your PTX']"))[0]
        self.assertIn("Paste PTX here", editor.get_attribute("placeholder"))
        self.press("Try step 3's kernel")
        self.wait_for(lambda: self.all("form fieldset"))
        self.press("Run")
        self.wait_for(lambda: self.text(".shape").startswith("scan_block: 1 block"))
        self.assertFalse(self.all("button.example")[0].is_displayed())


# The right answer of each chapter, another way to write it or a near one, and a wrong one.
ANSWERS = {"02-naive": ("384", "380", "512"), "03-work-efficient": ("14", "14.0", "16"),
           "04-conflict-free": ("1", "1", "31"), "05-arbitrary-size": ("0 + 0", "0", "375 + 225"),
           "06-vectorized": ("3", "3", "5"), "07-unrolled": ("77 976", "77,976", "8"),
           "09-warp-shuffle": ("8208", "8 208", "16"),
           "11-single-pass": ("135 408 + 132 095", "131,072 + 131,072", "3")}
TABLE = """const place = shown(".predict");
let one = place;
do one = one.nextElementSibling; while (one.tagName !== "TABLE");
return getComputedStyle(one).display;"""
WRITE = """const form = shown(".predict form");
form.querySelector("input").value = arguments[0];
form.querySelector("[type=submit]").click();
return shown(".predict .verdict").textContent;"""


class Predictions(Page):
    def table(self):
        return self.js(TABLE)

    def write(self, guess):
        return self.js(WRITE, guess)

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
        shown = self.js(
            "return [...document.querySelectorAll('#chapter-04-conflict-free > table')]"
            ".map((one) => one.checkVisibility())")
        self.assertEqual(shown.count(False), 1)
        self.assertGreater(shown.count(True), 2)


if __name__ == "__main__":
    unittest.main()
