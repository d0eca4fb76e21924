"""test_own_form.py -- the form for the reader's own kernel (shapes, buffers, numbers, limits), and
links that restore what the page shows."""
import json
import unittest
from urllib.parse import parse_qs, urlencode, urlsplit

from browser import GO, PAGE, TOP, Page

# out[i] = factor · in[i] for i < n, in blocks of 4 × 2 threads that lie in y.
SCALE = """.version 8.0
.target sm_90
.address_size 64
.visible .entry scale(.param .u64 out, .param .u64 in, .param .f64 factor, .param .u32 n) {
.reg .b64 %a<4>;
.reg .b32 %r<8>;
.reg .f64 %d<4>;
.reg .pred %p<2>;
ld.param.u64 %a0, [out];
ld.param.u64 %a1, [in];
ld.param.f64 %d0, [factor];
ld.param.u32 %r4, [n];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r2, %ntid.x;
mad.lo.u32 %r0, %r1, %r2, %r0;
mov.u32 %r3, %ctaid.y;
mul.lo.u32 %r3, %r3, 8;
add.u32 %r0, %r0, %r3;
setp.ge.u32 %p0, %r0, %r4;
@%p0 bra END;
mul.wide.u32 %a2, %r0, 8;
add.u64 %a0, %a0, %a2;
add.u64 %a1, %a1, %a2;
ld.global.f64 %d1, [%a1];
mul.f64 %d1, %d1, %d0;
st.global.f64 [%a0], %d1;
END:
ret;
}
"""
KERNEL = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(%s) %s{\n%s\nret;\n}\n"
FIELDS = {"launch": {"grid": [1, 2, 1], "block": [4, 2, 1], "shared": 0, "seconds": 10, "seed": 0,
                     "rules": "hopper", "cooperative": False},
          "parameters": [
              {"kind": "buffer", "element": "f64", "count": 16, "fill": "zero"},
              {"kind": "buffer", "element": "f64", "fill": "ramp", "count": 16},
              {"kind": "value", "type": "f64", "value": "2.5"},
              {"kind": "value", "type": "u32", "value": "13"}]}


def form_runs(form):
    return json.loads(form)["hasRun"]


class Form(Page):
    def open_own(self, ptx, fields, in_page=False, **more):
        """Opens the page anew at a link to one's own kernel, or goes there in the open page."""
        form = json.dumps({"kernel": 0, "hasRun": True, **fields})
        link = "#" + urlencode({"chapter": "own", "own": ptx, "form": form, **more})
        if in_page and self.all(".findings"):
            self.js(GO, link, ".result, .findings, .buffers")
        else:
            self.load(link)
        return self.wait_for(lambda: self.text(".findings") or self.text(".result") or
                             (not form_runs(form) and self.all("form fieldset")))

    def changed(self, k, **fields):
        parameters = [dict(one) for one in FIELDS["parameters"]]
        parameters[k].update(fields)
        return {**FIELDS, "parameters": parameters}

    def values(self, k=0):
        text = self.all(".buffers pre")[k].get_attribute("textContent")
        return [float(one) for one in text.split()]


