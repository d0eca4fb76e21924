/*
 * run_lab.c — runs a submission's PTX on all cases of a lab, and writes what happened to a
 * descriptor of its own; or runs one of the first puzzles, whose host code needs nvcc:
 *
 *     run-lab LAB FILE.ptx --seed S [--handed-out | --order] --results-fd N [--printf FILE]
 *     run-lab first1 FILE.ptx
 *
 * The submission's code runs inside of this process, in the emulator, so what leaves it is a claim:
 * another process judges it (score.h). This process holds no expected output. A kernel's printf
 * goes to FILE, of at most PRINTF_BYTES, and otherwise nowhere. A flood of it ends the run. The
 * exit code is 0 if the stream is complete, 2 for a wrong command line, and 3 otherwise. That of a
 * puzzle is 0 if the numbers are right and no checker found anything, and 1 if not.
 */
#define _GNU_SOURCE /* fopencookie */
#include "common/files/option_table.h"
#include "results.h"
#include "run_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRINTF_BYTES = 1 << 16 };

struct arguments {
    uint64_t seed;
    bool handed_out, order;
    int results;
    const char *printf_file;
};

/* ---- the command line ------------------------------------------------------------------------ */

static int read_number(const char *value, uint64_t most, uint64_t *number, struct fault *fault)
{
    if (option_whole(value, most, number)) return 0;
    return fail(fault, EXIT_USAGE, "\"%s\" is not a number from 0 to %llu.", value,
                (unsigned long long)most);
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
    OPTION_FLAG("order", "run one case only, and find out of each barrier whether it is needed",
                struct arguments, order),
    OPTION("results-fd", "N", "descriptor for the results", set_results),
    OPTION_TEXT("printf", "FILE", "where the kernels' printf goes; default: nowhere",
                struct arguments, printf_file),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

static int read_options(struct command_line *line, struct arguments *arguments, struct fault *fault)
{
    int code = option_take_all(table, line, arguments, NULL, 0, fault);
    if (code) return code;
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
    run_case_printed(size);
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

/* Where the results of a run go, and what its kernels have printed. */
struct sink {
    int results;
    const struct printed *printed;
    size_t lines; /* that had been printed after the case before */
};

static int write_case(void *to, struct lab_case_result *result)
{
    struct sink *sink = to;
    fflush(stdout);
    result->printed = sink->printed->lines - sink->lines;
    sink->lines = sink->printed->lines;
    return results_write_case(sink->results, result);
}

static int write_cases(const struct lab *lab, const struct lab_ptx *ptx, const struct arguments *a,
                       const struct printed *printed)
{
    struct sink sink = {.results = a->results, .printed = printed};
    struct lab_runs runs = {
        .lab = lab, .seed = a->seed, .handed_out = a->handed_out, .take = write_case, .to = &sink};
    runs.order = a->order;
    int error = results_write_begin(a->results, lab, a->seed, a->handed_out);
    if (!error) error = run_cases(&runs, ptx);
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
    const struct lab *lab = lab_named(argument[1]);
    const struct puzzle *puzzle = puzzle_named(argument[1]);
    if (!lab && !puzzle) return fail(fault, EXIT_USAGE, "There is no lab \"%s\".", argument[1]);
    int code = puzzle ? 0 : read_options(&line, &arguments, fault);
    if (!code) code = ptx_read(argument[2], &ptx, fault);
    if (!code && puzzle) return run_puzzle(puzzle, &ptx, stdout, fault);
    if (!code) code = redirect_printf(arguments.printf_file, &printed, fault);
    if (code) return code;
    int error = write_cases(lab, &ptx, &arguments, &printed);
    fclose(stdout);
    stdout = terminal;
    free(ptx.text);
    if (!error) return 0;
    return fail(fault, EXIT_DEVICE, "The results cannot be written: %s.", strerror(error));
}

int main(int count, char **argument)
{
    struct fault fault = {0};
    int code = run(count, argument, &fault);
    return *fault.text ? fault_say(&fault) : code;
}
