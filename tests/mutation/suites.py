"""suites.py -- which suites run a function, and running some of them until a test fails. A suite is
one of build/tests/run, or a script: a file of bats or of unittest."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from tree import ENVIRONMENT, TESTS, TREES, kill_session, session

COVERED = os.path.join(TREES, "covered.txt")
QUICK = 0.5  # suites that take no longer together are run at once, in seconds
LIMIT = 30, 5  # suites hang after 30 seconds and five times what they usually take
MOST_MEMORY = 6 << 30  # bytes that the processes of a suite may have in memory
LOOK_EVERY = 0.5, 2  # seconds between two looks at what the tests wrote, and at their memory
PAGE = os.sysconf("SC_PAGE_SIZE")
EVENT = re.compile(r"\[(RUN |PASS|SKIP|FAIL|CRASH)\s*\] (\w+)::(\w+)")
SCRIPT_EVENT = re.compile(r"^(not )?ok \d+ (.*)|^(?:FAIL|ERROR): (\w+)")


class Covered:
    """What covered.txt says: how long each suite takes, and which suites run which function."""

    def __init__(self, path=COVERED):
        self.seconds, self.by_function, self.by_place = {}, {}, {}
        if not os.path.exists(path):
            sys.exit("There is no %s; `make mutate-map` makes it." % path)
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#"):
                    self._read(line.rstrip("\n"))

    def _read(self, line):
        name, _, rest = line.partition(": ")
        if " " not in name:
            self.seconds[name] = float(rest)
            return
        file, function = name.split(" ")
        suites = self.by_function[file, function] = set(rest.split())
        for place in file, os.path.dirname(file):
            self.by_place.setdefault(place, set()).update(suites)

    def suites(self, path, function):
        """The suites that run it, the quickest first, and scripts last. If it is not listed, those
        that run its file, or else its folder."""
        found = self.by_function.get((path, function)) or self.by_place.get(path) \
            or self.by_place.get(os.path.dirname(path)) or set()
        return sorted(found, key=lambda suite: (is_script(suite), self.seconds[suite], suite))

    def batches(self, suites):
        """Lists of suites that are run at once, which take QUICK seconds or are one suite."""
        found = []
        for suite in suites:
            if found and self.usual_time(found[-1] + [suite]) <= QUICK and not is_script(suite):
                found[-1].append(suite)
            else:
                found.append([suite])
        return found

    def usual_time(self, suites):
        return sum(self.seconds[suite] for suite in suites)

    def limit(self, suites):
        return LIMIT[0] + LIMIT[1] * self.usual_time(suites)


def is_script(name):
    return ".bats" in name or ".py" in name


def pattern_of(suites):
    """Criterion's pattern for all their tests, or a script."""
    return suites[0] if is_script(suites[0]) else "@(%s)/*" % "|".join(suites)


def command_of(pattern):
    """The command that runs a pattern of suites, or one test; of unittest always the whole file."""
    if not is_script(pattern):
        return [TESTS, "--filter", pattern, "--verbose", "-j1"]
    path, _, test = pattern.partition(": ")
    if path.endswith(".py"):
        return ["python3", "-B", "-m", "unittest", "discover", "-fs", os.path.dirname(path), "-p",
                os.path.basename(path)]
    return ["bats", "--tap", path] + (["--filter", "^%s$" % re.escape(test)] if test else [])


class Stopped(Exception):
    """The run is to end before its result is known."""


def first_failure(tree, pattern, limit, excused=(), stop=None):
    """Runs the tests of this pattern. Returns (test, how) of the first one that fails and is not
    excused, or None. Criterion does not say which test leaks: it is the pattern then. Raises
    Stopped once the event `stop` is set."""
    folder = tempfile.mkdtemp(prefix="run-", dir=os.path.join(tree.path, "build"))
    output = os.path.join(folder, "output")
    leaks = "%s:log_path=%s/leak" % (ENVIRONMENT["LSAN_OPTIONS"], folder)
    with open(output, "wb") as file:
        process = subprocess.Popen(command_of(pattern), cwd=tree.path,
                                   env=dict(ENVIRONMENT, LSAN_OPTIONS=leaks),
                                   stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    try:
        failed = watch(process, output, limit, excused, stop, pattern.partition(": ")[0])
        leaked = not failed and pattern not in excused and len(os.listdir(folder)) > 1
        return (pattern, "leaked") if leaked else failed
    finally:
        kill_session(process.pid)
        process.wait()
        shutil.rmtree(folder)


def watch(process, output, limit, excused, stop, suite):
    began = looked_at_memory = time.monotonic()
    while True:
        ended = has_ended(process, LOOK_EVERY[0])
        failed, running, begun = read_events(output, excused, suite)
        if failed:
            return failed
        if ended:  # it may have died before a test began, or in one
            died = process.returncode < 0 or (process.returncode > 0 and not begun)
            return (running or "the beginning of the tests", "crashed") if running or died else None
        if stop and stop.is_set():
            raise Stopped
        if time.monotonic() - began > limit:
            return running or "the end of the tests", "hung"
        if time.monotonic() - looked_at_memory > LOOK_EVERY[1]:
            looked_at_memory = time.monotonic()
            if memory_of_session(process.pid) > MOST_MEMORY:
                return running or "the end of the tests", "took too much memory"


def has_ended(process, seconds):
    try:
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False


def read_events(output, excused, suite):
    """((test, how) of the first failure or None, the test that runs or None, whether one began)"""
    running, begun = None, False
    with open(output, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = EVENT.search(line)
            script = SCRIPT_EVENT.match(line)
            begun |= bool(match or script)
            name = script and "%s: %s" % (suite, script[2] or script[3])
            if script and (script[1] or script[3]) and name not in excused:
                return (name, "failed"), None, True
            if not match:
                continue
            test = "%s/%s" % (match[2], match[3])
            if match[1] in ("FAIL", "CRASH") and test not in excused:
                return (test, "failed" if match[1] == "FAIL" else "crashed"), None, True
            running = test if match[1] == "RUN " else None
    return None, running, begun


def memory_of_session(leader):
    return PAGE * sum(pages for _, pages in session(leader))
