/*
 * gpu_lab.c — a second check of a lab on a real GPU: is the output right there, too, and how long
 * does it take beside the step's own solution?
 *
 *     gpu-lab LAB OWN.ptx SOLUTION.ptx SEED handed-out|drawn
 *
 * It runs the PTX that the emulator has run, with the same launches on the same cases, and prints
 * one line. It gives no points: those come from the emulator alone. The exit code is 0 if all is
 * right, 1 if something is wrong, 2 for a wrong command line, 3 for an error of the GPU, and 4 if
 * there is no GPU. Kernels that do not end are not run here, since check-lab knows of them by then;
 * as a last resort the program ends after SECONDS.
 */
#define _POSIX_C_SOURCE 200809L /* alarm */
#include "common/tools/labs/run_case.h"
#include "common/tools/labs/score.h"
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the few functions of the CUDA driver that gpu-lab calls, found when it runs ------------- */

/* So gpu-lab is built, and starts, without a GPU and without a driver. */

typedef unsigned long long gpu_address;

/* Members of struct driver, the functions' names, and their parameters. Handles are pointers, and
 * each function returns 0 or an error. */
#define DRIVER_FUNCTIONS(DO)                                                                       \
    DO(init, "cuInit", (unsigned))                                                                 \
    DO(device_count, "cuDeviceGetCount", (int *))                                                  \
    DO(device_get, "cuDeviceGet", (int *, int))                                                    \
    DO(device_name, "cuDeviceGetName", (char *, int, int))                                         \
    DO(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                                 \
    DO(context_set, "cuCtxSetCurrent", (void *))                                                   \
    DO(synchronize, "cuCtxSynchronize", (void))                                                    \
    DO(error_text, "cuGetErrorString", (int, const char **))                                       \
    DO(module_load, "cuModuleLoadData", (void **, const void *))                                   \
    DO(function_get, "cuModuleGetFunction", (void **, void *, const char *))                       \
    DO(alloc, "cuMemAlloc_v2", (gpu_address *, size_t))                                            \
    DO(free_memory, "cuMemFree_v2", (gpu_address))                                                 \
    DO(fill, "cuMemsetD8_v2", (gpu_address, unsigned char, size_t))                                \
    DO(write, "cuMemcpyHtoD_v2", (gpu_address, const void *, size_t))                              \
    DO(read, "cuMemcpyDtoH_v2", (void *, gpu_address, size_t))                                     \
    DO(launch, "cuLaunchKernel",                                                                   \
       (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,      \
        void **, void **))                                                                         \
    DO(event_create, "cuEventCreate", (void **, unsigned))                                         \
    DO(event_record, "cuEventRecord", (void *, void *))                                            \
    DO(event_wait, "cuEventSynchronize", (void *))                                                 \
    DO(event_elapsed, "cuEventElapsedTime", (float *, void *, void *))

struct driver {
#define MEMBER(member, name, parameters) int(*member) parameters;
    DRIVER_FUNCTIONS(MEMBER)
};

#define LIBRARY "libcuda.so.1"

struct symbol {
    const char *name;
    size_t member; /* offset in struct driver */
};

#define SYMBOL(member, name, parameters) {name, offsetof(struct driver, member)},
static const struct symbol symbols[] = {DRIVER_FUNCTIONS(SYMBOL)};

/* Returns the name of a function that is missing, or NULL. */
static const char *find_symbols(void *library, struct driver *driver)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) return symbols[i].name;
        memcpy((char *)driver + symbols[i].member, &function, sizeof function);
    }
    return NULL;
}

/* What an error means, in the driver's words. */
static const char *driver_error(const struct driver *driver, int error)
{
    const char *text = NULL;
    if (driver->error_text(error, &text) || !text) return "unknown error";
    return text;
}

static int open_first(const struct driver *driver, int *count, char *name, size_t name_size)
{
    int device, error = driver->init(0);
    void *context;
    if (!error) error = driver->device_count(count);
    if (error || *count == 0) return error;
    error = driver->device_get(&device, 0);
    if (!error) error = driver->device_name(name, (int)name_size, device);
    if (!error) error = driver->context_retain(&context, device);
    return error ? error : driver->context_set(context);
}

/* Finds the driver and opens the first GPU. False: there is no GPU, and `why` says in one sentence
 * what is missing; it is empty without a driver. `name` becomes the GPU's. */
static bool driver_open(struct driver *driver, char *name, size_t name_size, char *why,
                        size_t why_size)
{
    int count = 0;
    void *library = dlopen(LIBRARY, RTLD_NOW);
    *why = '\0';
    if (!library) return false;
    const char *missing = find_symbols(library, driver);
    if (missing) {
        snprintf(why, why_size, "the NVIDIA driver is too old: it has no %s", missing);
        return false;
    }
    int error = open_first(driver, &count, name, name_size);
    if (error)
        snprintf(why, why_size, "the GPU cannot be used: %s", driver_error(driver, error));
    else if (count == 0)
        snprintf(why, why_size, "there is no GPU");
    return !error && count > 0;
}