class OwnForm(Form):
    def test_blocks_have_two_dimensions_and_numbers_have_types(self):
        self.open_own(SCALE, FIELDS)
        self.assertEqual(self.values(), [2.5 * i if i < 13 else 0 for i in range(16)])
        self.assertEqual(self.text(".shape"),
                         "scale: 2 blocks (1 × 2 × 1) of 8 threads (4 × 2 × 1).")
        self.assertEqual(self.text(".result"), "")  # no scan: the page does not judge it

    def test_buffers_hold_what_is_chosen(self):
        fills = {"one": [1] * 16, "zero": [0] * 16, "ramp": list(range(16))}
        for fill, expected in fills.items():
            self.open_own(SCALE, self.changed(1, fill=fill))
            self.assertEqual(self.values(1), expected)
        self.open_own(SCALE, self.changed(1, fill="digits"))
        self.assertTrue(set(self.values(1)) <= set(range(10)))
        self.assertGreater(len(set(self.values(1))), 3)

    def test_numbers_can_be_pasted(self):
        pasted = ["1", "-2.5", "1e3", *["0.5"] * 13]
        self.open_own(SCALE, self.changed(1, fill="values", values=", ".join(pasted)))
        self.assertEqual(self.values(), [2.5 * float(one) for one in pasted[:13]] + [0, 0, 0])
        self.open_own(SCALE, self.changed(1, fill="values", values="1 two 3"))
        self.assertEqual(self.text(".result"),
                         'Number 2 for parameter 1 is "two", which is not a number.')
        self.open_own(SCALE, self.changed(3, value="ten"))
        self.assertEqual(self.text(".result"),
                         'The value of parameter 3 is "ten", which is not a number.')

    def value(self, kind, text):
        """What a kernel gets of a written value, or the sentence that says why it gets none."""
        bits = int(kind[1:])
        body = (".reg .b64 %%a;\n.reg .b%d %%v;\nld.param.u64 %%a, [p];\nld.param.b%d %%v, [v];\n"
                "st.global.b%d [%%a], %%v;" % (bits, bits, bits))
        self.open_own(KERNEL % (".param .u64 p, .param .%s v" % kind, "", body), {
            "launch": {"block": [1, 1, 1]},
            "parameters": [{"kind": "buffer", "element": kind, "count": 1, "fill": "zero"},
                           {"kind": "value", "type": kind, "value": text}]}, in_page=True)
        return self.text(".result") or self.text(".buffers pre")

    def test_numbers_have_their_value_or_a_sentence(self):
        for kind, text, value in (
                ("u32", "+5", "5"), ("u32", "010", "10"), ("u32", "1e3", "1000"),
                ("u64", "1e13", "10000000000000"), ("s32", " -0x10 ", "-16"), ("u32", "1.0", "1"),
                ("s32", "\u22125", "-5"), ("u32", "0xffffffff", "4294967295"),
                ("u64", "18446744073709551615", "18446744073709551615"),
                ("s64", "-9223372036854775808", "-9223372036854775808"),
                ("f32", "-010.50", "-10.5"), ("f32", ".5e1", "5"), ("f64", "0x10", "16"),
                ("f64", "1e-300", "1e-300")):
            with self.subTest(kind=kind, text=text):
                found = self.value(kind, text)
                self.assertEqual(float(found), float(value))
                self.assertEqual("." in value or found, "." in value or value)
        for kind, text, sentence in (
                ("u32", "-5", 'is "-5", and u32 holds 0 to 4294967295.'),
                ("u32", "4294967296", 'is "4294967296", and u32 holds 0 to 4294967295.'),
                ("u16", "70000", 'is "70000", and u16 holds 0 to 65535.'),
                ("s32", "2147483648", 'and s32 holds -2147483648 to 2147483647.'),
                ("u64", "1e999999999", 'and u64 holds 0 to 18446744073709551615.'),
                ("s64", "-9223372036854775809", 'holds -9223372036854775808 to '),
                ("u32", "2.5", 'is "2.5", and u32 holds whole numbers.'),
                ("u32", "1e-999999999", 'holds whole numbers.'),
                ("f32", "1e39", 'is "1e39", which is too large for f32.'),
                ("f32", "1e-50", 'is "1e-50", which f32 rounds to 0.'),
                ("u32", "14 %", 'is "14 %", which is not a number.'),
                ("u32", "1 2", 'is "1 2", which is not a number.'),
                ("f32", "nan", 'is "nan", which is not a number.'),
                ("u32", "0x", 'is "0x", which is not a number.'),
                ("u32", " ", 'is empty. Write a number.')):
            with self.subTest(kind=kind, text=text):
                found = self.value(kind, text)
                self.assertTrue(found.startswith("The value of parameter 1 is "), found)
                self.assertIn(sentence, found)
                self.assertEqual(found.count("."), 2 if " is empty" in found or "2.5" in found
                                 else 1)

    def test_the_launch_has_whole_numbers_or_a_sentence(self):
        for fields, sentence in (
                ({"grid": [1, 2.5, 1]}, "Blocks in y must be a whole number from 1 to 4294967295."),
                ({"block": ["x", 1, 1]}, "Threads of a block must be a whole number from 1 to "),
                ({"grid": [1e13, 1, 1]}, "Blocks must be a whole number from 1 to 4294967295."),
                ({"seconds": 1e9}, "The time until the kernel is stopped, in seconds, must be a "),
                ({"shared": -1}, "Dynamic shared memory must be a whole number from 0 to "),
                ({"seed": 1e9}, "The schedule seed must be a whole number from 0 to 999999999.")):
            with self.subTest(fields=fields):
                self.open_own(SCALE, {**FIELDS, "launch": {**FIELDS["launch"], **fields}})
                self.assertIn(sentence, self.text(".result"))
        for count in (0, 2.5, "", 1e13):
            self.open_own(SCALE, self.changed(1, count=count))
            self.assertIn("Elements of parameter 1 must be a whole number", self.text(".result"))

    def test_the_form_can_be_filled_by_hand(self):
        self.open_own(SCALE, {**FIELDS, "hasRun": False, "parameters": []})
        self.js(
            "for (const [name, value] of arguments[0]) {"
            "  const f = document.querySelector(`[aria-label='${name}']`);"
            "  f.value = value; f.dispatchEvent(new Event('input')); }",
            [["Blocks in y", "2"], ["Threads of a block", "4"], ["Threads of a block in y", "2"],
             ["Value of parameter 2", "3"], ["Value of parameter 3", "16"]])
        self.press("Run")
        self.wait_for(lambda: self.text(".shape").startswith("scale: 2 blocks"))

    def test_lines_have_counters_and_findings(self):
        self.open_own(SCALE, self.changed(1, fill="none"))
        self.wait_for(lambda: self.all(".lines-panel tr"))
        self.more()
        rows = {row.find_element("css selector", "th").text:
                [cell.text for cell in row.find_elements("css selector", "td")]
                for row in self.all(".lines-panel tbody tr")}
        self.assertEqual(rows["own.ptx:25"][0], "ld.global.f64 %d1, [%a1];")
        self.assertEqual(rows["own.ptx:25"][3:5], ["2", "4"])
        self.assertRegex(rows["own.ptx:25"][5], r"^initcheck: \d+$")
        noted = self.js("return shown('.source tr[data-line=\"25\"] .note').textContent")
        self.assertIn("initcheck", noted)

    def test_what_the_page_cannot_give_is_refused_in_words(self):
        own = {"launch": FIELDS["launch"], "parameters": []}
        self.open_own(KERNEL % ("", ".explicitcluster ", ""), own)
        self.assertIn("has to give this kernel a cluster size", self.text(".result"))
        self.open_own(KERNEL % ("", ".reqnctapercluster 1, 2, 1 ", ""), own)
        self.wait_for(lambda: "have found nothing" in self.text(".findings"))
        self.open_own(KERNEL % ("", ".reqnctapercluster 3, 1, 1 ", ""), own)
        self.assertIn("no multiple of the clusters", self.text(".result"))
        self.open_own(KERNEL % (".param .align 4 .b8 p[12]", "", ""), own)
        self.assertIn("has 12 bytes", self.text("form"))
        self.assertIn("8 bytes", self.text(".result"))
        self.assertIn("Clusters", self.text(".drop details"))

    def test_a_program_runs_with_its_main(self):
        self.open_own((TOP / "steps/first-kernel/sums.cu").read_text(), {})
        self.assertEqual(self.texts("form ~ div pre"), ["3 4 11 11 15 16 22 25"])
        self.assertIn("running_sums: 1 block of 8 threads", self.text(".shape"))
        self.assertRegex(self.text(".findings"), "WAR hazard.*own.cu:9.*show event")
        self.assertEqual(self.texts("form legend"), ["The program"])

    def test_a_fault_says_its_line_and_the_text_stays(self):
        text = (TOP / "steps/first-kernel/sums.cu").read_text()
        text = text.replace("threadIdx.x", "threadIdx.x + 1000", 1)
        self.open_own(text, {})
        self.assertRegex(self.text(".verdict"), r"^\d+ errors?.* line \d+; main went on\.$")
        self.assertRegex(self.text(".event"), r"^The launch was ended by the error in line \d+\.$")
        self.assertFalse(self.all(".play")[0].is_displayed())
        self.all("textarea[aria-label='Your PTX']")[0].send_keys("// mine")
        self.load("#chapter=own")
        self.wait_for(lambda: self.all("form fieldset"))
        self.assertIn("// mine", self.all("textarea[aria-label='Your PTX']")[0]
                      .get_attribute("value"))
        self.js("localStorage.clear()")

    def test_a_large_launch_is_counted_and_not_played(self):
        launch = {**FIELDS["launch"], "grid": [100, 10, 1], "block": [128, 1, 1]}
        self.open_own(KERNEL % ("", "", ""), {"launch": launch, "parameters": []})
        self.wait_for(lambda: "have found nothing" in self.text(".findings"))
        self.assertIn("1000 blocks", self.text(".shape"))
        self.assertEqual(self.text(".event"), "A launch of more than 65536 threads is not played.")

    def test_a_hostile_form_is_repaired(self):
        for form in ('{"launch":{"grid":7},"hasRun":true}', '[]', '{"parameters":[{"element":'
                     '"f32 4 zero\\nlimit 1","kind":"buffer"},5,null,{"type":"<b>"}]}', "{"):
            self.driver.get("about:blank")
            self.driver.get(PAGE.as_uri() + "#" + urlencode({"chapter": "own", "own": SCALE,
                                                             "form": form}))
            self.wait_for(lambda: self.all("form fieldset"))
            self.assertEqual(self.all("form b"), [])


