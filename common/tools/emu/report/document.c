/* document.c — the document of a run: several as one, sums over launches, names of source files. */
#define _XOPEN_SOURCE 700 /* realpath, strdup */
#include "report.h"
#include <inttypes.h>

/* ---- paths of source files ------------------------------------------------------------------- */

/* The length of a folder's path without the slashes at its end. */
static size_t length_of(const char *root)
{
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/') length--;
    return length;
}

bool source_path_is_in(const char *path, const char *root)
{
    size_t length = length_of(root);
    return strncmp(path, root, length) == 0 && path[length] == '/';
}

/* The file system says which file it is, also behind a symbolic link. */
void source_path(const char *path, const char *root, char *seen)
{
    char whole[PATH_MAX], real[PATH_MAX];
    bool is_whole = *path == '/';
    if (root == NULL || snprintf(whole, sizeof whole, "%s%s%s", is_whole ? "" : root,
                                 is_whole ? "" : "/", path) >= (int)sizeof whole) {
        snprintf(seen, PATH_MAX, "%s", path);
        return;
    }
    const char *shown = realpath(whole, real) != NULL ? real : whole;
    if (source_path_is_in(shown, root)) shown += length_of(root) + 1;
    snprintf(seen, PATH_MAX, "%s", shown);
}

/* ---- the document ---------------------------------------------------------------------------- */

static void copy_lines(struct emu_launch_record *to, const struct emu_launch_record *from)
{
    struct emu_line *lines = allocated(malloc((from->line_count + 1) * sizeof *lines));
    to->lines = lines;
    to->line_count = from->line_count;
    for (size_t i = 0; i < from->line_count; i++) {
        lines[i] = from->lines[i];
        lines[i].file = allocated(strdup(lines[i].file));
    }
}

static void copy_operations(struct emu_launch_record *to, const struct emu_launch_record *from)
{
    struct emu_operation *all = allocated(malloc((from->operation_count + 1) * sizeof *all));
    if (from->operation_count > 0)
        memcpy(all, from->operations, from->operation_count * sizeof *all);
    to->operations = all;
    to->operation_count = from->operation_count;
}

void document_add_launch(struct document *d, const struct document_launch *launch,
                         const struct emu_launch_record *record)
{
    static const struct emu_launch_record nothing;
    d->launches = grown(d->launches, d->launch_count, sizeof *d->launches);
    struct document_launch *new = &d->launches[d->launch_count++];
    *new = *launch;
    if (record != NULL) new->record = *record;
    new->record.kernel = allocated(strdup(new->record.kernel));
    if (record == NULL) return;
    if (record->launched_by) new->record.launched_by = allocated(strdup(record->launched_by));
    new->record.agreement.text = allocated(strdup(record->agreement.text));
    copy_lines(&new->record, d->omits_lines ? &nothing : record);
    copy_operations(&new->record, d->omits_operations ? &nothing : record);
}

void document_add_finding(struct document *d, int device, const struct emu_finding *finding)
{
    d->findings = grown(d->findings, d->finding_count, sizeof *d->findings);
    d->findings[d->finding_count++] = (struct document_finding){device, finding};
}

void document_free(struct document *d)
{
    for (size_t i = 0; i < d->launch_count; i++) {
        struct emu_launch_record *r = &d->launches[i].record;
        for (size_t k = 0; k < r->line_count; k++) free((char *)r->lines[k].file);
        free((char *)r->kernel);
        free((char *)r->launched_by);
        free((char *)r->agreement.text);
        free((struct emu_line *)r->lines);
        free((struct emu_operation *)r->operations);
    }
    free(d->launches);
    free(d->findings);
    *d = (struct document){0};
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *document_tool_name(enum emu_check tool)
{
    return tool == EMU_CHECK_MEMORY ? "memcheck"
           : tool == EMU_CHECK_RACE ? "racecheck"
           : tool == EMU_CHECK_INIT ? "initcheck"
           : tool == EMU_CHECK_SYNC ? "synccheck"
                                    : "order";
}

const char *document_severity_name(enum emu_severity severity)
{
    return severity == EMU_FINDING_ERROR     ? "error"
           : severity == EMU_FINDING_WARNING ? "warning"
                                             : "note";
}

/* ---- the documents of several programs as one: see report.h ---------------------------------- */

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

/* ---- sums over launches ---------------------------------------------------------------------- */

_Static_assert(sizeof(struct emu_counts) % sizeof(uint64_t) == 0, "emu_counts: uint64_t only");

void sum_add(struct emu_counts *to, const struct emu_counts *counts)
{
    uint64_t sum[sizeof *to / sizeof(uint64_t)], more[sizeof *to / sizeof(uint64_t)];
    memcpy(sum, to, sizeof sum);
    memcpy(more, counts, sizeof more);
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++) sum[i] += more[i];
    memcpy(to, sum, sizeof sum);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    return files != 0 ? files : x->line < y->line ? -1 : x->line > y->line;
}

