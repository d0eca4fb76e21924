"""test_scripts.py -- tests of the scripts beside it; common/build/test.py runs them."""
import contextlib
import io
import os
import shutil
import sys
import tempfile
import threading
import time
import types
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import mutate  # noqa: E402
import suites  # noqa: E402
import tree  # noqa: E402
from mutations import equivalents, mutations  # noqa: E402

CODE = r'''/* a < b */
#define TWICE(x) (2 * (x))
enum { SIZE = 8 };
static_assert(SIZE > 1, "SIZE - 1");
struct pair { int first[3 + 1], second; };
static const char *const text = "1 + 1"; // 3 == 3
static const int table[SIZE] = {5};
static void give(int *to, int value)
{
    char name[64];
    assert(value < 7);
    if (!value && *to == '0') return;
    *to = value;
    call(to,
         "a, b" /* !value */, value);
}
static const char *find(const char *a, int at) { return at >= 0x1f ? find(a, at) : a; }
'''
SOURCES = {"common/a/size.c": [], "common/b.c": [], "tests/x.c": [], "steps/12-pipeline/y.c": []}


def changes(code):
    return [(m.place, m.before, m.after) for m in mutations("x.c", code)]


class Mutations(unittest.TestCase):
    def test_all_of_a_small_file(self):
        """What is no code that runs has none: comments, strings, assertions, macros, types, arrays'
        sizes."""
        condition = "if (!value && *to == '0') return;"
        call = 'call(to, "a, b" /* !value */, value);'
        one = "static const char *find(const char *a, int at) { return %s; }"
        found = one % "at >= 0x1f ? find(a, at) : a"
        self.assertEqual(sorted(changes(CODE)), sorted([
            ("enum", "enum { SIZE = 8 };", "enum { SIZE = 9 };"),
            ("enum", "enum { SIZE = 8 };", "enum { SIZE = 7 };"),
            ("table", "static const int table[SIZE] = {5};", "static const int table[SIZE] = {6};"),
            ("table", "static const int table[SIZE] = {5};", "static const int table[SIZE] = {4};"),
            ("give", condition, "if (!(!value && *to == '0')) return;"),
            ("give", condition, "if (value && *to == '0') return;"),
            ("give", condition, "if (!value || *to == '0') return;"),
            ("give", condition, "if (!value && *to != '0') return;"),
            ("give", condition, "if (!value && *to == '0') {}"),
            ("give", "*to = value;", "{}"), ("give", "*to = value;", "return;"),
            ("give", call, "{}"), ("give", call, "return;"),
            ("find", found, one % "at < 0x1f ? find(a, at) : a"),
            ("find", found, one % "at > 0x1f ? find(a, at) : a"),
            ("find", found, one % "at >= 0x20 ? find(a, at) : a"),
            ("find", found, one % "at >= 0x1e ? find(a, at) : a"),
            ("find", found, one % "at >= 0x1f ? find(at, a) : a"), ("find", found, one % "0")]))

    def test_what_is_compared_with_0_may_be_exchanged(self):
        code = "int f(int a) { return %s; }"
        swapped = lambda call: [after for _, before, after in changes(code % call)
                                if "(b, a" in after or "(a, n, b" in after]
        self.assertEqual(len(swapped("strcmp(a, b)")), 1)
        self.assertEqual(swapped("!strcmp(a, b) || memcmp(a, b) == 0"), [])
        self.assertEqual(len(swapped("!strncmp(a, b, n)")), 1)

    def test_lines_keep_their_numbers(self):
        for mutation in mutations("x.c", CODE):
            self.assertEqual(mutation.applied(CODE).count("\n"), CODE.count("\n"), mutation.name())

    def test_each_file_of_the_repository_can_be_read_slow(self):
        found = mutate.chosen_mutations([], tree.objects_by_source(tree.TOP), mutate.read_source)
        self.assertGreater(len({mutation.path for mutation in found}), 100)
        for mutation in found:
            self.assertNotEqual(mutation.before, mutation.after, mutation.name())

    def test_a_seed_gives_the_same_ones(self):
        found = mutations("x.c", CODE)
        some = lambda seed: [mutation.name() for mutation in mutate.drawn(found, seed)]
        self.assertEqual(some(1), some(1))
        self.assertNotEqual(some(1), some(2))
        moved = mutations("x.c", "int more(int a) { return a + 2; }\n" + CODE)
        both = [name for name in some(1) if name in {mutation.name() for mutation in moved}]
        self.assertEqual(both, [mutation.name() for mutation in mutate.drawn(moved, 1)
                                if mutation.place != "more"])
        self.assertEqual(sorted(some(1)), sorted(mutation.name() for mutation in found))

    def test_equivalent_ones_have_reasons(self):
        for key, reason in equivalents().items():
            self.assertGreater(len(reason), 10, key)

    def test_files_are_chosen_by_name_folder_or_function(self):
        found = lambda names: mutate.chosen_mutations(names, SOURCES, lambda _: CODE)
        chosen = lambda *names: {mutation.path for mutation in found(names)}
        self.assertEqual(chosen("size.c"), {"common/a/size.c"})
        self.assertEqual(chosen("common/b.c", "common/a/"), {"common/a/size.c", "common/b.c"})
        self.assertEqual(chosen(), set(SOURCES) - {"tests/x.c"})
        of_file = mutate.chosen_mutations(["size.c", "common/a"], SOURCES, lambda _: CODE)
        self.assertEqual(len(of_file), len(changes(CODE)))
        of_function = mutate.chosen_mutations(["size.c:find"], SOURCES, lambda _: CODE)
        self.assertEqual({mutation.place for mutation in of_function}, {"find"})
        self.assertRaises(SystemExit, chosen, "none.c")
        self.assertRaises(SystemExit, chosen, "size.c:none")


