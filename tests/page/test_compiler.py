"""test_compiler.py -- CUDA C that the page compiles: a step's kernel in its box, errors that lead
to their place, the reader's own text, and the compiler in WebAssembly beside the native one."""
import json
import subprocess
import time
import unittest

from browser import BUILT, TOP, Page, check_below, need, node

STEP_3 = (TOP / "steps/03-work-efficient/scan.cu").read_text(encoding="utf-8")
# What a reader types: the kernel alone.
KERNEL = STEP_3[STEP_3.index("static __global__"):STEP_3.index('extern "C"')]
# Two errors; before the second one, in its line, stands a letter of two bytes.
BROKEN = KERNEL.replace("temp[bi] += temp[ai];", "/* \u00e4 */ temp[bi] += tmp[ai];", 1).replace(
    "threadIdx.x", "threadIdx", 1)
SET = """const box = document.querySelector(arguments[0]);
box.value = arguments[1];
box.dispatchEvent(new Event("input"));
box.dispatchEvent(new Event("change"));"""
SELECTED = """const box = document.activeElement;
return box.value.slice(box.selectionStart, box.selectionEnd);"""
BOX = "article:not([hidden]) textarea.cuda"
OWN = "textarea[aria-label='Your PTX']"


class Compiled(Page):
    def edit(self, fragment="#chapter=03-work-efficient&n=512"):
        self.open(fragment)
        self.more()
        self.press("Edit")
        return self.all("textarea.cuda")[0]

    def compile(self, text):
        self.js(SET, BOX, text)
        self.press("Compile and run")
        self.wait_for(lambda: self.text(".said") and "compiles …" not in self.text(".said"))

    def tearDown(self):
        self.js("try { localStorage.clear(); } catch (error) { /* none */ }")
        super().tearDown()

    def test_a_typed_kernel_is_counted_beside_the_books(self):
        self.edit()
        self.compile(KERNEL)
        self.assertIn("375 + 225 compiled by this page, 375 + 225 compiled by nvcc",
                      self.text(".said"))
        self.assertTrue(self.text(".result").startswith("The result is right"))
        heads = self.texts(".numbers thead th")
        self.assertEqual(heads[2:], ["compiled by this page", "compiled by nvcc"])
        for name, count in (("loads", "375"), ("stores", "225")):
            self.assertEqual(self.counter("bank conflicts of " + name)[1:], [count, count])
        self.assertIn("for (int d = n >> 1; d > 0; d >>= 1) {", self.text("table.source"))
        self.press("Reset")
        self.press("Discard my text")
        self.wait_for(lambda: "ncu on an H200" in self.texts(".numbers thead th"))
        self.assertEqual(self.all("textarea.cuda")[0].get_attribute("value"), STEP_3)

    def test_the_box_opens_at_the_kernel(self):
        self.edit("#chapter=02-naive")
        after, top = self.js(
            "const box = document.activeElement, editor = box.closest('.editor');"
            "return [box.value.slice(box.selectionStart), editor.getBoundingClientRect().top]")
        self.assertTrue(after.startswith("static __global__ void scan_block"), after[:80])
        self.assertLess(abs(top), 60)

    def test_a_change_is_counted(self):
        self.edit()
        self.compile(KERNEL.replace("if (thid < d) {", "if (thid < d && n == 0) {"))
        self.assertIn("0 + 0 compiled by this page, 375 + 225", self.text(".said"))
        self.assertTrue(self.text(".result").startswith("The result is wrong"))

    def test_errors_lead_to_their_place_and_nothing_runs(self):
        self.edit()
        before = self.text(".result")
        self.compile(BROKEN)
        found = self.texts(".problems[role=list] > [role=listitem]")
        line = BROKEN[:BROKEN.index("tmp[")].count("\n") + 1
        self.assertEqual(len(found), 2)
        self.assertRegex(found[1], "^line %d, column [0-9]+ error: tmp is not declared here; "
                                   r"did you mean temp\?$" % line)
        self.assertIn("nothing has run", self.text(".said"))
        self.assertEqual(self.text(".result"), before)
        self.all(".problems button")[1].click()
        self.assertEqual(self.js(SELECTED), "tmp")
        self.all(".problems button")[0].click()
        self.assertEqual(self.js(SELECTED), "threadIdx")

    def test_a_barrier_of_it_can_be_removed_and_its_ptx_changed(self):
        self.edit()
        self.compile("\n" + KERNEL)
        self.all("button.barrier")[0].click()
        self.wait_for(lambda: "racecheck" in self.text(".findings"))
        line = KERNEL[:KERNEL.index("__syncthreads();")].count("\n") + 2
        self.wait_for(lambda: "scan.cu:%d." % line in self.text(".status"))
        self.press("Restore the kernel")
        self.wait_for(lambda: "have found nothing" in self.text(".findings"))
        self.assertEqual(self.text(".said"), "")
        self.compile("\n" + KERNEL)
        self.js(
            "const box = document.querySelector(arguments[0]);"
            "box.value = box.value.replace('add.f32', 'sub.f32');"
            "box.dispatchEvent(new Event('input'))", "article:not([hidden]) details.ptx textarea")
        self.press("Run this text")
        self.wait_for(lambda: "is wrong" in self.text(".result"))
        self.assertEqual(self.text(".said"), "")
        self.assertEqual(self.texts(".numbers thead th")[2], "whole launch")

    def test_another_kernel_is_named(self):
        self.edit()
        self.compile(KERNEL.replace("scan_block", "scan"))
        self.assertIn("The page launches scan_block", self.text(".said"))

    def test_keys(self):
        from selenium.webdriver.common.keys import Keys
        box = self.edit()
        self.js(SET, BOX, KERNEL)
        box.send_keys(Keys.CONTROL, Keys.HOME)
        box.send_keys(Keys.TAB)
        self.assertTrue(box.get_attribute("value").startswith("    static"))
        box.send_keys(Keys.CONTROL, "z")
        self.assertEqual(box.get_attribute("value"), KERNEL)
        box.send_keys(Keys.CONTROL, Keys.ENTER)
        self.wait_for(lambda: "compiled by this page" in self.text(".said"))
        self.assertEqual(self.edit().get_attribute("value"), KERNEL)

    def test_all_variants_of_the_steps_compile(self):
        for fragment in ("02-naive&n=512", "04-conflict-free&n=512",
                         "04-conflict-free&n=512&variant=pad16",
                         "04-conflict-free&n=512&variant=none", "05-arbitrary-size&n=1000",
                         "05-arbitrary-size&n=1000&variant=work-efficient",
                         "05-arbitrary-size&n=1000&variant=conflict-free-remainder",
                         "05-arbitrary-size&n=1000&variant=naive"):
            with self.subTest(kernel=fragment):
                self.edit("#chapter=" + fragment)
                self.press("Compile and run")
                self.wait_for(lambda: "compiled by this page" in self.text(".said"))
                self.assertTrue(self.text(".result").startswith("The result is right"))
                counts = self.text(".said").split(": ")[1].split(" compiled by this page, ")
                self.assertEqual(counts[0], counts[1].split(" compiled")[0])

    def test_a_step_that_the_page_does_not_compile_has_no_box(self):
        self.open("#chapter=10-cooperative")
        self.more()
        self.assertFalse(self.all("textarea.cuda"))


