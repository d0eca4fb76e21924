"""test_toy.py -- what the chapters have to play with. The conflict toy: for each offset and padding
of its sliders it shows as many wavefronts as the emulator counts for the same load, and they drain
one at a time. Three steps side by side: they end at the emulator's counts."""
import json
import subprocess
import unittest

from browser import Page
from page_files import BUILT, need

OFFSETS, EVERY = (1, 2, 4, 8, 16, 32), (0, 64, 32, 16, 8)
# Each lane loads the word of its left child, with a word unused after every `every` ones.
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 offset, .param .u32 every) {
.shared .b32 s[2304];
.reg .b32 %r<6>;
.reg .pred %p;
ld.param.u32 %r0, [offset];
ld.param.u32 %r1, [every];
mov.u32 %r2, %tid.x;
shl.b32 %r2, %r2, 1;
add.u32 %r2, %r2, 1;
mul.lo.u32 %r2, %r2, %r0;
sub.u32 %r2, %r2, 1;
setp.eq.u32 %p, %r1, 0;
@%p bra LOAD;
div.u32 %r3, %r2, %r1;
add.u32 %r2, %r2, %r3;
LOAD:
shl.b32 %r2, %r2, 2;
mov.u32 %r4, s;
add.u32 %r2, %r2, %r4;
ld.shared.u32 %r5, [%r2];
ret;
}
"""
SET = """const toy = document.querySelector("article:not([hidden]) .toy");
const bars = toy.querySelectorAll("input[type=range]");
arguments[0].forEach((value, k) => { bars[k].value = value; });
bars[0].dispatchEvent(new Event("input"));
bars[1].dispatchEvent(new Event("input"));
return [Number(toy.querySelector(".many").textContent), toy.querySelectorAll("rect").length,
        toy.querySelectorAll("rect.excess").length];"""


def counted():
    """The emulator's wavefronts for each offset and padding."""
    pairs = [(offset, every) for offset in OFFSETS for every in EVERY]
    launches = "".join("launch k 1,1,1 32,1,1 0 u32:%d u32:%d\n" % pair for pair in pairs)
    answer = json.loads(subprocess.run(
        [str(BUILT / "native")], input="trace\n%sptx\n%s" % (launches, KERNEL),
        capture_output=True, text=True, check=True).stdout)
    rows = [line.split("\t") for line in answer["trace"].splitlines()[1:]]
    return dict(zip(pairs, (int(row[10]) for row in rows if row[6] == "ld")))


class Toy(Page):
    def test_every_offset_and_padding_is_as_in_the_emulator(self):
        need("emcc", "pandoc")
        wavefronts = counted()
        self.assertEqual(len(wavefronts), len(OFFSETS) * len(EVERY))
        self.assertEqual((wavefronts[8, 0], wavefronts[8, 32]), (16, 1))
        for chapter in ("03-work-efficient", "04-conflict-free"):
            self.open("#chapter=" + chapter)
            for k, offset in enumerate(OFFSETS):
                for j, every in enumerate(EVERY):
                    with self.subTest(chapter=chapter, offset=offset, every=every):
                        many, boxes, _ = self.driver.execute_script(SET, [k, j])
                        self.assertEqual(many, wavefronts[offset, every])
                        self.assertEqual(boxes, 32)

    def test_it_begins_with_16_wavefronts_which_padding_removes(self):
        self.open("#chapter=04-conflict-free")
        self.assertEqual(self.texts(".toy .many"), ["16"])
        self.assertEqual(self.text(".toy [aria-live]"), "32 lanes use 2 banks. The load takes 16 "
                         "wavefronts, and 15 of them are bank conflicts.")
        self.assertEqual(self.driver.execute_script(SET, [3, 2]), [1, 32, 0])
        self.assertEqual(self.text(".toy [aria-live]"),
                         "32 lanes use 32 banks: one wavefront serves them all.")
        padding = self.all(".toy input")[1]
        padding.send_keys("\ue012\ue012")  # twice the left arrow: no padding
        self.assertEqual(self.texts(".toy .many"), ["16"])
        self.assertEqual(padding.get_attribute("aria-valuetext"), "none")

    def test_a_load_drains_one_wavefront_at_a_time(self):
        self.open("#chapter=04-conflict-free")
        self.driver.execute_script(SET, [1, 0])
        self.press("Load")
        seen = set()

        def ended():
            seen.add((self.texts(".toy .many")[0], len(self.all(".toy rect"))))
            return ("4 of 4", 0) in seen
        self.wait_for(ended)
        self.assertTrue(seen & {("1 of 4", 24), ("2 of 4", 16), ("3 of 4", 8)}, seen)


class SideBySide(Page):
    def cells(self):
        return [[int(cell) for cell in row] for row in self.driver.execute_script(
            "return [...document.querySelectorAll('.side-by-side tbody tr')].map("
            "    (row) => [...row.cells].slice(2).map((cell) => cell.textContent))")]

    def test_three_steps_end_at_their_counts(self):
        self.open("#chapter=04-conflict-free")
        self.assertEqual(self.cells(), [[0, 0]] * 3)
        self.driver.execute_script("document.querySelector('.side-by-side button').click()")
        self.wait_for(lambda: self.cells()[2] == [1022, 193])
        middle = self.cells()
        self.assertLess(middle[1][1], 793)  # step 3 is not done yet
        self.driver.execute_script(
            "const bar = document.querySelector('.side-by-side .bar'); bar.value = 700;"
            "bar.dispatchEvent(new Event('input'));"
            "document.querySelector('.side-by-side button').click()")
        self.wait_for(lambda: self.cells() == [[4097, 449], [1022, 793], [1022, 193]])
        self.driver.execute_script(
            "const bar = document.querySelector('.side-by-side .bar'); bar.value = 100;"
            "bar.dispatchEvent(new Event('input'))")
        self.assertEqual([row[1] for row in self.cells()], [100] * 3)


if __name__ == "__main__":
    unittest.main()
