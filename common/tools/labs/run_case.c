/*
 * run_case.c — runs a submission's PTX on the cases of a lab, and collects what the emulator has
 * found.
 */
#include "run_case.h"
#include "common/tools/emu/ptx/ptx.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finds the kernels of a lab in a submission's PTX ---------------------------------------- */

static unsigned size_of(const struct lab_argument *argument)
{
    return argument->kind == LAB_INT ? sizeof(int32_t) : sizeof(uint64_t);
}

static bool takes_arguments(const struct emu_kernel_info *info, const struct lab_launch *launch)
{
    if (info->params != launch->argument_count) return false;
    for (unsigned i = 0; i < info->params; i++)
        if (info->param_size[i] != size_of(&launch->arguments[i])) return false;
    return true;
}

/* Finds the kernel that has this name in the source, and tests whether its parameters are those of
 * the launch. Returns NULL and a sentence if it has not. */
static struct emu_kernel *find_kernel(struct emu *emu, struct emu_module *module,
                                      const struct lab_ptx *ptx, const struct lab_launch *launch,
                                      char *why, size_t why_size)
{
    char mangled[EMU_NAME_SIZE];
    struct emu_kernel *kernel;
    snprintf(why, why_size, "There is no kernel called %s; keep the names of the lab's kernels.",
             launch->kernel);
    for (size_t at = 0; next_entry(ptx, &at, launch->kernel, mangled);) {
        int error = emu_kernel(emu, module, mangled, &kernel);
        if (error == EMU_INVALID_DEVICE_FUNCTION) continue;
        if (error) {
            snprintf(why, why_size, "Kernel %s cannot be run: %s", launch->kernel,
                     emu_message(emu));
            return NULL;
        }
        if (takes_arguments(emu_kernel_info(kernel), launch)) return kernel;
        snprintf(why, why_size,
                 "Kernel %s has other parameters than the lab passes; put back those of the "
                 "skeleton.",
                 launch->kernel);
    }
    return NULL;
}

/* ---- copies what the emulator has counted and found into a result ---------------------------- */

/* Every member of emu_counts is a uint64_t. */
static void add_counts(struct emu_counts *to, const struct emu_counts *from)
{
    _Static_assert(sizeof *to % sizeof(uint64_t) == 0, "a member of another type");
    uint64_t *sum = (uint64_t *)to;
    const uint64_t *addend = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += addend[i];
}

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* The place for one more item of an array that grows; zeroed. NULL: out of memory or too many. */
static void *grow(void **array, size_t *count, size_t most, size_t size)
{
    if (*count >= most) return NULL;
    void *grown = realloc(*array, (*count + 1) * size);
    if (!grown) return NULL;
    *array = grown;
    return memset((char *)grown + (*count)++ * size, 0, size);
}

static struct lab_line *line_of(struct lab_case_result *r, const char *kernel,
                                const struct emu_line *line)
{
    const char *file = last_part(line->file);
    for (size_t i = 0; i < r->line_count; i++) {
        struct lab_line *l = &r->lines[i];
        if (l->line == line->line && !strcmp(l->file, file) && !strcmp(l->kernel, kernel)) return l;
    }
    struct lab_line *l = grow((void **)&r->lines, &r->line_count, RESULTS_LINES, sizeof *l);
    if (!l) return NULL;
    snprintf(l->kernel, sizeof l->kernel, "%s", kernel);
    snprintf(l->file, sizeof l->file, "%s", file);
    l->line = line->line;
    return l;
}

static void collect_lines(struct lab_case_result *r, const struct emu_launch_record *record)
{
    char kernel[RESULTS_NAME];
    kernel_base_name(record->kernel, kernel, sizeof kernel);
    for (size_t i = 0; i < record->line_count; i++) {
        struct lab_line *line = line_of(r, kernel, &record->lines[i]);
        if (line) add_counts(&line->counts, &record->lines[i].counts);
    }
}

static struct lab_operation *operation_of(struct lab_case_result *r, const char *name,
                                          uint32_t work_class)
{
    for (size_t i = 0; i < r->operation_count; i++) {
        struct lab_operation *o = &r->operations[i];
        if (o->work_class == work_class && !strcmp(o->name, name)) return o;
    }
    struct lab_operation *o =
        grow((void **)&r->operations, &r->operation_count, RESULTS_OPERATIONS, sizeof *o);
    if (!o) return NULL;
    snprintf(o->name, sizeof o->name, "%s", name);
    o->work_class = work_class;
    return o;
}

