/* test_roster.c — the names of a class, and whose submission is whose. */
#define _GNU_SOURCE
#include "common/labs/grader/roster.h"

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
