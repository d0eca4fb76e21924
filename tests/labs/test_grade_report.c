/* test_grade_report.c — nothing of a submission reaches a browser or a terminal as it is. */
#define _GNU_SOURCE
#include "common/labs/grader/grader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVIL "<script>&\"'\x1b[31m\xff"

static struct lab_verdict verdict;
static struct grader grader;
static struct submission submission = {.name = EVIL, .path = EVIL ".cu", .id = "id"};
static char *text;
static size_t text_size;

/* A verdict with evil texts; line 2 of the source has lost points. */
static void begin(void)
{
    verdict.lab = lab_find(3);
    verdict.status = VERDICT_JUDGED;
    verdict.points = 12.5;
    verdict.most = 100;
    verdict.cases = verdict.right_cases = 20;
    verdict.size_count = 1;
    verdict.sizes[0].n = 64;
    snprintf(verdict.sizes[0].wrong, VERDICT_TEXT, "wrong " EVIL);
    verdict.line_count = 2;
    for (size_t i = 0; i < verdict.line_count; i++) {
        verdict.lines[i].lost = 3 + (double)i;
        verdict.lines[i].line = 2;
        verdict.lines[i].chapter = "notes/03-work-efficient.md";
        snprintf(verdict.lines[i].text, VERDICT_TEXT, "reason %zu " EVIL, i);
    }
    strcpy(verdict.lines[0].file, SOURCE_NAME);
    strcpy(verdict.lines[1].file, EVIL);
}

static void end(void) { free(text); }

TestSuite(grade_report, .init = begin, .fini = end);

static void print(void (*report)(FILE *, const struct report *), const char *source)
{
    const struct report all = {.grader = &grader,
                               .submission = &submission,
                               .verdict = &verdict,
                               .messages = "message " EVIL "\n",
                               .source = source,
                               .source_size = strlen(source)};
    FILE *out = open_memstream(&text, &text_size);
    report(out, &all);
    fclose(out);
}

static void expect(const char *part)
{
    cr_assert(strstr(text, part) != NULL, "no %s in %s", part, text);
}

static void expect_nothing_evil(void)
{
    cr_assert(strchr(text, '\x1b') == NULL, "%s", text);
    cr_assert(strchr(text, '\xff') == NULL, "%s", text);
}

Test(grade_report, a_page_escapes_all_texts)
{
    print(report_html, "line one\n\tif (a < b) " EVIL "\r\n");
    expect_nothing_evil();
    cr_assert(strstr(text, "<script") == NULL, "%s", text);
    expect("&lt;script&gt;&amp;&quot;&#39;\\x1b[31m\\xff");
    expect("<span id=\"line1\"><i>1</i>line one</span>");
    expect("<span id=\"line2\" class=\"lost\"><i>2</i>    if (a &lt; b) &lt;script&gt;");
    expect("<a href=\"#line2\">line 2</a>: 3.00 points");
    cr_assert(strstr(text, "\\r") == NULL, "%s", text);
}

Test(grade_report, a_page_without_sizes_has_no_table_of_them)
{
    print(report_html, "");
    expect("bank conflicts</th>");
    free(text);
    verdict.size_count = 0;
    print(report_html, "");
    cr_assert(strstr(text, "bank conflicts</th>") == NULL, "%s", text);
}

/* Places in other files than the submission mark nothing. */
Test(grade_report, claims_of_other_files_mark_nothing)
{
    print(report_html, "one\ntwo\n");
    expect("<b>3.00 points");
    cr_assert(strstr(text, "<b>4.00 points") == NULL, "%s", text);
}

Test(grade_report, a_text_is_safe_for_a_terminal)
{
    print(report_text, "");
    expect_nothing_evil();
    expect("Report for <script>&\"'\\x1b[31m\\xff");
    expect("    message <script>&\"'\\x1b[31m\\xff\n");
    expect("reason 0 ");
}

Test(grade_report, a_row_has_the_greatest_loss_as_its_reason)
{
    FILE *out = open_memstream(&text, &text_size);
    csv_verdict(out, &verdict);
    fclose(out);
    cr_assert_str_eq(text, "12.50,100.00,20,20,0.0000,0.0000,0.0000,0.0000,"
                           "\"reason 1 <script>&\"\"'\\x1b[31m\\xff\"");
}