# Each thread adds 1 to a word of shared memory n times, with a barrier each time.
LOOP = """.version 8.0
.target sm_90
.address_size 64
.visible .entry loop(.param .u32 n) {
.shared .b32 s[1024];
.reg .b32 %r<6>;
.reg .pred %p;
ld.param.u32 %r5, [n];
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, s;
add.u32 %r1, %r1, %r2;
mov.u32 %r3, 0;
st.shared.u32 [%r1], %r3;
L:
bar.sync 0;
ld.shared.u32 %r4, [%r1];
add.u32 %r4, %r4, 1;
st.shared.u32 [%r1], %r4;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p, %r3, %r5;
@%p bra L;
ret;
}
"""


class LongTraces(Form):
    def open_loop(self, threads, n):
        self.open_own(LOOP, {"launch": {"block": [threads, 1, 1], "seconds": 60},
                             "parameters": [{"kind": "value", "type": "u32", "value": str(n)}]})

    def test_a_long_trace_is_cut_with_a_sentence(self):
        self.open_loop(1024, 600)
        self.assertIn("have the first 20000 of 57632 events.", self.text(".shape"))
        self.press("End")
        self.assertRegex(self.text(".event"), "^Event 20000 of 20000")
        self.more()
        self.assertEqual(self.texts(".levels tbody tr")[-2], "and 9 more intervals")

    def test_a_long_text_is_shown_around_the_line_that_runs(self):
        body = "\n".join(["ld.shared.u32 %r, [s];"] + ["add.u32 %r, %r, 1;"] * 20000 +
                         ["st.shared.u32 [s], %r;"])
        self.load("#chapter=own")
        self.paste(KERNEL % ("", "", ".reg .b32 %r;\n.shared .b32 s[4];\n" + body))
        self.wait_for(lambda: self.all("form fieldset"))
        self.js("arguments[0].value = 32", self.control("threads of a block"))
        self.press("Run")
        self.wait_for(lambda: self.text(".findings"))
        self.assertEqual(self.text(".source caption"), "Source: own.ptx (lines 1 to 600 of 20011)")
        self.press("Step")
        self.assertEqual(self.text("tr.runs code"), "ld.shared.u32 %r, [s];")
        self.press("Step")
        self.assertEqual(self.text("tr.runs code"), "st.shared.u32 [s], %r;")
        self.assertEqual(self.text(".source caption"),
                         "Source: own.ptx (lines 19412 to 20011 of 20011)")

    def test_values_are_the_same_forward_and_backward(self):
        self.open_loop(32, 1000)
        self.assertNotIn("first", self.text(".shape"))
        for at, value in ((3001, 1000), (0, None), (1024, 341), (3001, 1000), (2048, 682), (4, 1),
                          (1023, 340)):
            self.slide(".bar", at)
            cell = self.js("return shown('.banks td').textContent")
            self.assertEqual(cell, "·" if value is None else str(value))