class Options(unittest.TestCase):
    def test_help(self):
        with contextlib.redirect_stdout(io.StringIO()) as said, \
                self.assertRaises(SystemExit) as ended:
            mutate.options(["--help"])
        self.assertEqual(ended.exception.code, 0)
        self.assertIn("95 % of these mutations", said.getvalue())

    def test_numbers_are_at_least_1(self):
        for wrong in ["--number", "0"], ["--workers", "0"]:
            with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                mutate.options(wrong)
            self.assertEqual(ended.exception.code, 2)


class Folder(unittest.TestCase):
    def setUp(self):
        self.path = tempfile.mkdtemp(prefix="upsweep-mutation-")
        self.addCleanup(shutil.rmtree, self.path)

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path


class Runs(Folder):
    """build/tests/run is a shell script here, which writes what Criterion does."""

    def first_failure(self, script, excused=(), limit=60, stop=None):
        self.write("build/tests/run", "#!/bin/sh\n" + script, 0o755)
        return suites.first_failure(self, "a/*", limit, excused, stop)

    def test_results(self):
        passed = "echo '[RUN ] a::x'; echo '[PASS] a::x: (0.00s)'\n"
        failed = "echo '[RUN ] a::y'; echo '[FAIL] a::y: (0.00s)'\n"
        crashed = "echo '[RUN ] a::z'; echo '[CRASH] a::z: (0.00s)'\n"
        self.assertIsNone(self.first_failure(passed))
        self.assertEqual(self.first_failure(passed + failed + "exit 1"), ("a/y", "failed"))
        self.assertEqual(self.first_failure(passed + crashed), ("a/z", "crashed"))
        self.assertEqual(self.first_failure(failed + crashed, {"a/y"}), ("a/z", "crashed"))
        self.assertIsNone(self.first_failure(failed + "exit 1", {"a/y"}))
        self.assertEqual(self.first_failure("touch ${LSAN_OPTIONS##*log_path=}.123"),
                         ("a/*", "leaked"))
        self.assertIsNone(self.first_failure("touch ${LSAN_OPTIONS##*log_path=}.123", {"a/*"}))
        for status in "127", "1":
            self.assertEqual(self.first_failure("exit " + status),
                             ("the beginning of the tests", "crashed"))
        self.assertEqual(self.first_failure("echo '[RUN ] a::y'; kill -9 $$"), ("a/y", "crashed"))

    def test_results_of_bats(self):
        output = self.write("output", "1..2\nok 1 a\nnot ok 2 b is (not) c\n# why\n")
        self.assertEqual(suites.read_events(output, (), "x.bats"),
                         (("x.bats: b is (not) c", "failed"), None, True))
        self.assertEqual(suites.read_events(output, {"x.bats: b is (not) c"}, "x.bats"),
                         (None, None, True))
        self.assertEqual(suites.command_of("x.bats: b is (not) c"),
                         ["bats", "--tap", "x.bats", "--filter", r"^b\ is\ \(not\)\ c$"])

    def test_results_of_unittest(self):
        output = self.write("output", "test_a (test_x.X.test_a)\nof a ... ok\n"
                            "ERROR: setUpClass (test_x.Y)\nFAIL: test_b (test_x.Y.test_b)\n")
        self.assertEqual(suites.read_events(output, (), "t/test_x.py"),
                         (("t/test_x.py: setUpClass", "failed"), None, True))
        self.assertEqual(suites.read_events(output, {"t/test_x.py: setUpClass"}, "t/test_x.py"),
                         (("t/test_x.py: test_b", "failed"), None, True))
        path = self.write("t/test_x.py", "import unittest\n\n\nclass X(unittest.TestCase):\n"
                          "    def test_c(self):\n        self.fail()\n")
        os.makedirs(os.path.join(self.path, "build"))
        for pattern in path, path + ": test_c":
            self.assertEqual(suites.first_failure(self, pattern, 60), (path + ": test_c", "failed"))

    def test_a_failure_ends_the_run(self):
        began = time.monotonic()
        self.assertEqual(self.first_failure("echo '[FAIL] a::y: (0.00s)'; sleep 60"),
                         ("a/y", "failed"))
        self.assertLess(time.monotonic() - began, 30)

    def test_what_hangs_is_ended_with_all_its_processes(self):
        marker = os.path.join(self.path, "goes on")
        script = "echo '[RUN ] a::y'; (sleep 3; touch '%s') & sleep 60" % marker
        self.assertEqual(self.first_failure(script, limit=1), ("a/y", "hung"))
        time.sleep(2.5)
        self.assertFalse(os.path.exists(marker))

    def test_a_run_can_be_stopped(self):
        stop = threading.Event()
        stop.set()
        self.assertRaises(suites.Stopped, self.first_failure, "sleep 60", stop=stop)


