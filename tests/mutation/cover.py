#!/usr/bin/env python3
"""cover.py -- writes build/mutate/covered.txt: which suites run which function, and how long they
take. `make mutate-map`

The C files are compiled in a tree of their own, build/mutate/coverage, so that each function says
when it is entered (entered.c), and each suite is run once there, two at a time on two cores. A
process that may not write, as in a sandbox, says nothing: a function that runs in such processes
alone has no line, and mutate.py takes all suites of its file.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from suites import COVERED, command_of, has_ended, pattern_of
from tree import ENVIRONMENT, TESTS, TOP, TREES, Tree, kill_session, objects_by_source

COUNTING = "CC=gcc -finstrument-functions"
LONGEST = 60  # seconds, after which a suite is ended; what it has entered counts
LIBRARY = os.path.join(TREES, "entered.so")
FILE = re.compile(r"(common|steps)/.*\.c$")
NOT_TRIED = re.compile(r"(make|install|own_step|gpu_script|compare|grade_machine)\.bats$")
HEAD = ("# Written by `make mutate-map`: how many seconds each suite takes, then which suites run "
        "each function.\n")


def counting_tree():
    tree = Tree("coverage", TOP)
    for source, objects in objects_by_source(tree.path).items():
        for path in objects if FILE.match(source) else []:
            os.unlink(os.path.join(tree.path, path))
    status, output = tree.make("tests-build", COUNTING)
    if status:
        sys.exit("The tests cannot be built in %s so that functions say when they are entered:\n%s"
                 % (tree.path, output[-2000:]))
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", LIBRARY,
                    os.path.join(TOP, "tests", "mutation", "entered.c")], check=True)
    return tree


def run_suite(tree, suite):
    """Returns how long it takes, whether or not its tests succeed, and the (program, offset) of the
    functions that it enters."""
    with tempfile.NamedTemporaryFile("r", dir=TREES, errors="replace") as file:
        began = time.monotonic()
        process = subprocess.Popen(command_of(pattern_of([suite])), cwd=tree.path,
                                   env=dict(ENVIRONMENT, LD_PRELOAD=LIBRARY, ENTERED=file.name),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        has_ended(process, LONGEST)
        seconds = time.monotonic() - began
        kill_session(process.pid)
        process.wait()
        return seconds, set(re.findall(r"^(.+) ([0-9a-f]+)$", file.read(), re.M))


def functions_at(tree, places):
    """{(program, offset): (file, function)} of the functions of our C files."""
    offsets, found = {}, {}
    for program, offset in places:
        offsets.setdefault(program, []).append(offset)
    for program, of_program in offsets.items():
        said = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(of_program),
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False).stdout.split("\n")
        for offset, function, place in zip(of_program, said[::2], said[1::2]):
            file = os.path.relpath(place.partition(":")[0] or "?", tree.path)
            if FILE.match(file):
                found[program, offset] = file, function
    return found


def listed_suites():
    """Those of build/tests/run, and the scripts that neither build nor need another machine."""
    listed = subprocess.run([TESTS, "--list"], cwd=TOP, stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    scripts = [script for pattern in ("tools/*.bats", "labs/*.bats", "cc/test_*.py",
                                      "docs/test_fidelity.py", "docs/test_applications.py")
               for script in glob.glob("tests/" + pattern, root_dir=TOP)]
    return sorted(re.findall(r"^(\w+): \d+ tests?", listed, re.M)) + sorted(
        script for script in scripts if not NOT_TRIED.search(script))


def main():
    tree = counting_tree()
    all_suites = listed_suites()
    seconds, places, suites_of = {}, {}, {}

    def look(suite):
        seconds[suite], places[suite] = run_suite(tree, suite)
        print("%s: %.1f s" % (suite, seconds[suite]), flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(look, all_suites))
    functions = functions_at(tree, set().union(*places.values()))
    for suite in all_suites:
        for place in places[suite]:
            if place in functions:
                suites_of.setdefault(functions[place], set()).add(suite)
    with open(COVERED, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.writelines("%s: %.1f\n" % (suite, seconds[suite]) for suite in all_suites)
        file.writelines("%s %s: %s\n" % (*key, " ".join(sorted(suites_of[key])))
                        for key in sorted(suites_of))


if __name__ == "__main__":
    main()
