"""test_player.py -- a kernel that runs: one picture at a time beside the code, the player always in
sight with the verdict, jumps to conflicts and races, and heights that stay."""
import unittest

from browser import SHOWN, Page

USUAL_MS = 250  # for an event, at the usual speed
LAPTOP, PHONE, WIDE = (1366, 768), (390, 844), (1920, 1080)
INSIDE = """const box = document.querySelector(arguments[0]).getBoundingClientRect();
return box.height > 0 && box.top >= -1 && box.bottom <= innerHeight + 1;"""
HEIGHTS = """const found = new Set(), bar = shown(".bar");
for (let at = 0; at <= bar.max; at++) {
    bar.value = at;
    bar.dispatchEvent(new Event("input"));
    found.add(shown(".widget").offsetHeight);
}
return [...found];"""
# The width beside the code that numbers of lines and counters take.
ROOM = """const code = shown(".source code");
return code.getBoundingClientRect().left - code.closest(".panel").getBoundingClientRect().left;"""
DISPLAYS = """return allShown(".legend > span").map(
    (one) => getComputedStyle(one).display);"""
MARKS = """return Object.fromEntries(
    allShown(".strip path").map(
        (one) => [one.getAttribute("class"), (one.getAttribute("d").match(/M/g) || []).length]));"""


