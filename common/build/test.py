#!/usr/bin/env python3
"""test.py -- runs the tests that make has built, in the top folder of a tree.

    test.py quick              what `make test` runs: tests whose names do not end in _slow
    test.py slow               what `make test-all` adds: slow tests, and those of parts that
                               `make setup-PART` installs; and whether `make test` is still quick
    test.py sanitized          quick tests in build/asan: the eighth that SHARE, a number, chooses
    test.py unit WHICH FOLDER [NAME]   unittests of one folder; WHICH is quick, slow or any

Tests in C (Criterion), of commands (bats) and in Python (unittest) run at the same time. Each part
has a line when it ends, and on a terminal a count until then; V=1 shows all that they print. At the
end stands how long each part took, what was skipped and why, and Criterion's last line.
"""
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

# Seconds for a test in C, and five times as many for a program of tests.
LIMIT = 7200 if "TEST_NIGHTLY" in os.environ else 600
TREE = "build/test"  # the folder of `make test` (tests.mk)
TIMES = os.path.abspath(TREE + "/times")  # a line "test SECONDS" of processor time for each test
BEGAN = TREE + "/began"  # when make began, and what it took (tests.mk)
# Seconds of processor time that a quick test may take, if compiling REFERENCE takes the others.
LONGEST, REFERENCE_SECONDS = 1.5, 2.0
WAIT = {"checks/found_and_silent"}  # deadlocks, which spin until EMU_TIMEOUT is over
# `make test` after `make clean` takes so many times as long as REFERENCE. Twice that is an error.
RECORDED = 245
REFERENCE = "".join("float f%d(float *a, int n) { float s = %d; for (int i = 0; i < n; i++)"
                    " s += a[i] * s + a[n - i]; return s; }\n" % (k, k) for k in range(400))
SHARES = 8  # of the tests under the sanitizers, which take long

NOISE = re.compile(r"\[(RUN |PASS|SKIP|====)\]")
CRITERION = re.compile(r"\[(PASS|FAIL|SKIP)\] (\w+)::(\w+):? ?(.*)")
TAP = re.compile(r"(not )?ok (?:\d+ |- )?(.*?)(?: *# skip ?(.*))?$")
VERBOSE = bool(os.environ.get("V"))
screen = threading.Lock()


def used(usage):
    return usage.ru_utime + usage.ru_stime


class Program:
    """It runs tests. `alone` is the command that runs one of them."""

    def __init__(self, name, command, alone, folder=".", is_tap=True):
        self.name, self.command, self.alone, self.folder = name, command, alone, folder
        self.is_tap, self.names, self.failed, self.skipped = is_tap, set(), [], []
        self.count, self.shown, self.last, self.final = 0, [], [], ""
        self.began = self.wall = self.processor = 0
        self.process = None

    def read(self, line):
        if VERBOSE:
            print(line)
        match = (TAP if self.is_tap else CRITERION).match(line)
        if match and self.is_tap:
            outcome = "FAIL" if match[1] else "SKIP" if match[3] is not None else "PASS"
            name, reason = match[2], match[3]
        elif match:
            outcome, name, reason = match[1], match[2] + "/" + match[3], match[4]
            if outcome == "SKIP" and reason == "Test is disabled":
                return  # left out by the filter
        if line.startswith("[====] Synthesis"):
            self.final = line
        if match:
            self.names.add(name)
            self.count += 1
            if outcome == "FAIL":
                self.failed.append(name)
            if outcome == "SKIP":
                self.skipped.append((reason, name))
        if line.startswith(("[----] ", "[FAIL]", "not ok", "#")):
            self.shown.append(line)
        if not NOISE.match(line):
            self.last = self.last[-30:] + [line]

    def run(self):
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True, encoding="utf-8", errors="replace")
        limit = threading.Timer(5 * LIMIT, self.end)
        limit.daemon = True
        limit.start()
        try:
            for line in self.process.stdout:
                self.read(line.rstrip("\n"))
            _, status, usage = os.wait4(self.process.pid, 0)
        except BaseException:
            self.end()
            raise
        limit.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.wall, self.processor = time.monotonic() - self.began, used(usage)
        self.report()

    def end(self):
        if self.process and self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def report(self):
        good = self.process.returncode == 0 and not self.failed
        tests = list(self.failed)
        if not good and not tests:
            self.failed.append("%s ended with status %d" % (self.name, self.process.returncode))
        with screen:
            print("\033[K" * sys.stdout.isatty() + "  %s: %s" % (self.name, "%d tests pass" % (
                self.count - len(self.skipped)) if good else "FAILED"), flush=True)
            if not good and not VERBOSE:
                print("\n".join(self.shown if tests else self.last))
            for name in tests:
                print("    to run it alone: " + self.alone(name))


