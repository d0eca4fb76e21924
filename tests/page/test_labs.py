"""test_labs.py -- the labs without a compiler: what the judge says of answers, that the page and
`make grade N=page` say the same, and what the browser and a link keep."""
import csv
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import Page
from page_files import BUILT, TOP, need, node

RIGHT = {"barrier": ["1"], "conflicts": ["4", "6", "6", "6", "6", "2", "0"],
         "missing": ["2", "3", "1"], "sweep": ["abcdefghi"], "upsweep": ["abcdefghi"],
         "padding": ["pad32", "pad32x2", "pad16"]}
CHAPTERS = {"barrier": "02-naive", "conflicts": "03-work-efficient",
            "missing": "03-work-efficient", "sweep": "02-naive", "upsweep": "03-work-efficient",
            "padding": "04-conflict-free"}
# Of each lab an answer to its first question that is wrong, and what is said of it.
WRONG = {"barrier": ("2", "stopped: a barrier that not all threads reach"),
         "conflicts": ("5", "not 5"),
         "missing": ("3", "not this one: without it, the checkers find nothing"),
         "sweep": ("acbdefghi", "The result is wrong: "),  # pin is made from the old pout
         "upsweep": ("bacdefghi", "The result is wrong: "),  # one barrier before the loop
         "padding": ("pad16", "144 bank conflicts left")}
# Other orders of lines, and what is said of them.
ORDERS = {("sweep", "abcdefgih"): "And racecheck finds hazards",  # the barrier behind the loop
          ("sweep", "ahbcdefgi"): "^right",  # a barrier before it, and before the first sweep
          ("sweep", "abcfegdhi"): "^line 43: ",  # an else without an if
          ("upsweep", "acbdefghi"): "^stopped: a barrier that not all threads reach|hazards",
          ("upsweep", "acdefghbi"): "^right",
          ("upsweep", "acdefgbhi"): "^right",
          ("upsweep", "abcdefgih"): r"^stopped: .*, in line \d+: float t = temp\[ai\];$",
          ("upsweep", "abcfdeghi"): "^line 37: `bi` is not declared here$",
          ("upsweep", "acdefghib"): "racecheck finds hazards between lines"}
ALL = "_".join("%s.%s" % (name, "-".join(answers)) for name, answers in RIGHT.items())


def judged(name, answers):
    """What the judge says of answers, with the emulator in WebAssembly."""
    given = json.dumps([name, answers])
    return json.loads(node("--judge", str(BUILT / "emulator.js"), given=given))


class Judge(unittest.TestCase):
    def test_right_answers_are_right(self):
        need("emcc", "pandoc")
        for name, answers in [*RIGHT.items(), ("barrier", ["3"]),
                              ("padding", ["pad32x2", "pad32x2", "pad16"])]:
            self.assertTrue(all(one["isRight"] for one in judged(name, answers)), (name, answers))

    def test_lines_in_any_order_are_compiled_and_run(self):
        need("emcc", "pandoc")
        for (name, letters), says in ORDERS.items():
            with self.subTest(lab=name, order=letters):
                self.assertRegex(judged(name, [letters])[0]["says"], says)

    def test_each_wrong_answer_has_a_reason_by_the_emulator(self):
        need("emcc", "pandoc")
        for name, (answer, says) in WRONG.items():
            first, *rest = judged(name, [answer] + [""] * (len(RIGHT[name]) - 1))
            self.assertFalse(first["isRight"], name)
            self.assertTrue(first["says"].startswith(says), first["says"])
            self.assertEqual({one["says"] for one in rest} - {"no answer yet"}, set())
        self.assertRegex(judged("barrier", ["4"])[0]["says"], "^racecheck finds hazards")
        self.assertEqual(judged("padding", ["", "", "none"])[2]["says"], "512 bank conflicts left")