class Player(Page):
    def is_inside(self, selector):
        return self.js(INSIDE, SHOWN + selector)

    def scroll_to(self, selector):
        self.js("document.querySelector(arguments[0]).scrollIntoView()", SHOWN + selector)

    def test_a_lesson_has_few_elements_and_no_code_before_your_turn(self):
        for chapter, n, view in (("02-naive", "8", "Tree"), ("03-work-efficient", "16", "Tree"),
                                 ("04-conflict-free", "64", "Banks")):
            self.open("#chapter=" + chapter)
            self.assertEqual(self.control("n").get_attribute("value"), n)
            self.assertEqual(self.texts(".tabs [aria-pressed=true]"), [view])
            order = self.js(
                "return allShown('> .host,"
                "article:not([hidden]) > h2').map((one) => one.id || one.className)")
            turn = order.index(chapter + ":your-turn")
            self.assertTrue(order[turn - 1].startswith("host"), order)
        for chapter, is_folded in (("03-work-efficient", True), ("09-warp-shuffle", True),
                                   ("10-cooperative", False)):
            self.open("#chapter=" + chapter)
            self.assertEqual(self.all(".code")[0].is_displayed(), not is_folded)
        self.open("#chapter=03-work-efficient")
        self.press("Show the code")
        self.assertTrue(self.all(".code")[0].is_displayed())
        self.assertIn("code=1", self.driver.current_url)
        self.open("#chapter=03-work-efficient")
        self.click("details.kernel summary")
        self.wait_for(lambda: self.all(".code")[0].is_displayed())

    def test_one_picture_is_shown_and_the_address_keeps_it(self):
        self.open("#chapter=03-work-efficient&n=64&at=12")
        panels = {"tree": [".tree-panel"], "banks": [".piles-panel", ".lanes-panel"],
                  "memory": [".banks-panel"]}
        for view, mine in panels.items():
            self.click("[data-view=%s]" % view)
            for one in [each for found in panels.values() for each in found]:
                self.assertEqual(self.all(one)[0].is_displayed(), one in mine, (view, one))
            self.assertIn("view=" + view, self.driver.current_url)
        self.assertFalse(self.all("[data-view=shuffle]")[0].is_displayed())
        self.open("#chapter=09-warp-shuffle&at=12")
        self.assertTrue(self.all("[data-view=shuffle]")[0].is_displayed())

    def test_piles_have_a_box_for_each_word_in_its_bank(self):
        self.open("#chapter=03-work-efficient&n=512&view=banks")
        self.assertEqual(len(self.all(".piles-panel rect")), 64)  # the first store, of two words
        self.assertIn("still to come", self.text(".piles-panel"))
        while "15 of them are bank conflicts" not in self.text(".event"):
            self.press("Next conflict")
        self.assertEqual(len(self.all(".piles-panel rect")), 32)
        self.assertEqual(len(self.all(".piles-panel rect.excess")), 30)
        xs = {one.get_attribute("x") for one in self.all(".piles-panel rect")}
        self.assertEqual(xs, {"327", "647"})  # banks 15 and 31
        self.assertEqual(self.all(".piles-panel .piles")[0].get_attribute("aria-label"),
                         "The lanes use 2 of 32 banks. In the fullest bank lie 16 of the words "
                         "that they need.")

    def test_a_click_on_a_word_lists_the_stores_to_it(self):
        self.open("#chapter=03-work-efficient&n=8&to=end&view=memory")
        self.click(".banks td:nth-child(9)")
        found = self.texts(".stores-panel li")
        self.assertEqual([(one.split()[1], one.split()[-1]) for one in found], [  # thread, value
            ("3", "22"), ("1", "16"), ("0", "11"), ("0", "0"),
            ("0", "25"), ("1", "14"), ("3", "9"), ("3", "3")])
        self.press(found[5])
        self.assertIn("at %s: 2 lanes store" % found[5].split(", ")[1], self.text(".event"))
        self.assertEqual(self.texts(".banks td:nth-child(9)"), ["14"])
        self.click(".banks td:nth-child(9)")
        self.assertEqual(self.texts(".stores-panel li"), found[5:])

    def test_the_player_and_the_picture_share_a_screen(self):
        for size, more in ((LAPTOP, ""), (LAPTOP, "&code=1"), ((1366, 660), "&code=1"),
                           (PHONE, "")):
            self.size(*size)
            for chapter in ("02-naive", "03-work-efficient", "04-conflict-free"):
                with self.subTest(size=size, chapter=chapter, more=more):
                    self.open("#chapter=%s&at=20%s" % (chapter, more))
                    self.scroll_to(".stage")
                    for one in (".picture-room", ".player", ".event", ".result"):
                        self.assertTrue(self.is_inside(one), one)

    def test_the_player_stays_in_sight_while_the_widget_is_longer(self):
        self.size(1366, 500)
        self.open("#chapter=03-work-efficient&n=64&code=1")
        self.scroll_to(".widget")
        self.assertTrue(self.is_inside(".player"))

    def test_all_banks_are_seen_beside_the_code_and_the_scroll_bar(self):
        for size, fragment in ((WIDE, "#chapter=04-conflict-free&n=512&code=1"),
                               ((1280, 1200), "#chapter=05-arbitrary-size&variant=naive")):
            self.size(*size)
            self.open(fragment + "&at=60&view=memory")
            left, panel, inner = self.js(
                "const panel = shown('.banks-panel'), code = shown('.code');"
                "return [code.getBoundingClientRect().right <= panel.getBoundingClientRect().left,"
                "        panel.scrollWidth, panel.clientWidth]")
            self.assertTrue(left)
            self.assertEqual(panel, inner)

    def test_a_legend_is_a_sentence(self):
        self.open("#chapter=03-work-efficient")
        self.assertEqual(set(self.js(DISPLAYS)), {"inline"})

    def test_the_numbers_are_the_chapters(self):
        self.open("#chapter=02-naive&to=end")
        self.wait_for(lambda: self.texts(".tree-panel text", as_shown=False)[-8:] ==
                      "0 3 4 11 11 15 16 22".split())

    def test_no_height_changes_while_it_plays(self):
        for fragment in ("#chapter=03-work-efficient&n=64", "#chapter=02-naive&n=64&view=memory",
                         "#chapter=04-conflict-free&n=128&variant=none&view=banks",
                         "#chapter=09-warp-shuffle&n=512"):
            with self.subTest(fragment=fragment):
                self.open(fragment)
                self.assertEqual(len(self.js(HEIGHTS)), 1)

    def test_the_verdict_stands_where_the_reader_is(self):
        self.size(*LAPTOP)
        self.open("#chapter=03-work-efficient&n=128&code=1")
        self.scroll_to(".stage")
        self.click("button.barrier")
        self.wait_for(lambda: self.text(".result").startswith("The result is wrong"))
        for one in (".result", ".result p", ".player"):
            self.assertTrue(self.is_inside(one), one)

    def test_next_conflict_and_next_race(self):
        self.open("#chapter=03-work-efficient&n=128")
        race = [one for one in self.all(".player button") if one.text == "Next race"][0]
        self.assertFalse(race.is_enabled())
        for _ in range(3):
            self.press("Next conflict")
            self.assertRegex(self.text(".event"), r"(is a|are) bank conflicts?\.$")
        self.open("#chapter=03-work-efficient&n=128&off=scan.cu:37")
        places = set()
        for _ in range(6):
            self.press("Next race")
            places.add(self.text(".event"))
            self.assertRegex(self.text(".event"), "(load|store)s? (from|to) shared memory")
            self.assertRegex(self.text(".event"), r" A race: no barrier comes after thread \d+'s "
                             r"(read|write) access at scan\.cu:\d+\.$")
        self.assertGreater(len(places), 1)
        self.assertLess(len(places), 6)  # after the last one follows the first

    def test_a_removed_barrier_is_in_sight_of_its_race(self):
        self.open("#chapter=02-naive&n=64&off=barrier-2&to=first-race&code=1")
        self.wait_for(lambda: self.js(
            "const box = (one) => shown('' + one)"
            ".getBoundingClientRect(), code = box('.code');"
            "return [box('tr.off'), box('tr.runs')].every((row) =>"
            "    row.top >= code.top && row.bottom <= code.bottom)"))

    def test_a_finding_leads_to_its_place(self):
        self.open("#chapter=03-work-efficient&n=128&off=scan.cu:37")
        buttons = self.all(".findings li button.to")
        self.assertGreater(len(buttons), 0)
        for button in buttons[:3]:
            at = button.text.split()[-1]
            item = self.js("return arguments[0].closest('li').textContent", button)
            self.js("arguments[0].click()", button)
            self.assertTrue(self.text(".event").startswith("Event %s of " % at))
            line = self.js("return shown('tr.runs').dataset.line")
            self.assertIn("scan.cu:" + line, item)

    def test_the_bar_is_painted_with_what_happens(self):
        self.open("#chapter=03-work-efficient&n=64")
        marks = self.js(MARKS)
        self.assertEqual(marks["barriers"], 13)
        self.assertGreater(marks["conflicts"], 10)
        self.assertEqual(marks["races"], 0)
        self.open("#chapter=03-work-efficient&n=128&off=scan.cu:37")
        self.assertGreater(self.js(MARKS)["races"], 0)

    def test_a_speed_can_be_chosen(self):
        self.open("#chapter=03-work-efficient&n=128")
        self.js("const wait = setTimeout; window.pauses = [];"
                "window.setTimeout = (next, ms) => { pauses.push(ms); return wait(next, ms); };")
        for speed in 1, 4:
            self.choose("speed", str(speed))
            self.press("Play")
            self.press("Pause")
            self.assertIn(USUAL_MS / speed, self.js("return pauses.splice(0)"))

    def test_keys_work_on_its_buttons(self):
        self.open("#chapter=03-work-efficient")
        step = [one for one in self.all(".player button") if one.text == "Step"][0]
        step.send_keys("\ue014\ue014")  # the right arrow
        self.assertTrue(self.text(".event").startswith("Event 2 of "))
        step.send_keys(" ")  # a button's own key
        self.assertTrue(self.text(".event").startswith("Event 3 of "))
        self.assertEqual(self.all(".player [title], .barrier[title]"), [])

    def test_targets_are_large_enough(self):
        self.open("#chapter=03-work-efficient&code=1")
        for one in self.all(".widget button, .widget select, .widget input"):
            if one.is_displayed():
                self.assertGreaterEqual(one.size["height"], 22, one.get_attribute("outerHTML"))

    def test_code_has_colours_and_room(self):
        self.open("#chapter=03-work-efficient&code=1")
        self.assertIn("__syncthreads", self.texts(".source b", False))
        comments = self.texts(".source i", False)
        self.assertIn("// Each thread loads two neighbouring elements. (part A)", comments)
        self.assertIn("* Step 3: the work-efficient scan (Blelloch 1990), in one block.", comments)
        self.assertLess(self.js(ROOM), 60)
        self.size(360)
        for chapter in ("03-work-efficient", "05-arbitrary-size"):
            self.open("#chapter=" + chapter + "&code=1")
            self.assertLess(self.js(ROOM), 125)


if __name__ == "__main__":
    unittest.main()
