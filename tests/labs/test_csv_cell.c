/* test_csv_cell.c — no cell of grades.csv is a formula, whatever a spreadsheet splits lines at. */
#define _GNU_SOURCE
#include "common/labs/grader/grader.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;

static void end(void) { free(text); }

TestSuite(csv_cell, .fini = end);

static void expect(const char *content, const char *cell)
{
    free(text);
    FILE *out = open_memstream(&text, &size);
    csv_cell(out, content);
    fclose(out);
    cr_assert_str_eq(text, cell);
}

Test(csv_cell, ordinary_texts_stay_as_they_are)
{
    expect("", "\"\"");
    expect("Zoë O'Neil", "\"Zoë O'Neil\"");
    expect("n = 2: element 1 is -3, not 4; a - b", "\"n = 2: element 1 is -3, not 4; a - b\"");
    expect("say \"hello\"", "\"say \"\"hello\"\"\"");
}

Test(csv_cell, a_formula_at_the_beginning_becomes_a_text)
{
    expect("=1+1", "\"'=1+1\"");
    expect("+1", "\"'+1\"");
    expect("-rf", "\"'-rf\"");
    expect("@SUM(A1)", "\"'@SUM(A1)\"");
    expect("  =1", "\"  '=1\"");
    expect("\xC2\xA0\xE3\x80\x80=1", "\"\xC2\xA0\xE3\x80\x80'=1\"");
    expect("\"=1", "\"\"\"'=1\"");
    expect("\t=1", "\"\\t=1\"");
}

Test(csv_cell, wide_forms_are_formulas_too)
{
    expect("\uFF1D1", "\"'\uFF1D1\"");
    expect("\uFF0B1", "\"'\uFF0B1\"");
    expect("\uFF0D1", "\"'\uFF0D1\"");
    expect("\uFF20A", "\"'\uFF20A\"");
}

/* The quotes do not hold where lines are split at another character than the comma. */
Test(csv_cell, a_formula_behind_any_separator_becomes_a_text)
{
    expect("x;=HYPERLINK(1)", "\"x;'=HYPERLINK(1)\"");
    expect("x; \"=1", "\"x; \"\"'=1\"");
    expect("x,+1", "\"x,'+1\"");
    expect("x|@A1", "\"x|'@A1\"");
    expect("x;;\uFF1D1", "\"x;;'\uFF1D1\"");
    expect("x;y=1", "\"x;y=1\"");
}