static void collect_operations(struct lab_case_result *r, const struct emu_launch_record *record)
{
    char name[RESULTS_NAME];
    for (size_t i = 0; i < record->operation_count; i++) {
        const struct emu_operation *from = &record->operations[i];
        snprintf(name, sizeof name, "%s%s%s", from->name, *from->type ? "." : "", from->type);
        struct lab_operation *o = operation_of(r, name, (uint32_t)from->work_class);
        if (!o) {
            r->dropped += from->elements > from->lanes ? from->elements : from->lanes;
            continue;
        }
        o->instructions += from->instructions;
        o->lanes += from->lanes;
        o->elements += from->elements;
    }
}

/* Copies the counters of all launches, and the findings, from the device into the result. */
static void collect_counters(struct emu *emu, struct lab_case_result *result)
{
    for (size_t i = 0; i < emu_records(emu); i++) {
        const struct emu_launch_record *record = emu_record(emu, i);
        add_counts(&result->total, &record->total);
        result->longest_warps += record->longest_warp;
        collect_lines(result, record);
        collect_operations(result, record);
    }
}

static void collect_finding(struct lab_case_result *r, const struct emu_finding *from)
{
    struct lab_finding *to =
        grow((void **)&r->findings, &r->finding_count, RESULTS_FINDINGS, sizeof *to);
    if (!to) return;
    to->tool = (uint32_t)from->tool;
    to->severity = (uint32_t)from->severity;
    to->count = from->count;
    snprintf(to->kind, sizeof to->kind, "%s", from->kind);
    snprintf(to->text, sizeof to->text, "%s", from->title ? from->title : from->kind);
    if (from->place.is_known) {
        snprintf(to->file, sizeof to->file, "%s", last_part(from->place.file));
        to->line = from->place.line;
        to->caller_line = from->place.caller_line;
    }
    if (from->other.is_known) to->other_line = from->other.line;
}

static void collect_findings(struct emu *emu, struct lab_case_result *result)
{
    for (size_t i = 0; i < emu_findings(emu); i++) collect_finding(result, emu_finding(emu, i));
    result->errors = emu_finding_count(emu, EMU_FINDING_ERROR);
    result->warnings = emu_finding_count(emu, EMU_FINDING_WARNING);
}

/* ---- runs a submission's PTX on the cases of a lab, with all checkers on --------------------- */

enum {
    DEVICE_BYTES = 256 << 20,
    HOLE_BYTES = 1 << 16, /* between the buffers: freed memory, where every access is a fault */
    SECONDS = 60,         /* of one kernel; only a machine under extreme load needs that long */
    POISON = 0xFF,        /* as in verify.h: a NaN */
};

#define PRINTED_MOST ((size_t)1 << 22)
static const char too_much_printed[] =
    "the kernels have printed more than 4 MiB: print at small sizes only, or leave it out";

/* The device on which a kernel runs, what its kernels have printed so far in all runs, and why it
 * is to be stopped. */
static struct {
    struct emu *emu;
    size_t printed;
    const char *why;
} running;

void run_case_printed(size_t bytes)
{
    running.printed += bytes;
    if (!running.emu || running.why || running.printed <= PRINTED_MOST) return;
    running.why = too_much_printed;
    emu_interrupt(running.emu);
}

/* A device with a lab's buffers. */
struct bench {
    struct emu *emu;
    struct emu_module *module;
    const struct lab_ptx *ptx;
    const struct lab_runs *runs;
    struct emu_gpu gpu; /* small_device(), where it is used */
    size_t bytes[LAB_BUFFERS];
    emu_addr address[LAB_BUFFERS];
    struct lab_case_result *result;
};

/* Keeps the first line of the message: what else there is describes all threads. A lab has no
 * option --lenient. */
static bool end_as(struct bench *b, enum lab_end end, const char *message)
{
    static const char option[] = ", and so does emu --lenient";
    char *kept = b->result->message, *from;
    b->result->end = end;
    snprintf(kept, sizeof b->result->message, "%.*s", (int)strcspn(message, "\n"), message);
    from = strstr(kept, option);
    if (from) memmove(from, from + strlen(option), strlen(from + strlen(option)) + 1);
    return false;
}

/* How a launch that failed has ended. Both limits give the same error, and so does a deadlock. */
static enum lab_end end_of(int error, const char *message)
{
    if (strstr(message, "deadlock")) return LAB_FAULT;
    if (error != EMU_LAUNCH_TIMEOUT) return LAB_FAULT;
    return strstr(message, "warp instructions") ? LAB_INSTRUCTIONS : LAB_SECONDS;
}

