#!/usr/bin/env python3
"""mutate.py -- do the tests notice when the code is wrong? `make mutate N=20 SEED=1 FILES=verify.c`

usage: mutate.py [--number N] [--seed SEED] [FILE...]   tries N (20) mutations of these files or all
                      --workers W       in W trees at once
                      --minutes M       for at most M minutes
                      --longest S       on suites that take at most S seconds
                      --results FILE    writes a row for each mutation as it is known
                      --resume          goes on: what has a row in the results is not tried again
                      --again           the same, but what survived is tried again
       mutate.py --list FILE...         lists all mutations of these files and tries none

A FILE is a C file, its base name, a folder, or a function such as timing.c:timer_run. Each mutation
is made in a copy of the repository (build/mutate), compiled, and tried on the suites that run its
function, the quickest first, until a test fails. A mutation that does not compile, has the same
machine code or is listed in equivalent.txt is replaced by another one. The exit status is 0 if the
wanted number was tried and 95 % of these mutations were killed.
"""
import argparse
import csv
import hashlib
import itertools
import os
import resource
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from mutations import equivalents, mutations
from suites import QUICK, Covered, Stopped, first_failure, pattern_of
from tree import HUNG, LEAKS, TESTS, TOP, TREES, Tree, objects_by_source

WANTED = 0.95
FILES = ["common", "steps/12-pipeline"]
NAME = ["file", "function", "before", "after"]
COLUMNS = ["date", "sample", "seed", *NAME, "line", "kind", "result", "by", "seconds"]
KILLED, SURVIVED, EQUIVALENT, INVALID = "killed", "survived", "equivalent", "did not compile"
COUNTED = KILLED, SURVIVED
LASTING = "hung", "took too much memory", "leaked"  # ways to fail that are not tried a second time
BUILD_LIMIT = 600  # seconds; the build runs the compiler of common/cc, which a mutation may hang
MOST_FILE = 4 << 30  # bytes of a file that a test writes


def options(arguments=None):
    usage = __doc__[__doc__.index("usage: ") + 7:]
    parser = argparse.ArgumentParser(usage=usage.replace("%", "%%"))
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--longest", type=float, default=float("inf"))
    parser.add_argument("--results", default=os.path.join(TREES, "result.csv"))
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="*")
    chosen = parser.parse_args(arguments)
    if chosen.number < 1 or chosen.workers < 1:
        parser.error("the number of mutations and that of workers must be at least 1")
    return chosen


def chosen_mutations(wanted, sources, read):
    """Those of the C files, base names, folders or functions that are wanted, in sources that the
    tests are built of; read(path) returns a source's text."""
    found = {}
    for name in wanted or FILES:
        file, _, function = name.partition(":")
        file = file.rstrip("/")
        paths = [path for path in sources
                 if file in (path, os.path.basename(path)) or path.startswith(file + "/")]
        of_name = [mutation for path in paths for mutation in mutations(path, read(path))
                   if function in ("", mutation.place)]
        if not of_name:
            sys.exit("Nothing that the tests are built of can be mutated in %s." % name)
        found.update({(mutation.path, mutation.start, mutation.new): mutation
                      for mutation in of_name})
    return list(found.values())


def drawn(found, seed):
    """Yields one mutation of each line, all lines being equally likely to come first, then another
    one of each line, until all are drawn. The order follows from the seed and from the lines
    themselves: where other code changes it stays, and so do results."""
    chance = lambda *words: hashlib.sha256(repr((seed, words)).encode()).digest()
    lines = {}
    for mutation in found:
        lines.setdefault((mutation.path, mutation.line), []).append(mutation)
    order = sorted(lines.values(), key=lambda line: chance(*line[0].name()[:3]))
    for line in order:
        line.sort(key=lambda mutation: chance(*mutation.name()))
    for turn in itertools.zip_longest(*order):
        yield from filter(None, turn)


class Results:
    """The rows of a file, to which each new one is added at once."""

    def __init__(self, path, keep, again):
        self.path, self.rows = path, []
        if keep and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.rows = [row for row in csv.DictReader(file)
                             if not (again and row["result"] == SURVIVED)]

    def add(self, row):
        self.rows.append(row)
        with open(self.path, "a", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)

    def write(self):
        self.rows.sort(key=lambda row: [row[key] for key in ("sample", "seed", *NAME)])
        with open(self.path, "w", encoding="utf-8") as file:
            out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            out.writeheader()
            out.writerows(self.rows)