class Grade(unittest.TestCase):
    def grade(self, given, *options):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run(["node", str(TOP / "common/labs/grader/grade_links.js"), str(given),
                            "--out", out, *options], check=True, capture_output=True)
            with open(Path(out) / "grades.csv", encoding="utf-8", newline="") as file:
                return {row["name"]: row for row in csv.DictReader(file)}

    def test_a_file_of_links_and_a_folder_are_judged_anew(self):
        need("emcc", "pandoc")
        link = "https://host/upsweep.html#chapter=02-naive&place=lab-barrier&answers="
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            lines = ["Anna Berg\t%s%s" % (link, ALL), "Ben, %sbarrier.2&points=100" % link,
                     "=1+1 no link", "Dora %spadding.pad16-x-_upsweep.acdefghi_sweep.abcdefghij" %
                     link]
            (top / "links.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
            (top / "roster.txt").write_text("Ben\nCarla\n", encoding="utf-8")
            rows = self.grade(top / "links.txt", "--roster", str(top / "roster.txt"))
            self.assertEqual(list(rows), ["Ben", "Carla", "Anna Berg", "'=1+1 no link", "Dora"])
            self.assertEqual([row["points"] for row in rows.values()],
                             ["0.00", "0.00", "150.00", "0.00", "0.00"])
            self.assertEqual(rows["Carla"]["status"], "nothing handed in")
            self.assertEqual(rows["'=1+1 no link"]["status"], "look at it: no link with answers")
            self.assertEqual(rows["Anna Berg"]["conflicts"], "7 of 7")
            inner = top / "class" / "Ben_17_assignsubmission_onlinetext"
            inner.mkdir(parents=True)
            (inner / "onlinetext.html").write_text(
                "<p>%s</p>" % (link.replace("&", "&amp;") + "conflicts.4-6-6-6-6-2-9"),
                encoding="utf-8")
            rows = self.grade(top / "class", "--roster", str(top / "roster.txt"))
            self.assertEqual(rows["Ben"]["conflicts"], "6 of 7")

    def test_what_is_missing_is_named(self):
        need("emcc", "pandoc")
        for arguments, says in (([], "give a file of links"), (["/nowhere"], "cannot be read"),
                                (["x", "--points", "100"], "is not an option")):
            ran = subprocess.run(
                ["node", str(TOP / "common/labs/grader/grade_links.js"), *arguments],
                capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(says, ran.stderr)


class InThePage(Page):
    def lab(self, name, selector):
        return "[data-lab=%s] %s" % (name, selector)

    def check(self, name):
        self.driver.execute_script("document.querySelector(arguments[0]).click()",
                                   self.lab(name, ".run"))
        return self.wait_for(lambda: "right" in self.text(self.lab(name, ".verdict")) and
                             self.text(self.lab(name, ".verdict")))

    def begin(self, name):
        if name == "missing":
            self.driver.execute_script("document.querySelector(arguments[0]).click()",
                                       self.lab(name, ".begin"))
        self.wait_for(lambda: self.all(self.lab(name, ".form :is(input, select, [role=option])")))

    def values(self, name):
        """The answers that are shown. Lines in the book's order are the answer a, b, c …"""
        lines = self.texts(self.lab(name, "[role=option] code"))
        if lines:
            return ["abcdefghi" if lines[0].startswith("for ") and lines[8] == "}" else ""]
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].filter("
            "    (one) => one.type !== 'radio' || one.checked).map((one) => one.value)",
            self.lab(name, ".form :is(input, select)"))

    def test_a_link_s_answers_are_shown_and_judged(self):
        for name, chapter in CHAPTERS.items():
            with self.subTest(lab=name):
                self.load("#chapter=%s&place=lab-%s&answers=%s" % (chapter, name, ALL))
                self.begin(name)
                self.assertEqual(self.values(name), RIGHT[name])
                self.assertEqual(self.check(name), "All of it is right.")
                self.assertEqual(len(self.all(self.lab(name, ".hint"))), 3)

    def test_a_wrong_answer_has_its_reason_and_all_is_kept(self):
        self.load("#chapter=04-conflict-free")
        self.driver.execute_script("localStorage.clear()")
        self.load("#chapter=04-conflict-free")
        self.begin("padding")
        first = self.all(self.lab("padding", ".form select"))[0]
        first.send_keys("16")
        self.assertEqual(self.check("padding"), "0 of 3 right.")
        self.assertEqual(self.texts(self.lab("padding", ".says")),
                         ["144 bank conflicts left", "no answer yet", "no answer yet"])
        self.driver.execute_script("[...document.querySelectorAll('[data-lab=padding] button')]"
                                   ".find((one) => one.textContent.startsWith('Copy')).click()")
        link = self.driver.execute_script("return document.getElementById('address').value")
        self.assertTrue(link.endswith("&place=lab-padding&answers=padding.pad16--"), link)
        self.load("#chapter=04-conflict-free")
        self.begin("padding")
        self.assertEqual(self.values("padding"), ["pad16", "", ""])
        self.driver.execute_script("localStorage.clear()")


class WithoutStorage(InThePage):
    test_a_link_s_answers_are_shown_and_judged = None
    test_a_wrong_answer_has_its_reason_and_all_is_kept = None

    def test_a_browser_that_keeps_nothing_is_no_error(self):
        self.driver.execute_cdp_cmd("Page.enable", {})
        script = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "Object.defineProperty(window, 'localStorage', {"
                      "    get() { throw new DOMException('no', 'SecurityError'); } });"})
        self.addCleanup(self.driver.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument",
                        script)
        self.load("#chapter=03-work-efficient")
        self.begin("conflicts")
        self.all(self.lab("conflicts", "input"))[6].send_keys("0")
        self.assertEqual(self.check("conflicts"), "1 of 7 right.")


if __name__ == "__main__":
    unittest.main()
