"""browser.py -- what the tests of the page use: where it lies, and whether it can be built; one
headless Chromium for all tests, and the steps of a test. Texts are read by one script each, because
every call of the driver takes milliseconds."""
import atexit
import os
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILT = TOP / "build" / "page"
PAGE = BUILT / "upsweep.html"
TRIES = 10  # of a measurement with a limit


def node(*arguments, given=None):
    """Runs node; emscripten's loader must not find node's own fetch."""
    command = ["node", "--no-experimental-fetch", str(TOP / "tests/page/answers.js"), *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def check_below(test, limit, measure):
    """Fails unless one of up to TRIES measurements is below the limit: whatever else runs on the
    machine can only make them longer. Beside other tests it would be left to chance."""
    if "TEST_NIGHTLY" not in os.environ:
        test.skipTest("it measures time: make test-nightly has it")
    found = []
    while len(found) < TRIES:
        found.append(measure())
        if found[-1] < limit:
            return
    test.fail("none of %s is below %s" % (found, limit))


def need(*programs):
    """Skips a test where what it needs is not installed; with PAGE_REQUIRED=1 it fails."""
    missing = [name for name in programs if not shutil.which(name)]
    if not missing:
        return
    message = "%s not found: make setup-page-tests installs what is needed" % ", ".join(missing)
    if os.environ.get("PAGE_REQUIRED") == "1":
        raise AssertionError(message)
    raise unittest.SkipTest(message)


try:
    import selenium  # noqa: F401
except ImportError:  # python3 is not Debian's, whose packages lie here
    sys.path.append("/usr/lib/python3/dist-packages")

SECONDS = 120
SIZE = (1400, 1200)
SHOWN = "article:not([hidden]) "

# The texts of the elements that a selector finds; as they are shown, with single spaces.
TEXTS = """return [...document.querySelectorAll(arguments[0])].map(
    (one) => (arguments[1] ? one.innerText.replace(/\\s+/g, " ") : one.textContent).trim());"""
PRESS = """const found = [...document.querySelectorAll(arguments[0])].find(
    (one) => one.textContent.trim() === arguments[1]);
if (found) found.click();
return Boolean(found);"""
CONTROL = """const found = [...document.querySelectorAll(arguments[0])].find(
    (one) => one.textContent.startsWith(arguments[1]));
for (let one = found; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
return found ? found.querySelector("select, input") : null;"""
OPEN = """for (const one of document.querySelectorAll(arguments[0])) one.open = true;"""
# A chapter or state by its address, in the page that is open; what is to come is removed first.
GO = """const same = location.hash === arguments[0];
for (const one of document.querySelectorAll(arguments[1])) one.replaceChildren();
location.hash = arguments[0];
if (same) dispatchEvent(new Event("hashchange"));"""
COUNTER = """const found = [...document.querySelectorAll(arguments[0])].find(
    (one) => one.cells[0].textContent === arguments[1]);
return found ? [...found.cells].slice(1).map((cell) => cell.innerText.trim()) : null;"""

FIND = """const shown = (one) => document.querySelector("article:not([hidden]) " + one);
const allShown = (one) => [...document.querySelectorAll("article:not([hidden]) " + one)];
"""

_started = []


def start():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--window-size=%d,%d" % SIZE, "--force-prefers-reduced-motion"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    driver.set_script_timeout(SECONDS)
    return driver


def browser():
    """The browser of all tests, which ends with them."""
    if not _started:
        _started.append(start())
        atexit.register(_started[0].quit)
    return _started[0]


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("emcc", "pandoc", "chromium", "chromedriver")
        try:
            import selenium  # noqa: F401
        except ImportError:
            need("python3-selenium")
        cls.driver = browser()

    def tearDown(self):
        self.assertEqual([entry["message"][:300] for entry in self.driver.get_log("browser")], [])

    # ---- steps of a test

    def js(self, script, *arguments):
        """Runs a script, which has shown(SELECTOR) and allShown(SELECTOR): of the open chapter."""
        return self.driver.execute_script(FIND + script, *arguments)

    def load(self, fragment=""):
        """Opens the page anew."""
        self.driver.get("about:blank")
        self.driver.get(PAGE.as_uri() + fragment)

    def open(self, fragment=""):
        """Opens the page anew, and waits for the result of the kernel in its chapter."""
        self.load(fragment)
        return self.wait_for(lambda: self.text(".result"))

    def go(self, fragment):
        """Goes to an address in the page that is open, and waits for the result there."""
        self.driver.execute_script(GO, fragment, ".result")
        return self.wait_for(lambda: self.text(".result"))

    def size(self, width, height=1200):
        """The window's size in pixels, until the test ends."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})

    def media(self, media="", **features):
        """What the reader's system asks for, until the test ends."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})
        self.addCleanup(self.driver.execute_cdp_cmd, "Emulation.setEmulatedMedia",
                        {"media": "", "features": []})

    def paste(self, text):
        """A text into the box for one's own kernel, of the chapter that is open."""
        editor = self.wait_for(lambda: self.all("textarea[aria-label='Your PTX']"))[0]
        self.driver.execute_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))",
            editor, text)
        return editor

    def wait_for(self, ready):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            value = ready()
            if value:
                return value
            time.sleep(0.02)
        self.fail("the page did not come to the expected state within %d s" % SECONDS)

    def all(self, selector):
        from selenium.webdriver.common.by import By
        return self.driver.find_elements(By.CSS_SELECTOR, SHOWN + selector)

    def texts(self, selector, as_shown=True):
        return self.driver.execute_script(TEXTS, SHOWN + selector, as_shown)

    def text(self, selector):
        found = self.texts(selector, as_shown=False)
        return found[0] if found else ""

    def choose(self, label, value):
        """Chooses in the control with this label, and waits for the run's end."""
        from selenium.webdriver.support.ui import Select
        Select(self.control(label)).select_by_value(value)
        self.wait_for(lambda: "runs" not in self.text(".status"))

    def control(self, label):
        found = self.driver.execute_script(CONTROL, SHOWN + "label.control", label + " ")
        self.assertIsNotNone(found, "there is no control " + label)
        return found

    def more(self):
        """Opens what is folded below the player, and shows the code."""
        self.driver.execute_script(OPEN, SHOWN + "details.more")
        if self.all(".code[hidden]"):
            self.press("Show the code")

    def click(self, selector):
        """Clicks on the first such element, and waits for the end of a run that this begins."""
        self.js("shown(arguments[0]).click()", selector)
        self.wait_for(lambda: "runs" not in self.text(".status"))

    def slide(self, selector, value):
        """Moves a bar."""
        self.js("const bar = shown(arguments[0]); bar.value = arguments[1];"
                "bar.dispatchEvent(new Event('input'))", selector, value)

    def press(self, name):
        self.assertTrue(self.driver.execute_script(PRESS, SHOWN + "button", name),
                        "there is no button " + name)

    def counter(self, name):
        self.driver.execute_script(OPEN, SHOWN + "details.more")
        found = self.driver.execute_script(COUNTER, SHOWN + ".numbers tbody tr", name)
        self.assertIsNotNone(found, "there is no counter " + name)
        return found
