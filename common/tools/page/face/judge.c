/* judge.c — compiles the CUDA C of a request, or judges it as check-lab does, with its code. */
#define _GNU_SOURCE /* fmemopen, open_memstream */
#include "face.h"
#include "common/tools/labs/run_case.h"
#include "common/tools/labs/score.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- compiling ------------------------------------------------------------------------------- */

static const char *header_of(void *context, const char *path)
{
    return request_header(context, path);
}

static void write_diagnostic(struct json *j, const struct cc_diagnostic *d)
{
    json_open(j, NULL, '{');
    json_text(j, "severity", d->severity == CC_ERROR ? "error" : "warning");
    json_text(j, "file", d->file);
    json_number(j, "line", (uint64_t)d->line);
    json_number(j, "column", (uint64_t)d->column);
    json_number(j, "length", (uint64_t)d->length);
    json_text(j, "text", d->text);
    json_text(j, "hint", d->hint);
    json_close(j, '}');
}

static struct cc_result *compile_request(const struct request *q)
{
    struct cc_options options = {
        .header = header_of, .context = (void *)(uintptr_t)q, .program = q->is_program};
    return cc_compile(q->source_name, q->source, &options);
}

static void compile_diagnostics(struct json *j, const struct cc_result *result)
{
    json_open(j, "diagnostics", '[');
    for (size_t k = 0; k < result->count; k++) write_diagnostic(j, &result->diagnostics[k]);
    json_close(j, ']');
}

void compile_answer(FILE *out, const struct request *q)
{
    struct cc_result *result = compile_request(q);
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    json_number(&j, "error", EMU_OK);
    json_text(&j, "message", "");
    compile_diagnostics(&j, result);
    json_text(&j, "ptx", result->ptx);
    json_close(&j, '}');
    cc_free(result);
}

/* ---- what a run says to the page, and the page to it ----------------------------------------- */

#ifdef __wasm__

#include <emscripten.h>

// clang-format off
EM_JS(void, tell, (unsigned done, unsigned all), {
    if (Module.progress) Module.progress(done, all);
})
// clang-format on

/* Some of the runs are done. The page shows it. */
static void face_progress(unsigned done, unsigned all) { tell(done, all); }

/* Called by the page where it takes what kernels print. */
EMSCRIPTEN_KEEPALIVE void face_printed(unsigned bytes) { run_case_printed(bytes); }

#else

static void face_progress(unsigned done, unsigned all) { (void)done, (void)all; }

#endif

/* ---- judging --------------------------------------------------------------------------------- */

enum { DEVICE_BYTES = 16 << 20, SEED = 1, HINTS = 3, MESSAGE = 600 };

/* A request while it is judged. */
struct session {
    const struct request *request;
    const struct lab *lab;
    struct cc_result *compiled, *solution;
    struct lab_results own, reference;
    struct lab_results *filled; /* by the runs: one of the two */
    unsigned done, all;         /* runs */
    struct lab_verdict verdict;
    char *text, *hints[HINTS]; /* NULL: out of memory */
    bool right;
    char message[MESSAGE]; /* why nothing was judged; "": it was */
};

static bool fails(struct session *s, const char *message)
{
    snprintf(s->message, sizeof s->message, "%s", message);
    return false;
}

/* A text of the request as a stream, which may be read only; NULL if it has no such text. */
static FILE *stream_of(const char *text)
{
    return text && *text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
}

static void close_stream(FILE *file)
{
    if (file) fclose(file);
}

static struct lab_ptx ptx_of(const struct cc_result *result)
{
    return (struct lab_ptx){(char *)(uintptr_t)result->ptx, strlen(result->ptx)};
}

/* ---- a lab ----------------------------------------------------------------------------------- */

/* The step's own solution, compiled as the submission is. */
static bool compile_solution(struct session *s)
{
    const char *text = request_header(s->request, "solution.cu");
    if (!text) return fails(s, "the request has no solution.cu");
    s->solution = cc_compile("solution.cu", text, &(struct cc_options){0});
    return s->solution->ptx || fails(s, "solution.cu cannot be compiled");
}

static int keep_result(void *to, struct lab_case_result *result)
{
    struct session *s = to;
    s->filled->cases[s->filled->case_count++] = *result;
    *result = (struct lab_case_result){.end = LAB_NOT_RUN};
    face_progress(++s->done, s->all);
    return 0;
}

