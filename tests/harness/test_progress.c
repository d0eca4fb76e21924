/* test_progress.c — what is said of work that takes long while stderr is a file or a pipe. */
#define _DEFAULT_SOURCE /* usleep */
#include "common/harness/print/print.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LONG = 2400000,
    VERY_LONG = 4400000,
    SHORT = 100000
}; /* µs; nothing is said before two seconds */

/* What is printed while `done` of `total` units are done in the given time. */
static const char *said(size_t total, size_t done, useconds_t time)
{
    static char text[500];
    cr_redirect_stderr();
    progress_begin("counting", total);
    progress_at(done);
    usleep(time);
    progress_end();
    fflush(stderr);
    FILE *file = cr_get_redirected_stderr();
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    return text;
}

Test(progress, a_line_says_how_much_is_left)
{
    unsetenv("EMU_PROGRESS");
    const char *text = said(10, 5, LONG);
    cr_expect_str_eq(text, "counting: 50 % after 2 s, about 2 s are left\n");
}

Test(progress, without_a_total_there_is_only_the_time)
{
    unsetenv("EMU_PROGRESS");
    cr_expect_str_eq(said(0, 0, VERY_LONG), "counting for 2 s\n");
}

Test(progress, nothing_is_said_of_short_work)
{
    unsetenv("EMU_PROGRESS");
    cr_expect_str_eq(said(10, 5, SHORT), "");
}

Test(progress, it_can_be_turned_off)
{
    setenv("EMU_PROGRESS", "0", 1);
    cr_expect_str_eq(said(10, 5, LONG), "");
}
