"""test_firefox.py -- the page in headless Firefox ESR: it opens as a file, shows the first screen,
plays step 3, and shows no error. More tests run in both browsers: those with InFirefox."""
import unittest

from browser import SHOWN, Page
from firefox import InFirefox


class Plays(InFirefox, Page):
    def test_the_first_screen(self):
        self.load()
        self.assertEqual(self.text(".result"), "0 3 4 11 11 15 16 22")
        self.driver.execute_script("const field = document.querySelector('.yours input');"
                                   "field.value = 9; field.dispatchEvent(new Event('input'));")
        self.wait_for(lambda: self.text(".result") == "0 9 10 17 17 21 22 28")
        for _ in range(3):
            self.press("Step")
        self.assertIn("the sum of all.", self.text(".told"))

    def test_step_3_and_a_missing_barrier(self):
        result = self.open("#chapter=03-work-efficient&n=512")
        self.assertEqual(result, "The result is right: all 512 elements.")
        self.press("Step")
        self.assertRegex(self.text(".event"), "^Event 1 of ")
        self.more()
        self.press("Next conflict")
        self.assertIn("bank conflict", self.text(".event"))
        self.press("Show all counts")
        self.assertEqual(self.text(".total"), "375 + 225")
        self.press("End")
        self.assertRegex(self.text(".event"), r"^Event (\d+) of \1\. ")
        self.driver.execute_script("document.querySelector(arguments[0]).click()",
                                   SHOWN + "button.barrier")
        self.wait_for(lambda: "racecheck: " in self.text(".findings"))

    def test_a_shuffle(self):
        self.assertEqual(self.open("#chapter=09-warp-shuffle"),
                         "The result is right: all 2048 elements.")


if __name__ == "__main__":
    unittest.main()
