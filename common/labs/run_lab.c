/*
 * run_lab.c — runs a submission's PTX on all cases of a lab, and writes what happened to a
 * descriptor of its own:
 *
 *     run-lab LAB FILE.ptx --seed S [--handed-out] --results-fd N [--printf FILE]
 *
 * The submission's code runs inside of this process, in the emulator, so what leaves it is a claim:
 * another process judges it (score.h). This process holds no expected output. A kernel's printf
 * goes to FILE, of at most PRINTF_BYTES, and otherwise nowhere. A flood of it ends the run. The
 * exit code is 0 if the stream is complete, 2 for a wrong command line, and 3 otherwise.
 */
#define _GNU_SOURCE /* fopencookie */
#include "common/command/option_table.h"
#include "results.h"
#include "run_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINTF_BYTES = 1 << 16, PRINTF_STOP = 1 << 22 };
static const char too_much_printed[] =
    "the kernels have printed more than 4 MiB: print at small sizes only, or leave it out";

struct arguments {
    uint64_t seed;
    bool handed_out;
    int results;
    const char *printf_file;
};

/* ---- the command line ------------------------------------------------------------------------ */

static int read_number(const char *value, uint64_t most, uint64_t *number, struct fault *fault)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || *number > most)
        return fail(fault, EXIT_USAGE, "\"%s\" is not a number from 0 to %llu.", value,
                    (unsigned long long)most);
    return 0;
}

static int set_seed(void *to, const char *value, struct fault *fault)
{
    return read_number(value, UINT64_MAX, &((struct arguments *)to)->seed, fault);
}

static int set_results(void *to, const char *value, struct fault *fault)
{
    uint64_t number;
    int code = read_number(value, INT_MAX, &number, fault);
    if (!code) ((struct arguments *)to)->results = (int)number;
    return code;
}

static const struct option_row rows[] = {
    OPTION("seed", "S", "seed of sizes, inputs, orders and clocks", set_seed),
    OPTION_FLAG("handed-out", "the sizes that students know, not drawn ones", struct arguments,
                handed_out),
    OPTION("results-fd", "N", "descriptor for the results", set_results),
    OPTION_TEXT("printf", "FILE", "where the kernels' printf goes; default: nowhere",
                struct arguments, printf_file),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static int read_options(struct command_line *line, struct arguments *arguments, struct fault *fault)
{
    while (line->at < line->count) {
        bool taken;
        int code = option_take(table, line, arguments, &taken, fault);
        if (code) return code;
        if (!taken)
            return fail(fault, EXIT_USAGE, "\"%s\" is not an option.", line->arguments[line->at]);
    }
    if (arguments->results < 0) return fail(fault, EXIT_USAGE, "--results-fd N is missing.");
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The kernels' printf: what is beyond PRINTF_BYTES is dropped. */
struct printed {
    FILE *file;
    size_t bytes, lines;
};

static ssize_t write_printed(void *cookie, const char *text, size_t size)
{
    struct printed *printed = cookie;
    size_t room = printed->bytes < PRINTF_BYTES ? PRINTF_BYTES - printed->bytes : 0;
    if (printed->file) fwrite(text, 1, size < room ? size : room, printed->file);
    printed->bytes += size;
    for (size_t i = 0; i < size; i++) printed->lines += text[i] == '\n';
    if (printed->bytes > PRINTF_STOP) run_case_stop(too_much_printed);
    return (ssize_t)size;
}

static int close_printed(void *cookie)
{
    struct printed *printed = cookie;
    return printed->file ? fclose(printed->file) : 0;
}

static int redirect_printf(const char *path, struct printed *printed, struct fault *fault)
{
    static const cookie_io_functions_t functions = {.write = write_printed, .close = close_printed};
    printed->file = path ? fopen(path, "wb") : NULL;
    if (path && !printed->file)
        return fail(fault, EXIT_USAGE, "%s cannot be written: %s.", path, strerror(errno));
    FILE *out = fopencookie(printed, "w", functions);
    if (!out) return fail(fault, EXIT_DEVICE, "Memory does not suffice.");
    stdout = out; /* where the emulator's printf writes */
    return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

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

static int run_cases(const struct lab *lab, const struct lab_ptx *ptx, const struct arguments *a,
                     const struct printed *printed)
{
    struct lab_case cases[LAB_CASES];
    size_t count = lab_cases(lab, a->seed, a->handed_out, cases);
    int error = results_write_begin(a->results, lab, a->seed, a->handed_out);
    char why[RESULTS_TEXT] = "";
    size_t not_from = SIZE_MAX;
    for (size_t i = 0; !error && i < count; i++) {
        struct lab_case_result result = {.is = cases[i], .end = LAB_NOT_RUN};
        size_t lines = printed->lines;
        memcpy(result.message, why, sizeof why);
        if (cases[i].n < not_from) run_case(lab, ptx, &cases[i], &result);
        fflush(stdout);
        result.printed = printed->lines - lines;
        if (least_not_run(&result) < not_from) {
            not_from = least_not_run(&result);
            memcpy(why, result.message, sizeof why);
        }
        error = results_write_case(a->results, &result);
        run_case_free(&result);
    }
    return error ? error : results_write_end(a->results);
}

static int run(int count, char **argument, struct fault *fault)
{
    struct arguments arguments = {.seed = 1, .results = -1};
    struct command_line line = {.count = count, .arguments = argument, .at = 3};
    struct lab_ptx ptx;
    struct printed printed = {0};
    FILE *terminal = stdout;
    if (count < 3) return fail(fault, EXIT_USAGE, "LAB and FILE.ptx are missing.");
    const struct lab *lab = lab_or_exercise(argument[1]);
    if (!lab) return fail(fault, EXIT_USAGE, "There is no lab \"%s\".", argument[1]);
    int code = read_options(&line, &arguments, fault);
    if (!code) code = ptx_read(argument[2], &ptx, fault);
    if (!code) code = redirect_printf(arguments.printf_file, &printed, fault);
    if (code) return code;
    int error = run_cases(lab, &ptx, &arguments, &printed);
    fclose(stdout);
    stdout = terminal;
    free(ptx.text);
    if (!error) return 0;
    return fail(fault, EXIT_DEVICE, "The results cannot be written: %s.", strerror(error));
}

int main(int count, char **argument)
{
    struct fault fault = {0};
    return run(count, argument, &fault) ? fault_say(&fault) : 0;
}
