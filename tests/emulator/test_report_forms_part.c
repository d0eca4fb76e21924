/*
 * test_report_forms_part.c — the forms of a report for programs, with names that are rare in
 * ordinary programs: names of files that contain the special characters of the form.
 */
#define _GNU_SOURCE /* open_memstream */
#include "common/emu/report/report.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One conflict, at a line of a file whose name is `file`; and a finding there. */
static char *form_of(void (*write)(FILE *, const struct document *), const char *file)
{
    struct emu_line line = {.file = file, .line = 7};
    line.counts.shared_ld = (struct emu_shared){.instructions = 1, .wavefronts = 3, .ideal = 1};
    struct emu_finding finding = {.tool = EMU_CHECK_RACE,
                                  .kind = "read-after-write",
                                  .title = "a: 100 %, \"b\"",
                                  .kernel = "k",
                                  .place = {.is_known = true, .file = file, .line = 7},
                                  .head = "one\ntwo",
                                  .count = 2};
    struct document_launch launch = {
        .record = {.kernel = "k", .agreement = {.text = ""}, .line_count = 1, .lines = &line}};
    struct document_finding found = {.finding = &finding};
    const struct document d = {.program = "p",
                               .gpu = emu_gpu_at(0),
                               .root = "/r",
                               .launches = &launch,
                               .launch_count = 1,
                               .findings = &found,
                               .finding_count = 1};
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    write(out, &d);
    fclose(out);
    return text;
}

static void expect_form(void (*write)(FILE *, const struct document *), const char *file,
                        const char *part)
{
    char *text = form_of(write, file);
    cr_expect(strstr(text, part), "%s is not in\n%s", part, text);
    free(text);
}

Test(report_forms, uris_escape_what_they_must)
{
    expect_form(document_write_sarif, "/r/a b%c\"d,e:f.cu",
                "\"uri\": \"a%20b%25c%22d%2Ce%3Af.cu\"");
    expect_form(document_write_sarif, "/r/\xc3\xa9\xff.cu", "\"uri\": \"%C3%A9%FF.cu\"");
    expect_form(document_write_sarif, "/elsewhere/a.cu", "\"uri\": \"file:///elsewhere/a.cu\"");
    expect_form(document_write_sarif, "/rest/a.cu", "\"uri\": \"file:///rest/a.cu\"");
    expect_form(document_write_sarif, "/r/../x/a.cu", "\"uri\": \"file:///x/a.cu\"}");
    expect_form(document_write_sarif, "../x/a.cu", "\"uri\": \"file:///x/a.cu\"}");
    expect_form(document_write_sarif, "/r/b/../a.cu", "\"uri\": \"a.cu\", \"uriBaseId\"");
    expect_form(document_write_warnings, "/r/b/../a.cu", "::error file=a.cu,line=7,");
}

Test(report_forms, workflow_commands_escape_what_they_must)
{
    expect_form(document_write_warnings, "/r/a%b,c:d\n.cu",
                "::error file=a%25b%2Cc%3Ad%0A.cu,line=7,title=a%3A 100 %25%2C \"b\"::one%0Atwo\n");
    expect_form(document_write_warnings, "/r/a.cu",
                "::warning file=a.cu,line=7,title=bank conflicts::2 bank conflicts: shared memory "
                "takes 3 wavefronts, and 1 would do\n");
}

Test(report_forms, json_escapes_file_names)
{
    expect_form(document_write_json, "/r/a\"\\\x01\x1b\xff\xed\xa0\x80.cu",
                "\"file\": \"/r/a\\\"\\\\\\u0001\\u001b\\ufffd\\ufffd\\ufffd\\ufffd.cu\"");
}

static void expect_path(const char *path, const char *root, const char *expected)
{
    char seen[PATH_MAX];
    source_path(path, root, seen);
    cr_expect_str_eq(seen, expected, "%s in %s is %s, not %s", path, root, seen, expected);
}

Test(report_forms, paths_in_a_folder)
{
    static const char *const cases[][3] = {{"/r/a.cu", "/r", "a.cu"},
                                           {"/r/a.cu", "/r/", "a.cu"},
                                           {"/r//a.cu", "/r", "a.cu"},
                                           {"/rest/a.cu", "/r", "/rest/a.cu"},
                                           {"a.cu", "/r", "a.cu"},
                                           {"/r/a.cu", NULL, "/r/a.cu"},
                                           {"/a.cu", "/", "a.cu"},
                                           {"/r", "/r", "/r"},
                                           {"/r/../x/a.cu", "/r", "/x/a.cu"},
                                           {"/r/./s/../a.cu", "/r", "a.cu"},
                                           {"/x/../r/a.cu", "/r", "a.cu"},
                                           {"../a.cu", "/r/s", "/r/a.cu"},
                                           {"s/./a.cu", "/r", "s/a.cu"},
                                           {"/../..", "/r", "/"},
                                           {"/r/..a/b..cu", "/r", "..a/b..cu"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_path(cases[i][0], cases[i][1], cases[i][2]);
}

/* The folder is real/top, and link is another name of real/top/below. */
Test(report_forms, paths_through_links, .init = command_init, .fini = command_fini)
{
    char path[PATH_MAX], root[PATH_MAX];
    cr_assert_eq(
        run("cd $t && mkdir -p real/top/below && touch real/top/a.cu real/top/below/b.cu &&"
            " ln -s real/top/below link && cd real/top && pwd -P"),
        0);
    snprintf(root, sizeof root, "%.*s", (int)strcspn(output, "\n"), output);
    cr_assert(snprintf(path, sizeof path, "%s/link/../a.cu", folder) < PATH_MAX);
    expect_path(path, root, "a.cu");
    cr_assert(snprintf(path, sizeof path, "%s/link/b.cu", folder) < PATH_MAX);
    expect_path(path, root, "below/b.cu");
}

/* The fields with a | behind each, or "wrong". */
static void expect_fields(const char *line, const char *wanted)
{
    char text[100], seen[200] = "";
    size_t count;
    snprintf(text, sizeof text, "%s", line);
    char **fields = csv_line_split(text, &count);
    for (size_t i = 0; fields != NULL && i < count; i++) {
        strcat(seen, fields[i]);
        strcat(seen, "|");
    }
    cr_expect_str_eq(fields != NULL ? seen : "wrong", wanted, "%s", line);
    free(fields);
}

Test(report_forms, csv_lines)
{
    expect_fields("a,b,c\n", "a|b|c|");
    expect_fields("", "|");
    expect_fields(",\n", "||");
    expect_fields("\"a,b\",\"c\"\"d\",\"\"", "a,b|c\"d||");
    expect_fields("\"a\",b\r\n", "a|b|");
    expect_fields("\"a", "wrong");
    expect_fields("\"a\"b,c", "wrong");
}
