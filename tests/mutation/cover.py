#!/usr/bin/env python3
"""cover.py -- writes build/mutate/covered.txt: which suites run which function, and how long they
take. `make mutate-map`

The C files are compiled with gcov's counters in a tree of their own, build/mutate/coverage. Each
suite is run once there, and once without counters for its time, on each core one suite at a time. A
process that is killed leaves no counts: a function that runs in such processes alone has no line,
and mutate.py takes all suites of its file.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from suites import COVERED, command_of, pattern_of
from tree import ENVIRONMENT, TESTS, TOP, Tree, objects_by_source

COUNTING = ["CC=gcc --coverage", "CXX=g++ --coverage",
            "NVCC=$(CUDA)/bin/nvcc -ccbin g++ -Xcompiler --coverage"]
FILE = re.compile(r"(common|steps)/.*\.c$")
NOT_TRIED = re.compile(r"(make|install|own_step|gpu_script|compare|grade_machine)\.bats$")
HEAD = ("# Written by `make mutate-map`: how many seconds each suite takes, then which suites run "
        "each function.\n")


def counting_tree():
    tree = Tree("coverage", TOP)
    for source, objects in objects_by_source(tree.path).items():
        for path in objects if FILE.match(source) else []:
            os.unlink(os.path.join(tree.path, path))
    status, output = tree.make("tests-build", *COUNTING)
    if status:
        sys.exit("The tests cannot be built with gcov's counters in %s:\n%s"
                 % (tree.path, output[-2000:]))
    return tree


def run(top, *command, **variables):
    return subprocess.run(command, cwd=top, env=dict(ENVIRONMENT, **variables),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, errors="replace",
                          check=False).stdout


def run_suite(top, suite, **variables):
    """Returns how long it takes, whether or not its tests succeed."""
    began = time.monotonic()
    run(top, *command_of(pattern_of([suite])), **variables)
    return time.monotonic() - began


def functions_run(tree, suite):
    """The (file, function) that run in this suite. Its counts go into a folder of their own, beside
    links to what gcov needs to read them, so suites can run at the same time."""
    with tempfile.TemporaryDirectory() as folder:
        for notes in glob.glob("**/*.gcno", root_dir=tree.path, recursive=True):
            os.makedirs(os.path.join(folder, os.path.dirname(notes)), exist_ok=True)
            os.symlink(os.path.join(tree.path, notes), os.path.join(folder, notes))
        run_suite(tree.path, suite, GCOV_PREFIX=folder,
                  GCOV_PREFIX_STRIP=str(tree.path.count(os.sep)))
        counts = glob.glob(os.path.join(folder, "**", "*.gcda"), recursive=True)
        said = run(tree.path, "gcov", "--json-format", "--stdout", *counts) if counts else ""
    return {(file["file"], function["name"]) for line in said.splitlines()
            for file in json.loads(line)["files"] if FILE.match(file["file"])
            for function in file["functions"] if function["execution_count"]}


def listed_suites():
    """Those of build/tests/run, and files of bats that neither build nor need another machine."""
    scripts = glob.glob("tests/tools/*.bats", root_dir=TOP) + glob.glob("tests/labs/*.bats",
                                                                        root_dir=TOP)
    return sorted(re.findall(r"^(\w+): \d+ tests?", run(TOP, TESTS, "--list"), re.M)) + sorted(
        script for script in scripts if not NOT_TRIED.search(script))


def names(suites, all_suites):
    missing = [suite for suite in all_suites if suite not in suites]
    if 2 * len(missing) < len(all_suites):
        return " ".join(["all but", *missing])
    return " ".join(suite for suite in all_suites if suite in suites)


def main():
    tree = counting_tree()
    all_suites = listed_suites()
    seconds, suites_of = {}, {}

    def look(suite):
        seconds[suite] = run_suite(TOP, suite)
        functions = functions_run(tree, suite)
        print("%s: %.1f s" % (suite, seconds[suite]), flush=True)
        return suite, functions
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for suite, functions in pool.map(look, all_suites):
            for key in functions:
                suites_of.setdefault(key, set()).add(suite)
    with open(COVERED, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.writelines("%s: %.1f\n" % (suite, seconds[suite]) for suite in all_suites)
        file.writelines("%s %s: %s\n" % (*key, names(suites_of[key], all_suites))
                        for key in sorted(suites_of))


if __name__ == "__main__":
    main()
