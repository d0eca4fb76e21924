"""test_browser.py -- the page in headless Chromium, opened as a file: what chapters 3 and 4 say,
each control, the keyboard, restored states, and input that is wrong or hostile."""
import re
import tempfile
import unittest
from pathlib import Path

from browser import Page

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry %s(.param .u64 p) {
.reg .b64 %%a;
.reg .b32 %%r;
ld.param.u64 %%a, [p];
mov.u32 %%r, %%tid.x;
%s
ret;
}
"""

# Waits until the browser has read the file of a control, which the page began to read before.
AS_READ = """const done = arguments[1];
arguments[0].files[0].text().then(() => setTimeout(done));"""


class Chapters(Page):
    def test_step_3_has_its_conflicts_level_by_level(self):
        self.assertEqual(self.open("#chapter=03-work-efficient&n=512"),
                         "The result is right: all 512 elements.")
        self.press("End")
        self.assertEqual(self.counter("bank conflicts of loads"), ["375", "375", "375"])
        self.assertEqual(self.counter("bank conflicts of stores"), ["225", "225", "225"])
        self.assertEqual(self.text(".total"), "?")
        self.press("Show all counts")
        self.more()
        self.assertEqual(self.text(".total"), "375 + 225")
        levels = self.texts(".counted")
        up = ["16 + 8", "24 + 12", "28 + 14", "30 + 15", "30 + 15", "14 + 7", "6 + 3", "2 + 1"]
        down = ["3 + 2", "9 + 6", "21 + 14", "45 + 30", "45 + 30", "42 + 28", "36 + 24", "24 + 16"]
        self.assertEqual(levels[1:9], up)
        self.assertEqual(levels[-9:-1], down)

    def test_step_4_has_none(self):
        self.open("#chapter=04-conflict-free&n=512")
        self.press("Show all counts")
        self.assertEqual(self.text(".total"), "0 + 0")
        self.choose("variant", "pad16")
        self.assertNotEqual(self.counter("bank conflicts of loads")[1], "0")
        self.choose("variant", "none")
        self.assertEqual(self.counter("bank conflicts of loads")[1:], ["375", "375"])

    def test_the_books_kernel_is_folded_behind_your_turn(self):
        for chapter in ("02-naive", "03-work-efficient", "07-unrolled"):
            self.open("#chapter=" + chapter)
            [folded] = self.all("details.kernel")
            self.assertIsNone(folded.get_attribute("open"))
            summary = folded.find_element("css selector", "summary")
            self.assertEqual(summary.text, "Show the book's kernel")
            code = folded.find_element("css selector", "pre")
            self.assertFalse(code.is_displayed())
            summary.click()
            self.assertTrue(code.is_displayed())

    def test_a_prediction_is_judged(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.more()
        fields = self.all(".levels input")
        fields[1].send_keys("16 + 8\t")
        fields[2].send_keys("1\t")
        fields[3].send_keys("words\t")
        rows = self.texts(".levels tbody tr")
        self.assertRegex(rows[1], r"16 \+ 8 right$")
        self.assertRegex(rows[2], r"24 \+ 12 not 1$")
        self.assertRegex(rows[3], r"\? Write a number\.$")

    def test_a_missing_barrier_shows_its_hazard(self):
        self.open("#chapter=03-work-efficient&n=512")
        button = self.all("button.barrier")[0]
        line = button.get_attribute("data-line")
        self.click("button.barrier")
        self.wait_for(lambda: "racecheck: " in self.text(".findings"))
        found = self.text(".findings li")
        self.assertRegex(found, r"scan\.cu:\d+, thread \d+.* and .*scan\.cu:\d+, thread \d+")
        self.assertIn("scan.cu:" + line, self.text(".status"))
        self.assertIn("restore needed", self.text(".source tr.off"))
        self.assertIn("off=", self.driver.current_url)
        self.press("Restore the kernel")
        self.wait_for(lambda: "have found nothing" in self.text(".findings"))

    def test_a_right_result_with_a_hazard_is_not_called_right_alone(self):
        self.open("#chapter=02-naive&n=512&off=scan.cu:37")
        self.assertIn("racecheck: ", self.text(".findings"))
        self.assertRegex(self.text(".result"), "right: all 512 elements. But the kernel is not")
        self.assertFalse(self.all(".result .right"))

    def run_ptx(self, change):
        """Runs the PTX of the shown kernel after a change of its text."""
        editor = self.all("details.ptx textarea")[0]
        self.js("arguments[0].closest('details').open = true; arguments[0].value = arguments[1]",
                editor, change(editor.get_attribute("value")))
        self.press("Run this text")
        self.wait_for(lambda: "runs" not in self.text(".status"))

    def test_a_kernel_that_changes_its_input_is_judged_by_what_it_was_given(self):
        """Zeros are the scan of zeros, but not of the input."""
        self.open("#chapter=03-work-efficient&n=8")
        end = ("ld.param.u64 %rd1, [%PTR_1];\ncvta.to.global.u64 %rd1, %rd1;\n"
               "ld.param.u64 %rd2, [%PTR_0];\ncvta.to.global.u64 %rd2, %rd2;\n"
               "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 8;\nadd.s64 %rd1, %rd1, %rd3;\n"
               "add.s64 %rd2, %rd2, %rd3;\nmov.f32 %f1, 0f00000000;\n")
        for stores, expected in (
                ("12", "^The result is wrong: [1-7] of 8 el.*The kernel has changed its input"),
                ("2", "^The result is wrong: [1-7] of 8 elements[^:]*$")):
            text = end + "".join("st.global.f32 [%%rd%s], %%f1;\nst.global.f32 [%%rd%s+4], %%f1;\n"
                                 % (k, k) for k in stores) + "ret;"
            self.open("#chapter=03-work-efficient&n=8")

            def change(ptx):
                name = re.search(r"\.entry (\S+?)\(", ptx)[1]
                return ptx.replace("ret;", text.replace("%PTR", name + "_param"), 1)
            self.run_ptx(change)
            self.assertRegex(self.text(".result"), expected)

    def test_nothing_is_said_of_a_kernel_that_has_not_run(self):
        self.open("#chapter=03-work-efficient&n=8&off=scan.cu:37")
        for change, message in ((lambda ptx: "words", "expected .version"),
                                (lambda ptx: ptx.replace("ret;", "trap;", 1), "trap")):
            self.run_ptx(change)
            self.assertIn(message, self.text(".result"))
            self.assertTrue(self.text(".status").startswith(
                "The emulator has not run the kernel to its end"), self.text(".status"))
            self.assertNotIn("have found nothing", self.text(".findings"))
            self.press("Restore the kernel")
            self.wait_for(lambda: "have found nothing" in self.text(".findings"))
        self.run_ptx(lambda ptx: "words")
        self.assertIn("no verdict", self.text(".findings"))
        self.assertTrue(self.text(".event").startswith("There is nothing to play"))
        self.assertEqual(self.text(".banks-panel"), "")

    def test_a_link_names_only_barriers_that_exist(self):
        self.open("#chapter=03-work-efficient&off=scan.cu:37,scan.cu:99999,any words")
        self.assertIn("scan.cu:37.", self.text(".status"))
        self.assertNotIn("99999", self.text(".status") + self.driver.current_url)

    def test_a_summary_has_its_own_keys(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.more()
        before = self.text(".event")
        summary = self.all(".widget details.ptx summary")[0]
        summary.send_keys(" ")
        self.assertTrue(self.js("return arguments[0].parentNode.open", summary))
        self.assertEqual(self.text(".event"), before)

    def test_a_schedule_shows_a_wrong_element(self):
        self.open("#chapter=03-work-efficient&n=512&off=scan.cu:37&seed=1")
        self.assertRegex(self.text(".result"), r"wrong: \d+ of 512 elements. First, out\[\d+\] is")

    def test_every_kernel_runs_and_counts_as_ncu(self):
        self.load()
        for chapter in ("02-naive", "03-work-efficient", "04-conflict-free", "05-arbitrary-size",
                        "06-vectorized", "07-unrolled", "09-warp-shuffle", "10-cooperative",
                        "11-single-pass"):
            with self.subTest(chapter=chapter):
                n = "&n=512" if chapter < "05" else ""  # ncu has counted these
                self.assertRegex(self.go("#chapter=" + chapter + n), "^The result is right")
                self.press("End")
                self.assertRegex(self.text(".event"), r"^Event (\d+) of \1\. Block 0, warp \d+")
                self.assertNotEqual(self.all("tr.runs"), [])
                self.check_recorded()

    def check_recorded(self):
        """Where ncu's counter differs, the page says why."""
        texts = self.js(
            "return allShown('.numbers tbody tr')"
            ".map((row) => [row.cells[2].textContent, row.cells[3].textContent])")
        texts = [(counted, recorded) for counted, recorded in texts if recorded]
        self.assertGreater(len(texts), 8)
        for counted, recorded in texts:
            self.assertTrue(counted == recorded or "(" in recorded, (counted, recorded))

    def test_one_lane_is_not_lanes(self):
        self.open("#chapter=03-work-efficient&n=8")
        self.assertEqual(self.js(
            "const bar = shown('.bar'), found = [];"
            "for (bar.value = 1; ; bar.value++) {"
            "    bar.dispatchEvent(new Event('input'));"
            "    found.push(shown('.event').textContent);"
            "    if (bar.value === bar.max) break;"
            "}"
            "return [found.some((one) => / 1 lane /.test(one)),"
            "        found.some((one) => / 1 lanes/.test(one))];"), [True, False])


