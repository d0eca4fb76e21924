"""test_start.py -- the first screen: eight numbers of the reader's own, which go up the tree and
down again as step 3's kernel moves them; by keyboard, for screen readers and without motion."""
import itertools
import random
import unittest

from browser import PAGE, Page

NUMBERS = [3, 1, 7, 0, 4, 1, 6, 3]
MOST_BYTES = 3_000_000
SET = """const fields = document.querySelectorAll(".yours input");
arguments[0].forEach((value, k) => { fields[k].value = value; });
fields[0].dispatchEvent(new Event("input"));"""
ROWS = """const details = document.querySelector("#sweep details");
details.open = true;
return [...details.querySelectorAll("tbody tr")].map(
    (row) => [...row.cells].map((cell) => cell.textContent));"""
# The values of the picture's nodes, and of what is on its way, as [text, class].
PICTURE = """return [...document.querySelectorAll(".sums g[transform]")].map(
    (one) => [one.textContent, one.getAttribute("class")]);"""
SHIFT = """const done = arguments[0], sum = { shift: 0 };
new PerformanceObserver((list) => {
    for (const one of list.getEntries()) sum.shift += one.value;
}).observe({ type: "layout-shift", buffered: true });
setTimeout(() => done(sum.shift), 600);"""
# Where values on their way have been. The page notes it itself: between two looks of a test on a
# busy machine, a value can come and go.
PLACES = """window.places = new Set();
new MutationObserver((changes) => {
    for (const { target } of changes)
        if (target.classList.contains("moves")) window.places.add(target.getAttribute("transform"));
}).observe(document.querySelector("#sweep"),
           { attributes: true, attributeFilter: ["transform"], subtree: true });"""
# A clock for animations on which every frame takes so many milliseconds. A busy machine's browser
# may draw one frame in seconds; this clock goes on, and stops when 20 places have been seen.
FRAMES_OF = """let now = 0;
window.requestAnimationFrame = (draw) => setTimeout(
    () => (window.places || []).size > 20 || draw(now += arguments[0]));
window.cancelAnimationFrame = clearTimeout;"""


def numbers_in(text):
    return [int(one) for one in text.replace("\u2212", "-").split()]


def sweeps(values):
    """The eight words after the load, after each level up, the cleared root and each level down."""
    words, stages = list(values), [list(values)]
    for stride in (1, 2, 4):
        for right in range(2 * stride - 1, 8, 2 * stride):
            words[right] += words[right - stride]
        stages.append(list(words))
    words[7] = 0
    stages.append(list(words))
    for stride in (4, 2, 1):
        for right in range(2 * stride - 1, 8, 2 * stride):
            words[right - stride], words[right] = words[right], words[right] + words[right - stride]
        stages.append(list(words))
    return stages


