"""page_files.py -- what the tests of the page use: where it lies, and whether it can be built."""
import os
import shutil
import subprocess
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