def inside(folder, command):
    if "SANITIZED" in os.environ:
        folder, command = "build/asan", "SANITIZED=1 " + command
    return command if folder == "." else "(cd %s && %s)" % (folder, command)


def criterion(program, pattern, folder=".", name="C", more=0):
    """`more`: tests at a time than there are processors."""
    return Program(name, [program, "--timeout", str(LIMIT), "--verbose", "--filter", pattern,
                       "--jobs", str(os.cpu_count() + more)],
                lambda test: inside(folder, "%s --filter '%s'" % (program, test)), folder, False)


def bats(name, files, tags, folder="."):
    where = {}
    for file in files:
        text = Path(file).read_text(encoding="utf-8")
        for test in re.findall(r"""^@test ["'](.*)["'] {""", text, re.M):
            where[re.sub(r"\\(.)", r"\1", test)] = file
    return Program(name, ["bats", "--tap", "--filter-tags", tags] + files,
                lambda test: inside(folder, "bats %s --filter %s" % (
                    where.get(test, "FILE"),
                    shlex.quote("^%s$" % re.sub(r"([][().*+?^$|\\{}])", r"\\\1", test)))), folder)


def unit(name, which, folder, *patterns, python=sys.executable):
    return Program(name, [python, "-B", os.path.abspath(__file__), "unit", which, folder,
                          *patterns],
                lambda test: inside(".", "%s common/build/test.py unit any %s %s" % (
                    "python3" if python == sys.executable else python, folder, test)))


