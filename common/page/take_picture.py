#!/usr/bin/env python3
"""take_picture.py -- draws README's picture of the page, notes/figures/page-light.png and
page-dark.png: step 3, at the first load with the most bank conflicts. Call it after make page; it
needs Chromium and Selenium (make setup-page)."""
import base64
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "page"))
import browser  # noqa: E402
from page_files import PAGE  # noqa: E402

WIDTH, HEIGHT, WINDOW = 1320, 750, 2000
WORST = "15 of them are bank conflicts"

# Moves to the first such event. The answer is the place of the picture: from the title on.
ARRANGE = """const widget = document.querySelector("article:not([hidden]) .widget");
const bar = widget.querySelector(".bar"), event = widget.querySelector(".event");
for (let k = 1; k <= bar.max && !event.textContent.includes(arguments[0]); k++) {
    bar.value = k;
    bar.dispatchEvent(new Event("input"));
}
const box = widget.querySelector(".player").getBoundingClientRect();
return [box.x + scrollX - 13, box.y + scrollY - 13, box.width + 26];"""
READY = "return document.querySelector('article:not([hidden]) .result')?.textContent || '';"


def picture(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    left, top, width = driver.execute_script(ARRANGE, WORST)
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {
        "format": "png", "captureBeyondViewport": True,
        "clip": {"x": left, "y": top, "width": width, "height": HEIGHT, "scale": 1}})
    (TOP / "notes/figures" / ("page-%s.png" % scheme)).write_bytes(
        base64.b64decode(shot["data"]))


def main():
    if not PAGE.exists():
        sys.exit("take_picture.py: %s is missing: make page builds it" % PAGE)
    driver = browser.browser()
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": WIDTH, "height": WINDOW, "deviceScaleFactor": 1, "mobile": False})
    driver.get(PAGE.as_uri() + "#chapter=03-work-efficient")
    while not driver.execute_script(READY):
        pass
    for scheme in ("light", "dark"):
        picture(driver, scheme)


if __name__ == "__main__":
    main()