/* The lines of all launches, one after the other. */
static struct line_sum *all_lines(const struct document *d, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < d->launch_count; i++) *count += d->launches[i].record.line_count;
    struct line_sum *lines = allocated(malloc((*count + 1) * sizeof *lines));
    size_t at = 0;
    for (size_t i = 0; i < d->launch_count; i++)
        for (size_t k = 0; k < d->launches[i].record.line_count; k++) {
            const struct emu_line *line = &d->launches[i].record.lines[k];
            lines[at++] = (struct line_sum){line->file, line->line, line->counts};
        }
    return lines;
}

struct line_sum *line_sums(const struct document *d, size_t *count)
{
    size_t all, kept = 0;
    struct line_sum *lines = all_lines(d, &all);
    qsort(lines, all, sizeof *lines, by_place);
    for (size_t i = 0; i < all; i++)
        if (kept > 0 && by_place(&lines[kept - 1], &lines[i]) == 0)
            sum_add(&lines[kept - 1].counts, &lines[i].counts);
        else
            lines[kept++] = lines[i];
    *count = kept;
    return lines;
}

/* ---- kernels --------------------------------------------------------------------------------- */

struct kernel_sum *kernel_sums(const struct document *d, size_t *count)
{
    struct kernel_sum *kernels = allocated(calloc(d->launch_count + 1, sizeof *kernels));
    *count = 0;
    for (size_t i = 0; i < d->launch_count; i++) {
        struct kernel_sum kernel = {.launches = 0};
        size_t at = 0;
        kernel_base_name(d->launches[i].record.kernel, kernel.name, sizeof kernel.name);
        while (at < *count && strcmp(kernels[at].name, kernel.name) != 0) at++;
        if (at == *count) kernels[(*count)++] = kernel;
        if (d->launches[i].error != NULL) continue;
        kernels[at].launches++;
        sum_add(&kernels[at].counts, &d->launches[i].record.total);
    }
    return kernels;
}

/* ---- what is bad about memory accesses ------------------------------------------------------- */

uint64_t sum_wavefronts(const struct emu_counts *c)
{
    return c->shared_ld.wavefronts + c->shared_st.wavefronts + c->shared_atom.wavefronts +
           c->shared_copy.wavefronts;
}

static uint64_t ideal(const struct emu_counts *c)
{
    return c->shared_ld.ideal + c->shared_st.ideal + c->shared_atom.ideal + c->shared_copy.ideal;
}

uint64_t sum_conflicts(const struct emu_counts *c) { return sum_wavefronts(c) - ideal(c); }

uint64_t sum_sectors(const struct emu_counts *c)
{
    return c->global_ld.sectors + c->global_st.sectors + c->global_atom.sectors +
           c->global_red.sectors;
}

static uint64_t excess(const struct emu_global *g)
{
    enum { SECTOR_BYTES = 32 };
    uint64_t needed = (g->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    return g->sectors > needed ? g->sectors - needed : 0;
}

uint64_t sum_excess_sectors(const struct emu_counts *c)
{
    return excess(&c->global_ld) + excess(&c->global_st) + excess(&c->global_atom) +
           excess(&c->global_red);
}

static uint64_t instructions(const struct emu_counts *c) { return c->instructions; }
static uint64_t barriers(const struct emu_counts *c) { return c->barriers; }

const struct line_column line_columns[LINE_COLUMNS] = {
    {"PTX inst.", "warp instructions of PTX", instructions, false},
    {"wavefronts", "of shared memory", sum_wavefronts, false},
    {"conflicts", "wavefronts beyond the ideal", sum_conflicts, true},
    {"sectors", "of global memory", sum_sectors, false},
    {"excess", "sectors beyond those that the bytes would fill", sum_excess_sectors, true},
    {"barriers", "warp instructions that are barriers", barriers, false}};

static uint64_t badness(const struct line_sum *l)
{
    return sum_conflicts(&l->counts) + sum_excess_sectors(&l->counts);
}

static int by_badness(const void *a, const void *b)
{
    uint64_t x = badness(a), y = badness(b);
    return x != y ? (x > y ? -1 : 1) : by_place(a, b);
}

struct line_sum *worst_lines(const struct document *d, size_t most, size_t *count)
{
    struct line_sum *lines = line_sums(d, count);
    qsort(lines, *count, sizeof *lines, by_badness);
    if (*count > most) *count = most;
    while (*count > 0 && badness(&lines[*count - 1]) == 0) (*count)--;
    return lines;
}

void describe_line_sum(const struct emu_counts *c, char *text, size_t size)
{
    uint64_t conflicts = sum_conflicts(c), sectors = sum_excess_sectors(c);
    int used = 0;
    *text = '\0';
    if (conflicts > 0)
        used = snprintf(text, size,
                        "%" PRIu64 " bank conflicts: shared memory takes %" PRIu64
                        " wavefronts, and %" PRIu64 " would do",
                        conflicts, sum_wavefronts(c), ideal(c));
    if (sectors > 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 "%s%" PRIu64 " excess sectors: global memory moves %" PRIu64
                 " sectors, and the bytes fill %" PRIu64,
                 used > 0 ? "; " : "", sectors, sum_sectors(c), sum_sectors(c) - sectors);
}