/* A launch has failed. */
static bool end_launch(struct bench *b, const char *kernel, int error)
{
    char why[RESULTS_TEXT];
    const char *message = emu_message(b->emu);
    enum lab_end end = end_of(error, message);
    if (running.why) return end_as(b, LAB_INSTRUCTIONS, running.why);
    if (end != LAB_INSTRUCTIONS) return end_as(b, end, message);
    snprintf(why, sizeof why,
             "kernel %s has executed more than %" PRIu64
             " warp instructions, far more than a right solution needs; does a loop not end?",
             kernel, lab_instruction_limit(b->result->is.n));
    return end_as(b, end, why);
}

/* The default GPU with one multiprocessor that has room for the lab's number of blocks. */
static struct emu_gpu small_device(const struct lab *lab)
{
    struct emu_gpu gpu = *emu_gpu_at(0);
    gpu.sms = 1;
    gpu.blocks_per_sm = (int)lab->resident;
    return gpu;
}

static bool open_device(struct bench *b, const struct lab *lab)
{
    const struct lab_case *c = &b->result->is;
    struct emu_config config = {
        .gpu = c->descending ? &b->gpu : NULL,
        .descending = c->descending,
        .threads = 1,
        .memory = b->runs->memory ? b->runs->memory : DEVICE_BYTES,
        .counters = true,
        .patience = SECONDS,
        .limit = SECONDS,
        .instruction_limit = lab_instruction_limit(c->n),
        .checks = b->runs->order ? EMU_CHECK_RACE | EMU_CHECK_ORDER : EMU_CHECK_ALL,
        .strict_readers = b->runs->order,
        .finding_limit = RESULTS_FINDINGS,
        .schedule = c->schedule,
        .clock_seed = c->clock,
    };
    char message[RESULTS_TEXT];
    b->gpu = small_device(lab);
    b->emu = emu_open(&config, message, sizeof message);
    running.emu = b->emu;
    running.why = NULL;
    if (b->emu && b->runs->opened) b->runs->opened(b->emu);
    return b->emu || end_as(b, LAB_SECONDS, message);
}

static bool load_ptx(struct bench *b)
{
    if (!emu_load(b->emu, b->ptx->text, b->ptx->length, "the PTX", &b->module)) return true;
    return end_as(b, LAB_REFUSED, emu_message(b->emu));
}

/* Allocates the buffers with freed memory between them, so that a kernel that leaves a buffer does
 * not get into another one. Memory is short only if the submission's variables fill it. */
static bool allocate(struct bench *b)
{
    emu_addr holes[LAB_BUFFERS];
    int error = 0;
    for (int i = 0; !error && i < LAB_BUFFERS; i++) {
        error = emu_alloc(b->emu, HOLE_BYTES, &holes[i]);
        if (!error && b->bytes[i]) error = emu_alloc(b->emu, b->bytes[i], &b->address[i]);
    }
    for (int i = 0; !error && i < LAB_BUFFERS; i++) error = emu_free(b->emu, holes[i]);
    return !error || end_as(b, LAB_REFUSED, emu_message(b->emu));
}

/* Writes the input. Output and workspace hold poison that counts as never written, unless the
 * workspace has to be cleared. */
static bool fill(struct bench *b, const struct lab_plan *plan, const float *in)
{
    int error = emu_write(b->emu, b->address[LAB_IN], in, b->bytes[LAB_IN]);
    for (int i = LAB_OUT; !error && i < LAB_BUFFERS; i++) {
        bool clear = i == LAB_WORKSPACE && plan->clear_workspace;
        if (b->bytes[i] == 0) continue;
        error = emu_fill(b->emu, b->address[i], clear ? 0 : POISON, b->bytes[i]);
        if (!clear) emu_renew(b->emu, b->address[i], b->bytes[i]);
    }
    return !error || end_as(b, LAB_SECONDS, emu_message(b->emu));
}

/* A kernel's argument as the emulator takes it: a number of 4 or 8 bytes. */
static uint64_t argument_value(const struct bench *b, const struct lab_argument *argument)
{
    if (argument->kind == LAB_ADDRESS) return b->address[argument->buffer] + argument->value;
    return argument->kind == LAB_NULL ? 0 : argument->value;
}

