/* results_made.c — makes results as run-lab would write them, without running anything. */
#include "results_made.h"

#include <stdlib.h>
#include <string.h>

enum { WARP = 32, SECTOR_FLOATS = 8, LINE = 42 };

/* The exclusive scan of a case's input, as the words of the output. */
static uint32_t *scan_of(const struct lab_case *c)
{
    float *in = malloc(c->n * sizeof *in), sum = 0;
    uint32_t *out = malloc(c->n * sizeof *out);
    lab_input(c, in);
    for (size_t i = 0; i < c->n; i++) {
        memcpy(&out[i], &sum, sizeof sum);
        sum += in[i];
    }
    free(in);
    return out;
}

/* The elements greater than 0, and their number as word n. Nothing is written between them. */
static uint32_t *kept_of(const struct lab_case *c)
{
    float *in = malloc(c->n * sizeof *in);
    uint32_t *out = malloc(lab_output_words(c) * sizeof *out), count = 0;
    lab_input(c, in);
    memset(out, 0xFF, c->n * sizeof *out);
    for (size_t i = 0; i < c->n; i++)
        if (in[i] > 0) memcpy(&out[count++], &in[i], sizeof *in);
    out[c->n] = count;
    free(in);
    return out;
}

void make_operation(struct lab_case_result *r, const char *name, enum emu_class work_class,
                    uint64_t elements)
{
    r->operations = realloc(r->operations, (r->operation_count + 1) * sizeof *r->operations);
    struct lab_operation *o = &r->operations[r->operation_count++];
    memset(o, 0, sizeof *o);
    strcpy(o->name, name);
    o->work_class = work_class;
    o->lanes = o->elements = elements;
    o->instructions = (elements + WARP - 1) / WARP;
    r->total.instructions += o->instructions;
    r->total.lanes += o->lanes;
}

void make_finding(struct lab_case_result *r, unsigned line)
{
    r->findings = realloc(r->findings, (r->finding_count + 1) * sizeof *r->findings);
    struct lab_finding *f = &r->findings[r->finding_count++];
    memset(f, 0, sizeof *f);
    f->tool = EMU_CHECK_RACE;
    f->severity = EMU_FINDING_ERROR;
    f->line = line;
    f->count = 1;
    strcpy(f->kind, "read-after-write");
    strcpy(f->file, "lab3.cu");
    strcpy(f->text, "a hazard");
    r->errors++;
}

static void make_counters(const struct lab *lab, struct lab_case_result *r)
{
    size_t n = r->is.n;
    r->total.shared_ld = (struct emu_shared){.instructions = n, .wavefronts = n, .ideal = n};
    r->total.global_ld.sectors = n / SECTOR_FLOATS + 1;
    make_operation(r, lab->expected[0], lab->adds_integers ? EMU_CLASS_INTEGER : EMU_CLASS_F32,
                   n - 1);
    make_operation(r, "ld.f32", EMU_CLASS_LOAD, n);
    r->longest_warps = n;
    r->lines = calloc(1, sizeof *r->lines);
    r->line_count = 1;
    strcpy(r->lines->kernel, "scan_block");
    strcpy(r->lines->file, "lab3.cu");
    r->lines->line = LINE;
    r->lines->counts = r->total;
}

void make_results(const struct lab *lab, uint64_t seed, bool handed_out, struct lab_results *r)
{
    struct lab_case cases[LAB_CASES];
    memset(r, 0, sizeof *r);
    r->lab = lab->number;
    r->seed = seed;
    r->handed_out = handed_out;
    r->complete = true;
    r->case_count = lab_cases(lab, seed, handed_out, cases);
    for (size_t i = 0; i < r->case_count; i++) {
        r->cases[i].is = cases[i];
        r->cases[i].out = cases[i].share ? kept_of(&cases[i]) : scan_of(&cases[i]);
        make_counters(lab, &r->cases[i]);
    }
}
