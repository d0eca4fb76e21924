/* test_wrapped.c — text in lines that a screen holds. */
#define _GNU_SOURCE
#include "common/files/visible.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect_wrapped(const char *text, int margin, int width, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *memory = open_memstream(&got, &size);
    cr_assert_not_null(memory);
    wrapped_print(memory, text, margin, width);
    fclose(memory);
    cr_expect_str_eq(got, want, "\"%s\" became \"%s\"", text, got);
    free(got);
}

Test(wrapped, lines_are_broken_between_words)
{
    expect_wrapped("one two three", 0, 7, "one two\nthree\n");
    expect_wrapped("one two three", 0, 6, "one\ntwo\nthree\n");
    expect_wrapped("one two three", 0, 13, "one two three\n");
}

Test(wrapped, further_lines_begin_with_the_margin)
{
    expect_wrapped("one two three", 3, 10, "one two\n   three\n");
}

Test(wrapped, blanks_and_newlines_are_one_blank)
{
    expect_wrapped("  one\n  two \n", 0, 80, "one two\n");
    expect_wrapped("", 3, 80, "\n");
}

Test(wrapped, a_word_that_is_too_long_stands_alone)
{
    expect_wrapped("a 1234567890 b", 0, 5, "a\n1234567890\nb\n");
}

Test(wrapped, a_character_of_utf_8_is_one_column)
{
    expect_wrapped("ÄÖÜ äöü", 0, 7, "ÄÖÜ äöü\n");
    expect_wrapped("ÄÖÜ äöü", 0, 6, "ÄÖÜ\näöü\n");
}
