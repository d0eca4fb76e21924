"""test_pictures.py -- only the chapter that is opened is made into elements. And a picture of each
step's widget in the middle of its launch, in build/page/shots/: of the wanted size, not blank,
unlike the others."""
import base64
import hashlib
import re
import struct
import unittest

from browser import BUILT, TOP, Page

class FirstPicture(Page):
    def test_only_the_opened_chapter_has_elements(self):
        self.open("#chapter=04-conflict-free")
        self.assertEqual(self.js(
            "return [...document.querySelectorAll('article')]"
            ".filter((one) => one.firstElementChild).map((one) => one.dataset.chapter)"),
            ["start", "03-work-efficient", "04-conflict-free", "own"])
        self.assertEqual(self.js(
            "return getComputedStyle(document.querySelector('main')).visibility"), "visible")


class WithoutScripts(Page):
    def test_the_first_chapter_can_be_read(self):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.load()
            shown, page = [self.driver.find_element("css selector", selector).text
                           for selector in ("main", "body")]
        finally:
            self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        self.assertIn("Step 3", shown)
        self.assertIn("Without them this page shows one chapter", page)


SHOTS = BUILT / "shots"
WIDTH, HEIGHT = 1280, 1600
LEAST_COLOURS = 20
MOST_OF_ONE_COLOUR = 0.97
CHAPTERS = ("02-naive", "03-work-efficient", "04-conflict-free", "05-arbitrary-size",
            "06-vectorized", "07-unrolled", "09-warp-shuffle", "10-cooperative", "11-single-pass")

# The widget at the top of the window, the bar at this part of the launch.
ARRANGE = """const widget = shown(".host .widget");
const bar = widget.querySelector(".bar");
bar.value = Math.round(bar.max * arguments[0]);
bar.dispatchEvent(new Event("input"));
widget.scrollIntoView();"""

# How many colours a picture has, and the share of pixels of the most frequent one.
COLOURS = """const done = arguments[1], picture = new Image();
picture.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = picture.width;
    canvas.height = picture.height;
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const counts = new Map();
    const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
    for (const one of new Uint32Array(pixels.buffer)) counts.set(one, (counts.get(one) || 0) + 1);
    done([counts.size, Math.max(...counts.values()) / (canvas.width * canvas.height)]);
};
picture.src = "data:image/png;base64," + arguments[0];"""


def size_of(png):
    """Width and height, which the first chunk of a PNG file holds."""
    return struct.unpack(">II", png[16:24])


class Readme(unittest.TestCase):
    def test_it_shows_the_page_in_light_and_dark(self):
        names = re.findall(r'src(?:set)?="([^"]*)"',
                           (TOP / "README.md").read_text(encoding="utf-8"))
        self.assertEqual(len(names), 2)
        sizes = {size_of((TOP / name).read_bytes()) for name in names}
        self.assertEqual(len(sizes), 1, sizes)


class Shots(Page):
    def setUp(self):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.size(WIDTH, HEIGHT)

    def shot(self, name, scheme):
        self.media(prefers_color_scheme=scheme)
        text = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
        png = base64.b64decode(text)
        (SHOTS / ("%s-%s.png" % (name, scheme))).write_bytes(png)
        self.assertEqual(size_of(png), (WIDTH, HEIGHT))
        colours, most = self.driver.execute_async_script(COLOURS, text)
        self.assertGreater(colours, LEAST_COLOURS)
        self.assertLess(most, MOST_OF_ONE_COLOUR)
        return hashlib.sha256(png).digest()

    def test_each_step_has_a_picture_of_its_own(self):
        self.load()
        seen = {}
        for chapter in CHAPTERS:
            with self.subTest(chapter=chapter):
                self.assertRegex(self.go("#chapter=" + chapter), "^The result is right")
                self.js(ARRANGE, 0.4)
                for scheme in ("light", "dark"):
                    picture = self.shot(chapter, scheme)
                    self.assertNotIn(picture, seen, seen.get(picture))
                    seen[picture] = chapter, scheme


if __name__ == "__main__":
    unittest.main()