/* ---- a second check of a lab on a real GPU --------------------------------------------------- */

enum { ROUNDS = 31, SECONDS = 120, POISON = 0xFF, NO_GPU = 4 };

struct gpu {
    struct driver driver;
    char name[128];
    int error;         /* the driver's first error */
    const char *doing; /* what failed then */
};

/* One PTX on the GPU. */
struct program {
    struct lab_ptx ptx;
    void *module;
};

/* A lab's buffers for one size, and the launches. */
struct buffers {
    struct lab_plan plan;
    size_t bytes[LAB_BUFFERS];
    gpu_address address[LAB_BUFFERS];
};

/* Notes the first error. False: there has been one. */
static bool did(struct gpu *gpu, int error, const char *doing)
{
    if (gpu->error == 0 && error) {
        gpu->error = error;
        gpu->doing = doing;
    }
    return gpu->error == 0;
}

static bool load(struct gpu *gpu, const char *path, struct program *program)
{
    struct fault fault;
    if (ptx_read(path, &program->ptx, &fault)) {
        fault_say(&fault);
        return did(gpu, 1, "reading the PTX");
    }
    return did(gpu, gpu->driver.module_load(&program->module, program->ptx.text),
               "compiling the PTX");
}

/* ---- buffers --------------------------------------------------------------------------------- */

static bool allocate(struct gpu *gpu, const struct lab *lab, const struct lab_case *c,
                     struct buffers *b)
{
    *b = (struct buffers){.bytes = {c->n * sizeof(float), lab_output_words(c) * sizeof(uint32_t)}};
    lab->plan(c->n, &b->plan);
    b->bytes[LAB_WORKSPACE] = b->plan.workspace;
    for (int i = 0; i < LAB_BUFFERS; i++)
        if (b->bytes[i] && !did(gpu, gpu->driver.alloc(&b->address[i], b->bytes[i]), "allocating"))
            return false;
    return true;
}

static void release(struct gpu *gpu, struct buffers *b)
{
    for (int i = 0; i < LAB_BUFFERS; i++)
        if (b->address[i]) gpu->driver.free_memory(b->address[i]);
}

static bool fill(struct gpu *gpu, struct buffers *b, const float *in)
{
    const struct driver *d = &gpu->driver;
    int error = d->write(b->address[LAB_IN], in, b->bytes[LAB_IN]);
    for (int i = LAB_OUT; !error && i < LAB_BUFFERS; i++)
        if (b->bytes[i]) error = d->fill(b->address[i], POISON, b->bytes[i]);
    return did(gpu, error, "filling the buffers");
}

/* ---- running --------------------------------------------------------------------------------- */

static bool launch(struct gpu *gpu, const struct program *p, const struct buffers *b,
                   const struct lab_launch *l)
{
    const struct driver *d = &gpu->driver;
    unsigned long long values[LAB_ARGUMENTS];
    void *arguments[LAB_ARGUMENTS], *function;
    char name[EMU_NAME_SIZE];
    for (unsigned i = 0; i < l->argument_count; i++) {
        const struct lab_argument *a = &l->arguments[i];
        gpu_address base = a->kind == LAB_ADDRESS ? b->address[a->buffer] : 0;
        values[i] = a->kind == LAB_NULL ? 0 : base + a->value;
        arguments[i] = &values[i];
    }
    size_t at = 0;
    if (!next_entry(&p->ptx, &at, l->kernel, name)) return did(gpu, 1, "finding a kernel");
    if (!did(gpu, d->function_get(&function, p->module, name), "finding a kernel")) return false;
    return did(gpu,
               d->launch(function, l->blocks, 1, 1, l->threads, 1, 1, (unsigned)l->shared_bytes,
                         NULL, arguments, NULL),
               "launching a kernel");
}

/* One scan, with what the step does before it. */
static bool scan(struct gpu *gpu, const struct program *p, const struct buffers *b)
{
    if (b->plan.clear_workspace)
        did(gpu, gpu->driver.fill(b->address[LAB_WORKSPACE], 0, b->bytes[LAB_WORKSPACE]),
            "clearing the workspace");
    for (unsigned i = 0; gpu->error == 0 && i < b->plan.launch_count; i++)
        launch(gpu, p, b, &b->plan.launches[i]);
    return gpu->error == 0;
}

static bool run_once(struct gpu *gpu, const struct lab *lab, const struct program *p,
                     struct lab_case_result *r, const float *in)
{
    struct buffers b;
    if (allocate(gpu, lab, &r->is, &b) && fill(gpu, &b, in) && scan(gpu, p, &b) &&
        did(gpu, gpu->driver.synchronize(), "running the kernels"))
        did(gpu, gpu->driver.read(r->out, b.address[LAB_OUT], b.bytes[LAB_OUT]), "reading");
    release(gpu, &b);
    return gpu->error == 0;
}

