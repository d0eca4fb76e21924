/* sarif.c — a document's lines for editors and code hosts: SARIF, and workflow commands. */
#include "report.h"
#include <ctype.h>

/* ---- SARIF ----------------------------------------------------------------------------------- */

/* A document in the Static Analysis Results Interchange Format (SARIF 2.1.0), which
 * editors and code hosts read: findings as errors and warnings, and the lines with the most bank
 * conflicts and excess sectors as notes.
 *
 * URIs of files in the folder that the program was started in are relative to it. */

enum { TEXT = 4000, URI = 3000, RULE = 100, MOST_NOTES = 100 };

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define ROOT   "SRCROOT"

static const char *const note_rules[] = {"counters/bank-conflicts", "counters/excess-sectors"};

/* ---- rules ----------------------------------------------------------------------------------- */

static void rule_of(const struct emu_finding *f, char rule[RULE])
{
    snprintf(rule, RULE, "%s/%s", document_tool_name(f->tool), f->kind);
}

/* Each finding's rule once; those of the notes stand before them. */
static bool is_first_of_rule(const struct document *d, size_t index)
{
    char rule[RULE], earlier[RULE];
    rule_of(d->findings[index].finding, rule);
    for (size_t i = 0; i < index; i++) {
        rule_of(d->findings[i].finding, earlier);
        if (strcmp(rule, earlier) == 0) return false;
    }
    return true;
}

/* An object with one member. */
static void write_only(struct json *j, const char *key, const char *name, const char *text)
{
    json_open(j, key, '{');
    json_text(j, name, text);
    json_close(j, '}');
}