static bool launch(struct bench *b, const struct lab_launch *l)
{
    uint64_t values[LAB_ARGUMENTS];
    void *arguments[LAB_ARGUMENTS];
    char why[RESULTS_TEXT];
    struct emu_kernel *kernel = find_kernel(b->emu, b->module, b->ptx, l, why, sizeof why);
    if (!kernel) return end_as(b, LAB_REFUSED, why);
    for (unsigned i = 0; i < l->argument_count; i++) {
        values[i] = argument_value(b, &l->arguments[i]);
        arguments[i] = &values[i];
    }
    int error = emu_launch(b->emu, kernel, (struct emu_dim){l->blocks, 1, 1},
                           (struct emu_dim){l->threads, 1, 1}, l->shared_bytes, arguments, false);
    return !error || end_launch(b, l->kernel, error);
}

static bool read_output(struct bench *b)
{
    struct lab_case_result *r = b->result;
    r->out = malloc(b->bytes[LAB_OUT]);
    if (r->out && !emu_read(b->emu, r->out, b->address[LAB_OUT], b->bytes[LAB_OUT])) return true;
    free(r->out);
    r->out = NULL;
    return end_as(b, LAB_SECONDS, "The output cannot be read from the emulator.");
}

static bool run_plan(struct bench *b, const float *in)
{
    const struct lab *lab = b->runs->lab;
    struct lab_plan plan = {0};
    lab->plan(b->result->is.n, &plan);
    b->bytes[LAB_IN] = b->result->is.n * sizeof *in;
    b->bytes[LAB_OUT] = lab_output_words(&b->result->is) * sizeof *b->result->out;
    b->bytes[LAB_WORKSPACE] = plan.workspace;
    if (!open_device(b, lab) || !load_ptx(b) || !allocate(b) || !fill(b, &plan, in)) return false;
    bool ended = true;
    for (unsigned i = 0; ended && i < plan.launch_count; i++)
        ended = launch(b, &plan.launches[i]);
    if (b->runs->order) emu_report_order(b->emu, b->emu, EMU_ORDER_NOT_NEEDED, &(size_t){0});
    collect_counters(b->emu, b->result);
    collect_findings(b->emu, b->result);
    b->result->out_address = b->address[LAB_OUT];
    return ended && read_output(b);
}

/* Returns the device. */
static struct emu *run_case(const struct lab_runs *runs, const struct lab_ptx *ptx,
                            const struct lab_case *c, struct lab_case_result *result)
{
    struct bench b = {.ptx = ptx, .runs = runs, .result = result};
    float *in = malloc(c->n * sizeof *in);
    *result = (struct lab_case_result){.is = *c, .end = LAB_RAN};
    if (in) {
        lab_input(c, in);
        run_plan(&b, in);
    } else {
        end_as(&b, LAB_SECONDS, "Memory does not suffice for the input.");
    }
    running.emu = NULL;
    free(in);
    return b.emu;
}

/* The least n that is not run after this case: such cases would end in the same way, or take too
 * long. A loop without an end may be one of some sizes only: smaller ones are run. On a small
 * device the fault is a deadlock, which is found only when the limit on instructions is exceeded.
 */
static size_t least_not_run(const struct lab_case_result *r)
{
    if (r->is.descending && r->end == LAB_FAULT) return 0;
    if (r->end == LAB_INSTRUCTIONS) return r->is.n;
    return r->end == LAB_REFUSED || r->end == LAB_SECONDS ? 0 : SIZE_MAX;
}

int run_cases(const struct lab_runs *runs, const struct lab_ptx *ptx)
{
    struct lab_case cases[LAB_CASES] = {lab_plain_case(runs->lab, runs->lab->most, runs->seed)};
    size_t count = runs->order ? 1 : lab_cases(runs->lab, runs->seed, runs->handed_out, cases);
    char why[RESULTS_TEXT] = "";
    size_t not_from = SIZE_MAX;
    int error = 0;
    running.printed = 0;
    for (size_t i = runs->first; !error && i < count; i++) {
        struct emu *emu = NULL;
        struct lab_case_result result = {.is = cases[i], .end = LAB_NOT_RUN};
        memcpy(result.message, why, sizeof why);
        if (cases[i].n < not_from) emu = run_case(runs, ptx, &cases[i], &result);
        if (least_not_run(&result) < not_from) {
            not_from = least_not_run(&result);
            memcpy(why, result.message, sizeof why);
        }
        error = runs->take(runs->to, &result);
        if (emu) emu_close(emu);
        results_free_case(&result);
    }
    return error;
}
