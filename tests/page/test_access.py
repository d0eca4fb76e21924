"""test_access.py -- the page for readers of screens and keyboards, by Chromium's own tree of what
a screen reader is given: names and roles, headings in order, and the contrast of all texts."""
import time
import unittest

from browser import Page

OPENED = ["#chapter=02-naive&n=512", "#chapter=03-work-efficient&n=512",
          "#chapter=04-conflict-free&n=512&off=x:1",
          "#chapter=09-warp-shuffle", "#chapter=11-single-pass"]
LEAST_CONTRAST = 4.5  # of WCAG 2.1, level AA

# Texts on their backgrounds: [ratio, text, colour, background] of each element with a text of its
# own whose contrast is less than arguments[0]. Transparent backgrounds show those behind them.
# Large texts and disabled controls are judged like others.
CONTRAST = """
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
function backgroundOf(element) {
    for (let one = element; one; one = one.parentElement) {
        const colour = numbers(getComputedStyle(one).backgroundColor);
        if (colour.length === 3 || colour[3] === 1) return colour;
        if (colour[3]) return null;
    }
    return [255, 255, 255];
}
const found = [];
let count = 0;
for (const element of document.querySelectorAll("body *")) {
    const isText = [...element.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!isText || !element.checkVisibility()) continue;
    if (element.closest("script, style, noscript")) continue;
    const style = getComputedStyle(element), isSvg = element instanceof SVGElement;
    const colour = isSvg ? style.fill : style.color, background = backgroundOf(element);
    const ends = [luminance(numbers(colour)), luminance(background || numbers(colour))];
    const ratio = (Math.max(...ends) + 0.05) / (Math.min(...ends) + 0.05);
    count++;
    if (ratio < arguments[0])
        found.push([ratio, element.tagName + "." + element.getAttribute("class"),
                    element.textContent.slice(0, 30), colour, String(background)]);
}
return [count, found.slice(0, 10)];"""

HEADINGS = """return [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
    .filter((one) => one.checkVisibility())
    .map((one) => [Number(one.tagName[1]), one.textContent]);"""

UNNAMED = """return [...document.querySelectorAll("img, svg")].filter((one) =>
    one.checkVisibility() && !one.closest("[aria-hidden=true]") &&
    !(one.getAttribute("alt") || "").trim() && !one.getAttribute("aria-label") &&
    !one.querySelector(":scope > title"))
    .map((one) => one.outerHTML.slice(0, 200));"""

IDS = "return [...document.querySelectorAll('[id]')].map((one) => one.id);"


def value(node, name):
    return str(node.get(name, {}).get("value", "")).strip()


def can_be_focused(node):
    return any(one["name"] == "focusable" and one["value"].get("value")
               for one in node.get("properties", []))