/* Is the output of a case right? False also after an error. */
static bool is_right(struct gpu *gpu, const struct lab *lab, const struct program *p,
                     const struct lab_case *c, struct wrong_output *wrong)
{
    struct lab_case_result r = {
        .is = *c, .end = LAB_RAN, .out = malloc(lab_output_words(c) * sizeof *r.out)};
    float *in = malloc(c->n * sizeof *in);
    bool right = false;
    if (in && r.out) {
        lab_input(c, in);
        right = run_once(gpu, lab, p, &r, in) && output_is_right(lab, &r, wrong);
    } else {
        did(gpu, 1, "allocating memory of the host");
    }
    free(in);
    free(r.out);
    return right;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static bool time_once(struct gpu *gpu, const struct program *p, const struct buffers *b,
                      void *const events[2], float *milliseconds)
{
    const struct driver *d = &gpu->driver;
    did(gpu, d->event_record(events[0], NULL), "timing");
    scan(gpu, p, b);
    did(gpu, d->event_record(events[1], NULL), "timing");
    if (!did(gpu, d->event_wait(events[1]), "running the kernels")) return false;
    return did(gpu, d->event_elapsed(milliseconds, events[0], events[1]), "timing");
}

/* Median times of both programs in microseconds, measured in turns. The first round warms up. */
static bool measure(struct gpu *gpu, const struct lab *lab, const struct program programs[2],
                    double microseconds[2])
{
    float times[2][ROUNDS + 1];
    void *events[2];
    struct lab_case c = lab_plain_case(lab, lab->timed, 1);
    struct buffers b = {.bytes = {0}};
    float *in = malloc(c.n * sizeof *in);
    for (int i = 0; i < 2; i++) did(gpu, gpu->driver.event_create(&events[i], 0), "timing");
    if (in) lab_input(&c, in);
    if (in && gpu->error == 0 && allocate(gpu, lab, &c, &b) && fill(gpu, &b, in))
        for (int i = 0; gpu->error == 0 && i < 2 * (ROUNDS + 1); i++)
            time_once(gpu, &programs[i % 2], &b, events, &times[i % 2][i / 2]);
    release(gpu, &b);
    free(in);
    if (!in || gpu->error) return false;
    for (int i = 0; i < 2; i++) {
        qsort(times[i] + 1, ROUNDS, sizeof **times, by_size);
        microseconds[i] = 1000.0 * (double)times[i][1 + ROUNDS / 2];
    }
    return true;
}

/* ---- the report ------------------------------------------------------------------------------ */

static int failed(const struct gpu *gpu)
{
    printf("GPU: %s: %s failed: %s\n", gpu->name, gpu->doing,
           driver_error(&gpu->driver, gpu->error));
    return 3;
}

static int check(struct gpu *gpu, const struct lab *lab, const struct program programs[2],
                 const struct lab_case *cases, size_t count)
{
    struct wrong_output wrong = {0}, first = {0};
    double microseconds[2];
    size_t right = 0, n = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_right(gpu, lab, &programs[0], &cases[i], &wrong)) {
            right++;
        } else if (!n) {
            n = cases[i].n;
            first = wrong;
        }
        if (gpu->error) return failed(gpu);
    }
    printf("GPU: %s: %zu of %zu runs right", gpu->name, right, count);
    if (right < count) {
        printf("; n = %zu: %s%s%s\n", n, first.text, *first.cause ? "; " : "", first.cause);
        return 1;
    }
    if (!measure(gpu, lab, programs, microseconds)) return putchar('\n'), failed(gpu);
    printf("; n = %zu takes %.1f µs, the step's solution %.1f µs (medians of %d)\n", lab->timed,
           microseconds[0], microseconds[1], ROUNDS);
    return 0;
}

int main(int count, char **argument)
{
    struct lab_case cases[LAB_CASES];
    struct program programs[2];
    static struct gpu gpu;
    char why[300];
    const struct lab *lab = count == 6 ? lab_named(argument[1]) : NULL;
    if (!lab) {
        fputs("gpu-lab: give LAB OWN.ptx SOLUTION.ptx SEED handed-out|drawn.\n", stderr);
        return 2;
    }
    if (!driver_open(&gpu.driver, gpu.name, sizeof gpu.name, why, sizeof why)) {
        if (*why) printf("GPU: skipped, %s.\n", why);
        return NO_GPU;
    }
    alarm(SECONDS);
    if (!load(&gpu, argument[2], &programs[0]) || !load(&gpu, argument[3], &programs[1]))
        return failed(&gpu);
    bool handed_out = !strcmp(argument[5], "handed-out");
    size_t cases_count = lab_cases(lab, strtoull(argument[4], NULL, 10), handed_out, cases);
    return check(&gpu, lab, programs, cases, cases_count);
}
