/*
 * warnings.c — a document's worst lines as workflow commands, which hosted CI shows beside the
 * source: ::error for findings that are errors, ::warning for others and for counters.
 *
 * Findings come first, in their order; then lines by their bank conflicts and excess sectors.
 */
#include "report.h"
#include "source_path.h"
#include "sums.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WARNINGS = 10, WARNING_TEXT = 1000 };

/* What would end the command is written as %XX; in a property the marks around it, too. */
static void put_escaped(FILE *out, const char *text, bool is_property)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_special =
            c == '%' || c < ' ' || c == 0x7f || (is_property && (c == ':' || c == ','));
        if (is_special)
            fprintf(out, "%%%02X", c);
        else
            fputc(c, out);
    }
}

static void put_command(FILE *out, const struct document *d, const char *level, const char *file,
                        unsigned line, const char *title, const char *message)
{
    char path[PATH_MAX];
    fprintf(out, "::%s ", level);
    if (file != NULL) {
        fputs("file=", out);
        source_path(file, d->root, path);
        put_escaped(out, path, true);
        fprintf(out, ",line=%u,", line);
    }
    fputs("title=", out);
    put_escaped(out, title, true);
    fputs("::", out);
    put_escaped(out, message, false);
    fputc('\n', out);
}

static void put_finding(FILE *out, const struct document *d, const struct emu_finding *f)
{
    char text[2 * WARNING_TEXT];
    snprintf(text, sizeof text, "%s%s%s", f->head, f->detail != NULL ? "\n" : "",
             f->detail != NULL ? f->detail : "");
    put_command(out, d, document_severity_name(f->severity), f->place.file, f->place.line, f->title,
                text);
}

void document_write_warnings(FILE *out, const struct document *d)
{
    size_t count, left = MOST_WARNINGS;
    struct line_sum *worst = worst_lines(d, MOST_WARNINGS, &count);
    for (size_t i = 0; i < d->finding_count && left > 0; i++, left--)
        put_finding(out, d, d->findings[i].finding);
    for (size_t i = 0; i < count && left > 0; i++, left--) {
        char text[WARNING_TEXT];
        describe_line_sum(&worst[i].counts, text, sizeof text);
        put_command(out, d, "warning", worst[i].file, worst[i].line,
                    sum_conflicts(&worst[i].counts) > 0 ? "bank conflicts" : "excess sectors",
                    text);
    }
    free(worst);
}