class Controls(Page):
    def test_play_step_back_and_bar(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.press("Step")
        self.assertRegex(self.text(".event"), "^Event 1 of ")
        self.press("End")
        self.press("Back")
        self.assertRegex(self.text(".event"), "^Event 360 of 361")
        self.press("Start")
        self.press("Play")
        self.wait_for(lambda: re.match("^Event [3-9] of", self.text(".event")))
        self.press("Pause")
        self.slide(".bar", 100)
        self.assertRegex(self.text(".event"), "^Event 100 of ")

    def test_playing_ends_with_the_chapter(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.press("Play")
        self.js("location.hash = '#chapter=13-compaction'")
        play = ("return [...document.querySelectorAll('#chapter-03-work-efficient .player button')]"
                "[2].textContent")
        self.wait_for(lambda: self.js(play) == "Play")
        self.assertTrue(self.driver.current_url.endswith("#chapter=13-compaction"))

    def test_a_choice_keeps_a_text_that_has_not_been_run(self):
        self.open("#chapter=04-conflict-free&n=64")
        editor = self.all("details.ptx textarea")[0]
        original = editor.get_attribute("value")
        self.more()
        self.js("arguments[0].closest('details').open = true", editor)
        editor.send_keys("words")
        self.choose("n", "128")
        self.assertEqual(self.text(".result"), "The result is right: all 128 elements.")
        self.assertIn("words", editor.get_attribute("value"))
        self.press("Restore the kernel")
        self.wait_for(lambda: editor.get_attribute("value") == original)
        editor.send_keys("words")
        typed = editor.get_attribute("value")
        self.choose("variant", "none")
        self.assertNotIn("words", editor.get_attribute("value"))
        self.press("Bring back what I typed")
        self.assertEqual(editor.get_attribute("value"), typed)

    def test_barriers_are_steps_too(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.choose("step by", "barrier")
        texts = []
        for _ in range(4):
            self.press("Step")
            texts.append(self.text(".event"))
        self.assertEqual(len(set(texts)), 4)
        self.press("Back")
        self.assertEqual(self.text(".event"), texts[2])

    def test_the_keyboard_moves(self):
        self.open("#chapter=03-work-efficient&n=512")
        widget = self.all(".widget")[0]
        widget.send_keys("\ue014\ue014\ue014")  # three times the right arrow
        self.assertRegex(self.text(".event"), "^Event 3 of ")
        widget.send_keys("\ue012")  # left
        self.assertRegex(self.text(".event"), "^Event 2 of ")
        widget.send_keys("\ue010")  # End
        self.assertRegex(self.text(".event"), "^Event 361 of ")
        widget.send_keys("\ue011")  # Home
        self.assertEqual(self.text(".event"), "Before the first instruction.")

    def test_choices_change_the_launch(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.choose("n", "64")
        self.assertEqual(self.text(".result"), "The result is right: all 64 elements.")
        self.choose("n", "512")
        self.choose("count bank conflicts as on", "g80")
        self.assertEqual(self.texts(".banks thead th")[-1], "15")
        self.assertNotEqual(self.counter("bank conflicts of loads")[1], "375")

    def test_a_state_is_restored(self):
        self.open("#chapter=04-conflict-free&n=128&variant=pad16&seed=7&rules=fermi&at=20")
        self.assertEqual(self.control("n").get_attribute("value"), "128")
        self.assertEqual(self.control("variant").get_attribute("value"), "pad16")
        self.assertEqual(self.control("schedule seed").get_attribute("value"), "7")
        self.assertRegex(self.text(".event"), "^Event 20 of ")
        self.press("Step")
        self.assertIn("at=21", self.driver.current_url)

    def test_no_width_scrolls_the_page_sideways(self):
        for width in (360, 800, 2560):
            self.driver.set_window_size(width, 1200)
            self.size(width)
            self.open("#chapter=04-conflict-free&n=512")
            size = self.js("return document.documentElement.scrollWidth")
            self.assertLessEqual(size, width)

    def test_nothing_is_requested(self):
        self.open("#chapter=03-work-efficient&n=512")
        names = self.js("return performance.getEntriesByType('resource').map((one) => one.name)")
        self.assertEqual([name for name in names if not name.startswith(("data:", "blob:"))], [])


class OwnPtx(Page):
    def own(self, ptx):
        self.load("#chapter=own")
        self.paste(ptx)

    def run_own(self, ptx, **fields):
        self.own(ptx)
        self.wait_for(lambda: self.all("form fieldset"))
        for name, value in fields.items():
            field = self.control(name.replace("_", " "))
            field.clear()
            field.send_keys(str(value))
        self.press("Run")

    def test_a_kernel_runs_and_is_counted_by_its_own_lines(self):
        self.run_own(KERNEL % ("k", "cvt.u64.u32 %a, %r;"))
        self.wait_for(lambda: self.all(".numbers tr"))
        self.run_own(KERNEL % ("k", ".shared .b32 s[64];\nst.shared.u32 [s], %r;\nbar.sync 0;"))
        self.wait_for(lambda: "own.ptx:" in self.text(".findings") or
                      "have found nothing" in self.text(".findings"))
        self.press("Step")
        self.assertIn("at own.ptx:10: 32 lanes store to shared memory", self.text(".event"))

    def test_its_barriers_can_be_removed_and_its_buffers_seen(self):
        body = (".shared .b32 s[64];\n.reg .b32 %s;\n.reg .b64 %b;\nmul.wide.u32 %b, %r, 4;\n"
                "add.u64 %a, %a, %b;\nmov.u32 %s, s;\nshl.b32 %r, %r, 2;\nadd.u32 %s, %s, %r;\n"
                "st.shared.f32 [%s], 0f3F800000;\nbar.sync 0;\nxor.b32 %s, %s, 128;\n"
                "ld.shared.u32 %r, [%s];\nst.global.u32 [%a], %r;")
        self.run_own(KERNEL % ("k", body), threads_of_a_block=64)
        self.wait_for(lambda: "have found nothing" in self.text(".findings"))
        self.assertTrue(self.text(".buffers pre").startswith("1 1 1 "))
        self.click("button.barrier")
        self.wait_for(lambda: "racecheck: " in self.text(".findings"))

    def test_its_source_is_shown(self):
        ptx = (KERNEL % ("k", "bar.sync 0;")).replace(
            ".address_size 64", '.address_size 64\n.file 1 "/home/reader/mine.cu"').replace(
            "bar.sync 0;", ".loc 1 2 1\n.shared .b32 s[4];\nst.shared.u32 [s], %r;\nbar.sync 0;")
        self.own(ptx)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mine.cu"
            path.write_text("first line\nsecond line\n", encoding="utf-8")
            self.all("input[type=file]")[1].send_keys(str(path))
            self.wait_for(lambda: self.all("form fieldset"))
            self.driver.execute_async_script(AS_READ, self.all("input[type=file]")[1])
        self.press("Run")
        self.wait_for(lambda: "second line" in self.text(".source"))

    def test_bad_text_gives_the_emulators_sentence(self):
        self.own("this is not PTX")
        self.assertIn("line 1", self.wait_for(lambda: self.text(".result")))
        self.own(KERNEL % ("k", "bogus.u32 %r, %r;"))
        self.wait_for(lambda: self.all("form fieldset"))
        self.press("Run")
        self.assertIn("bogus", self.wait_for(lambda: self.text(".result")))

    def test_names_reach_the_page_as_text_only(self):
        name = "<img src=x onerror=document.title='hacked'><b>"
        ptx = KERNEL % ("k", "bar.sync 0;")
        self.run_own(ptx.replace(".address_size 64", '.address_size 64\n.file 1 "%s"' % name)
                     .replace("bar.sync 0;", ".loc 1 3 1\n.shared .b32 s[4];\n"
                                             "st.shared.u32 [s], %r;\nbar.sync 0;"))
        self.wait_for(lambda: self.all(".findings li, .findings p"))
        self.press("Step")
        self.assertIn("<img", self.text(".event"))
        self.assertEqual(self.all(".widget img, .widget b:not(.editor b)"), [])
        self.own("<script>document.title='hacked'</script>")
        self.wait_for(lambda: self.text(".result"))
        self.assertNotIn("hacked", self.driver.title)

    def test_an_endless_kernel_is_ended(self):
        self.run_own(KERNEL % ("k", "L:\nadd.u32 %r, %r, 1;\nbra L;"), stop_the_kernel_after=1)
        self.wait_for(lambda: "had not ended after 1 s" in self.text(".result"))
        self.run_own(KERNEL % ("k", "bar.sync 0;"))
        self.wait_for(lambda: "have found nothing" in self.text(".findings"))

    def test_a_failed_run_leaves_nothing_of_the_run_before(self):
        body = ".shared .b32 s[64];\nst.shared.u32 [s], %r;"
        self.run_own(KERNEL % ("k", body))
        self.wait_for(lambda: self.text(".findings") and self.text(".buffers"))
        for fields, message in (({"threads_of_a_block": 4096}, "1024"),
                                ({"threads_of_a_block": 64, "value": "x"}, "not a number")):
            self.js(
                "for (const one of allShown('form select'))"
                "  if (one.value === 'buffer' && arguments[0]) {"
                "    one.value = 'value'; one.dispatchEvent(new Event('change')); }",
                "value" in fields)
            for name, value in fields.items():
                field = self.control(name.replace("_", " "))
                field.clear()
                field.send_keys(str(value))
            self.press("Run")
            self.wait_for(lambda: message in self.text(".result"))
            self.assertNotIn("have found nothing", self.text(".findings"))
            for panel in (".shape", ".numbers tbody", ".lines-panel", ".banks"):
                self.assertEqual(self.text(panel), "", panel)
        self.assertEqual(self.text(".buffers"), "")
        self.own("")
        self.wait_for(lambda: "version" in self.text(".result"))
        self.assertEqual(self.text(".findings"), "")

    def test_stop_ends_a_run(self):
        self.run_own(KERNEL % ("k", "L:\nadd.u32 %r, %r, 1;\nbra L;"))
        self.press("Stop")
        self.wait_for(lambda: "was stopped" in self.text(".result"))

    def test_a_file_of_50_megabytes_is_refused(self):
        self.own("")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.ptx"
            with path.open("wb") as file:
                file.truncate(50 << 20)
            self.all("input[type=file]")[0].send_keys(str(path))
            self.assertIn("50 MB", self.wait_for(lambda: re.search(
                "The file has.*", self.text(".result")))[0])


if __name__ == "__main__":
    unittest.main()
