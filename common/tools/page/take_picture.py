#!/usr/bin/env python3
"""take_picture.py -- draws README's picture of the page, notes/figures/page-light.png and
page-dark.png: the first screen, in the middle of the way down. Call it after make page; it needs
Chromium and Selenium (make setup-page-tests)."""
import base64
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests" / "page"))
from browser import PAGE, browser  # noqa: E402

WIDTH, WINDOW = 1000, 1000
TIME = 5.6  # between two stages

# Moves to that time. The answer is the place of the picture: from the title to the code that runs.
ARRANGE = """const bar = document.querySelector(".scrubber input");
const sweep = document.getElementById("sweep");
bar.value = arguments[0];
bar.dispatchEvent(new Event("input"));
const top = document.querySelector("#chapter-start h1").getBoundingClientRect().top - 12;
const end = sweep.querySelector(".line").getBoundingClientRect().bottom + 8;
return [top + scrollY, end - top];"""


def picture(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    top, height = driver.execute_script(ARRANGE, TIME)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {
        "format": "png", "captureBeyondViewport": True,
        "clip": {"x": 0, "y": top, "width": WIDTH, "height": height, "scale": 1}})
    (TOP / "notes/figures" / ("page-%s.png" % scheme)).write_bytes(
        base64.b64decode(shot["data"]))


def main():
    if not PAGE.exists():
        sys.exit("take_picture.py: %s is missing: make page builds it" % PAGE)
    driver = browser()
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": WINDOW, "deviceScaleFactor": 1, "mobile": False})
    driver.get(PAGE.as_uri())
    for scheme in ("light", "dark"):
        picture(driver, scheme)


if __name__ == "__main__":
    main()
