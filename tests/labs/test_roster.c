/* test_roster.c — the names of a class, and whose submission is whose. */
#define _GNU_SOURCE
#include "common/labs/grader/grader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/upsweep-roster-XXXXXX";
static struct roster roster;
static struct fault fault;

static void begin(void) { close(mkstemp(path)); }

static void end(void)
{
    roster_end(&roster);
    unlink(path);
}

TestSuite(roster, .init = begin, .fini = end);

static int read_text(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    roster_end(&roster);
    return roster_read(path, &roster, &fault);
}

static void expect(const char *submission, const char *name)
{
    size_t at = roster_find(&roster, submission);
    cr_assert_str_eq(at == roster.count ? "nobody" : roster.names[at], name);
}

Test(roster, one_name_a_line)
{
    cr_assert_eq(read_text("\uFEFFAnna Berg\r\n\n# 2026\n  Zoë \nBob"), 0);
    cr_assert_eq(roster.count, 3);
    cr_assert_str_eq(roster.names[0], "Anna Berg");
    cr_assert_str_eq(roster.names[1], "Zoë");
    cr_assert_str_eq(roster.names[2], "Bob");
}

Test(roster, an_identifier_stands_after_a_tab)
{
    cr_assert_eq(read_text("Anna Berg \t a@x.org \t7\nBob\nZo\u00eb\tBob Z\n"), 0);
    cr_assert_str_eq(roster.names[0], "Anna Berg");
    cr_assert_str_eq(roster.identifiers[0], "a@x.org ");
    cr_assert_str_eq(roster.identifiers[1], "Bob");
    cr_assert_str_eq(roster.identifiers[2], "Bob Z");
    cr_assert_eq(read_text("Anna\t7\nBob\t7\n"), EXIT_USAGE);
    cr_assert(strstr(fault.text, "line 2") && strstr(fault.text, "\"7\""), "%s", fault.text);
}

Test(roster, a_submission_belongs_to_the_longest_name_that_it_begins_with)
{
    cr_assert_eq(read_text("Anna\nAnna Berg\nbergb\nZo\n"), 0);
    expect("Anna", "Anna");
    expect("Anna Berg", "Anna Berg");
    expect("Anna Berg_123_assignsubmission_file", "Anna Berg");
    expect("Anna_7_assignsubmission_file_", "Anna");
    expect("Anna Bergmann_7_assignsubmission_file", "nobody");
    expect("bergb_LATE_123_456_lab3-1", "bergb");
    expect("bergb2", "nobody");
    expect("Annabel", "nobody");
    expect("Zoë", "nobody");
    expect("", "nobody");
}

Test(roster, what_is_wrong_is_said)
{
    cr_assert_eq(read_text("Anna\nBob\nAnna\n"), EXIT_USAGE);
    cr_assert(strstr(fault.text, "line 3 of ") != NULL, "%s", fault.text);
    cr_assert_eq(read_text("# nothing\n\n"), EXIT_USAGE);
    cr_assert(strstr(fault.text, "holds no name") != NULL, "%s", fault.text);
    cr_assert_eq(roster_read("/nowhere", &roster, &fault), EXIT_USAGE);
    cr_assert_eq(roster_read("/tmp", &roster, &fault), EXIT_USAGE);
    cr_assert(strstr(fault.text, "/tmp cannot be read") != NULL, "%s", fault.text);
}

/* \u0308 is two dots over the letter before it, and \u030A a ring. */
Test(roster, names_that_look_alike)
{
    static const struct {
        const char *student, *submission;
        bool alike;
    } pairs[] = {
        {"\u00c5sa \u00d6berg", "A\u030asa O\u0308berg_1_assignsubmission_file", true},
        {"A\u030asa", "\u00c5sa", true},
        {"M\u00dcLLER Jan", "M\u00fcller_jan", true},
        {"Anna Berg", "anna-berg", true},
        {"Ph\u1ea1m", "Pha\u0323m", true},
        {"Anna", "Annabel", false},
        {"Anna Berg", "Anna", false},
        {"\u674e\u660e", "\u738b\u82b3", false},
        {"M\u00fcller", "Muller", false},
        {"a\xff", "a\xfe", false},
        {"a\xe2\x82", "a\xe2", false},
        {"", "", false},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        cr_expect_eq(roster_looks_alike(pairs[i].student, pairs[i].submission), pairs[i].alike,
                     "%s and %s", pairs[i].student, pairs[i].submission);
}
