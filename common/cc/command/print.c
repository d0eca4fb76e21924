/* print.c — writes diagnostics. */
#include "print.h"
#include "common/files/visible.h"

#include <string.h>

/* ---- for people ------------------------------------------------------------------------------ */

static const char *const RED = "\033[1;31m", *const YELLOW = "\033[1;33m", *const BOLD = "\033[1m",
                         *const PLAIN = "\033[0m";

static const char *find_line(const char *text, int line)
{
    if (text != NULL && strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; // a mark of UTF-8
    for (; line > 1 && text != NULL; line--) {
        text = strchr(text, '\n');
        if (text != NULL) text++;
    }
    return text;
}

/* The line, and below it a caret and as many ~ as what is wrong is long. Tabs stay tabs. */
static void print_line(FILE *to, const struct cc_diagnostic *d, const char *line)
{
    size_t length = strcspn(line, "\r\n"), before = (size_t)d->column - 1;
    fprintf(to, "%5d | ", d->line);
    for (size_t i = 0, part; i < length; i += part + (i + part < length)) {
        part = strcspn(line + i, "\t\r\n");
        visible_print(to, line + i, part);
        if (i + part < length) fputc('\t', to);
    }
    fprintf(to, "\n      | ");
    for (size_t i = 0; i < before && i < length; i++)
        if ((line[i] & 0xC0) != 0x80) fputc(line[i] == '\t' ? '\t' : ' ', to);
    fputc('^', to);
    for (size_t i = 1; i < (size_t)d->length && before + i < length; i++) fputc('~', to);
    fputc('\n', to);
}

void print_diagnostic(FILE *to, const struct cc_diagnostic *d, const char *text, bool colour)
{
    bool error = d->severity == CC_ERROR;
    visible_print(to, d->file, strlen(d->file));
    fprintf(to, ":%d:%d: %s%s:%s ", d->line, d->column,
            !colour ? ""
            : error ? RED
                    : YELLOW,
            error ? "error" : "warning", colour ? PLAIN : "");
    fputs(colour ? BOLD : "", to);
    visible_print(to, d->text, strlen(d->text));
    fputs(colour ? PLAIN : "", to);
    fputc('\n', to);
    const char *line = find_line(text, d->line);
    if (line != NULL) print_line(to, d, line);
    if (d->hint != NULL) {
        fputs("      = ", to);
        visible_print(to, d->hint, strlen(d->hint));
        fputc('\n', to);
    }
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void print_string(FILE *to, const char *text)
{
    if (text == NULL) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    for (; *text != 0; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", to);
        else if (c < ' ')
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

void print_json(FILE *to, const struct cc_result *result)
{
    fputs("{\"diagnostics\":[", to);
    for (size_t i = 0; i < result->count; i++) {
        const struct cc_diagnostic *d = &result->diagnostics[i];
        fprintf(to, "%s\n{\"severity\":\"%s\",\"file\":", i == 0 ? "" : ",",
                d->severity == CC_ERROR ? "error" : "warning");
        print_string(to, d->file);
        fprintf(to, ",\"line\":%d,\"column\":%d,\"length\":%d,\"text\":", d->line, d->column,
                d->length);
        print_string(to, d->text);
        fputs(",\"hint\":", to);
        print_string(to, d->hint);
        fputc('}', to);
    }
    fputs("]", to);
    if (result->ptx != NULL) {
        fputs(",\n\"ptx\":", to);
        print_string(to, result->ptx);
    }
    fputs("}\n", to);
}
