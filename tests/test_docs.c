/*
 * test_docs.c — README and notes say what the program and profiles/ say: output, tables, links.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT 65536

/* Fills text[TEXT] from a file, or from the standard output and error of a shell command. */
static void slurp(FILE *from, const char *what, char *text)
{
    cr_assert(from != NULL, "cannot read %s", what);
    size_t length = fread(text, 1, TEXT - 1, from);
    cr_assert(length < TEXT - 1, "%s is longer than this test reads", what);
    text[length] = '\0';
}

static char *read_file(const char *path)
{
    static char text[TEXT];
    FILE *file = fopen(path, "r");
    slurp(file, path, text);
    fclose(file);
    return text;
}

/* Returns the exit status as pclose does. */
static int run(const char *command, char *text)
{
    FILE *pipe = popen(command, "r");
    slurp(pipe, command, text);
    return pclose(pipe);
}

/* README begins with what ./step3 prints, but for the times. */
Test(docs, readme_shows_real_output)
{
    static const char fence[] = "```\n", reason[] = " on the CPU: "; /* why not on a GPU */
    static char output[TEXT];
#ifdef __SANITIZE_ADDRESS__
    cr_skip("in this tree the sources are links, so the kernels' lines have other paths");
#endif
    char *block = strstr(read_file("README.md"), fence);
    cr_assert(block != NULL, "README.md shows no output");
    block += strlen(fence);
    char *end = strstr(block, fence);
    cr_assert(end != NULL);
    *end = '\0';
    cr_assert(run("./step3 --device emu 2>&1", output) == 0, "%s", output);

    int lines = 0;
    for (char *line = strtok(block, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (line[0] == '$') continue;
        char *why = strstr(line, reason);
        if (why != NULL) why[strlen(reason) - strlen(": ")] = '\0';
        cr_expect(strstr(output, line) != NULL, "README.md shows \"%s\", which is not in:\n%s",
                  line, output);
        lines++;
    }
    cr_assert(lines >= 10, "README.md shows only %d lines of output", lines);
}

/* The two commands, and a table with a row of every step. */
Test(docs, readme_has_commands_and_steps)
{
    const char *readme = read_file("README.md");
    cr_expect(strstr(readme, "\nmake setup && make step3 && ./step3 ") != NULL);
    cr_expect(strstr(readme, "\nmake test ") != NULL);

    const char *begin = strstr(readme, "<!-- begin steps");
    const char *end = strstr(readme, "<!-- end steps -->");
    cr_assert(begin != NULL && end > begin, "README.md has no region for the table of steps");
    glob_t folders;
    cr_assert(glob("steps/[0-9][0-9]-*", 0, NULL, &folders) == 0);
    for (size_t i = 0; i < folders.gl_pathc; i++) {
        char link[200];
        snprintf(link, sizeof link, "(%s)", folders.gl_pathv[i]);
        const char *row = strstr(begin, link);
        cr_expect(row != NULL && row < end, "README.md's table has no %s", folders.gl_pathv[i]);
    }
    globfree(&folders);
}

Test(docs, tables_and_figures_are_up_to_date)
{
    static char output[TEXT];
    if (run("command -v python3", output) != 0)
        cr_skip("python3 is not installed; profiles/tables.py needs it.");
    cr_expect(run("python3 -B profiles/tables.py --check 2>&1", output) == 0, "%s", output);
    cr_expect(run("python3 -B profiles/plot.py --check 2>&1", output) == 0, "%s", output);
    cr_expect(run("for figures in profiles/draw_*.py; do"
                  "    python3 -B $figures --check 2>&1 || exit 1; done",
                  output) == 0,
              "%s", output);
}

/* The emulator still counts what profiles/emulated holds. */
Test(docs, emulated_counters_are_up_to_date)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("with sanitizers this takes long; the ordinary build runs it.");
#endif
    static char output[TEXT];
    if (run("command -v python3", output) != 0)
        cr_skip("python3 is not installed; profiles/emulated.sh needs it.");
    int status = run("t=$(mktemp -d) && profiles/emulated.sh $t 2>&1 || exit 1;"
                     "toolkits=$(grep -h '^# toolkit' $t/* profiles/emulated/* | sort -u | wc -l);"
                     "diff -r -x diff -x checks.csv -x speed.csv -I '^#' profiles/emulated $t >$t/diff;"
                     "code=$?; head -n 50 $t/diff;"
                     "rm -r $t;"
                     "[ $toolkits = 1 ] || exit 77; exit $code",
                     output);
    if (WEXITSTATUS(status) == 77) cr_skip("profiles/emulated is of another version of nvcc.");
    cr_expect(status == 0, "profiles/emulated.sh writes something else now:\n%s", output);
}

/* Every link into the repository leads somewhere. */
Test(docs, links_lead_somewhere)
{
    static const char *const patterns[] = {"README.md", "notes/*.md", "profiles/*.md"};
    glob_t pages;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        cr_assert(glob(patterns[i], i > 0 ? GLOB_APPEND : 0, NULL, &pages) == 0);

    int links = 0;
    for (size_t i = 0; i < pages.gl_pathc; i++) {
        const char *page = pages.gl_pathv[i], *slash = strrchr(page, '/');
        int folder = slash != NULL ? (int)(slash + 1 - page) : 0;
        for (char *link = read_file(page); (link = strstr(link, "](")) != NULL;) {
            char path[500];
            link += strlen("](");
            int length = (int)strcspn(link, "#)");
            if (length == 0 || strncmp(link, "http", 4) == 0) continue;
            snprintf(path, sizeof path, "%.*s%.*s", folder, page, length, link);
            cr_expect(access(path, F_OK) == 0, "%s links to %s, which does not exist", page, path);
            links++;
        }
    }
    globfree(&pages);
    cr_expect(links > 0);
}

/* Every error in notes/errata.md names a test that exists, and every such test is named there. */
Test(docs, every_erratum_has_a_test)
{
    static char tests[TEXT];
    char name[100], needle[120];
    strcpy(tests, read_file("tests/test_errata.c"));
    char *errata = read_file("notes/errata.md");
    int named = 0, defined = 0;
    for (char *at = errata; (at = strstr(at, "*Test")) != NULL;) {
        char *end = strstr(at, "\n\n");
        for (; (at = strchr(at, '`')) != NULL && at < end; named++) {
            int length = (int)strcspn(++at, "`");
            snprintf(needle, sizeof needle, "Test(errata, %.*s", length, at);
            cr_expect(strstr(tests, needle) != NULL, "errata.md names %s)", needle);
            at += length + 1;
        }
        if (at == NULL || at > end) at = end;
    }
    for (char *at = tests; (at = strstr(at, "\nTest(errata, ")) != NULL; at++, defined++) {
        sscanf(at, "\nTest(errata, %99[a-zA-Z0-9_]", name);
        snprintf(needle, sizeof needle, "`%s`", name);
        cr_expect(strstr(errata, needle) != NULL, "errata.md does not name %s", name);
    }
    cr_expect(named == defined && named > 0, "%d named, %d defined", named, defined);
}
