"""test_axe.py -- axe-core, the usual checker of web pages for readers with disabilities, finds
nothing. Runs where requirements.txt is installed in build/axe (notes/page/README.md says how)."""
import sys
import unittest

from browser import Page
from page_files import TOP

sys.path.extend(map(str, (TOP / "build" / "axe").glob("lib/python3*/site-packages")))
try:
    from axe_selenium_python import Axe
except ImportError:
    Axe = None

# The rule takes every link inside of the page for one that skips; here they lead to chapters.
OPTIONS = '{"rules": {"skip-link": {"enabled": false}}}'
RUNS = ("", "#chapter=03-work-efficient&n=64&code=1&at=9", "#chapter=09-warp-shuffle&at=12",
        "#chapter=04-conflict-free&n=64&variant=none&at=22&answers=padding.none-none-",
        "#chapter=02-naive&n=16&answers=barrier.2")


@unittest.skipIf(Axe is None, "axe-selenium-python is not installed in build/axe")
class NothingFound(Page):
    def check(self, scheme):
        axe = Axe(self.driver)
        axe.inject()
        found = [(scheme, one["id"], [node["html"][:120] for node in one["nodes"][:3]])
                 for one in axe.run(options=OPTIONS)["violations"]]
        self.assertEqual(found, [])

    def test_it_finds_nothing_light_and_dark(self):
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        for scheme in ("light", "dark"):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for fragment in RUNS:
                self.open(fragment)
                self.check(scheme)
            for chapter in ("own", "13-compaction", "glossary", "12d-measurements"):
                self.load("#chapter=" + chapter)
                self.wait_for(lambda: self.texts("h1"))
                self.check(scheme)

    def test_it_finds_nothing_in_the_box_of_cuda_c(self):
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"features": []})
        self.open("#chapter=03-work-efficient&n=64&code=1")
        self.press("Edit")
        for text, shown in (("__global__ void k(float *p) { *p = q; }", ".problems"),
                            (None, ".said")):
            if text is None:
                self.press("Reset")
                self.press("Discard my text")
            else:
                self.driver.execute_script(
                    "arguments[0].value = arguments[1]", self.all("textarea.cuda")[0], text)
            self.press("Compile and run")
            self.wait_for(lambda: self.text(shown).replace("The page compiles …", ""))
            for scheme in ("light", "dark"):
                self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                    "features": [{"name": "prefers-color-scheme", "value": scheme}]})
                self.check(scheme)


if __name__ == "__main__":
    unittest.main()
