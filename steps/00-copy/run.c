/* run.c — step 0's experiment: every pattern once to verify and count it, then to time it. */
#include "run.h"
#include "patterns.h"

#include "common/buffer.h"
#include "common/counters.h"
#include "common/cuda_check.h"
#include "common/device.h"
#include "common/fault.h"
#include "common/format.h"
#include "common/input.h"
#include "common/options.h"
#include "common/report.h"
#include "common/timing.h"

#include <stdlib.h>
#include <string.h>

#define REPS_ON_GPU 21

struct experiment {
    const struct step *step;
    const struct options *options;
    struct device device;
    struct input input;
    struct buffer in, out;
    float *result; /* n elements on the host */
    struct timer timer;
};

/* What one pattern's run showed. */
struct row {
    enum pattern pattern;
    uint64_t asked_ld, asked_st; /* bytes that the pattern needs */
    bool counted;
    struct emu_global ld, st;
    struct timing timing; /* reps = 0 on the emulator, whose time says nothing about memory */
};

/* Options that mean nothing for a copy: the sentence that refuses them, or NULL. */
static const char *unfit_option(const struct options *options)
{
    if (options->sweep) return "--sweep";
    if (options->inclusive) return "--inclusive";
    if (options->in_place) return "--in-place";
    if (options->output != NULL) return "--output";
    return NULL;
}

static int open_experiment(struct experiment *e, struct fault *fault)
{
    const struct options *options = e->options;
    const char *unfit = unfit_option(options);
    int code;

    if (unfit != NULL)
        return fail(fault, EXIT_USAGE, "%s: step 0 copies and does not scan; leave it out.", unfit);
    if ((code = device_choose(options, &e->device, fault)) != 0) return code;

    if (options->input != NULL)
        code = input_read(&e->input, ELEMENT_F32, options->input, 0, options->round, fault);
    else
        code =
            input_generate(&e->input, ELEMENT_F32, options->n, options->real, options->seed, fault);
    if (code != 0) return code;

    size_t bytes = e->input.n * sizeof(float), displaced = options->offset * sizeof(float);
    e->result = malloc(bytes);
    if (e->result == NULL)
        return fail(fault, EXIT_USAGE, "--n %zu: host memory does not suffice for the result.",
                    e->input.n);
    if ((code = buffer_make(&e->in, bytes, displaced, false, "the input", fault)) != 0) return code;
    if ((code = buffer_make(&e->out, bytes, displaced, false, "the output", fault)) != 0)
        return code;
    CUDA_CHECK(fault, buffer_upload(&e->in, 0, e->input.data, bytes));
    return timer_open(&e->timer, false, fault);
}

static void close_experiment(struct experiment *e)
{
    timer_close(&e->timer);
    buffer_free(&e->out);
    buffer_free(&e->in);
    free(e->result);
    input_free(&e->input);
}

/* Every element has to be the one that the pattern says, and nothing else may have been written. */
static int verify(struct experiment *e, enum pattern pattern, struct fault *fault)
{
    const float *in = e->input.data;
    const char *name = e->step->variants[pattern];
    cudaError_t error = cudaSuccess;
    size_t n = e->input.n;

    CUDA_CHECK(fault, buffer_download(&e->out, 0, e->result, n * sizeof(float)));
    for (size_t i = 0; i < n; i++) {
        const float *want = &in[pattern_source(pattern, i, n)];
        if (memcmp(&e->result[i], want, sizeof(float)) != 0)
            return fail(fault, EXIT_WRONG, "Pattern %s: out[%zu] is %.9g and should be %.9g.", name,
                        i, e->result[i], *want);
    }
    if (buffer_damage(&e->out, &error) != 0)
        return fail(fault, EXIT_WRONG, "Pattern %s writes outside of its output.", name);
    CUDA_CHECK(fault, error);
    return 0;
}

/* What the timer runs: one copy. */
struct copy {
    struct experiment *experiment;
    enum pattern pattern;
};

static cudaError_t run_copy(void *context, cudaStream_t stream)
{
    struct copy *copy = context;
    struct experiment *e = copy->experiment;
    return e->step->scan(e->out.data, e->in.data, e->input.n, copy->pattern, NULL, stream);
}