static void write_tool(struct json *j, const struct document *d)
{
    char rule[RULE];
    json_open(j, "tool", '{');
    json_open(j, "driver", '{');
    json_text(j, "name", "emu");
    json_text(j, "organization", "Upsweep");
    json_open(j, "rules", '[');
    for (size_t i = 0; i < sizeof note_rules / sizeof *note_rules; i++)
        write_only(j, NULL, "id", note_rules[i]);
    for (size_t i = 0; i < d->finding_count; i++) {
        rule_of(d->findings[i].finding, rule);
        if (is_first_of_rule(d, i)) write_only(j, NULL, "id", rule);
    }
    json_close(j, ']');
    json_close(j, '}');
    json_close(j, '}');
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A path as a URI: all but the characters that need no escape as %XX. */
static void make_uri(const char *path, const char *scheme, char uri[URI])
{
    size_t used = (size_t)snprintf(uri, URI, "%s", scheme);
    for (; *path != '\0' && used + 4 < URI; path++) {
        unsigned char c = (unsigned char)*path;
        if (c < 0x80 && (isalnum(c) || strchr("/-._~", c) != NULL))
            uri[used++] = (char)c;
        else
            used += (size_t)snprintf(uri + used, URI - used, "%%%02X", c);
    }
    uri[used] = '\0';
}

static void write_physical(struct json *j, const struct document *d, const char *file,
                           unsigned line)
{
    char uri[URI], path[PATH_MAX];
    source_path(file, d->root, path);
    make_uri(path, *path == '/' ? "file://" : "", uri);
    json_open(j, "physicalLocation", '{');
    json_open(j, "artifactLocation", '{');
    json_text(j, "uri", uri);
    if (*path != '/') json_text(j, "uriBaseId", ROOT);
    json_close(j, '}');
    json_open(j, "region", '{');
    json_number(j, "startLine", line);
    json_close(j, '}');
    json_close(j, '}');
}

static void write_logical(struct json *j, const char *mangled)
{
    char name[TEXT];
    kernel_whole_name(mangled, name, sizeof name);
    json_open(j, "logicalLocations", '[');
    json_open(j, NULL, '{');
    json_text(j, "fullyQualifiedName", name);
    json_text(j, "kind", "function");
    json_close(j, '}');
    json_close(j, ']');
}

/* A place of a finding, in a kernel (NULL: it is not known); `message` NULL: it needs none. */
static void write_location(struct json *j, const struct document *d, const char *kernel,
                           const struct emu_place *place, const char *message)
{
    json_open(j, NULL, '{');
    if (message != NULL) json_number(j, "id", 1);
    if (place->file != NULL) write_physical(j, d, place->file, place->line);
    if (kernel != NULL) write_logical(j, kernel);
    if (message != NULL) write_only(j, "message", "text", message);
    json_close(j, '}');
}

/* ---- results --------------------------------------------------------------------------------- */

static void text_of(const struct emu_finding *f, char *text, size_t size)
{
    bool has_detail = f->detail != NULL;
    snprintf(text, size, "%s%s%s", f->head, has_detail ? "\n" : "", has_detail ? f->detail : "");
}

static void write_finding(struct json *j, const struct document *d, const struct emu_finding *f)
{
    char rule[RULE], text[TEXT];
    rule_of(f, rule);
    text_of(f, text, sizeof text);
    json_open(j, NULL, '{');
    json_text(j, "ruleId", rule);
    json_text(j, "level", document_severity_name(f->severity));
    write_only(j, "message", "text", text);
    json_open(j, "locations", '[');
    if (f->kernel != NULL) write_location(j, d, f->kernel, &f->place, NULL);
    json_close(j, ']');
    if (f->other.is_known) {
        json_open(j, "relatedLocations", '[');
        write_location(j, d, f->other_kernel != NULL ? f->other_kernel : f->kernel, &f->other,
                       f->other.access);
        json_close(j, ']');
    }
    if (f->count > 0) json_number(j, "occurrenceCount", f->count);
    json_close(j, '}');
}

static void write_note(struct json *j, const struct document *d, const struct line_sum *line)
{
    char text[TEXT];
    describe_line_sum(&line->counts, text, sizeof text);
    json_open(j, NULL, '{');
    json_text(j, "ruleId", note_rules[sum_conflicts(&line->counts) == 0]);
    json_text(j, "level", "note");
    write_only(j, "message", "text", text);
    json_open(j, "locations", '[');
    json_open(j, NULL, '{');
    write_physical(j, d, line->file, line->line);
    json_close(j, '}');
    json_close(j, ']');
    json_close(j, '}');
}

static void write_results(struct json *j, const struct document *d)
{
    size_t count;
    struct line_sum *worst = worst_lines(d, MOST_NOTES, &count);
    json_open(j, "results", '[');
    for (size_t i = 0; i < d->finding_count; i++) write_finding(j, d, d->findings[i].finding);
    for (size_t i = 0; i < count; i++) write_note(j, d, &worst[i]);
    json_close(j, ']');
    free(worst);
}

/* A log has a run for each program: an element of its array. */
void sarif_write_part(FILE *out, const struct document *d)
{
    enum { DEPTH_OF_RUNS = 2 };
    struct json j = {.out = out, .depth = DEPTH_OF_RUNS};
    json_open(&j, NULL, '{');
    write_tool(&j, d);
    write_results(&j, d);
    json_close(&j, '}');
}

void sarif_begin(FILE *out, const char *title)
{
    struct json j = {.out = out};
    (void)title;
    json_open(&j, NULL, '{');
    json_text(&j, "$schema", SCHEMA);
    json_text(&j, "version", "2.1.0");
    json_open(&j, "runs", '[');
}

void sarif_end(FILE *out)
{
    struct json j = {.out = out, .depth = 2, .has_value = true};
    json_close(&j, ']');
    json_close(&j, '}');
}

/* ---- workflow commands ----------------------------------------------------------------------- */

/* A document's worst lines as workflow commands, which hosted CI shows beside the
 * source: ::error for findings that are errors, ::warning for others and for counters.
 *
 * Findings come first, in their order; then lines by their bank conflicts and excess sectors. */

enum { MOST_WARNINGS = 10, WARNING_TEXT = 2000 };

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

void document_write_warnings(FILE *out, const struct document *d)
{
    size_t count, left = MOST_WARNINGS;
    char text[WARNING_TEXT];
    struct line_sum *worst = worst_lines(d, MOST_WARNINGS, &count);
    for (size_t i = 0; i < d->finding_count && left > 0; i++, left--) {
        const struct emu_finding *f = d->findings[i].finding;
        text_of(f, text, sizeof text);
        put_command(out, d, document_severity_name(f->severity), f->place.file, f->place.line,
                    f->title, text);
    }
    for (size_t i = 0; i < count && left > 0; i++, left--) {
        describe_line_sum(&worst[i].counts, text, sizeof text);
        put_command(out, d, "warning", worst[i].file, worst[i].line,
                    sum_conflicts(&worst[i].counts) > 0 ? "bank conflicts" : "excess sectors",
                    text);
    }
    free(worst);
}