class Tap(unittest.TestResult):
    """Prints a line for each test, and for the file TEST_TIMES what it took."""

    @staticmethod
    def now():
        return sum(used(resource.getrusage(who))
                   for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    def startTest(self, test):
        super().startTest(test)
        self.begin, self.outcome = self.now(), "ok - " + test.id()

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fails(test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.fails(test, self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            failed = issubclass(err[0], test.failureException)
            self.fails(test, (self.failures if failed else self.errors)[-1][1])

    def ends(self, test, outcome):
        """A class or a module whose preparation fails is no test that ends."""
        self.outcome = outcome
        if not hasattr(test, "_testMethodName"):
            print(outcome, flush=True)

    def fails(self, test, text):
        print("# " + text.replace("\n", "\n# "), flush=True)
        self.ends(test, "not ok - " + re.sub(r".*\((.*)\)$", r"\1", test.id()))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.ends(test, "ok - %s # skip %s" % (test.id(), reason))

    def stopTest(self, test):
        super().stopTest(test)
        print(self.outcome, flush=True)
        if "TEST_TIMES" in os.environ:
            with open(os.environ["TEST_TIMES"], "a", encoding="utf-8") as file:
                print(test.id(), "%.2f" % (self.now() - self.begin), file=file)


def run_units(which, folder, *names):
    def chosen(suite):
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                yield unittest.TestSuite(chosen(test))
            elif which == "any" or (which == "slow") == test.id().endswith("_slow"):
                yield test
    loader = unittest.TestLoader()
    loader.testNamePatterns = [name if "." in name else "*%s*" % name for name in names] or None
    result = Tap()
    unittest.TestSuite(chosen(loader.discover(folder))).run(result)
    return not result.wasSuccessful()


def lacks(part):
    """The packages of a part that are missing. With PAGE_REQUIRED or PYTHON_REQUIRED its tests run
    all the same."""
    if part.split("-")[0].upper() + "_REQUIRED" in os.environ:
        return ""
    found = subprocess.run(["sh", "-c", ". common/build/tools.sh; missing_packages_of " + part],
                           stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return " ".join(found.stdout.split())


def files_of(*folders):
    return sorted(str(path) for folder in folders for path in Path(folder).glob("*.bats"))


def quick():
    reports = "tests/cli/structured.bats"  # compares the paths of sources
    others = [file for file in files_of("tests/cli") if file != reports]
    return [[criterion("./run", "*/!(*_slow)", TREE, more=1)],
            [bats("commands", others, "!slow", TREE), bats("reports", [reports], "!slow")],
            [unit("documents", "quick", "tests/docs"),
             unit("compiler", "quick", "tests/python/cc"),
             unit("debugger", "quick", "tests/python/debug"),
             unit("order", "quick", "tests/python/order"),
             unit("grader", "quick", "tests/python/labs")]], []


def slow():
    python, missing = [], []
    for part, name in ("page-tests", "page"), ("python", "Python package"):
        packages = lacks(part)
        if packages:
            missing.append(("not found: %s: make setup-%s installs them" % (packages, part), name))
        elif name == "page":
            python.append(unit(name, "any", "tests/page"))
        else:
            python.append(Program(name + ": installation", ["common/build/python.sh"], str))
            python.append(unit(name, "any", "tests/python", python="build/python/bin/python"))
    python += [unit("documents", "slow", "tests/docs"), unit("compiler", "slow", "tests/python/cc"),
               unit("debugger", "slow", "tests/python/debug"),
               unit("order", "slow", "tests/python/order"),
               unit("grader", "slow", "tests/python/labs")]
    return [[criterion("build/tests/run", "*/*_slow")],
            [bats("commands", files_of("tests/cli")[0::2], "slow,!apart")],
            [bats("more commands", files_of("tests/cli")[1::2], "slow,!apart")],
            [bats("ranks", files_of("tests/cli/ranks"), "slow")],
            python], missing


def listed(program, folder="."):
    """The tests in C of a program, by suite."""
    done = subprocess.run([program, "--list"], cwd=folder, stdout=subprocess.PIPE,
                          encoding="utf-8", check=True)
    return {suite: set(re.findall(r"── (\w+)", tests)) for suite, tests in
            re.findall(r"^(\w+): .*\n((?:.── .*\n)*)", done.stdout, re.M)}


def sanitized():
    """Scripts in left_out run no C code that other tests do not run."""
    number = os.environ.get("SHARE")
    shares = [int(number) % SHARES] if number else range(SHARES)
    suites = list(listed("build/tests/run"))
    left_out = {"make", "measure"}
    files = [file for file in files_of("tests/cli")
             if Path(file).stem not in left_out]
    return [[criterion("build/tests/run", "@(%s)/!(*_slow)" % "|".join(suites[share::SHARES]),
                       name="C, share %d of %d" % (share, SHARES)) for share in shares],
            [bats("commands, share %d" % share, files[share::SHARES], "!slow")
             for share in shares if files[share::SHARES]]], []


def still_quick():
    """What is wrong with how long the last `make test` took, in processor time and in terms of how
    long gcc takes for REFERENCE, since machines differ. Other load changes it little."""
    if not os.path.exists(TREE + "/total"):
        print("  make test has not run here: its time is not checked")
        return
    began = used(resource.getrusage(resource.RUSAGE_CHILDREN))
    subprocess.run(["gcc", "-O3", "-x", "c", "-c", "-", "-o", "/dev/null"], check=True,
                   input=REFERENCE, encoding="utf-8")
    reference = used(resource.getrusage(resource.RUSAGE_CHILDREN)) - began
    with open(TREE + "/total", encoding="utf-8") as file:
        total = float(file.read())
    print("  make test took %.0f s of processor time, %.0f times as long as compiling a fixed file"
          " (%.1f s)" % (total, total / reference, reference))
    if total > 2 * RECORDED * reference:
        yield "make test took more than twice the %d times that test.py records" % RECORDED
    slowness = max(1, reference / REFERENCE_SECONDS)
    for test, seconds in seconds_of_tests().items():
        if seconds > LONGEST * slowness and test not in WAIT:
            said = "%s takes %.1f s of processor time: name it _slow, or tag it" % (test, seconds)
            if seconds > 2 * LONGEST * slowness:  # less may be the machine's load
                yield said
            else:
                print("  " + said)
    quick_ones = listed("./run", TREE)
    for suite, tests in listed("build/tests/run").items():
        for test in sorted(tests - quick_ones.get(suite, set())):
            if not test.endswith("_slow"):
                yield "%s/%s is not in `make test`: its name has to end in _slow" % (suite, test)


def seconds_of_tests():
    """The longest that each test of `make test` has taken."""
    longest = {}
    for line in Path(TIMES).read_text(encoding="utf-8").splitlines():
        test, seconds = line.rsplit(None, 1)
        longest[test] = max(longest.get(test, 0), float(seconds))
    return longest


def try_slow_ones_again(parts):
    """A busy machine makes a test slow, but hardly twice, and not when it runs alone."""
    longest = seconds_of_tests()
    for test in [test for test, seconds in longest.items() if seconds > LONGEST]:
        part = next((part for part in parts if test in part.names), None)
        if part:
            Path(TIMES).write_text("", "utf-8")
            subprocess.run(part.alone(test), shell=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            longest[test] = min(longest[test], seconds_of_tests().get(test, longest[test]))
    Path(TIMES).write_text("".join("%s %.2f\n" % pair for pair in longest.items()), "utf-8")


def seconds_of(text):
    """The seconds of "1m2.5s"."""
    minutes, _, seconds = text.rstrip("s").partition("m")
    return 60 * int(minutes) + float(seconds)


def building():
    """Wall-clock and processor time of the build before these tests."""
    with open(BEGAN, encoding="utf-8") as file:
        began, _, children = file.read().splitlines()
    return time.time() - int(began), sum(map(seconds_of, children.split()))


def run_lanes(lanes):
    """Runs the programs of each lane one after the other, and the lanes beside each other."""
    def run_lane(lane):
        for part in lane:
            try:
                part.run()
            except Exception as error:
                part.failed.append("%s: %s" % (part.name, error))

    def end(number, _):
        for part in parts:
            part.end()
        os._exit(128 + number)

    parts = [part for lane in lanes for part in lane]
    threads = [threading.Thread(target=run_lane, args=(lane,), daemon=True) for lane in lanes]
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, end)
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.2)
        with screen:
            if sys.stdout.isatty() and not VERBOSE:
                print("  " + ", ".join("%s %d" % (part.name, part.count) for part in parts
                                       if part.began and not part.wall), end="\033[K\r", flush=True)
    return parts


def main(which, *arguments):
    if which == "unit":
        return run_units(*arguments)
    sys.stdout.reconfigure(errors="replace")
    os.environ["LANGUAGE"] = "en"  # Criterion is translated
    os.environ.setdefault("EMU_PROGRESS", "0")  # no test expects its lines about slow kernels
    rows = []
    if which == "quick":
        rows.append(("building", *building()))
        os.environ["TEST_TIMES"] = TIMES
        Path(TIMES).write_text("", "utf-8")
        Path(TREE + "/total").unlink(missing_ok=True)
    lanes, missing = {"quick": quick, "slow": slow, "sanitized": sanitized}[which]()
    parts = run_lanes(lanes)
    failed = [name for part in parts for name in part.failed]
    rows += [(part.name, part.wall, part.processor) for part in parts]
    for name, wall, processor in rows:
        print("  %-32s %5.0f s, %5.0f s of processor time" % (name, wall, processor))
    total = sum(processor for _, _, processor in rows)
    if which == "quick":
        try_slow_ones_again(parts)
        Path(TREE + "/total").write_text("%f" % total, encoding="utf-8")
        print("  %-32s %5.0f s, %5.0f s of processor time" % ("all", building()[0], total))
    if which == "slow":
        failed += still_quick()
    reasons = {}
    for reason, name in missing + [pair for part in parts for pair in part.skipped]:
        reasons.setdefault(reason, []).append(name)
    for reason, names in sorted(reasons.items()):
        print("  skipped: %d x %s\n    %s" % (len(names), reason, "; ".join(names)))
    if failed:
        print("  failed:\n    " + "\n    ".join(failed))
    print(next((part.final for part in parts if part.final), "Criterion has not run."))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