class Sample:
    """The mutations to be tried, in their order, and their results. Workers take from it at the
    same time. One more is begun only while it may be one of `count` results: so the same ones are
    tried, whatever the workers' speed. The results of mutations that the code no longer has are
    dropped."""

    def __init__(self, name, chosen, found, results):
        self.name, self.seed, self.count = name, str(chosen.seed), chosen.number
        self.results, self.source = results, drawn(found, chosen.seed)
        self.rows, self.begun, self.lock = [], 0, threading.Lock()
        there = {of(mutation) for mutation in found}
        mine = lambda row: (row["sample"], row["seed"]) == (self.name, self.seed)
        name_of = lambda row: tuple(row[key] for key in NAME)
        results.rows = [row for row in results.rows if not mine(row) or name_of(row) in there]
        results.write()
        self.known = {name_of(row): row for row in results.rows if mine(row)}

    def counted(self):
        return sum(row["result"] in COUNTED for row in self.rows)

    def next(self):
        """The mutation to be tried next, or None."""
        with self.lock:
            while self.counted() + self.begun < self.count:
                mutation = next(self.source, None)
                if mutation is None:
                    return None
                row = self.known.get(of(mutation))
                if not row:
                    self.begun += 1
                    return mutation
                self.rows.append(row)
            return None

    def finished(self, mutation, seconds, result, by):
        row = dict(zip(COLUMNS, (
            time.strftime("%Y-%m-%d"), self.name, self.seed, *of(mutation), str(mutation.line),
            mutation.kind, result, by, "%.0f" % seconds)))
        with self.lock:
            self.begun -= 1
            self.rows.append(row)
            self.results.add(row)
            if result in COUNTED:
                say("%4d/%d  %s:%d in %s: %s, %s\n            - %s\n            + %s" % (
                    self.counted(), self.count, mutation.path, mutation.line, mutation.place,
                    result, by,
                    mutation.before, mutation.after))


def of(mutation):
    """What names a mutation in the results."""
    return mutation.path, mutation.place, mutation.before, mutation.after


class Judge:
    """Says what becomes of a mutation. It is shared by all workers, each of which has a tree of its
    own."""

    def __init__(self, longest):
        self.stop, self.longest = threading.Event(), longest
        self.covered, self.equivalents = Covered(), equivalents()
        self.base, self.link = base_tree(min(self.covered.seconds, key=self.covered.seconds.get))
        self.objects = objects_by_source(self.base.path)
        # test: whether it passes without mutations
        self.base_run, self.passes = threading.Lock(), {}

    def result(self, tree, mutation):
        """(result, by)"""
        if mutation.name() in self.equivalents:
            return EQUIVALENT, "listed"
        try:
            tree.write(mutation.path, mutation.applied(self.base.read(mutation.path)))
            return self._built(tree, mutation) or self._tested(tree, mutation)
        finally:
            tree.restore()

    def _built(self, tree, mutation):
        objects = self.objects[mutation.path]
        if not tree.build(*objects):
            return INVALID, "compiler"
        if all(tree.code(path) == self.base.code(path) for path in objects):
            return EQUIVALENT, "same machine code"
        return None if tree.build(TESTS, *self.link) else (INVALID, "linker")

    def _tested(self, tree, mutation):
        """The quick suites come first. The programs that some suites run are linked for the
        others."""
        suites = [suite for suite in self.covered.suites(mutation.path, mutation.place)
                  if self.covered.seconds[suite] <= self.longest]
        quick = [suite for suite in suites if self.covered.seconds[suite] <= QUICK]
        failed = self._first_failure(tree, quick)
        if not failed:
            status, _ = tree.make("tests-build", limit=BUILD_LIMIT)
            if status == HUNG:
                return KILLED, "make tests-build hung"
            if status:
                return INVALID, "linker"
            failed = self._first_failure(tree, suites)
        if failed:
            return KILLED, "%s %s" % failed
        return SURVIVED, "%d suites" % len(suites) if suites else "no suite runs it"

    def _first_failure(self, tree, suites):
        return next(filter(None, (self._failure(tree, batch)
                                  for batch in self.covered.batches(suites))), None)

    def _failure(self, tree, suites):
        """(test, how) of a test that fails, twice, and does not without the mutation; or None."""
        excused = {test for test, passes in list(self.passes.items()) if not passes}
        limit = self.covered.limit(suites)
        while True:
            failed = first_failure(tree, pattern_of(suites), limit, excused, self.stop)
            if not failed or failed[0] in excused:
                return None
            test, how = failed
            if how in LASTING or first_failure(tree, test, limit, (), self.stop):
                if self._passes_without(test, limit):
                    return failed
            excused.add(test)

    def _passes_without(self, test, limit):
        with self.base_run:
            if test not in self.passes:
                self.passes[test] = not first_failure(self.base, test, limit, (), self.stop)
                if not self.passes[test]:
                    say("  %s fails without a mutation, too: left out" % test)
            return self.passes[test]


