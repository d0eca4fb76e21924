/*
 * test_visible.c — printing any bytes safely, and in lines that a screen holds.
 */
#define _GNU_SOURCE
#include "common/files/fault.h"
#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "tests/support/command.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text in lines that a screen holds ------------------------------------------------------- */

Test(wrapped, lines_are_broken_between_words)
{
    static const struct {
        const char *text;
        int margin, width;
        const char *want;
    } rows[] = {
        {"one two three", 0, 7, "one two\nthree\n"},
        {"one two three", 0, 6, "one\ntwo\nthree\n"},
        {"one two three", 0, 13, "one two three\n"},
        {"one two three", 3, 10, "one two\n   three\n"}, /* further lines begin with the margin */
        {"  one\n  two \n", 0, 80, "one two\n"},
        {"", 3, 80, "\n"},
        {"a 1234567890 b", 0, 5, "a\n1234567890\nb\n"},
        {"ÄÖÜ äöü", 0, 7, "ÄÖÜ äöü\n"}, /* a character of UTF-8 is one column */
        {"ÄÖÜ äöü", 0, 6, "ÄÖÜ\näöü\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char got[100] = "";
        FILE *memory = fmemopen(got, sizeof got, "w");
        wrapped_print(memory, rows[i].text, rows[i].margin, rows[i].width);
        fclose(memory);
        cr_expect_str_eq(got, rows[i].want, "\"%s\" became \"%s\"", rows[i].text, got);
    }
}

/* ---- names with control characters or with bytes that are not UTF-8 -------------------------- */

/* What a terminal gets, and what a reader of JSON or CSV gets. */

TestSuite(visible, .init = command_init, .fini = command_fini, .timeout = 60);

static const struct {
    const char *raw, *shown, *json;
} cases[] = {
    {"plain", "plain", "plain"},
    {"", "", ""},
    {"\033[31m", "\\x1b[31m", "\\u001b[31m"},
    {"a\nb\tc\rd", "a\\nb\\tc\\rd", "a\\u000ab\\u0009c\\u000dd"},
    {"\177\001", "\\x7f\\x01", "\\u007f\\u0001"},
    {"µ 2²⁴ 😀 漢", "µ 2²⁴ 😀 漢", "µ 2²⁴ 😀 漢"},
    {"\302\205\302\233", "\\u0085\\u009b", "\\u0085\\u009b"},           /* C1: a line's end, CSI */
    {"\342\200\256gpj.exe", "\\u202egpj.exe", "\\u202egpj.exe"},        /* right to left */
    {"\342\200\250\357\273\277", "\\u2028\\ufeff", "\\u2028\\ufeff"},   /* a line, a mark */
    {"\363\240\200\201", "\\ue0001", "\\udb40\\udc01"},                 /* a tag */
    {"\377a\200", "\\xffa\\x80", "\\ufffda\\ufffd"},                    /* no first byte */
    {"\303", "\\xc3", "\\ufffd"},                                       /* it ends too early */
    {"\303(\342\202x", "\\xc3(\\xe2\\x82x", "\\ufffd(\\ufffd\\ufffdx"}, /* it goes on wrongly */
    {"\300\257\340\200\257", "\\xc0\\xaf\\xe0\\x80\\xaf",               /* too many bytes */
     "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"},
    {"\355\240\200\364\220\200\200", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80", /* no characters */
     "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"},
};
enum { CASES = sizeof cases / sizeof *cases };

Test(visible, text)
{
    for (size_t i = 0; i < CASES; i++) {
        char shown[100], whole[100] = "";
        visible(shown, sizeof shown, cases[i].raw);
        cr_expect_str_eq(shown, cases[i].shown);
        FILE *file = fmemopen(whole, sizeof whole, "w");
        visible_print(file, cases[i].raw, strlen(cases[i].raw));
        fclose(file);
        cr_expect_str_eq(whole, cases[i].shown);
    }
}

/* A name that is too long is cut between characters. */
Test(visible, text_that_is_cut)
{
    static const struct {
        const char *raw;
        size_t size;
        const char *shown;
    } cut[] = {
        {"abc", 4, "abc"}, {"abc", 3, "ab"},       {"aµ", 4, "aµ"}, {"aµ", 3, "a"},
        {"a\033", 5, "a"}, {"a\033", 6, "a\\x1b"}, {"a", 1, ""},
    };
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        char shown[20];
        visible(shown, cut[i].size, cut[i].raw);
        cr_expect_str_eq(shown, cut[i].shown);
    }
}

