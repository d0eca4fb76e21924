/* document_parts.c — the documents of several programs as one: see report.h. */
#include "writers.h"

static void json_begin(FILE *out, const char *title)
{
    (void)title;
    fputc('[', out);
}

static void json_end(FILE *out) { fputs("\n]\n", out); }

static const struct {
    void (*write)(FILE *, const struct document *);
    void (*begin)(FILE *, const char *title);
    void (*end)(FILE *);
    const char *separator;
} forms[DOCUMENT_FORMS] = {[DOCUMENT_JSON] = {json_write_part, json_begin, json_end, ","},
                           [DOCUMENT_SARIF] = {sarif_write_part, sarif_begin, sarif_end, ","},
                           [DOCUMENT_HTML] = {html_write_part, html_begin, html_end, ""}};

void document_write_part(FILE *out, enum document_form form, const struct document *d)
{
    forms[form].write(out, d);
}

const char *document_separator(enum document_form form) { return forms[form].separator; }

void document_join(FILE *out, enum document_form form, const char *title, const char *parts,
                   size_t length)
{
    forms[form].begin(out, title);
    fwrite(parts, 1, length, out);
    forms[form].end(out);
}

static void write_alone(FILE *out, enum document_form form, const struct document *d)
{
    forms[form].begin(out, d->program);
    forms[form].write(out, d);
    forms[form].end(out);
}

void document_write_sarif(FILE *out, const struct document *d)
{
    write_alone(out, DOCUMENT_SARIF, d);
}

void document_write_html(FILE *out, const struct document *d)
{
    write_alone(out, DOCUMENT_HTML, d);
}
