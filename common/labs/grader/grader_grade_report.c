/*
 * grader_grade_report.c — the report for one student as text.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/files/visible.h"

#include <stdio.h>
#include <string.h>

/* A text of several lines, each of them visible. */
static void print_lines(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        fputs("    ", out);
        visible_print(out, text, length);
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
}

void report_text(FILE *out, const struct report *report)
{
    fputs("Report for ", out);
    visible_print(out, report->submission->name, strlen(report->submission->name));
    fputs(" (", out);
    visible_print(out, report->submission->path, strlen(report->submission->path));
    fputs("), which is called " SOURCE_NAME " below\n\n", out);
    lab_verdict_text(out, report->verdict, SOURCE_NAME);
    if (report->messages[0] == '\0') return;
    fputs("\nThe compiler's messages:\n", out);
    print_lines(out, report->messages);
}
