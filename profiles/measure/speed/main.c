/*
 * main.c — the emulator's bench: prints rows for profiles/emulated/speed.csv, without a heading.
 *
 * usage: run MODE PART [COMMAND …]
 *
 * MODE   plain; counters: they are on while a workload is timed; or the tool that EMU_TOOL names
 * PART   scans, micro, growth, launches, blocks; check: scans, and the memory that the process
 *        took for the first; startup: how long COMMAND takes
 *
 * EMU_THREADS is the number of host threads, BENCH_ONLY the name of the only workload to run.
 * Part `speed` of profiles/measure/measure.py calls this.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include "bench.h"
#include "common/emu/emu.h"
#include "common/harness/run/runs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 7 }; /* runs of each workload */

static const char *mode;
static long cores;

static double seconds_on(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void row(const struct bench_case *s, const char *metric, double value, const char *unit)
{
    printf("%s,%s,%zu,%u,%ld,%s,%s,%.6g,%s\n", s->group, s->name, s->n, s->block, cores, mode,
           metric, value, unit);
    fflush(stdout);
}

static void check(cudaError_t error, const struct bench_case *s)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "bench: %s: %s\n", s->name, emu_message(emu_runtime()));
    exit(1);
}

static double count_instructions(const struct bench_case *s, workload *run, void *argument)
{
    double sum = 0;
    struct emu *emu = emu_runtime();
    emu_forget(emu);
    emu_count(emu, true);
    check(run(argument), s);
    for (size_t i = 0; i < emu_records(emu); i++)
        sum += (double)emu_record(emu, i)->total.instructions;
    emu_forget(emu);
    return sum;
}

static bool is_wanted(const struct bench_case *s)
{
    const char *only = getenv("BENCH_ONLY");
    return only == NULL || strcmp(only, s->name) == 0;
}

void measure(const struct bench_case *s, workload *run, void *argument)
{
    double used[RUNS], elapsed[RUNS];
    if (!is_wanted(s)) return;
    double work = count_instructions(s, run, argument);
    emu_count(emu_runtime(), strcmp(mode, "counters") == 0);
    for (int i = 0; i < RUNS; i++) {
        double wall = seconds_on(CLOCK_MONOTONIC), cpu = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
        check(run(argument), s);
        used[i] = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        elapsed[i] = seconds_on(CLOCK_MONOTONIC) - wall;
        emu_forget(emu_runtime());
    }
    row(s, "instructions", work, "warp instructions");
    row(s, "rate", work / median(used, RUNS) / 1e6, "M/s a core");
    qsort(elapsed, RUNS, sizeof *elapsed, ascending);
    row(s, "elapsed", elapsed[0], "s");
}

/* ---- the scans ----------------------------------------------------------------------------- */

extern const struct step step02, step03, step04, step05, step06, step07, step09, step11, step12;

struct scan {
    const struct step *step;
    size_t n, repeats; /* repeats of very short scans */
    void *out, *in, *workspace;
};

static cudaError_t scan(void *argument)
{
    const struct scan *s = argument;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < s->repeats && error == cudaSuccess; i++)
        error = s->step->scan(s->out, s->in, s->n, 0, s->workspace, NULL);
    return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static cudaError_t scan_in(void *argument, cudaStream_t stream)
{
    const struct scan *s = argument;
    return s->step->scan(s->out, s->in, s->n, 0, s->workspace, stream);
}

static void *allocate(size_t bytes)
{
    void *address = NULL;
    if (bytes > 0 && (cudaMalloc(&address, bytes) != cudaSuccess ||
                      cudaMemset(address, 0, bytes) != cudaSuccess)) {
        fprintf(stderr, "bench: %s\n", emu_message(emu_runtime()));
        exit(1);
    }
    return address;
}

static void measure_scan(const char *group, const struct step *step, size_t n, size_t repeats)
{
    struct scan s = {step,
                     n,
                     repeats,
                     allocate(n * sizeof(float)),
                     allocate(n * sizeof(float)),
                     step->workspace ? allocate(step->workspace(n, 0)) : NULL};
    char name[40];
    if (step->clear_workspace) cudaMemset(s.workspace, 0, step->workspace(n, 0));
    snprintf(name, sizeof name, "step %d", step->number);
    const struct launches launches = launches_of(scan_in, &s);
    measure(&(struct bench_case){group, name, n, launches_largest(&launches)->block}, scan, &s);
    cudaFree(s.out);
    cudaFree(s.in);
    cudaFree(s.workspace);
}

static void scans(void)
{
    measure_scan("scan", &step02, 1024, 100);
    measure_scan("scan", &step03, 2048, 100);
    measure_scan("scan", &step04, 2048, 100);
    for (int k = 20; k <= 22; k += 2) {
        measure_scan("scan", &step05, (size_t)1 << k, 1);
        measure_scan("scan", &step06, (size_t)1 << k, 1);
        measure_scan("scan", &step07, (size_t)1 << k, 1);
    }
}

/* ---- other programs ------------------------------------------------------------------------ */

struct micro_run {
    const struct micro *micro;
    void *buffer;
};

static cudaError_t run_micro(void *argument)
{
    const struct micro_run *r = argument;
    return r->micro->launch(r->buffer, r->micro->n, r->micro->block);
}