static void run_all(struct session *s, const struct cc_result *compiled,
                    struct lab_results *results)
{
    struct lab_ptx ptx = ptx_of(compiled);
    struct lab_runs runs = {.lab = s->lab,
                            .seed = SEED,
                            .handed_out = true,
                            .memory = DEVICE_BYTES,
                            .take = keep_result,
                            .to = s};
    *results = (struct lab_results){.lab = s->lab->number, .seed = SEED, .handed_out = true};
    s->filled = results;
    run_cases(&runs, &ptx);
    results->complete = true;
}

static bool read_weights(struct session *s, struct lab_weights *weights)
{
    FILE *file = stream_of(request_header(s->request, "weights.txt"));
    if (!file) return fails(s, "the request has no weights.txt");
    int code = lab_weights_take(file, "weights.txt", s->lab, weights, s->message, MESSAGE);
    fclose(file);
    return code == 0;
}

static void find_verdict(struct session *s, const struct lab_weights *weights)
{
    struct lab_case cases[LAB_CASES];
    s->all = 2 * (unsigned)lab_cases(s->lab, SEED, true, cases);
    if (s->compiled->ptx) {
        run_all(s, s->solution, &s->reference);
        run_all(s, s->compiled, &s->own);
        score_lab(s->lab, &s->own, &s->reference, weights, &s->verdict);
    } else {
        score_nothing(s->lab, weights, COMPILE_REFUSED, &s->verdict);
        s->verdict.seed = SEED;
        s->verdict.handed_out = true;
    }
    s->verdict.own_compiler = true;
}

static void write_hint(struct session *s, unsigned level, FILE *source)
{
    struct fault fault = {0};
    size_t size;
    FILE *hints = stream_of(request_header(s->request, "hints.txt"));
    FILE *out = hints ? open_memstream(&s->hints[level - 1], &size) : NULL;
    if (out && print_hint(out, &s->verdict, hints, level, s->request->source_name, source, &fault))
        fputs(fault.text, out);
    close_stream(out);
    close_stream(hints);
}

static void write_texts(struct session *s)
{
    size_t size;
    FILE *source = stream_of(s->request->source), *out = open_memstream(&s->text, &size);
    find_gaps(source, &s->verdict);
    if (out) lab_verdict_text(out, &s->verdict, s->request->source_name);
    close_stream(out);
    for (unsigned level = 1; level <= HINTS; level++) write_hint(s, level, source);
    close_stream(source);
}

static void judge_lab(struct session *s)
{
    static const double shown = 0.01; /* as check-lab shows points */
    struct lab_weights weights;
    if (!read_weights(s, &weights) || !compile_solution(s)) return;
    find_verdict(s, &weights);
    write_texts(s);
    s->right = s->verdict.points >= s->verdict.most - shown / 2;
}

/* ---- a first puzzle -------------------------------------------------------------------------- */