class Tree(Page):
    def nodes(self):
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        try:
            tree = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})
        finally:
            self.driver.execute_cdp_cmd("Accessibility.disable", {})
        return [node for node in tree["nodes"] if not node.get("ignored")]

    def check_tree(self, least):
        focusable = [node for node in self.nodes() if can_be_focused(node)]
        self.assertGreater(len(focusable), least)
        for node in focusable:
            told = (value(node, "role"), value(node, "name"))
            self.assertNotEqual(told[1], "", node)
            self.assertNotIn(told[0], ("", "generic", "none"), node)

    def test_whatever_can_be_focused_has_a_role_and_a_name(self):
        self.load()
        for fragment in OPENED:
            with self.subTest(fragment=fragment):
                self.go(fragment)
                self.press("End")
                self.check_tree(20)

    def test_the_form_for_your_own_kernel_has_names(self):
        self.load("#chapter=own")
        self.paste(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k("
            ".param .u64 p, .param .f32 v, .param .u32 n) { ret; }")
        self.wait_for(lambda: self.all("form fieldset"))
        self.check_tree(20)

    def focused(self):
        return self.js(
            "const one = document.activeElement, label = one.closest('label');"
            "return one.getAttribute('aria-label') ||"
            "       (label ? label.firstChild.data : one.textContent).trim()")

    def keys(self, control, keys):
        """Presses keys on a control, and waits for the run that they begin."""
        control.send_keys(keys)
        time.sleep(0.1)
        self.wait_for(lambda: "runs" not in self.text(".status"))
        return self.focused()

    def test_a_choice_keeps_the_focus(self):
        down, enter, tab = "\ue015", "\n", "\t"
        self.open("#chapter=04-conflict-free&n=512")
        self.more()
        self.assertEqual(self.keys(self.all("[data-padding=pad16]")[0], enter), "Padding: 16")
        self.assertEqual(self.keys(self.control("schedule seed"), "7" + tab), "Counters")
        self.assertEqual(self.keys(self.control("n"), down), "n")
        self.assertEqual(self.keys(self.all("button.barrier")[0], enter)[:19],
                         "Restore the barrier")
        self.assertEqual(self.keys(self.all("button.show-levels")[0], enter),
                         "Conflicts between barriers")
        self.go("#chapter=05-arbitrary-size&n=2048")
        for name in ("block", "launch", "variant", "n", "count bank conflicts as on"):
            before = self.control(name).get_attribute("value")
            self.assertEqual(self.keys(self.control(name), down), name)
            self.assertNotEqual(self.control(name).get_attribute("value"), before, name)
        self.go("#chapter=06-vectorized")
        self.keys(self.all(".predict button[type=button]")[0], enter)
        self.assertEqual(self.focused(), "your prediction")

    def test_a_choice_in_the_form_keeps_the_focus(self):
        self.load("#chapter=own")
        self.paste(".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(
                ".visible .entry %s(.param .u64 p) { ret; }\n" % name for name in "ab"))
        self.wait_for(lambda: self.all("form fieldset"))
        for name in ("kernel", "type", "filled with", "is"):
            self.assertEqual(self.keys(self.control(name), "\ue015"), name)

    def test_there_is_one_main_part_and_a_named_list_of_chapters(self):
        self.open()
        roles = [(value(node, "role"), value(node, "name")) for node in self.nodes()]
        self.assertEqual([role for role, _ in roles if role == "main"], ["main"])
        self.assertIn(("navigation", "Chapters"), roles)
        self.assertIn(("banner", ""), [(role, "") for role, _ in roles])

    def test_the_position_is_told(self):
        self.open("#chapter=03-work-efficient&n=512&at=7")
        slider = [node for node in self.nodes() if value(node, "role") == "slider"]
        self.assertIn("Position in the launch", [value(node, "name") for node in slider])


class Elements(Page):
    def all_chapters(self):
        return self.js(
            "return [...document.querySelectorAll('article')].map((one) => one.dataset.chapter)")

    def show(self, name):
        self.js("location.hash = arguments[0]", "#chapter=" + name)
        self.wait_for(lambda: self.js(
            "return document.querySelector('article:not([hidden])').dataset.chapter") == name)

    def test_headings_pictures_and_ids_of_every_chapter(self):
        self.open()
        for name in self.all_chapters():
            with self.subTest(chapter=name):
                self.show(name)
                headings = self.js(HEADINGS)
                self.assertEqual([text for level, text in headings if level == 1], [headings[0][1]])
                for (level, _), (following, text) in zip(headings, headings[1:]):
                    self.assertLessEqual(following, level + 1, text)
                self.assertEqual(self.js(UNNAMED), [])
        ids = self.js(IDS)
        self.assertEqual(sorted(ids), sorted(set(ids)))

    def test_texts_have_enough_contrast(self):
        for scheme in ("light", "dark"):
            self.media(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            self.open("#chapter=03-work-efficient&n=512&at=60")
            self.press("Show all counts")
            for fragment in (None, "#chapter=03-work-efficient&n=512&off=scan.cu:37&seed=1&at=30",
                             *OPENED, "#chapter=13-compaction"):
                with self.subTest(scheme=scheme, fragment=fragment):
                    if fragment and "13" in fragment:
                        self.show(fragment[9:])
                    elif fragment:
                        self.go(fragment)
                    count, found = self.js(CONTRAST, LEAST_CONTRAST)
                    self.assertGreater(count, 100)
                    self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