class Trees(Folder):
    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, tree, "TREES", tree.TREES)
        tree.TREES = os.path.join(self.path, "build", "mutate")

    def test_a_copy_becomes_equal_again(self):
        for path in ("Makefile", "common/x.c", "build/x.o", "build/mutate/own", "build/cuda/nvcc",
                     "step3", ".git/x"):
            self.write(path, path)
        copy = tree.Tree("copy", self.path)
        self.assertEqual(set(tree.files_below(copy.path)),
                         {"Makefile", "common/x.c", "build/x.o", "step3"})
        self.assertTrue(os.path.exists(os.path.join(copy.path, "build/cuda/nvcc")))
        copy.write("common/x.c", "mutated")
        copy.write("build/new.o", "")
        os.unlink(os.path.join(copy.path, "build/x.o"))
        copy.restore()
        self.assertEqual(tree.files_below(copy.path), tree.files_below(self.path))
        self.assertEqual(copy.read("common/x.c"), "common/x.c")

    def test_a_build_that_hangs_is_ended_with_all_its_processes(self):
        marker = os.path.join(self.path, "goes on")
        self.write("Makefile", "x:\n\t@echo begins; (sleep 3; touch '%s') & sleep 60\n" % marker)
        copy = tree.Tree("copy", self.path)
        self.assertEqual(copy.make("x", limit=1), (tree.HUNG, "begins\n"))
        time.sleep(2.5)
        self.assertFalse(os.path.exists(marker))
        self.assertNotEqual(copy.make("y")[0], 0)