static void judge_puzzle(struct session *s, const struct puzzle *puzzle)
{
    struct fault fault = {0};
    size_t size;
    FILE *out = open_memstream(&s->text, &size);
    if (!out) return;
    if (s->compiled->ptx) {
        struct lab_ptx ptx = ptx_of(s->compiled);
        s->right = run_puzzle(puzzle, &ptx, out, &fault) == EXIT_RIGHT;
        fputs(fault.text, out);
        if (s->right) fprintf(out, "%s is right.\n", s->request->source_name);
    }
    fclose(out);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void write_verdict(struct json *j, const struct session *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = s->lab && s->text ? open_memstream(&text, &size) : NULL;
    if (out) lab_verdict_json(out, &s->verdict, s->request->source_name, false);
    close_stream(out);
    json_text(j, "verdict", text);
    free(text);
}

/* The run with the fewest elements whose output is wrong, or in which a checker has found an error;
 * NULL: no run failed. The page has no small device. */
static const struct lab_case_result *find_failing(const struct session *s,
                                                  struct wrong_output *wrong)
{
    const struct lab_case_result *least = NULL;
    struct wrong_output found;
    for (size_t k = 0; k < s->own.case_count; k++) {
        const struct lab_case_result *r = &s->own.cases[k];
        bool has_run = r->end == LAB_RAN || r->end == LAB_FAULT || r->end == LAB_INSTRUCTIONS;
        if (!has_run || r->is.descending || (least && r->is.n >= least->is.n)) continue;
        bool is_right = output_is_right(s->lab, r, &found);
        if (is_right && !r->errors) continue;
        least = r;
        *wrong = found;
        if (is_right) *wrong->text = 0;
    }
    return least;
}

static const char *const buffer_names[LAB_BUFFERS] = {"input", "output", "workspace"};

static void print_launch(FILE *out, const struct session *s, const struct lab_launch *l)
{
    struct lab_ptx ptx = ptx_of(s->compiled);
    char name[EMU_NAME_SIZE] = "";
    size_t at = 0;
    next_entry(&ptx, &at, l->kernel, name);
    fprintf(out, "\nlaunch %s %u,1,1 %u,1,1 %zu", name, l->blocks, l->threads, l->shared_bytes);
    for (unsigned k = 0; k < l->argument_count; k++) {
        const struct lab_argument *a = &l->arguments[k];
        if (a->kind == LAB_ADDRESS)
            fprintf(out, " @%s+%" PRIu64, buffer_names[a->buffer], a->value);
        else
            fprintf(out, " %s:%" PRIu64, a->kind == LAB_INT ? "s32" : "u64", a->value);
    }
}

/* The lines of a request that launches the kernels as in this run. */
static void print_run(FILE *out, const struct session *s, const struct lab_case *c)
{
    float *in = malloc(c->n * sizeof *in);
    struct lab_plan plan = {0};
    if (!in) return;
    lab_input(c, in);
    s->lab->plan(c->n, &plan);
    fprintf(out, "schedule %" PRIu64 "\nlimit %" PRIu64 "\nbuffer %s f32 %zu values", c->schedule,
            lab_instruction_limit(c->n), buffer_names[LAB_IN], c->n);
    for (size_t k = 0; k < c->n; k++) fprintf(out, " %.9g", (double)in[k]);
    fprintf(out, "\nbuffer %s f32 %zu none", buffer_names[LAB_OUT], lab_output_words(c));
    if (plan.workspace)
        fprintf(out, "\nbuffer %s u32 %zu %s", buffer_names[LAB_WORKSPACE],
                plan.workspace / sizeof(uint32_t), plan.clear_workspace ? "zero" : "none");
    for (unsigned k = 0; k < plan.launch_count; k++) print_launch(out, s, &plan.launches[k]);
    free(in);
}

static void write_failing(struct json *j, const struct session *s)
{
    struct wrong_output wrong;
    const struct lab_case_result *r = find_failing(s, &wrong);
    char *text = NULL;
    size_t size;
    FILE *out = r ? open_memstream(&text, &size) : NULL;
    if (!out) return;
    print_run(out, s, &r->is);
    fclose(out);
    json_open(j, "failing", '{');
    json_number(j, "n", r->is.n);
    json_text(j, "why", wrong.text);
    if (wrong.word != SIZE_MAX) json_number(j, "element", wrong.word);
    json_text(j, "request", text);
    json_close(j, '}');
    free(text);
}

static void write_answer(FILE *out, struct session *s)
{
    struct json j = {.out = out};
    if (!*s->message && !s->text) fails(s, "out of memory");
    json_open(&j, NULL, '{');
    json_number(&j, "error", *s->message ? EMU_INVALID_VALUE : EMU_OK);
    json_text(&j, "message", s->message);
    compile_diagnostics(&j, s->compiled);
    json_bool(&j, "right", s->right);
    json_text(&j, "text", s->text);
    write_verdict(&j, s);
    json_open(&j, "hints", '[');
    for (unsigned k = 0; k < HINTS; k++)
        if (s->hints[k]) json_text(&j, NULL, s->hints[k]);
    json_close(&j, ']');
    write_failing(&j, s);
    json_close(&j, '}');
}

static void judge(struct session *s)
{
    const struct puzzle *puzzle = puzzle_named(s->request->lab);
    s->lab = lab_named(s->request->lab);
    s->compiled = compile_request(s->request);
    if (puzzle)
        judge_puzzle(s, puzzle);
    else if (s->lab)
        judge_lab(s);
    else
        fails(s, "there is no such lab");
}

void judge_answer(FILE *out, const struct request *q)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s) return;
    s->request = q;
    judge(s);
    fflush(stdout); /* what the kernels have printed */
    write_answer(out, s);
    cc_free(s->compiled);
    cc_free(s->solution);
    results_free(&s->own);
    results_free(&s->reference);
    for (unsigned k = 0; k < HINTS; k++) free(s->hints[k]);
    free(s->text);
    free(s);
}