class Start(Page):
    def rows(self):
        return [numbers_in(" ".join(row[1:])) for row in self.wait_for(lambda: self.js(ROWS))]

    def set(self, numbers):
        self.js(SET, numbers)
        self.wait_for(lambda: numbers_in(self.text(".given")) == numbers)

    def check(self, numbers):
        self.assertEqual(numbers_in(self.text(".result")), [0, *itertools.accumulate(numbers)][:8])
        self.assertEqual(self.rows(), sweeps(numbers))

    def go_to(self, time):
        self.slide(".scrubber input", time)

    def picture(self):
        return self.js(PICTURE)

    def test_an_address_without_a_chapter_opens_it(self):
        self.load()
        self.assertEqual(self.text("h1"), "How do many threads compute one running sum?")
        self.assertEqual(self.text("a.go"), "Begin with a first kernel")
        self.check(NUMBERS)

    def test_the_first_screen_leads_to_a_kernel(self):
        for width, height in ((1366, 768), (390, 844)):
            self.size(width, height)
            self.load()
            self.assertIn("Write kernels here, nothing to install.", self.text(".at-once"))
            self.assertLess(self.js(
                "return document.querySelector('.at-once').getBoundingClientRect().bottom"), height)

    def test_the_rows_are_what_the_kernel_does_with_any_numbers(self):
        self.load()
        draw = random.Random(34)
        for numbers in ([0] * 8, [99] * 8, [-99] * 8, [-99, 99] * 4,
                        *([draw.randint(-99, 99) for _ in range(8)] for _ in range(5))):
            self.set(numbers)
            self.check(numbers)

    def test_other_input_is_asked_for_and_changes_nothing(self):
        self.load()
        for wrong in ("", 100, -100, 2.5):
            self.js(SET, [wrong, *NUMBERS[1:]])
            self.assertRegex(self.text(".yours legend"),
                             "^Write eight whole numbers from \u221299 to 99")
            self.assertEqual(self.all(".yours input")[0].get_attribute("aria-invalid"), "true")
            self.check(NUMBERS)
        self.set([5, *NUMBERS[1:]])
        self.assertEqual(self.text(".yours legend"), "Your numbers: change them.")

    def test_values_move_up_the_tree_and_down_again(self):
        self.load()
        for stage, moving in ((0.5, ["3", "1", "7", "0", "4", "1", "6", "3"]), (2.5, ["11", "14"]),
                              (4.5, ["0", "11", "0"])):
            self.go_to(stage)
            found = [text for text, kind in self.picture() if kind.endswith("moves")]
            self.assertEqual(sorted(found), sorted(moving), stage)
        self.go_to(7)
        leaves = [text for text, kind in self.picture() if kind == "prefix"]
        self.assertEqual(leaves, ["0", "3", "4", "11", "11", "15", "16", "22"])
        self.go_to(3)
        self.assertIn(["25", "sum"], self.picture())
        # no more than eight words are in use
        for stage in range(8):
            self.go_to(stage)
            live = [kind for _, kind in self.picture() if kind in ("leaf", "sum", "prefix")]
            self.assertEqual(len(live), 8, stage)

    def test_a_sentence_for_each_level_by_keyboard(self):
        self.load()
        bar = self.all(".scrubber input")[0]
        told = lambda: self.text(".told").replace("\u00a0", " ")  # noqa: E731
        said = [told()]
        for _ in range(7):
            bar.send_keys("\ue014")  # the right arrow
            said.append(told())
        self.assertEqual(len(set(said)), 8)
        self.assertIn("all at once: 3 + 1 = 4, 7 + 0 = 7, 4 + 1 = 5, 6 + 3 = 9.", said[1])
        self.assertIn("One thread adds the two halves: 11 + 14 = 25, the sum of all.", said[3])
        self.assertIn("0 + 3 = 3, 4 + 7 = 11, 11 + 4 = 15, 16 + 6 = 22.", said[7])
        self.assertEqual(self.text(".line code"),
                         "float t = temp[ai];  temp[ai] = temp[bi];  temp[bi] += t;")
        bar.send_keys("\ue011")  # Home
        self.assertEqual(told(), said[0])
        self.assertEqual(self.all(".told")[0].get_attribute("aria-live"), "polite")

    def test_play_goes_to_the_end_without_motion(self):
        """The tests' browser asks for reduced motion: no value is ever between two places."""
        self.load()
        self.js(FRAMES_OF, 130)
        self.press("Play")
        seen = set()

        def ended():
            seen.update(kind.endswith("moves") for _, kind in self.picture())
            return self.texts(".play") == ["Play again"]
        self.wait_for(ended)
        self.assertEqual(seen, {False})
        self.assertIn("Now every place holds", self.text(".told"))

    def test_play_moves_the_values(self):
        self.media(prefers_reduced_motion="no-preference")
        self.load()
        self.js(PLACES)
        self.js(FRAMES_OF, 50)
        self.press("Play")
        self.wait_for(lambda: self.js("return window.places.size") > 20)
        self.press("Pause")
        told = self.text(".told")
        self.press("Step")  # to the end of the stage
        self.press("Step")
        self.assertNotEqual(self.text(".told"), told)

    def test_a_link_restores_numbers_and_stage(self):
        numbers = [9, -8, 7, 6, 5, 4, 3, 2]
        self.load("#numbers=" + "+".join(map(str, numbers)) + "&at=3")
        self.wait_for(lambda: numbers_in(self.text(".given")) == numbers)
        self.assertIn("the sum of all", self.text(".told"))
        self.press("Step")
        self.set([1] * 8)
        self.wait_for(lambda: "numbers=1+1+1+1+1+1+1+1" in self.driver.current_url)
        self.assertIn("at=4", self.driver.current_url)
        self.load("#numbers=1+2+three&at=99")
        self.check(NUMBERS)

    def test_no_height_changes_from_stage_to_stage(self):
        for width in (1366, 390):
            self.size(width, 844)
            for numbers in (NUMBERS, [-99] * 8):
                self.load()
                self.js(SET, numbers)
                self.wait_for(lambda: numbers_in(self.text(".given")) == numbers)
                heights = set()
                for stage in range(8):
                    self.go_to(stage)
                    heights.add(self.js("return document.getElementById('sweep').offsetHeight"))
                self.assertEqual(len(heights), 1, (width, numbers, heights))

    def test_nothing_jumps(self):
        for width, height in ((1366, 768), (390, 844)):
            self.size(width, height)
            for fragment in ("", "#chapter=03-work-efficient", "#chapter=04-conflict-free",
                             "#chapter=09-warp-shuffle"):
                with self.subTest(width=width, fragment=fragment):
                    self.open(fragment)
                    self.assertLess(self.driver.execute_async_script(SHIFT), 0.05)

    def test_the_page_is_small(self):
        self.assertLessEqual(PAGE.stat().st_size, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
