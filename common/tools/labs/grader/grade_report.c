/*
 * grade_report.c — the report for one student, as text and as a page, and the folders to give
 * back.
 */
#define _GNU_SOURCE
#include "grader.h"
#include "common/files/visible.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what an instructor has to know of a submission before its points are used --------------- */

/* Separates one sentence from the next. */
static void next(FILE *out, bool *first)
{
    if (!*first) fputs("; ", out);
    *first = false;
}

static bool same_student(const struct grader *grader, const struct submission *left,
                         const struct submission *right)
{
    size_t owner = roster_find(&grader->roster, left->name);
    if (owner < grader->roster.count) return owner == roster_find(&grader->roster, right->name);
    return strcmp(left->name, right->name) == 0;
}

void print_note(FILE *out, const struct grader *grader, const struct submission *list, size_t count,
                size_t of)
{
    bool first = true;
    if (state_is_later(grader, &list[of])) {
        next(out, &first);
        fputs("handed in again after a report that shows the sizes and inputs of this seed", out);
    }
    for (size_t i = 0; i < count; i++) {
        if (i == of || !same_student(grader, &list[i], &list[of])) continue;
        next(out, &first);
        fprintf(out, "%s is of the same student", list[i].path);
    }
    if (roster_find(&grader->roster, list[of].name) < grader->roster.count ||
        grader->roster.count == 0)
        return;
    next(out, &first);
    fputs("not on the roster", out);
}

/* ---- the report for one student as text ------------------------------------------------------ */

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

/* ---- the report for one student as a page that needs no other file --------------------------- */

/*
 * The report for one student as a page that needs no other file, with our copy of
 * the source and marks on the lines that cost points.
 *
 * All that comes from the submission passes put() or put_source(), which leave nothing that a
 * browser obeys. The page forbids scripts and other files as well.
 */

enum { TAB = 4 };

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<style>\n"
    "body { font: 16px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }\n"
    "table { border-collapse: collapse; } td, th { padding: 0.1em 0.8em; text-align: right; }\n"
    "th { border-bottom: 1px solid; } td.text, th.text { text-align: left; }\n"
    "pre { background: #f6f6f6; padding: 1em 0; overflow-x: auto; } pre span { display: block; }\n"
    "pre i { display: inline-block; width: 4em; text-align: right; margin-right: 1em;"
    " color: #767676; font-style: normal; }\n"
    "pre .lost { background: #fff0c0; } pre b { display: block; margin-left: 5em;"
    " color: #a00000; white-space: normal; }\n"
    "</style>\n";

/* Visible bytes, with HTML's own characters escaped. */
static void put_bytes(FILE *out, const char *bytes, size_t length)
{
    char *visible_text;
    size_t size;
    FILE *to = open_memstream(&visible_text, &size);
    if (to == NULL) abort();
    visible_print(to, bytes, length);
    fclose(to);
    for (size_t i = 0; i < size; i++) {
        char byte = visible_text[i];
        if (byte == '<')
            fputs("&lt;", out);
        else if (byte == '>')
            fputs("&gt;", out);
        else if (byte == '&')
            fputs("&amp;", out);
        else if (byte == '"')
            fputs("&quot;", out);
        else if (byte == '\'')
            fputs("&#39;", out);
        else
            fputc(byte, out);
    }
    free(visible_text);
}

static void put(FILE *out, const char *text) { put_bytes(out, text, strlen(text)); }

/* ---- the table ------------------------------------------------------------------------------- */

static void put_pair(FILE *out, uint64_t own, uint64_t expected)
{
    fprintf(out, "<td>%" PRIu64 "</td><td>%" PRIu64 "</td>", own, expected);
}

