"""test_mutations.py -- tests of mutations.py; common/build/test.py runs them."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from mutations import mutations  # noqa: E402

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
            self.assertEqual(mutation.applied(CODE).count("\n"), CODE.count("\n"), mutation.after)


if __name__ == "__main__":
    unittest.main()