class Covered(Folder):
    def covered(self, text):
        return suites.Covered(self.write("covered", text))

    def test_suites_of_a_function(self):
        covered = self.covered("# comment\na: 3.0\nb: 1.5\nc: 2.0\nx.c f: a b\nx.c g: a c\n"
                               "other/x.c h: a b c\nt/s.bats: 0.5\n"
                               "other/x.c k: c t/s.bats\nother/x.c m: t/s.bats\n")
        self.assertEqual(covered.suites("x.c", "f"), ["b", "a"])
        self.assertEqual(covered.suites("x.c", "g"), ["c", "a"])
        self.assertEqual(covered.suites("x.c", "not listed"), ["b", "c", "a"])
        self.assertEqual(covered.suites("other/x.c", "h"), ["b", "c", "a"])
        self.assertEqual(covered.suites("other/x.c", "k"), ["c", "t/s.bats"])
        self.assertEqual(covered.suites("other/x.c", "m"), ["t/s.bats"])
        self.assertEqual(covered.suites("other/y.c", "f"), ["b", "c", "a", "t/s.bats"])
        self.assertEqual(covered.suites("none/z.c", "f"), [])

    def test_quick_suites_run_at_once(self):
        covered = self.covered("a: 0.2\nb: 0.2\nc: 0.2\nd: 9.0\ns.bats: 0.1\n")
        self.assertEqual(covered.batches(["a", "b", "c", "s.bats", "d"]),
                         [["a", "b"], ["c"], ["s.bats"], ["d"]])


class Samples(Folder):
    """A mutation survives here if its line is in `lucky`, and does not compile if it is a
    return."""

    def try_all(self, number, lucky=(), stop_after=None, code=CODE, **again):
        results = mutate.Results(os.path.join(self.path, "result.csv"), bool(again),
                                 again.get("again"))
        sample = mutate.Sample("x.c", types.SimpleNamespace(seed=1, number=number),
                               mutations("x.c", code), results)
        tried = []
        while stop_after != len(tried) and (mutation := sample.next()):
            tried.append(mutation.name())
            result = mutate.INVALID if mutation.kind == "return" else (
                mutate.SURVIVED if mutation.line in lucky else mutate.KILLED)
            sample.finished(mutation, 0, result, "a/x failed")
        return tried, sample.rows

    def setUp(self):
        super().setUp()
        self.addCleanup(setattr, mutate, "say", mutate.say)
        mutate.say = lambda text: None

    def test_the_wanted_number_is_tried(self):
        _, rows = self.try_all(12)
        self.assertEqual(sum(row["result"] in mutate.COUNTED for row in rows), 12)

    def test_a_sample_cut_off_goes_on(self):
        whole, _ = self.try_all(10)
        first, _ = self.try_all(10, stop_after=4)
        rest, rows = self.try_all(10, resume=True)
        self.assertEqual(first + rest, whole)
        self.assertEqual(len(rows), len(whole))

    def test_survivors_are_tried_again(self):
        _, rows = self.try_all(10, lucky={12})
        survived = sum(row["result"] == mutate.SURVIVED for row in rows)
        self.assertGreater(survived, 0)
        tried, rows = self.try_all(10, again=True)
        self.assertEqual(len(tried), survived)
        self.assertEqual(sum(row["result"] == mutate.KILLED for row in rows), 10)

    def test_results_stay_where_other_code_changes(self):
        first, _ = self.try_all(12, lucky={12})
        changed = "int more(int a) { return a + 2; }\n"
        changed += CODE.replace("*to = value", "to[1] = value")
        tried, rows = self.try_all(12, code=changed, resume=True)
        self.assertTrue(tried)
        self.assertFalse({mutation[1:] for mutation in tried} & {name[1:] for name in first})
        self.assertNotIn("*to = value;", {row["before"] for row in rows})
        with open(os.path.join(self.path, "result.csv"), encoding="utf-8") as file:
            self.assertNotIn("*to = value", file.read())


if __name__ == "__main__":
    unittest.main()