TWO = KERNEL[:KERNEL.index(".visible")] + (
    ".visible .entry first() {\n.shared .b32 s[4];\nst.shared.u32 [s], 1;\nbar.sync 0;\nret;\n}\n"
    ".visible .entry second() {\nbar.sync 0;\nret;\n}\n")


class Kernels(Form):
    def test_another_kernel_has_no_results_yet(self):
        self.open_own(TWO, {})
        self.assertEqual(len(self.all("button.barrier")), 1)
        self.click("button.barrier")
        self.wait_for(lambda: self.text(".status") == "The emulator in this page has run the "
                      "kernel without the barrier in own.ptx:7.")
        self.choose("kernel", "1")
        self.assertEqual([self.text(one) for one in (".status", ".shape", ".findings", ".source")],
                         [""] * 4)
        self.press("Run")
        self.wait_for(lambda: self.text(".shape").startswith("second: "))
        self.assertEqual(self.text(".status"), "The emulator in this page has run the kernel.")
        buttons = [one.get_attribute("data-line") for one in self.all("button.barrier")]
        self.assertEqual(buttons, ["11"])

    def test_only_the_barrier_of_a_line_is_removed(self):
        text = KERNEL % (".param .u64 p", "", ".reg .b64 %a;\n.reg .b32 %r;\n.reg .pred %q;\n"
                         "ld.param.u64 %a, [p];\nmov.u32 %r, 7;\nsetp.eq.u32 %q, %r, 7;\n"
                         "@%q bar.sync 0; st.global.u32 [%a], %r;")
        self.open_own("\ufeff" + text, {"launch": {"block": [1, 1, 1]}, "parameters": [
            {"kind": "buffer", "element": "u32", "count": 1, "fill": "zero"}]})
        for status in ("without the barrier in own.ptx:11.", "has run the kernel."):
            self.click("button.barrier")
            self.wait_for(lambda: self.text(".status").endswith(status))
            self.assertEqual((self.text(".result"), self.values()), ("", [7]))

    def test_a_link_to_another_text_opens_it(self):
        one, other = (KERNEL % ("", "", "bar.sync 0;")).replace(" k(", " one("), TWO
        self.open_own(one, {})
        form = json.dumps({"kernel": 1, "hasRun": True})
        self.js("location.hash = arguments[0]", "#" + urlencode({
            "chapter": "own", "own": other, "form": form, "off": "own.ptx:11,own.ptx:7"}))
        self.wait_for(lambda: self.text(".shape").startswith("second: "))
        self.assertEqual(self.text(".status"), "The emulator in this page has run the kernel "
                         "without the barrier in own.ptx:11.")
        self.driver.back()
        self.wait_for(lambda: self.text(".shape").startswith("one: "))

    def test_buttons_do_not_touch(self):
        self.open_own(SCALE, FIELDS)
        run, stop = [one.rect for one in self.all("form > button")]
        self.assertGreater(stop["x"], run["x"] + run["width"] + 4)

    def test_the_tabulator_key_leads_from_a_pasted_text_to_its_form(self):
        self.load("#chapter=own")
        editor = self.wait_for(lambda: self.all("textarea[aria-label='Your PTX']"))[0]
        editor.click()
        self.js("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('paste'))",
                editor, TWO)
        self.wait_for(lambda: self.all("form fieldset"))
        editor.send_keys("\t")
        self.assertEqual(self.js("return document.activeElement.textContent"), "Run")


