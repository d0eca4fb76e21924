/* bench_main.c — ./bench: the steps, CUB's scan and the roof side by side, for every type and size.
 * bench.h says how they are timed. */
#define _GNU_SOURCE
#include "bench.h"

#include "common/harness/run/device.h"
#include "common/harness/print/print.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS          31
#define ROUNDS_EMULATED 3

struct bench_program {
    struct bench_options options;
    struct device device;
    size_t records; /* printed */
    bool all_right;
    struct fault fault;
};

/* ---- sizes ----------------------------------------------------------------------------------- */

static void add_default_sizes(struct bench_options *o, bool emulated)
{
    int last = emulated ? 12 : 28;
    for (int exponent = 10; exponent <= last; exponent += 2)
        o->sizes[o->size_count++] = (size_t)1 << exponent;
}

/* The number of input numbers that the largest size needs. */
static size_t numbers_needed(const struct bench_options *o, size_t l2)
{
    size_t most = 0;
    for (size_t t = 0; t < o->type_count; t++)
        for (size_t i = 0; i < o->size_count; i++) {
            size_t numbers = side_by_side_numbers(o->sizes[i], o->types[t], l2);
            if (numbers > most) most = numbers;
        }
    return most;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static bool any_on_host(const struct contender *contenders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (contenders[i].step && contenders[i].step->on_host) return true;
    return false;
}

/* All sizes of one type. */
static int run_type(struct bench_program *p, struct data *data, enum element type, size_t l2)
{
    const struct bench_options *o = &p->options;
    struct contender all[CONTENDERS];
    struct side_by_side bench;
    size_t count;
    int rounds = o->reps != REPS_DEFAULT ? o->reps : p->device.emulated ? ROUNDS_EMULATED : ROUNDS;
    int code = contenders_find(all, &count, o->steps, type, &p->fault);
    if (!code && count == 0)
        code = fail(&p->fault, EXIT_USAGE, "nothing of --steps %.60s scans %s.", o->steps,
                    element_short(type));
    if (!code) code = data_convert(data, type, &p->fault);
    if (!code && any_on_host(all, count)) data_on_host(data);
    for (size_t i = 0; i < o->size_count && !code; i++) {
        code = side_by_side_time(&bench, data, all, count, o->sizes[i], l2, o->flush, rounds,
                                 &p->fault);
        if (code) break;
        show_side_by_side(stdout, o, &p->device, &bench, &p->records);
        for (size_t k = 0; k < count; k++) p->all_right &= bench.entries[k].right;
    }
    return code;
}

static int check_stdout(struct bench_program *p)
{
    return standard_written() ? 0 : fail(&p->fault, EXIT_USAGE, "cannot write to stdout.");
}

static int run(struct bench_program *p)
{
    struct bench_options *o = &p->options;
    size_t l2 = timing_flush_bytes(p->device.emulated, p->device.l2) ? p->device.l2 : 0;
    if (o->size_count == 0) add_default_sizes(o, p->device.emulated);
    size_t numbers = numbers_needed(o, l2);
    struct contender all[CONTENDERS];
    struct data data;
    size_t count;
    int code = contenders_find(all, &count, o->steps, o->types[0], &p->fault);
    if (!code) code = data_open(&data, numbers, &p->fault);
    if (code) return code;
    show_head(stdout, o, &p->device);
    for (size_t t = 0; t < o->type_count && !code; t++) code = run_type(p, &data, o->types[t], l2);
    if (!code) show_end(stdout, o);
    if (!code && o->format == REPORT_TEXT && strcmp(o->steps, "all") == 0) {
        printf("Not here are steps that apply scan, which have experiments of their own:\n");
        contenders_print_applications(stdout);
    }
    data_close(&data);
    return code ? code : check_stdout(p);
}

/* Goes on as the experiment that times an application. Returns only if that is not possible. */
static int become_experiment(const struct bench_options *o, const struct step *step,
                             struct fault *fault)
{
    static const char *const devices[] = {[DEVICE_CUDA] = "cuda", [DEVICE_EMU] = "emu"};
    char path[PATH_MAX];
    const char *arguments[5] = {path};
    size_t count = 1;
    snprintf(path, sizeof path, "build/experiments/%s", step->verbs->experiment);
    if (o->for_scans)
        return fail(fault, EXIT_USAGE,
                    "%.60s: step %d is timed by %s, which takes --device and --csv only; leave it "
                    "out.",
                    o->for_scans, step->number, path);
    if (o->device != DEVICE_AUTO) {
        arguments[count++] = "--device";
        arguments[count++] = devices[o->device];
    }
    if (o->format == REPORT_CSV) arguments[count++] = "--csv";
    execv(path, (char *const *)(uintptr_t)arguments);
    return fail(fault, EXIT_USAGE,
                "cannot run %s: %s; call ./bench in its own folder, after make experiments.", path,
                strerror(errno));
}

/* The experiments of all applications, one after the other. */
static int run_applications(const struct bench_options *o, struct fault *fault)
{
    int status;
    for (const struct step *s = NULL; (s = contenders_next_application(s));) {
        pid_t child = fork();
        if (child == 0) _exit(become_experiment(o, s, fault) ? fault_say(fault) : EXIT_RIGHT);
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return fail(fault, EXIT_USAGE, "cannot run %s: %s; try ./bench --steps %d.",
                        s->verbs->experiment, strerror(errno), s->number);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) raise(SIGPIPE);
        if (status)
            return fail(fault, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_DEVICE,
                        "%s has failed; ./bench --steps %d runs it alone.", s->verbs->experiment,
                        s->number);
    }
    return 0;
}

/* --help and --version. */
static int describe(struct bench_program *p)
{
    if (p->options.help)
        bench_options_help(stdout);
    else
        printf("bench, Upsweep %s, CUDA %d.%d\n", PROGRAM_VERSION, CUDART_VERSION / 1000,
               CUDART_VERSION % 1000 / 10);
    return check_stdout(p);
}

static int run_program(struct bench_program *p, int argc, char **argv)
{
    struct bench_options *o = &p->options;
    const struct step *application;
    int code = bench_options_parse(o, argc, argv, &p->fault);
    if (!code && (o->help || o->version)) return describe(p);
    if (!code && strcmp(o->steps, "applications") == 0) return run_applications(o, &p->fault);
    if (!code) code = contenders_application(&application, o->steps, &p->fault);
    if (!code && application) code = become_experiment(o, application, &p->fault);
    if (code) return code;
    struct options options = {.device = o->device, .argv = argv};
    code = device_choose(&options, &p->device, &p->fault);
    if (!code) code = run(p);
    return code;
}

int main(int argc, char **argv)
{
    static struct bench_program program = {.all_right = true};
    if (run_program(&program, argc, argv)) return fault_say(&program.fault);
    return program.all_right ? EXIT_RIGHT : EXIT_WRONG;
}
