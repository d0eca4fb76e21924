/* Step 16's descriptor: a scan with any associative operator, of sequences of any lengths. */
#include "common/files/allocated.h"
#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include "request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An address for arrays that no kernel reads or writes. */
#define NOWHERE ((size_t)1 << 20)

/* The buffer of results is displaced by multiples of this: the widest result. */
#define WIDEST_RESULT sizeof(double)

static void *open_request(void)
{
    struct request *r = allocated(calloc(1, sizeof *r));
    *r = (struct request){.op = OP_MAX, .along = -1};
    return r;
}

/* ---- calls of the library -------------------------------------------------------------------- */

static struct upsweep_scan_options options_for_scan(const struct request *r)
{
    return (struct upsweep_scan_options){
        .inclusive = r->inclusive,
        .reverse = r->reverse,
        .row = r->rows && r->along == 1 ? r->columns : 0,
        .columns = r->rows && r->along == 0 ? r->columns : 0,
        .kind = r->kind,
        .heads = r->heads_on_device.data,
        .count = r->kind == UPSWEEP_HEADS_OFFSETS ? r->head_count : 0,
        .initial = r->initial ? &r->initial_value : NULL,
    };
}

static cudaError_t run(const struct request *r, const struct upsweep_scan_options *options,
                       size_t *bytes, const struct call *c)
{
    const struct scan_call call = {.workspace = c->workspace,
                                   .bytes = bytes,
                                   .out = c->out,
                                   .in = c->in,
                                   .second = r->second_on_device.data,
                                   .n = c->n,
                                   .keep = r->keep,
                                   .take = r->take,
                                   .eye = r->eye,
                                   .options = options,
                                   .stream = c->stream};
    if (!r->partners) return r->function->call(&call);
    return scan_bracket_partners(c->workspace, bytes, c->out, c->in, c->n, c->stream);
}

/* The heads may not be there yet, and are not read. */
static size_t workspace(const struct request *r, size_t n)
{
    struct upsweep_scan_options options = options_for_scan(r);
    size_t bytes = 0;
    options.heads = (void *)NOWHERE;
    return run(r, &options, &bytes, &(struct call){.n = n}) ? 0 : bytes;
}

static cudaError_t launch(const struct subject *s, const struct call *c)
{
    struct upsweep_scan_options options = options_for_scan(s->self);
    size_t bytes = workspace(s->self, c->n);
    return run(s->self, &options, &bytes, c);
}

/* ---- the result ------------------------------------------------------------------------------ */

static size_t result_bytes(const struct request *r) { return element_size(r->result); }

static struct needs needs(const struct subject *s, size_t n)
{
    const struct request *r = s->self;
    return (struct needs){.result = n * result_bytes(r),
                          .result_element = WIDEST_RESULT,
                          .workspace = workspace(r, n),
                          .own = operators_own_bytes(r, n)};
}

static void judge(const struct subject *s, const struct problem *problem, const void *out,
                  struct verdict *verdict)
{
    operators_judge(s->self, problem, out, verdict);
}

static int write(const struct subject *s, const struct input *input, const void *out,
                 struct fault *fault)
{
    const struct request *r = s->self;
    return output_array(s->options->output, r->result, out, input->n, fault);
}

/* Every array once. */
static double least_bytes(const struct request *r, size_t n)
{
    size_t each = element_size(r->element) + r->function->second + result_bytes(r);
    return (double)n * (double)each + (double)r->head_bytes;
}

/* Each character goes through a scan, a kernel that makes its depth a level, a sort of the levels
 * with their indices, and a kernel that makes partners. The sort has a pass for each byte of the
 * greatest level. */
static double partners_moved_bytes(const struct request *r, size_t n,
                                   const struct launches *launches)
{
    bool resident = launches_have(launches, "sort_resident"); /* keys stay from pass to pass */
    double scan = 1 + 4, levels = 1 + 4 + 4, partners = 1 + 4 + 4 + 4, sort = 4 + 8;
    size_t most = resident ? 0 : r->found.greatest >> 8;
    if (launches_have(launches, "count_digits")) sort += 4; /* digits are counted before */
    for (; most > 0; most >>= 8) sort += 8 + 8;
    return (double)n * (scan + levels + partners + sort);
}

/* Without the states of tiles. Offsets become bits: these are cleared, set and read. A bit that is
 * set is counted as a word that is read and written. */
static double moved_bytes(const struct request *r, size_t n, const struct launches *launches)
{
    bool offsets = r->kind == UPSWEEP_HEADS_OFFSETS;
    double bits = offsets ? (double)n / 4 + 8 * (double)r->head_count : 0;
    return r->partners ? partners_moved_bytes(r, n, launches) : least_bytes(r, n) + bits;
}

/* ---- what the report says -------------------------------------------------------------------- */

/* Of numbers of a single file the harness says what they are. */
static void about_input(const struct request *r, const struct options *o, char *text, size_t size)
{
    bool characters = r->plain == OP_BRACKETS;
    const char *paths[] = {o->input, r->second};
    char elements[100];
    if (o->input && !characters && !r->second) return;
    snprintf(elements, sizeof elements, "%s %s%s", format_count(r->n).s,
             characters ? "character" : element_words(r->element, r->n).s,
             characters ? plural(r->n) : "");
    if (!o->input) {
        snprintf(text, size, "%s: %s, seed %llu", elements, operator_facts[r->op].random,
                 (unsigned long long)o->seed);
        return;
    }
    size_t used = (size_t)snprintf(text, size, "%s", elements);
    for (int i = 0; i < 2 && paths[i] && used < size; i++) {
        char name[120];
        visible(name, sizeof name, strcmp(paths[i], "-") ? paths[i] : "stdin");
        used += (size_t)snprintf(text + used, size - used, i ? " and %s" : " from %s", name);
    }
}