/* Runs, verifies and times one pattern. */
static int measure(struct experiment *e, enum pattern pattern, struct row *row, struct fault *fault)
{
    const struct options *options = e->options;
    struct copy copy = {e, pattern};
    size_t n = e->input.n;
    int code;

    *row = (struct row){
        .pattern = pattern, .asked_ld = n * sizeof(float), .asked_st = n * sizeof(float)};
    if (pattern == SAME_WORD) row->asked_ld = (n + WARP - 1) / WARP * sizeof(float);

    CUDA_CHECK(fault, buffer_poison(&e->out, e->timer.stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
    row->counted = counters_begin();
    CUDA_CHECK(fault, run_copy(&copy, e->timer.stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
    if (row->counted) {
        struct counters counters;
        counters_end(&counters);
        row->ld = counters.total.global_ld;
        row->st = counters.total.global_st;
        counters_free(&counters);
    }

    if (options->verify != VERIFY_NONE && (code = verify(e, pattern, fault)) != 0) return code;
    if (e->device.emulated) return 0;
    int reps = options->reps == REPS_DEFAULT ? REPS_ON_GPU : options->reps;
    return timer_run(&e->timer, NULL, run_copy, &copy, reps, &row->timing, fault);
}

static double asked_per_second(const struct row *row)
{
    return (double)(row->asked_ld + row->asked_st) / row->timing.median;
}

static void print_head(const struct experiment *e)
{
    struct style style = style_of(stdout);

    printf("  Copies %s floats in each pattern%s.\n\n", format_count(e->input.n).s,
           e->options->verify == VERIFY_NONE ? "" : "; every result was verified");
    printf("%s  %-21s%12s%12s%8s%14s%10s%11s%s\n", style.strong, "pattern", "bytes asked",
           "bytes moved", "used", "sectors ld/st", "time", "asked/s", style.end);
}

static void print_row(const struct experiment *e, const struct row *row)
{
    uint64_t moved = SECTOR * (row->ld.sectors + row->st.sectors);
    uint64_t asked = row->asked_ld + row->asked_st;

    printf("  %-21s%12s", e->step->variants[row->pattern], format_bytes(asked).s);
    if (row->counted)
        printf("%12s%8s%8.2f /%4.1f", format_bytes(moved).s,
               format_percent((double)asked / (double)moved).s,
               counters_sectors_per_request(&row->ld), counters_sectors_per_request(&row->st));
    else
        printf("%12s%8s%14s", "-", "-", "-");
    if (row->timing.reps > 0)
        printf("%10s%11s\n", format_seconds(row->timing.median).s,
               format_rate(asked_per_second(row)).s);
    else
        printf("%10s%11s\n", "-", "-");
}

static void print_foot(const struct experiment *e)
{
    if (e->device.emulated)
        printf(
            "\n  Bytes moved are 32 a sector; sectors are per request, that is, per warp access.\n"
            "  The emulator counts and has no memory to time: on a GPU this table has times.\n");
    else
        printf(
            "\n  Bytes asked for in a second, reading and writing. --device emu counts sectors.\n");
}

/* The same as a record, for --json and --csv. */
static void print_record(const struct experiment *e, const struct row *row, size_t index)
{
    struct record record = {0};

    record_integer(&record, "step", (uint64_t)e->step->number);
    record_text(&record, "variant", "%s", e->step->variants[row->pattern]);
    record_text(&record, "device", "%s", e->device.name);
    record_bool(&record, "emulated", e->device.emulated);
    record_integer(&record, "n", e->input.n);
    record_integer(&record, "loaded_asked_bytes", row->asked_ld);
    record_integer(&record, "stored_asked_bytes", row->asked_st);
    if (row->counted) {
        record_integer(&record, "loaded_moved_bytes", SECTOR * row->ld.sectors);
        record_integer(&record, "stored_moved_bytes", SECTOR * row->st.sectors);
        record_integer(&record, "global_ld_requests", row->ld.requests);
        record_integer(&record, "global_ld_sectors", row->ld.sectors);
        record_integer(&record, "global_st_requests", row->st.requests);
        record_integer(&record, "global_st_sectors", row->st.sectors);
    } else {
        record_null(&record, "loaded_moved_bytes");
        record_null(&record, "stored_moved_bytes");
        record_null(&record, "global_ld_requests");
        record_null(&record, "global_ld_sectors");
        record_null(&record, "global_st_requests");
        record_null(&record, "global_st_sectors");
    }
    if (row->timing.reps > 0) {
        record_number(&record, "time_seconds", row->timing.median);
        record_number(&record, "asked_bytes_per_second", asked_per_second(row));
    } else {
        record_null(&record, "time_seconds");
        record_null(&record, "asked_bytes_per_second");
    }
    record_print(stdout, e->options->format, &record, index);
}

static int run_patterns(struct experiment *e, struct fault *fault)
{
    const struct options *options = e->options;
    bool text = options->format == REPORT_TEXT;
    bool single = options->variant != ALL;
    size_t index = 0;

    if (text) {
        report_heading(stdout, e->step, &e->device);
        print_head(e);
    } else {
        record_open(stdout, options->format, single);
    }
    for (int pattern = ALL + 1; pattern < PATTERNS; pattern++) {
        struct row row;
        int code;

        if (single && pattern != options->variant) continue;
        if ((code = measure(e, (enum pattern)pattern, &row, fault)) != 0) return code;
        if (text)
            print_row(e, &row);
        else
            print_record(e, &row, index++);
        fflush(stdout);
    }
    if (!text) {
        record_close(stdout, options->format, single);
        return EXIT_RIGHT;
    }
    print_foot(e);
    report_still_bad(stdout, e->step);
    return EXIT_RIGHT;
}

int step00_run(const struct step *step, const struct options *options)
{
    struct experiment e = {.step = step, .options = options};
    struct fault fault = {0};

    int code = open_experiment(&e, &fault);
    if (code == 0) code = run_patterns(&e, &fault);
    close_experiment(&e);
    return code == 0 ? EXIT_RIGHT : fault_say(&fault);
}
