"""test_labs.py -- the labs of the page. Without a compiler: what the judge says of answers, that
the page and `make grade N=page` say the same, and what the browser and a link keep. With one: the
judge in WebAssembly says what `make check3 COMPILER=own` says, of every file that the tests
have."""
import base64
import csv
import json
import random
import re
import string
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

from browser import BUILT, TOP, Page, check_below, need, node

RIGHT = {"barrier": ["1"], "conflicts": ["4", "6", "6", "6", "6", "2", "0"],
         "missing": ["2", "3", "1"], "sweep": ["abcdefghi"], "upsweep": ["abcdefghi"],
         "padding": ["pad32", "pad32x2", "pad16"]}
NOT_NEEDED = "this run does not need"
CHAPTERS = {"barrier": "02-naive", "conflicts": "03-work-efficient", "missing": "03-work-efficient",
            "sweep": "02-naive", "upsweep": "03-work-efficient", "padding": "04-conflict-free"}
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
            subprocess.run(["node", str(TOP / "common/tools/labs/grade_links.js"),
                            str(given),
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

    def test_the_files_of_labs_in_links_are_judged_anew(self):
        need("emcc", "pandoc")

        def link(lab, text):
            made = zlib.compressobj(wbits=-15)
            letters = base64.urlsafe_b64encode(made.compress(text.encode()) + made.flush())
            return "#text=labs_lab%d.%s" % (lab, letters.decode().rstrip("="))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "links.txt"
            file.write_text("Anna\t%s\nBen %s\nCarla %s\n" % (
                link(9, solution(9)), link(3, "no kernel"), "#text=labs_lab3.x!"),
                encoding="utf-8")
            rows = self.grade(file)
            self.assertEqual([row["lab9"] for row in rows.values()], ["100.00", "", ""])
            self.assertEqual([row["lab3"] for row in rows.values()], ["", "0.00", ""])
            self.assertEqual([row["status"] for row in rows.values()],
                             ["judged", "judged", "look at it: no link with answers"])

    def test_what_is_missing_is_named(self):
        need("emcc", "pandoc")
        for arguments, says in (([], "give a file of links"), (["/nowhere"], "cannot be read"),
                                (["x", "--points", "100"], "is not an option")):
            ran = subprocess.run(
                ["node", str(TOP / "common/tools/labs/grade_links.js"), *arguments],
                capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(says, ran.stderr)


class InThePage(Page):
    def lab(self, name, selector):
        return "[data-lab=%s] %s" % (name, selector)

    def check(self, name):
        self.click(self.lab(name, ".run"))
        return self.wait_for(lambda: "right" in self.text(self.lab(name, ".verdict")) and
                             self.text(self.lab(name, ".verdict")))

    def begin(self, name):
        if name == "missing":
            self.click(self.lab(name, ".begin"))
        self.wait_for(lambda: self.all(self.lab(name, ".form :is(input, select, [role=option])")))

    def values(self, name):
        """The answers that are shown. Lines in the book's order are the answer a, b, c …"""
        lines = self.texts(self.lab(name, "[role=option] code"))
        if lines:
            return ["abcdefghi" if lines[0].startswith("for ") and lines[8] == "}" else ""]
        return self.js(
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
        self.js("localStorage.clear()")
        self.load("#chapter=04-conflict-free")
        self.begin("padding")
        first = self.all(self.lab("padding", ".form select"))[0]
        first.send_keys("16")
        self.assertEqual(self.check("padding"), "0 of 3 right.")
        self.assertEqual(self.texts(self.lab("padding", ".says")),
                         ["144 bank conflicts left", "no answer yet", "no answer yet"])
        self.js("[...document.querySelectorAll('[data-lab=padding] button')]"
                ".find((one) => one.textContent.startsWith('Copy')).click()")
        link = self.js("return document.getElementById('address').value")
        self.assertTrue(link.endswith("&place=lab-padding&answers=padding.pad16--"), link)
        self.load("#chapter=04-conflict-free")
        self.begin("padding")
        self.assertEqual(self.values("padding"), ["pad16", "", ""])
        self.js("localStorage.clear()")


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


sys.path.append(str(TOP / "tests/python/cc"))
from own import LABS, files, run, source_of  # noqa: E402

SECONDS = 2  # of the processor, that a lab's points may take

WASM_BYTES = 979_430 - 143_600 + 250_000  # before the compiler, and what may be added
BOX = "[data-code=%s] "
VALUE = "return document.querySelector(arguments[0]).value"
SET = """const box = document.querySelector(arguments[0]);
box.value = arguments[1];
box.dispatchEvent(new Event("input"));"""
RUNNER = """globalThis.Worker = class { postMessage({ id }) {
    this.onmessage({ data: { id, answer: JSON.stringify({ message: process.argv[2] }) } });
} };
URL.createObjectURL = URL.revokeObjectURL = () => "";
require(process.argv[1]).makeRunner("").run("").then(({ message }) => console.log(message));"""
CLICK = """[...document.querySelectorAll(arguments[0])].find(
    (one) => !arguments[1] || one.textContent === arguments[1]).click()"""


def judged_code(requests):
    """The answers of the judge in WebAssembly to [task, path, text]."""
    return json.loads(node("--code", str(BUILT / "emulator.js"), given=json.dumps(requests)))


def solution(lab):
    return run("common/tools/labs/skeleton.sh", "--solution", lab, source_of(lab)).stdout


def puzzle(number):
    return (TOP / ("steps/first-kernel/first%d.cu" % number)).read_text(encoding="utf-8")


class CodeJudge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("emcc", "pandoc", "node")

    def test_points_come_in_time(self):
        def slowest():
            answers = judged_code([(str(lab), "labs/lab.cu", solution(lab)) for lab in LABS])
            self.assertTrue(all(answer["right"] for answer in answers))
            return max(answer["seconds"] for answer in answers)
        check_below(self, SECONDS, slowest)

    def test_each_file_gets_the_lines_and_hints_of_check_lab(self):
        """But for what only copies of the process find out: which barriers are not needed."""
        with tempfile.TemporaryDirectory() as folder:
            asked = []
            for name, lab, text in files():
                if name == "7-levels-by-hand":  # it has a lambda, and does not compile
                    continue
                path = Path(folder) / (name + ".cu")
                path.write_text(text, encoding="utf-8")
                asked.append((str(lab), str(path), text))
            self.assertGreater(len(asked), 15)
            for (lab, path, _), answer in zip(asked, judged_code(asked)):
                with self.subTest(file=Path(path).stem):
                    check = ("build/labs/check-lab", lab, path, "--compiler", "own", "--no-gpu")
                    said = run(*check).stdout.split("\nCompare with")[0]
                    verdict = json.loads(run(*check, "--json").stdout)
                    verdict["lost"] = [x for x in verdict["lost"] if NOT_NEEDED not in x["text"]]
                    self.assertEqual(answer["text"], re.sub(f".*{NOT_NEEDED}.*\n", "", said))
                    self.assertEqual(json.loads(answer["verdict"]), verdict)
                    self.assertEqual(answer["hints"], [run(*check, "--hint", level).stdout
                                                       for level in (1, 2, 3)])

    def test_what_does_not_compile_has_its_place_and_no_points(self):
        text = solution(3).replace("temp[bi] += temp[ai];", "temp[bi] += tmp[ai];", 1)
        answer, = judged_code([("3", "labs/lab3.cu", text)])
        self.assertRegex(answer["text"], r"(?m)^0.00 of 100 points: no kernel was run$")
        line = text[:text.index("tmp[")].count("\n") + 1
        self.assertEqual([(one["line"], one["text"]) for one in answer["diagnostics"]],
                         [(line, "`tmp` is not declared here")])
        self.assertFalse(answer["right"])

    def test_exercise_4_has_a_solution_of_its_own(self):
        padded, = judged_code([("exercise4", "labs/exercise4.cu", solution(4))])
        self.assertRegex(padded["text"], "^Exercise 4: ")
        self.assertFalse(padded["right"])
        text = run("sed", "-f", "common/tools/labs/exercises/solution4.sed",
                   given=solution(4)).stdout
        self.assertTrue(judged_code([("exercise4", "labs/exercise4.cu", text)])[0]["right"])

    def test_the_first_puzzles(self):
        gap = re.compile(r".*// lab: .*\n")
        asked = [("first%d" % number, "labs/first%d.cu" % number, text) for number in range(1, 6)
                 for text in (puzzle(number), gap.sub("", puzzle(number)))]
        asked.append(("first3", "labs/first3.cu", re.sub(r".*__syncthreads.*\n", "", puzzle(3))))
        says = ["all 1024 numbers are right", "out[0] is 0, and should be 250000",
                "all 1000 numbers are right", "thread (232,0,0) in block (3,0,0)",
                "all 256 numbers are right", "out[1] is 4, and should be 5",
                "all 960 numbers are right", "out[1] is 0, and should be 40",
                "all 1000 numbers are right", "out[256] is 0, and should be 59536", "Race reported"]
        for wanted, (name, _, _), answer in zip(says, asked, judged_code(asked)):
            self.assertIn(wanted, answer["text"])
            self.assertEqual(answer["right"], wanted.startswith("all"))
            self.assertEqual(answer["right"], "labs/%s.cu is right." % name in answer["text"])

    def test_loops_without_an_end_and_floods_of_printf_end_as_natively(self):
        endless = solution(3).replace("int thid = threadIdx.x;",
                                      "int thid = threadIdx.x; while (n) __syncthreads();", 1)
        flood = "#include <stdio.h>\n" + solution(3).replace(
            "int thid = threadIdx.x;",
            'int thid = threadIdx.x; for (int k = 0; k < 4000; k++) printf("%d\\n", thid);', 1)
        with tempfile.TemporaryDirectory() as folder:
            for text in (endless, flood):
                path = Path(folder) / "lab3.cu"
                path.write_text(text, encoding="utf-8")
                answer, = judged_code([("3", str(path), text)])
                said = run("build/labs/check-lab", 3, path, "--compiler", "own").stdout
                self.assertEqual(answer["text"], said.split("\nThe kernels printed")[0])
                self.assertIn("far more than a right solution needs" if text is endless
                              else "have printed more than 4 MiB", said)
                self.assertEqual(len(answer["printed"]), 20 if text is flood else 0)

    def test_an_endless_loop_is_told_without_an_environment_variable(self):
        scheduler = (TOP / "common/tools/emu/machine/scheduler.c").read_text(encoding="utf-8")
        said, = re.findall(r'"( warp instructions, and EMU_.*)"', scheduler)
        shown = run("node", "-e", RUNNER, TOP / "common/tools/page/runner.js",
                    "k has executed 5" + said)
        self.assertEqual(shown.stdout, "k has executed 5 warp instructions: does a loop not end?\n")

    def test_a_request_that_lacks_something_is_an_error(self):
        for request, says in (("lab 3 labs/lab3.cu\n", "the request has no weights.txt"),
                              ("lab 99 labs/lab3.cu\n", "there is no such lab"),
                              ("header weights.txt 1\nwork 1\nlab 3 x.cu\nint", "no solution.cu"),
                              ("header weights.txt 1\nwork one\nlab 3 x.cu\n", "Line 1 of")):
            answer = json.loads(json.loads(node("--answers", str(BUILT / "emulator.js"),
                                                given=json.dumps([request])))[0])
            self.assertIn(says, answer["message"])
            self.assertNotEqual(answer["error"], 0)
            self.assertIsNone(answer["verdict"])

    def test_the_emulator_stays_small(self):
        self.assertLess((BUILT / "emulator.wasm").stat().st_size, WASM_BYTES)


class Box(Page):
    def setUp(self):
        self.begin()
        self.js("localStorage.clear()")

    def tearDown(self):
        self.js("localStorage.clear()")
        super().tearDown()

    def begin(self, fragment="#chapter=03-work-efficient", name="lab3"):
        self.load(fragment)
        self.wait_for(lambda: self.all(BOX % name + "textarea"))

    def type(self, text, name="lab3"):
        self.js(SET, BOX % name + "textarea", text)

    def value(self, name="lab3"):
        return self.js(VALUE, BOX % name + "textarea")

    def click(self, button="", name="lab3", within="button"):
        self.js(CLICK, BOX % name + within, button)

    def check(self, name="lab3"):
        self.click("Check", name)
        return self.wait_for(lambda: self.text(BOX % name + ".outcome"))

    def link(self):
        """The address, when it holds what was typed."""
        self.wait_for(lambda: "text=" in self.js("return location.hash"))
        return self.js("return location.hash")


class CodeInThePage(Box):
    def test_the_solution_gets_full_points_and_the_skeleton_what_make_check_gives(self):
        self.begin()
        skeleton = run("common/tools/labs/skeleton.sh", 3, "steps/03-work-efficient/scan.cu").stdout
        self.assertEqual(self.value(), skeleton)
        self.assertTrue(self.check().startswith("0.00 of 100 points"))
        self.assertIn("gap 1 is still empty", self.text(BOX % "lab3" + ".reasons"))
        self.click("Hint")
        self.assertEqual(len(self.all(BOX % "lab3" + ".hints li")), 1)
        self.type(solution(3))
        self.assertTrue(self.check().startswith("100.00 of 100 points"))
        self.assertEqual(self.texts(BOX % "lab3" + ".sizes tbody tr")[-1],
                         "2048 4094 / 4094 2520 / 2520 1024 / 1024 0 right")

    def test_each_lab_begins_as_its_skeleton_and_its_solution_is_right_slow(self):
        for lab in LABS:
            chapter, name = next((TOP / "notes").glob("%02d-*.md" % lab)).stem, "lab%d" % lab
            with self.subTest(lab=lab):
                self.begin("#chapter=%s" % chapter, name)
                skeleton = run("common/tools/labs/skeleton.sh", lab, source_of(lab)).stdout
                self.assertEqual(self.value(name), skeleton)
                self.type(solution(lab), name)
                self.assertTrue(self.check(name).startswith("100.00 of 100 points"))

    def test_reasons_and_errors_lead_to_their_lines(self):
        self.begin()
        text = solution(3).replace("__syncthreads();", "", 1)
        self.type(text)
        self.check()
        self.click(within=".reasons .to")
        line = text[:text.index("temp[bi] += temp[ai];")].count("\n")
        selected = """const box = document.activeElement;
            return box.value.slice(box.selectionStart, box.selectionEnd);"""
        self.assertEqual(self.js(selected), text.split("\n")[line])
        self.type(text.replace("temp[ai];", "tmp[ai];", 1))
        self.check()
        self.assertEqual(self.texts(BOX % "lab3" + "mark"), ["tmp"])
        self.assertIn("no points are taken off", self.text(BOX % "lab3" + ".points"))
        self.assertEqual(self.all(BOX % "lab3" + ".reasons .lost"), [])
        self.click(within=".problems button")
        self.assertEqual(self.js(selected), "tmp")
        self.type(text)
        self.assertFalse(self.all(BOX % "lab3" + "mark"))

    def look_back(self, name):
        self.check(name)
        self.click(name=name, within="a.go")
        return self.wait_for(lambda: self.text(".stores-panel p"))

    def test_look_back_shows_the_last_store_to_the_first_wrong_element(self):
        self.begin("#chapter=05-arbitrary-size", "lab5")
        self.assertEqual(self.look_back("lab5"), "No thread has stored to output[0] up to here.")
        self.assertEqual(self.text(".status"),
                         "At n = 1, element 0 was never written; it should be 0.")
        self.assertRegex(self.text(".event"), r"^Event (\d+) of \1\.")
        self.begin("#chapter=05-arbitrary-size", "lab5")
        text = solution(5).replace("g_odata[ai] += g_incr[j];", "g_odata[ai] += g_incr[j] + 1;")
        self.type(text, "lab5")
        self.assertEqual(self.look_back("lab5"),
                         "2 stores to output[512] up to here, the last one first:")
        value, = re.findall("At n = 513, element 512 is (.*), and should", self.text(".status"))
        line = text[:text.index("g_incr[j] + 1")].count("\n") + 1
        self.assertEqual(self.texts(".stores-panel li")[0], "thread 0 of block 0, own.cu:%d, "
                         "stored %s" % (line, value))
        self.assertIn("own.cu:%d: 1 lane stores to global" % line, self.text(".event"))
        self.press("Back")
        self.assertIn("own.cu:%d: 1 lane loads from global" % line, self.text(".event"))
        self.press(self.texts(".stores-panel li")[1])  # in another launch and block
        self.wait_for(lambda: "Block 1, warp 0" in self.text(".event"))
        self.assertIn("1 lane stores to global", self.text(".event"))

    def test_an_endless_loop_is_ended_by_stop(self):
        self.begin()
        self.type(solution(3).replace("int thid = threadIdx.x;",
                                      "int thid = threadIdx.x; while (n) __syncthreads();", 1))
        self.click("Check")
        self.wait_for(lambda: self.js(
            "return !document.querySelector(arguments[0]).hidden", BOX % "lab3" + "progress"))
        self.click("Stop")
        self.wait_for(lambda: self.text(BOX % "lab3" + ".said") == "The run was stopped.")
        self.type(solution(3))
        self.assertTrue(self.check().startswith("100.00 of 100 points"))

    def test_the_text_is_in_the_browser_and_in_the_link(self):
        self.begin()
        self.type("// mine: \u00e4 \U0001f600\n")
        link = self.link()
        self.begin()
        self.assertEqual(self.value(), "// mine: \u00e4 \U0001f600\n")
        self.type("// another\n")
        self.begin(link)
        self.wait_for(lambda: self.value() == "// mine: \u00e4 \U0001f600\n")
        self.click("Bring back my own text")
        self.assertEqual(self.value(), "// another\n")
        self.begin(link[:-9] + "!")
        self.wait_for(lambda: "cannot be read" in self.text("> p.wrong"))
        self.assertEqual(self.value(), "// another\n")

    def test_a_text_that_is_too_long_for_the_link_is_named(self):
        self.begin()
        letters = random.Random(1).choices(string.ascii_letters, k=45000)
        noise = "\n".join("".join(letters[k:k + 90]) for k in range(0, len(letters), 90))
        self.type(noise)
        self.wait_for(lambda: "too long for a link" in self.text(BOX % "lab3" + ".code-box"))
        self.assertNotIn("text=", self.js("return location.hash"))

    def test_reset_asks_before_a_text_is_lost(self):
        self.begin()
        skeleton = self.value()
        self.type("// mine\n")
        self.click("Reset")
        self.click("Keep it")
        self.assertEqual(self.value(), "// mine\n")
        self.click("Reset")
        self.click("Discard my text")
        self.assertEqual(self.value(), skeleton)

    def test_a_puzzle_and_an_exercise(self):
        self.begin("#chapter=first-kernel", "first1")
        self.assertIn("out[0] is 0", self.check("first1"))
        self.type(puzzle(1), "first1")
        self.assertIn("all 1024 numbers are right", self.check("first1"))
        self.assertEqual(self.js(
            "return document.querySelector('[data-code=first1] .outcome').innerText.trim()"),
            "all 1024 numbers are right\nYour kernel is right.\n\n"
            "Play the threads back, instruction by instruction")
        self.type(puzzle(1).replace("square", "mine"), "first1")
        self.assertIn("launches the kernel square", self.check("first1"))
        self.click("Open first3.cu", "first3")
        self.assertIn("out[1] is 4", self.check("first3"))
        self.type(re.sub(r".*__syncthreads.*\n", "", puzzle(3)), "first3")
        self.assertIn("Race reported", self.check("first3"))
        self.click(name="first3", within="a.go")
        self.wait_for(lambda: "Next race" in self.texts("button"))


class Keys(Box):
    """Only with keys: what is focused, and what is typed."""

    def focused(self):
        return self.driver.switch_to.active_element

    def test_a_lab_by_keys_alone(self):
        from selenium.webdriver.common.keys import Keys as K
        self.begin()
        area = self.all(BOX % "lab3" + "textarea")[0]
        area.send_keys(K.CONTROL, "a")
        area.send_keys(K.DELETE)
        area.send_keys("int x;\n    y")
        area.send_keys(K.ENTER, "z")
        self.assertEqual(self.value(), "int x;\n    y\n    z")
        area.send_keys(K.ENTER, "{", K.ENTER, "a", K.ENTER, "}")
        self.assertEqual(self.value(), "int x;\n    y\n    z\n    {\n        a\n    }")
        area.send_keys(K.CONTROL, K.ENTER)
        self.wait_for(lambda: "points" in self.text(BOX % "lab3" + ".outcome"))
        area.send_keys(K.ESCAPE, K.TAB)
        self.assertEqual(self.focused().text, "Check")
        for name in ("Hint", "Download lab3.cu", "Reset"):
            self.focused().send_keys(K.TAB)
            self.assertEqual(self.focused().text, name)
        self.focused().send_keys(K.ENTER)
        self.assertEqual(self.focused().text, "Discard my text")

    def test_lines_are_moved_by_keys_and_by_the_pointer(self):
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys as K
        self.load("#chapter=03-work-efficient&place=lab-upsweep")
        lines = "[data-lab=upsweep] [role=option]"
        self.wait_for(lambda: self.all(lines))
        first = self.texts(lines + " code")
        self.all(lines)[0].click()
        self.focused().send_keys(K.ALT, K.ARROW_DOWN)
        self.assertEqual([one.strip() for one in self.texts(lines + " code")][:2],
                         [first[1].strip(), first[0].strip()])
        self.focused().send_keys(K.ARROW_UP)
        self.assertIn(first[1].strip(), self.focused().text)
        rows = self.all(lines)
        below = rows[8].rect["y"] - rows[0].rect["y"]
        ActionChains(self.driver).click_and_hold(rows[0]).move_by_offset(
            0, int(below)).release().perform()
        self.assertEqual(self.texts(lines + " code")[8].strip(), first[1].strip())
        self.js("document.querySelector('[data-lab=upsweep] .run').click()")
        self.wait_for(lambda: "line" in self.text("[data-lab=upsweep] .says"))


if __name__ == "__main__":
    unittest.main()
