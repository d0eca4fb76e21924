"""firefox.py -- the page in headless Firefox ESR, for the tests that run in both browsers. Debian
has no geckodriver, so this speaks WebDriver BiDi with the browser itself, and gives the part of
Selenium's interface that these tests use."""
import asyncio
import atexit
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import SECONDS, SIZE
from page_files import need

try:
    import websockets
except ImportError:  # python3 is not Debian's, whose packages lie here
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import websockets
    except ImportError:
        websockets = None

STARTS_WITHIN = 120  # seconds, on a busy machine
TRIES = 4  # to open an address
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
PREFERENCES = 'user_pref("ui.prefersReducedMotion", 1);\n'  # as in the tests' Chromium

# Runs a script as Selenium does. Elements travel as numbers of a list that the page keeps.
CALL = """(text) => {
    const kept = window.keptForTests ||= [];
    const given = JSON.parse(text).map((one) => (one && one.kept !== undefined ? kept[one.kept]
        : one));
    const sent = (one) => (one instanceof Element ? { kept: kept.push(one) - 1 }
        : Array.isArray(one) || one instanceof NodeList ? [...one].map(sent) : one);
    const value = (function () { %s
    }).apply(null, given);
    return JSON.stringify(value === undefined ? null : sent(value));
}"""

_started = []


class Element:
    """An element of the page, as far as the tests need Selenium's."""

    def __init__(self, driver, kept):
        self.driver, self.kept = driver, kept

    def get_attribute(self, name):
        return self.driver.execute_script(
            "const [one, name] = arguments;"
            "return name in one && name !== 'class' ? one[name] : one.getAttribute(name)",
            self, name)

    def is_displayed(self):
        return self.driver.execute_script("return arguments[0].checkVisibility()", self)

    def send_keys(self, keys):
        self.driver.execute_script("arguments[0].focus()", self)
        self.driver.type(keys)


class Firefox:
    """A browser, and what its console has said."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        Path(self.folder.name, "user.js").write_text(PREFERENCES, encoding="utf-8")
        self.browser = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--profile", self.folder.name,
             "--width", str(SIZE[0]), "--height", str(SIZE[1]), "--remote-debugging-port=0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.loop, self.count, self.logged, self.page = asyncio.new_event_loop(), 0, [], None
        self.socket = self.wait(self.begin(), STARTS_WITHIN)
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.page = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def wait(self, work, seconds=SECONDS):
        return self.loop.run_until_complete(asyncio.wait_for(work, seconds))

    async def begin(self):
        return await websockets.connect(self.address(), max_size=None, ping_interval=None)

    def address(self):
        """Where the browser listens, as it says on its standard error."""
        for line in self.browser.stderr:
            found = LISTENS.search(line)
            if found:
                return found[1] + "/session"
        raise AssertionError("firefox-esr ended before it listened")

    async def answer(self, method, parameters):
        self.count += 1
        await self.socket.send(json.dumps(
            {"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(await self.socket.recv())
            if message.get("method") == "log.entryAdded":
                said = message["params"]
                self.logged.append({"message": "%s: %s" % (said["level"], said["text"])})
            if message.get("id") == self.count:
                if message["type"] == "error":
                    raise AssertionError("%s: %s" % (method, message["message"]))
                return message["result"]

    def call(self, method, **parameters):
        return self.wait(self.answer(method, parameters))

    def quit(self):
        self.wait(self.socket.close())
        self.loop.close()
        self.browser.terminate()
        try:
            self.browser.wait(10)
        except subprocess.TimeoutExpired:
            self.browser.kill()
            self.browser.wait()
        self.browser.stderr.close()
        self.folder.cleanup()

    # ---- as Selenium

    def get(self, address):
        """Opens an address. Right after about:blank, Firefox sometimes loses the request, and stays
        there: then it is asked again."""
        asked = {"context": self.page, "url": address, "wait": "complete"}
        for _ in range(TRIES - 1):
            try:
                self.wait(self.answer("browsingContext.navigate", asked), SECONDS / TRIES)
                return
            except asyncio.TimeoutError:
                pass
        self.call("browsingContext.navigate", **asked)

    def execute_script(self, script, *arguments):
        given = json.dumps([{"kept": one.kept} if isinstance(one, Element) else one
                            for one in arguments])
        answer = self.call("script.callFunction", functionDeclaration=CALL % script,
                           awaitPromise=False, target={"context": self.page},
                           arguments=[{"type": "string", "value": given}])
        if answer["type"] != "success":
            raise AssertionError(answer["exceptionDetails"]["text"])
        return self.received(json.loads(answer["result"]["value"]))

    def received(self, value):
        if isinstance(value, list):
            return [self.received(one) for one in value]
        is_element = isinstance(value, dict) and "kept" in value
        return Element(self, value["kept"]) if is_element else value

    def find_elements(self, _, selector):
        return self.execute_script("return document.querySelectorAll(arguments[0])", selector)

    def type(self, keys):
        pressed = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("input.performActions", context=self.page,
                  actions=[{"type": "key", "id": "keyboard", "actions": pressed}])

    def back(self):
        self.execute_script("history.back()")

    @property
    def current_url(self):
        return self.execute_script("return location.href")

    def get_log(self, _):
        logged, self.logged = self.logged, []
        return logged


class InFirefox:
    """Before a class of tests in the list of base classes: they run in Firefox."""

    @classmethod
    def setUpClass(cls):
        need("emcc", "pandoc", "firefox-esr")
        if websockets is None:
            need("python3-websockets")
        if not _started:
            _started.append(Firefox())
            atexit.register(_started[0].quit)
        cls.driver = _started[0]