def base_tree(suite):
    """The tree without mutations, and the options with which its tests are linked. LeakSanitizer
    does not work where processes may not trace each other: if this suite fails with it, leaks are
    not looked for."""
    tree = Tree("base", TOP)
    for link in [LEAKS], []:
        if os.path.exists(os.path.join(tree.path, TESTS)):
            os.unlink(os.path.join(tree.path, TESTS))
        status, output = tree.make(TESTS, *link)
        if status == 0 and not first_failure(tree, suite + "/*", 60):
            return tree, link
        say("Leaks are not looked for: the tests fail with LeakSanitizer." if link else output)
    sys.exit("The tests fail in a copy of the repository, %s." % tree.path)


def work(sample, judge, tree):
    try:
        while not judge.stop.is_set() and (mutation := sample.next()):
            began = time.monotonic()
            result = judge.result(tree, mutation)
            sample.finished(mutation, time.monotonic() - began, *result)
    except Stopped:
        pass
    except BaseException:
        judge.stop.set()
        raise


def try_sample(chosen, judge):
    """Returns the sample, as far as it was tried."""
    os.makedirs(TREES, exist_ok=True)
    found = chosen_mutations(chosen.files, judge.objects, judge.base.read)
    results = Results(chosen.results, chosen.resume or chosen.again, chosen.again)
    sample = Sample(" ".join(chosen.files) or "all", chosen, found, results)
    trees = [Tree(str(i), judge.base.path) for i in range(chosen.workers)]
    say("%d mutations of %s, seed %d" % (chosen.number, sample.name, chosen.seed))
    with ThreadPoolExecutor(chosen.workers) as pool:
        for worker in [pool.submit(work, sample, judge, tree) for tree in trees]:
            worker.result()
    results.write()
    return sample


def say(text):
    print(text, flush=True)


def summary(rows):
    """Prints it, and returns the share of mutations that were killed."""
    number = lambda *results: sum(row["result"] in results for row in rows)
    killed, survived = number(KILLED), number(SURVIVED)
    hung = sum(row["result"] == KILLED and row["by"].endswith("hung") for row in rows)
    for row in rows:
        if row["result"] == SURVIVED:
            say("survived: {file}:{line} in {function} ({by})\n"
                "    - {before}\n    + {after}".format(**row))
    say("\n%d of %d mutations were killed, %d of them by a time limit; %d survived." % (
        killed, killed + survived, hung, survived))
    say("Besides, %d are equivalent (%d listed, %d with the same machine code), and %d did not "
        "compile." % (
        number(EQUIVALENT), sum(row["by"] == "listed" for row in rows),
        sum(row["by"] == "same machine code" for row in rows), number(INVALID)))
    share = killed / (killed + survived) if killed + survived else 0
    say("%.1f %% were killed; %.0f %% are wanted." % (100 * share, 100 * WANTED))
    return share


def read_source(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def list_all(names):
    for mutation in chosen_mutations(names, objects_by_source(TOP), read_source):
        say("%s:%d in %s (%s)\n- %s\n+ %s" % (mutation.path, mutation.line, mutation.place,
                                              mutation.kind,
                                            mutation.before, mutation.after))


def main():
    chosen = options()
    if chosen.list:
        list_all(chosen.files)
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
    judge = Judge(chosen.longest)
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: judge.stop.set())
    if chosen.minutes:
        timer = threading.Timer(60 * chosen.minutes, judge.stop.set)
        timer.daemon = True
        timer.start()
    sample = try_sample(chosen, judge)
    if judge.stop.is_set():
        say("Stopped early; --resume goes on.")
    share = summary(sample.rows)
    sys.exit(0 if share >= WANTED and not judge.stop.is_set() else 1)


if __name__ == "__main__":
    main()