static void about_shape(const struct request *r, char *text, size_t size)
{
    size_t count = r->along ? r->rows : r->columns, each = r->along ? r->columns : r->rows;
    size_t every = r->every ? r->every : EVERY_DEFAULT;
    char length[80] = "each of 1 element";
    if (r->rows) {
        snprintf(text, size, "%s %s%s of %s element%s", format_count(count).s,
                 r->along ? "row" : "column", plural(count), format_count(each).s, plural(each));
        return;
    }
    if (every > 1)
        snprintf(length, sizeof length, "about one in %s elements", format_count(every).s);
    if (r->kind == UPSWEEP_HEADS_NONE)
        snprintf(text, size, "one sequence");
    else
        snprintf(text, size, "sequences by %s, %s", head_names[r->kind], length);
}

static void about_operator(const struct request *r, char *text, size_t size)
{
    char shape[120], keep[40] = "";
    if (r->partners) {
        snprintf(text, size, "partners of brackets; all kinds count as one");
        return;
    }
    about_shape(r, shape, sizeof shape);
    if (r->plain == OP_EMA || r->plain == OP_DISCOUNT)
        snprintf(keep, sizeof keep, " keeping %g", r->keep);
    snprintf(text, size, "%s%s of %s, %s, %s, %s", operator_facts[r->op].name, keep,
             r->plain == OP_BRACKETS ? "characters" : element_plural(r->element), shape,
             r->reverse ? "in reverse" : "forwards", r->inclusive ? "inclusive" : "exclusive");
}

/* Depths or pairs, and then where the text first goes wrong. */
static void about_brackets(const struct request *r, char *text, size_t size)
{
    const struct findings *f = &r->found;
    struct text_place at = f->closing_at, from = f->opening_at;
    char count[60], mixed[120] = "", end[100] = "every bracket is closed";
    snprintf(count, sizeof count, r->partners ? "%s pair%s of brackets; " : "greatest depth %s; ",
             format_count(r->partners ? f->pairs : f->greatest).s, plural(f->pairs));
    if (f->mixed)
        snprintf(mixed, sizeof mixed,
                 "line %zu, column %zu: %c closes %c of line %zu, column %zu%s", at.line, at.column,
                 f->mixed_closing, f->mixed_opening, from.line, from.column, f->wrong ? "; " : "");
    if (f->wrong)
        snprintf(end, sizeof end, "line %zu, column %zu closes a bracket that is not open",
                 f->wrong_at.line, f->wrong_at.column);
    else if (f->mixed)
        *end = '\0';
    else if (f->open)
        snprintf(end, sizeof end, "%s bracket%s left open at the end", format_count(f->open).s,
                 plural(f->open));
    if (f->greatest == 0 && !f->wrong)
        snprintf(text, size, "no brackets");
    else
        snprintf(text, size, "%.40s%.95s%.60s", count, mixed, end);
}

static void describe(const struct subject *s, size_t n, struct description *d)
{
    const struct request *r = s->self;
    size_t visible = r->found.visible;
    d->least_bytes = least_bytes(r, n);
    d->moved_bytes = moved_bytes(r, n, d->launches);
    about_input(r, s->options, d->input, sizeof d->input);
    about_operator(r, d->variant, sizeof d->variant);
    if (r->plain == OP_SIGHT)
        snprintf(d->result, sizeof d->result, "%s of %s point%s %s visible",
                 format_count(visible).s, format_count(n).s, plural(n),
                 visible == 1 || n == 1 ? "is" : "are");
    if (r->plain == OP_BRACKETS) about_brackets(r, d->result, sizeof d->result);
}

static size_t files(const void *self, struct own_file files[OWN_FILES])
{
    files[0] = (struct own_file){"--second", ((const struct request *)self)->second, false};
    return 1;
}

/* Random numbers suit the operator. */
static const char *const unused[] = {"real", "in-place", NULL};

static const struct verbs verbs = {
    .open = open_request,
    .close = operators_close,
    .files = files,
    .plan = operators_plan,
    .input = operators_input,
    .needs = needs,
    .launch = launch,
    .judge = judge,
    .write = write,
    .describe = describe,
    .experiment = "16-rates",
    .unused = unused,
    .files_help = "Operators: sum, product, max, min, xor, logsumexp, affine (h = a h + b), ema "
                  "and discount\n"
                  "(h = keep h + take x), segmented-sum, segmented-max, brackets, line-of-sight.\n"
                  "Files: 1-D .npy or text, as in the other steps; brackets takes any text.\n",
};

const struct step step16 = {
    .number = 16,
    .name = "operators",
    .title = "Any associative operator",
    .teaches = "a scan needs no more than an associative operator and its identity",
    .default_n = 1 << 20,
    .element = ELEMENT_F32,
    .clear_workspace = true,
    .options = operators_options,
    .verbs = &verbs,
};