class OwnCuda(Page):
    def own(self, text):
        self.load("#chapter=own")
        self.wait_for(lambda: self.all(OWN))
        self.js(SET, OWN, text)

    def test_cuda_c_runs_as_ptx_does(self):
        self.own("__global__ void twice(float *p)\n{\n    p[threadIdx.x] *= 2;\n}\n")
        self.wait_for(lambda: self.all("form fieldset"))
        self.press("Run")
        self.wait_for(lambda: self.text(".shape").startswith("twice: 1 block of 256"))
        self.assertIn("own.cu", self.text("table.source caption"))
        self.assertIn("p[threadIdx.x] *= 2;", self.text("tr.runs, table.source"))

    def test_an_error_is_listed(self):
        self.own("__global__ void k(float *p) { auto f = [](int i) { return i; }; *p = f(1); }")
        self.assertIn("auto: nvcc accepts this, the page's compiler does not",
                      self.wait_for(lambda: self.text(".problems")))
        self.own("__global__ void k(float *p)\n{\n    p[threadIdx.x] = q;\n}\n")
        self.wait_for(lambda: self.all(".problems button"))
        self.assertIn("1 error, so nothing has run", self.text(".result"))
        self.all(".problems button")[0].click()
        self.assertEqual(self.js(SELECTED), "q")
        self.assertFalse(self.all("form fieldset"))


MILLISECONDS = 50  # a compilation takes at most


class CompilerInWasm(unittest.TestCase):
    """PTX and diagnostics are the same as natively."""

    def requests(self):
        header = (TOP / "common/step/step.h").read_text(encoding="utf-8")
        head = "header common/step/step.h %d\n%s\n" % (header.count("\n") + 1, header)
        return [head + "compile scan.cu\n" + STEP_3, "compile typed.cu\n" + KERNEL,
                "compile broken.cu\n" + BROKEN, "compile empty.cu\n"]

    def test_as_natively(self):
        need("emcc", "node")
        made = json.loads(node("--answers", str(BUILT / "emulator.js"),
                               given=json.dumps(self.requests())))
        for request, answer in zip(self.requests(), made):
            native = subprocess.run([str(BUILT / "native")], input=request, capture_output=True,
                                    text=True, check=True).stdout
            self.assertEqual(answer, native)

    def test_a_compilation_is_short(self):
        need("emcc", "node")
        request, many = self.requests()[0], 20

        def seconds(count):
            start = time.monotonic()
            node("--answers", str(BUILT / "emulator.js"), given=json.dumps([request] * count))
            return time.monotonic() - start
        once = min(seconds(1) for _ in range(2))
        check_below(self, once + many * MILLISECONDS / 1000, lambda: seconds(1 + many))


if __name__ == "__main__":
    unittest.main()
