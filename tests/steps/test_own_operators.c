/*
 * test_own_operators.c — step 16's scan_check_operator finds nothing in the operators of the
 * library, and prints a counterexample for operators that are not associative or have a wrong
 * identity.
 */
#define _GNU_SOURCE
#include "tests/fixtures/fixtures.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(own_operators);

#define NO_LAW   "Not associative: the two ways to combine a, b and c give different results.\n"
#define IDENTITY "Not an identity: to combine a with it changes the result.\n"

static char *said;
static size_t said_bytes;

/* The verdict on an operator, and its words in `said`. */
static bool passes(const char *name)
{
    free(said);
    FILE *to = open_memstream(&said, &said_bytes);
    bool passed = check_own_operator(name, to);
    fclose(to);
    return passed;
}

static void release(void) { free(said); }

Test(own_operators, operators_of_the_library_pass_slow, .fini = release)
{
    static const char *const names[] = {
        "sum f32",       "sum f64",     "sum i32",      "sum i64",           "product f32",
        "product f64",   "product i64", "max f32",      "max i32",           "min f64",
        "min i64",       "xor u32",     "average f32",  "discount f64",      "logsumexp f32",
        "logsumexp f64", "brackets",    "finite sight", "finite affine f32", "finite affine f64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        cr_expect(passes(names[i]), "%s: %s", names[i], said);
        cr_expect_str_eq(said, "");
    }
}

/* Each is reported for the law that it breaks. */
Test(own_operators, wrong_operators_are_reported_slow, .fini = release)
{
    static const struct {
        const char *name;
        bool associative, identity;
    } wrong[] = {{"subtraction f32", false, false},
                 {"subtraction i32", false, false},
                 {"sum of quarters", false, false},
                 {"changes", true, false},
                 {"sum of parts", false, true},
                 {"mean f64", false, false},
                 {"max from 0 f32", true, false},
                 {"max from 0 i64", true, false},
                 {"max without NaN", false, false},
                 {"finite max from afar", true, false},
                 {"finite sight of last", true, false},
                 {"unstable logsumexp", false, false},
                 {"finite affine without product", false, false},
                 {"saturating sum", false, true},
                 {"brackets kept", false, true},
                 {"affine f32", false, false}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_not(passes(wrong[i].name), "%s", wrong[i].name);
        cr_expect_eq(strstr(said, NO_LAW) == NULL, wrong[i].associative, "%s: %s", wrong[i].name,
                     said);
        cr_expect_eq(strstr(said, IDENTITY) == NULL, wrong[i].identity, "%s: %s", wrong[i].name,
                     said);
    }
}

/* Neither is an operator that breaks a law for the elements that it is checked with. */
Test(own_operators, what_the_laws_allow_is_not_reported_slow, .fini = release)
{
    cr_expect(passes("finite affine exchanged"), "%s", said);
    cr_expect(passes("finite sum and product"), "%s", said);
    cr_expect(passes("finite max without NaN"), "%s", said);
}

Test(own_operators, a_counterexample_can_be_checked_by_hand_slow, .fini = release)
{
    cr_expect_not(passes("subtraction i32"));
    const char *found = strstr(said, NO_LAW);
    int a, b, c, first, last;
    cr_assert(found, "%s", said);
    cr_assert_eq(sscanf(found + strlen(NO_LAW),
                        " a: the element %d b: the element %d c: the element %d"
                        " (a ∘ b) ∘ c gives %d a ∘ (b ∘ c) gives %d",
                        &a, &b, &c, &first, &last),
                 5, "%s", said);
    cr_expect_eq(first, a - b - c);
    cr_expect_eq(last, a - (b - c));
    cr_expect_neq(first, last);
}

/* The state that comes before is needed to see the error. */
Test(own_operators, a_counterexample_has_all_that_it_needs_slow, .fini = release)
{
    cr_expect_not(passes("finite affine without product"));
    cr_expect(strstr(said, "  before them: the element ("), "%s", said);
    cr_expect_not(passes("finite sight of last"));
    cr_expect(strstr(said, "  result for:  the element ("), "%s", said);
    cr_expect_not(passes("brackets kept"));
    cr_expect(strstr(said, "  a: the element '{'\n"), "%s", said);
}

/* A program with `using namespace std` before scan.cuh, and its own macros and types. */
Test(own_operators, beside_names_of_the_program_slow, .init = command_init, .fini = command_fini)
{
    expect_status(0, "$emu --log-file /dev/null $p/names");
    expect("right\n");
}

/* A vector of such results has one element. In step 16's kernel for few elements, and in the
 * pipeline. */
Test(own_operators, results_of_16_bytes_in_short_rows_slow)
{
    expect_status(0, "$emu --log-file /dev/null $p/names 8");
    expect_status(0, "$emu --log-file /dev/null $p/names 300001");
}