static void micro(void)
{
    struct micro_run r = {micros, allocate(MICRO_BUFFER)};
    for (; r.micro->name != NULL; r.micro++) {
        struct bench_case s = {"micro", r.micro->name, r.micro->n, r.micro->block};
        measure(&s, run_micro, &r);
    }
    cudaFree(r.buffer);
}

/* Launches of an empty kernel: the time of one launch. */
static void launches(void)
{
    enum { LAUNCHES = 20000 };
    static const unsigned grids[] = {1, 2, 16};
    emu_count(emu_runtime(), strcmp(mode, "counters") == 0);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct bench_case s = {"launches", "empty kernel", grids[i], 32};
        double wall = seconds_on(CLOCK_MONOTONIC);
        for (int k = 0; k < LAUNCHES; k++) {
            check(launch_empty(grids[i], 32), &s);
            if (k % 1000 == 0) emu_forget(emu_runtime());
        }
        row(&s, "launch", (seconds_on(CLOCK_MONOTONIC) - wall) / LAUNCHES * 1e6, "us");
    }
}

static void growth(void)
{
    static const unsigned blocks[] = {32, 64, 128, 256, 512, 1024};
    for (int k = 12; k <= 24; k += 2)
        measure_scan("growth with n", &step05, (size_t)1 << k, k < 16 ? 100 : k < 18 ? 10 : 1);
    struct micro_run r = {.buffer = allocate(MICRO_BUFFER)};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct micro m = {"tree", MICRO_BUFFER / 16, blocks[i], launch_tree};
        r.micro = &m;
        measure(&(struct bench_case){"growth with the block", m.name, m.n, m.block}, run_micro, &r);
    }
    cudaFree(r.buffer);
}

static double resident_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Grids of many blocks: the additional memory that the process takes, and the time. */
static void measure_blocks(const char *name, unsigned grid, unsigned block, bool gathered)
{
    struct bench_case s = {"blocks", name, grid, block};
    void *zero = allocate(sizeof(unsigned));
    double before = resident_mib(), wall = seconds_on(CLOCK_MONOTONIC);
    check(gathered ? launch_gather(zero, grid, block) : launch_empty(grid, block), &s);
    row(&s, "elapsed", seconds_on(CLOCK_MONOTONIC) - wall, "s");
    row(&s, "memory", resident_mib() - before, "MiB");
    cudaFree(zero);
}

static void blocks(void)
{
    enum { SMS = 132 }; /* of an H200, which holds 2 blocks of 1024 threads on each, or 32 of 64 */
    check(launch_empty(1, 32), &(struct bench_case){"blocks", "the first launch", 1, 32});
    measure_blocks("all waiting for the last", 32 * SMS, 64, true);
    measure_blocks("all waiting for the last", 2 * SMS, 1024, true);
    measure_blocks("that end at once", 1 << 20, 1024, false);
}

/* Scans with a checker on: the time, and of the first one the memory, to compare with a run without
 * the checker. */
static void check_scans(void)
{
    static const struct step *const steps[] = {&step05, &step07, &step09, &step11, &step12};
    struct bench_case s = {"check", "step 5", (size_t)1 << 20, 256};
    for (int k = 20; k >= 16; k -= 4)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            measure_scan(s.group, steps[i], (size_t)1 << k, 1);
            if (k == 20 && i == 0) row(&s, "memory", resident_mib(), "MiB");
        }
    measure_scan(s.group, &step03, 2048, 20);
}

/* A program from its start to its end: processor and elapsed time. */
static void startup(char **command)
{
    double used[RUNS], elapsed[RUNS];
    const char *name = strrchr(command[0], '/');
    struct bench_case s = {"startup", name != NULL ? name + 1 : command[0], 0, 0};
    for (int i = 0; i < RUNS; i++) {
        double wall = seconds_on(CLOCK_MONOTONIC);
        int status;
        struct rusage usage;
        pid_t child = fork();
        if (child == 0) {
            if (freopen("/dev/null", "w", stdout) != NULL) execv(command[0], command);
            _exit(127);
        }
        if (wait4(child, &status, 0, &usage) != child || status != 0) {
            fprintf(stderr, "bench: %s cannot be run, or fails\n", command[0]);
            exit(1);
        }
        elapsed[i] = seconds_on(CLOCK_MONOTONIC) - wall;
        used[i] = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    row(&s, "processor", median(used, RUNS) * 1e3, "ms");
    row(&s, "elapsed", median(elapsed, RUNS) * 1e3, "ms");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"scans", scans},
                 {"micro", micro},
                 {"growth", growth},
                 {"launches", launches},
                 {"blocks", blocks},
                 {"check", check_scans}};
    const char *threads = getenv("EMU_THREADS");
    cores = threads != NULL ? strtol(threads, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    mode = argc > 1 ? argv[1] : "";
    for (size_t i = 0; argc == 3 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, argv[2]) == 0) {
            parts[i].run();
            return 0;
        }
    if (argc > 3 && strcmp(argv[2], "startup") == 0) {
        startup(argv + 3);
        return 0;
    }
    fprintf(stderr, "usage: run MODE scans|micro|growth|launches|blocks|check\n"
                    "       run MODE startup COMMAND ...\n");
    return 2;
}
