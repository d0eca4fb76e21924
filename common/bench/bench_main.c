/*
 * bench_main.c — ./bench: the steps, CUB's scan and the roof side by side. A match for every type
 * and size: see side_by_side.h for how it is measured.
 */
#define _GNU_SOURCE
#include "show.h"

#include "common/harness/run/device.h"
#include "common/harness/report/format.h"

#include <signal.h>
#include <string.h>

#define ROUNDS          31
#define ROUNDS_EMULATED 3

struct bench_program {
    struct wish wish;
    struct device device;
    size_t records; /* printed */
    bool all_right;
    struct fault fault;
};

/* ---- sizes --------------------------------------------------------------------------------- */

static void add_default_sizes(struct wish *w, bool emulated)
{
    int last = emulated ? 12 : 28;
    for (int exponent = 10; exponent <= last; exponent += 2)
        w->sizes[w->size_count++] = (size_t)1 << exponent;
}

/* The contenders at one size. Steps on the CPU leave out the sizes that --near has added. */
static size_t for_size(const struct contender *all, size_t count, bool neighbour,
                       struct contender *some)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (!all[i].step || !all[i].step->on_host || !neighbour) some[left++] = all[i];
    return left;
}

/* The number of input numbers that the largest size needs. */
static size_t numbers_needed(const struct wish *w, size_t l2)
{
    size_t most = 0;
    for (size_t t = 0; t < w->type_count; t++)
        for (size_t i = 0; i < w->size_count; i++) {
            size_t numbers = match_numbers(w->sizes[i], w->types[t], l2);
            if (numbers > most) most = numbers;
        }
    return most;
}

/* ---- memory -------------------------------------------------------------------------------- */

static int check_memory(struct bench_program *p, size_t numbers, size_t l2)
{
    const struct wish *w = &p->wish;
    size_t host = data_host_bytes(numbers, true), host_has = device_host_memory(), device = 0;
    for (size_t t = 0; t < w->type_count; t++) {
        struct contender contenders[CONTENDERS];
        size_t count;
        int code = contenders_find(contenders, &count, w->steps, w->types[t], &p->fault);
        if (code) return code;
        for (size_t i = 0; i < w->size_count; i++) {
            size_t bytes = match_device_bytes(contenders, count, w->sizes[i], w->types[t], l2) +
                           data_device_bytes(numbers, w->types[t]) +
                           timing_flush_bytes(p->device.emulated, p->device.l2);
            if (bytes > device) device = bytes;
        }
    }
    if (p->device.emulated) host += device;
    if (device > p->device.memory_free)
        return fail(&p->fault, EXIT_USAGE,
                    "these sizes need %s of device memory, but %s are free; take smaller ones.",
                    format_bytes(device).s, format_bytes(p->device.memory_free).s);
    if (host > host_has)
        return fail(&p->fault, EXIT_USAGE,
                    "these sizes need %s of host memory, but %s are available; take smaller ones.",
                    format_bytes(host).s, format_bytes(host_has).s);
    return 0;
}

/* ---- matches ------------------------------------------------------------------------------- */

static bool any_on_host(const struct contender *contenders, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (contenders[i].step && contenders[i].step->on_host) return true;
    return false;
}

/* All sizes of one type. */
static int run_type(struct bench_program *p, struct data *data, enum element type, size_t l2)
{
    const struct wish *w = &p->wish;
    struct contender all[CONTENDERS], some[CONTENDERS];
    struct match match;
    size_t count;
    int rounds = w->reps != REPS_DEFAULT ? w->reps : p->device.emulated ? ROUNDS_EMULATED : ROUNDS;
    int code = contenders_find(all, &count, w->steps, type, &p->fault);
    if (!code && count == 0)
        code = fail(&p->fault, EXIT_USAGE, "nothing of --steps %.60s scans %s.", w->steps,
                    type_name(type));
    if (!code) code = data_convert(data, type, &p->fault);
    if (!code && any_on_host(all, count)) code = data_on_host(data, &p->fault);
    for (size_t i = 0; i < w->size_count && !code; i++) {
        size_t left = for_size(all, count, w->neighbour[i], some);
        if (left == 0) continue;
        code = match_play(&match, data, some, left, w->sizes[i], l2, w->flush, rounds, w->patience,
                          &p->fault);
        if (code) break;
        show_match(stdout, w, &p->device, &match, &p->records);
        for (size_t k = 0; k < left; k++) p->all_right &= match.entries[k].right;
    }
    return code;
}

static int run(struct bench_program *p)
{
    struct wish *w = &p->wish;
    size_t l2 = timing_flush_bytes(p->device.emulated, p->device.l2) ? p->device.l2 : 0;
    if (w->size_count == 0) add_default_sizes(w, p->device.emulated);
    size_t numbers = numbers_needed(w, l2);
    struct data data;
    int code = check_memory(p, numbers, l2);
    if (!code) code = data_open(&data, numbers, w->seed, &p->fault);
    if (code) return code;
    show_head(stdout, w, &p->device);
    for (size_t t = 0; t < w->type_count && !code; t++) code = run_type(p, &data, w->types[t], l2);
    if (!code) show_end(stdout, w);
    data_close(&data);
    if (!code && (fflush(stdout) != 0 || ferror(stdout)))
        code = fail(&p->fault, EXIT_USAGE, "cannot write to stdout.");
    return code;
}

int main(int argc, char **argv)
{
    static struct bench_program program = {.all_right = true};
    struct wish *w = &program.wish;
    signal(SIGPIPE, SIG_IGN);
    int code = wish_parse(w, argc, argv, &program.fault);
    if (code) return fault_say(&program.fault);
    if (w->help || w->version) {
        if (w->help)
            wish_help(stdout);
        else
            printf("bench, Upsweep %s, CUDA %d.%d\n", UPSWEEP_VERSION, CUDART_VERSION / 1000,
                   CUDART_VERSION % 1000 / 10);
        return EXIT_RIGHT;
    }
    struct options options = {.device = w->device, .argv = argv};
    code = device_choose(&options, &program.device, &program.fault);
    if (!code) code = run(&program);
    if (code) return fault_say(&program.fault);
    return program.all_right ? EXIT_RIGHT : EXIT_WRONG;
}
