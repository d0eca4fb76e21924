"""test_firefox.py -- the page in headless Firefox ESR: it opens as a file, shows the first screen,
plays step 3, and shows no error. Debian has no geckodriver, so the test speaks WebDriver BiDi with
the browser itself."""
import asyncio
import json
import re
import subprocess
import sys
import tempfile
import unittest

from page_files import PAGE, need

try:
    import websockets  # noqa: F401
except ImportError:  # python3 is not Debian's, whose packages lie here
    sys.path.append("/usr/lib/python3/dist-packages")

SECONDS = 120  # on a busy machine; 15 s are usual
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
SHOWN = "document.querySelector('article:not([hidden]) %s')?.textContent || ''"
PRESS = ("[...document.querySelectorAll('article:not([hidden]) button')]"
         ".find((one) => one.textContent === '%s').click()")


class Connection:
    """Commands to the browser, and the messages of its console since the beginning."""

    def __init__(self, socket):
        self.socket, self.count, self.logged, self.page = socket, 0, [], None

    async def call(self, method, **parameters):
        self.count += 1
        await self.socket.send(json.dumps(
            {"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(await self.socket.recv())
            if message.get("method") == "log.entryAdded":
                self.logged.append("%s: %s" % (message["params"]["level"],
                                               message["params"]["text"]))
            if message.get("id") == self.count:
                if message["type"] == "error":
                    raise AssertionError("%s: %s" % (method, message["message"]))
                return message["result"]

    async def begin(self):
        await self.call("session.new", capabilities={})
        await self.call("session.subscribe", events=["log.entryAdded"])
        tree = await self.call("browsingContext.getTree")
        self.page = tree["contexts"][0]["context"]

    async def open(self, address):
        await self.call("browsingContext.navigate", context=self.page, url=address,
                        wait="complete")

    async def value(self, expression):
        answer = await self.call("script.evaluate", expression=expression, awaitPromise=True,
                                 target={"context": self.page})
        if answer["type"] != "success":
            raise AssertionError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    async def wait_for(self, expression):
        while True:
            value = await self.value(expression)
            if value:
                return value
            await asyncio.sleep(0.1)


def address_of(browser):
    """Where the browser listens, as it says on its standard error."""
    for line in browser.stderr:
        found = LISTENS.search(line)
        if found:
            return found[1] + "/session"
    raise AssertionError("firefox-esr ended before it listened")


async def with_browser(address, steps):
    import websockets  # noqa: F401
    async with websockets.connect(address, max_size=None) as socket:
        connection = Connection(socket)
        await connection.begin()
        await steps(connection)
        return connection.logged


class Firefox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("emcc", "pandoc", "firefox-esr")
        try:
            import websockets  # noqa: F401
        except ImportError:
            need("python3-websockets")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.browser = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--profile", folder.name,
             "--remote-debugging-port=0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        self.addCleanup(self.end)

    def end(self):
        self.browser.terminate()
        try:
            self.browser.wait(10)
        except subprocess.TimeoutExpired:
            self.browser.kill()
            self.browser.wait()
        self.browser.stderr.close()

    def run_steps(self, steps):
        """Carries out the steps, and returns what the page has logged."""
        return asyncio.run(asyncio.wait_for(
            with_browser(address_of(self.browser), steps), SECONDS))

    async def first_screen(self, page):
        await page.open(PAGE.as_uri())
        self.assertEqual(await page.value(SHOWN % ".result"), "0 3 4 11 11 15 16 22")
        await page.value("(() => { const field = document.querySelector('.yours input');"
                         "field.value = 9; field.dispatchEvent(new Event('input')); })()")
        await page.wait_for("(%s) === '0 9 10 17 17 21 22 28'" % (SHOWN % ".result"))
        for _ in range(3):
            await page.value(PRESS % "Step")
        self.assertIn("the sum of all.", await page.value(SHOWN % ".told"))

    async def step_3(self, page):
        await page.open(PAGE.as_uri() + "#chapter=03-work-efficient&n=512")
        result = await page.wait_for(SHOWN % ".result")
        self.assertEqual(result, "The result is right: all 512 elements.")
        await page.value(PRESS % "Step")
        self.assertRegex(await page.value(SHOWN % ".event"), "^Event 1 of ")
        await page.value("document.querySelector('#chapter-03-work-efficient .more').open = true")
        await page.value(PRESS % "Next conflict")
        self.assertIn("bank conflict", await page.value(SHOWN % ".event"))
        await page.value(PRESS % "Show all counts")
        self.assertEqual(await page.value(SHOWN % ".total"), "375 + 225")
        await page.value(PRESS % "End")
        self.assertRegex(await page.value(SHOWN % ".event"), r"^Event (\d+) of \1\. ")

    async def a_missing_barrier(self, page):
        await page.value("document.querySelector("
                         "'article:not([hidden]) button.barrier').click()")
        await page.wait_for("(%s).includes('racecheck: ')" % (SHOWN % ".findings"))

    async def a_shuffle(self, page):
        await page.open(PAGE.as_uri() + "#chapter=09-warp-shuffle")
        result = await page.wait_for(SHOWN % ".result")
        self.assertEqual(result, "The result is right: all 2048 elements.")

    def test_the_page_plays_there(self):
        async def steps(page):
            await self.first_screen(page)
            await self.step_3(page)
            await self.a_missing_barrier(page)
            await self.a_shuffle(page)
        self.assertEqual(self.run_steps(steps), [])


if __name__ == "__main__":
    unittest.main()