class Links(Form):
    def state(self):
        return {name: values[0] for name, values in
                parse_qs(urlsplit(self.driver.current_url).fragment).items()}

    def reopened(self):
        address = self.driver.current_url
        self.driver.get("about:blank")
        self.driver.get(address)
        self.wait_for(lambda: self.text(".findings"))

    def test_a_link_restores_ones_own_kernel(self):
        self.open_own(SCALE, FIELDS, at=1, off="")
        for _ in range(2):
            self.assertRegex(self.text(".event"), r"^Event 1 of 2")
            self.assertEqual(self.values()[:3], [0, 2.5, 5])
            self.assertEqual(json.loads(self.state()["form"])["launch"]["grid"], [1, 2, 1])
            self.reopened()

    def test_a_link_restores_words_files_and_edits(self):
        self.open("#chapter=10-cooperative&n=5000&block=1&at=40")
        self.choose("source", "tile.cuh")
        self.choose("show", "all")
        self.reopened()
        self.assertEqual(self.control("show").get_attribute("value"), "all")
        self.assertRegex(self.text(".event"), "^Event 40 of .*Block 1")
        self.open("#chapter=03-work-efficient&n=64")
        editor = self.all("textarea")[0]
        ptx = editor.get_attribute("value").replace("add.f32", "sub.f32", 1)
        self.js("arguments[0].value = arguments[1]", editor, ptx)
        self.js("shown('details.ptx').open = true")
        self.press("Run this text")
        self.wait_for(lambda: "wrong" in self.text(".result"))
        wrong = self.text(".result")
        self.reopened()
        self.assertEqual(self.text(".result"), wrong)
        self.assertEqual(self.all("textarea")[0].get_attribute("value"), ptx)
        self.press("Restore the kernel")
        self.wait_for(lambda: "right" in self.text(".result"))
        self.assertNotIn("edit", self.state())


if __name__ == "__main__":
    unittest.main()