Test(visible, json)
{
    for (size_t i = 0; i < CASES; i++) {
        char got[200] = "", want[200];
        FILE *file = fmemopen(got, sizeof got, "w");
        record_json_string(file, cases[i].raw);
        fclose(file);
        snprintf(want, sizeof want, "\"%s\"", cases[i].json);
        cr_expect_str_eq(got, want);
    }
}

/* ---- output of programs ---------------------------------------------------------------------- */

/* Fails on bytes below 32 except line ends, on bytes that are not UTF-8, and on control
 * characters. */
static void expect_only_text(const char *command)
{
    for (const char *at = output; *at;) {
        uint32_t character;
        size_t length = visible_decode(at, &character);
        cr_assert(length > 0 && (character == '\n' || !visible_is_control(character)),
                  "%s prints byte %02x at %.40s", command, (unsigned char)*at, at);
        at += length;
    }
}

/* The shell's $n is a name that no terminal should get. */
#define NAME "n=$(printf '\\033[31m\\377\\302\\233\\342\\200\\256\\t\\nx,\"y\\\\z'); "

/* Sentences of programs, each with the name in it. fail() and what the emulator has in its place
 * serve all options. */
Test(visible, sentences_of_programs)
{
    static const char *const commands[] = {
        "./step1 --input \"$t/$n.txt\"", /* a word with such characters */
        "./step1 --output \"$t/none/$n\"",
        "EMU_TRACE=\"$t/none/$n\" ./step3",
        "cp step1 \"$t/1$n\"; ln -s $PWD/build $t/build; \"$t/1$n\" --n 0",
        SIDE_BY_SIDE " --steps \"$n\" --n 1",
        "build/experiments/02-in-place \"--$n\"",
        "$emu \"$n\"",
        "$emu --gpu \"$n\" $p/shared",
        "$emu --log-file \"$t/none/$n\" $p/shared",
    };
    run(NAME "touch \"$t/$n\"; printf '1 \\302\\2332\\342\\200\\256' >\"$t/$n.txt\"");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        int status = run(NAME "{ %s; } 2>&1", commands[i]);
        cr_expect(status == 2, "%s: exit status %d: %s", commands[i], status, output);
        cr_expect(strchr(output, '\n') == output + strlen(output) - 1, "%s: %s", commands[i],
                  output);
        expect_only_text(commands[i]);
    }
}

/* Reports, of a file with such a name, and of a program. */
Test(visible, reports)
{
    static const char *const options[] = {"", "--json", "--csv"};
    run(NAME "seq 8 >\"$t/$n\"");
    for (int i = 0; i < 3; i++) {
        expect_status(0, NAME "./step3 --input \"$t/$n\" %s 2>&1", options[i]);
        expect_only_text(options[i]);
        expect(i == 1   ? "\\u001b[31m\\ufffd\\u009b\\u202e\\u0009\\u000ax,\\\"y\\\\z"
               : i == 2 ? "\\x1b[31m\\xff\\u009b\\u202e\\t\\nx,\"\"y\\z\","
                        : "\\x1b[31m\\xff\\u009b\\u202e\\t\\nx,\"y\\z");
        if (i == 2) cr_expect_eq(strchr(strchr(output, '\n') + 1, '\n')[1], '\0', "%s", output);
    }
    static const char *const reports[] = {"", "--csv", "--per-line", "--per-line --csv"};
    run(NAME "cp $p/shared \"$t/program$n\"");
    for (int i = 0; i < 4; i++) {
        expect_status(0, NAME "$emu %s \"$t/program$n\" 2>&1", reports[i]);
        expect_only_text(reports[i]);
        if (i < 2) expect("program\\x1b[31m\\xff");
    }
}