static void put_sizes(FILE *out, const struct lab_verdict *verdict)
{
    if (verdict->size_count == 0) return;
    fputs("<table>\n<tr><th></th><th colspan=\"2\">additions</th>"
          "<th colspan=\"2\">bank conflicts</th><th colspan=\"2\">sectors</th><th></th><th></th>"
          "</tr>\n<tr><th>n</th><th>yours</th><th>solution</th><th>yours</th><th>solution</th>"
          "<th>yours</th><th>solution</th><th>findings</th><th class=\"text\">result</th></tr>\n",
          out);
    for (size_t i = 0; i < verdict->size_count; i++) {
        const struct verdict_size *size = &verdict->sizes[i];
        fprintf(out, "<tr><td>%zu</td>", size->n);
        put_pair(out, size->adds, size->expected_adds);
        put_pair(out, size->conflicts, size->expected_conflicts);
        put_pair(out, size->sectors, size->expected_sectors);
        fprintf(out, "<td>%" PRIu64 "</td><td class=\"text\">", size->errors);
        put(out, size->right ? "right" : size->wrong);
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
}

/* ---- lost points ----------------------------------------------------------------------------- */

static bool is_in_source(const struct verdict_line *line)
{
    return line->line != 0 && strcmp(line->file, SOURCE_NAME) == 0;
}

static void put_lost(FILE *out, const struct verdict_line *line)
{
    fprintf(out, "%.2f points, ", line->lost);
    put(out, lab_criterion_name(line->criterion));
    fputs(": ", out);
    put(out, line->text);
    if (line->chapter == NULL) return;
    fputs(" See ", out);
    put(out, line->chapter);
    fputc('.', out);
}

static void put_lines(FILE *out, const struct lab_verdict *verdict)
{
    if (verdict->line_count == 0) return;
    fputs("<h2>Lost points</h2>\n<ul>\n", out);
    for (size_t i = 0; i < verdict->line_count; i++) {
        fputs("<li>", out);
        if (is_in_source(&verdict->lines[i]))
            fprintf(out, "<a href=\"#line%u\">line %u</a>: ", verdict->lines[i].line,
                    verdict->lines[i].line);
        put_lost(out, &verdict->lines[i]);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

/* ---- the source ------------------------------------------------------------------------------ */

static void put_marks(FILE *out, const struct lab_verdict *verdict, unsigned number)
{
    for (size_t i = 0; i < verdict->line_count; i++) {
        if (!is_in_source(&verdict->lines[i]) || verdict->lines[i].line != number) continue;
        fputs("<b>", out);
        put_lost(out, &verdict->lines[i]);
        fputs("</b>", out);
    }
}

static bool is_marked(const struct lab_verdict *verdict, unsigned number)
{
    for (size_t i = 0; i < verdict->line_count; i++)
        if (is_in_source(&verdict->lines[i]) && verdict->lines[i].line == number) return true;
    return false;
}

/* A line of the source, with blanks for its tabs and without a carriage return at its end. */
static void put_source(FILE *out, const char *line, size_t length)
{
    while (length > 0 && line[length - 1] == '\r') length--;
    for (size_t column = 0, at = 0; at < length;) {
        size_t part = 0;
        while (at + part < length && line[at + part] != '\t') part++;
        put_bytes(out, line + at, part);
        column += part;
        at += part;
        if (at == length) return;
        fprintf(out, "%*s", (int)(TAB - column % TAB), "");
        column += TAB - column % TAB;
        at++;
    }
}

static void put_listing(FILE *out, const struct report *report)
{
    const char *at = report->source, *end = at + report->source_size;
    if (at == end) return;
    fputs("<h2>The source</h2>\n<pre>", out);
    for (unsigned number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline == NULL ? end : newline;
        fprintf(out, "<span id=\"line%u\"%s><i>%u</i>", number,
                is_marked(report->verdict, number) ? " class=\"lost\"" : "", number);
        put_source(out, at, (size_t)(stop - at));
        put_marks(out, report->verdict, number);
        fputs("</span>", out);
        at = newline == NULL ? end : newline + 1;
    }
    fputs("</pre>\n", out);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_points(FILE *out, const struct lab_verdict *verdict)
{
    fprintf(out, "<p><strong>%.2f of %.2f points</strong>", verdict->points, verdict->most);
    if (verdict->cases > 0)
        fprintf(out, "; %u of %u runs are right. Full points for each part are multiplied by that",
                verdict->right_cases, verdict->cases);
    for (int i = 0; verdict->cases > 0 && i < LAB_CRITERIA; i++)
        fprintf(out, "%s %s %.2f of %.2f", i == 0 ? ":" : ",", lab_criterion_name(i),
                verdict->fraction[i] * verdict->weight[i], verdict->weight[i]);
    fputs(".</p>\n", out);
    if (verdict->failure[0] == '\0' || verdict->line_count > 0) return;
    fputs("<p>", out);
    put(out, verdict->failure);
    fputs("</p>\n", out);
}

void report_html(FILE *out, const struct report *report)
{
    const struct lab_verdict *verdict = report->verdict;
    fputs(head, out);
    fprintf(out, "<title>Lab %d: ", verdict->lab->number);
    put(out, report->submission->name);
    fprintf(out, "</title>\n</head>\n<body>\n<h1>Lab %d, ", verdict->lab->number);
    put(out, verdict->lab->title);
    fputs(": ", out);
    put(out, report->submission->name);
    fputs("</h1>\n", out);
    put_points(out, verdict);
    put_sizes(out, verdict);
    put_lines(out, verdict);
    if (report->messages[0] != '\0') {
        fputs("<h2>The compiler's messages</h2>\n<pre>", out);
        for (const char *at = report->messages; *at != '\0';) {
            size_t length = strcspn(at, "\n");
            put_bytes(out, at, length);
            fputc('\n', out);
            at += length + (at[length] == '\n');
        }
        fputs("</pre>\n", out);
    }
    put_listing(out, report);
    fputs("</body>\n</html>\n", out);
}

/* ---- a folder for each student with the report, to be given back ----------------------------- */

/*
 * The folders are called as the submissions are, since programs for courses take feedback under
 * these names.
 */

enum { MODE = 0777, REPORT_BYTES = 64 << 20 };

static bool is_empty(DIR *entries)
{
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) return false;
    return true;
}

int return_check(const char *folder, struct fault *fault)
{
    DIR *entries = opendir(folder);
    if (entries == NULL && errno == ENOENT) return 0;
    if (entries == NULL)
        return fail(fault, EXIT_USAGE, "the folder %s cannot be read: %s", folder, strerror(errno));
    bool empty = is_empty(entries);
    closedir(entries);
    if (empty) return 0;
    return fail(fault, EXIT_USAGE, "%s is not empty: give a new folder by --return", folder);
}

static int make_folder(const char *path, struct fault *fault)
{
    if (mkdir(path, MODE) == 0 || errno == EEXIST) return 0;
    return fail(fault, EXIT_USAGE, "the folder %s cannot be made: %s", path, strerror(errno));
}

static int copy(const struct grader *grader, const struct submission *submission,
                enum state_file which, const char *to, struct fault *fault)
{
    char from[PATH_MAX];
    size_t size;
    state_path(grader, submission, which, from);
    char *bytes = state_read(from, REPORT_BYTES, &size);
    if (bytes == NULL) return fail(fault, EXIT_USAGE, "%s cannot be read", from);
    int code = state_write(to, bytes, size, fault);
    free(bytes);
    return code;
}

static bool has_twin(const struct submission *list, size_t count, size_t of)
{
    for (size_t i = 0; i < count; i++)
        if (i != of && strcmp(list[i].name, list[of].name) == 0) return true;
    return false;
}

/* If a student has handed in NAME.cu and a folder NAME, the reports' own names differ. */
static int give_back(const struct grader *grader, const char *folder, bool by_id,
                     const struct submission *submission, struct fault *fault)
{
    char path[PATH_MAX], to[PATH_MAX + 16];
    if (snprintf(path, sizeof path, "%s/%s", folder, by_id ? submission->id : submission->name) >=
        PATH_MAX)
        return fail(fault, EXIT_USAGE, "the name of %s/%s is too long", folder, submission->name);
    int code = make_folder(path, fault);
    snprintf(to, sizeof to, "%s/report.html", path);
    if (code == 0) code = copy(grader, submission, FILE_HTML, to, fault);
    snprintf(to, sizeof to, "%s/report.txt", path);
    return code != 0 ? code : copy(grader, submission, FILE_TEXT, to, fault);
}

int return_reports(const struct grader *grader, const char *folder, const struct submission *list,
                   size_t count, struct fault *fault)
{
    int code = make_folder(folder, fault);
    for (size_t i = 0; code == 0 && i < count; i++)
        code = give_back(grader, folder, has_twin(list, count, i), &list[i], fault);
    return code;
}
