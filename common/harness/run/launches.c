/* launches.c — what one call launches: its kernels, their counters, the contract, their time. */
#define _GNU_SOURCE
#include "common/files/fault.h"
#include "common/harness/print/print.h"
#include "common/step/cuda_check.h"
#include "device.h"
#include "runs.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- counters -------------------------------------------------------------------------------- */

/* The functions of emu.h, which only the emulator's runtime library has. */
#define LOOK_UP(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

struct emu *counters_emulator(void)
{
    __typeof__(&emu_runtime) runtime = LOOK_UP(emu_runtime);
    return runtime ? runtime() : NULL;
}

unsigned counters_checks(void)
{
    struct emu *emu = counters_emulator();
    return emu ? LOOK_UP(emu_checks)(emu) : 0;
}

static bool was_counting; /* before counters_begin: EMU_COUNTERS counts every launch */

bool counters_begin(void)
{
    struct emu *emu = counters_emulator();
    if (!emu) return false;
    LOOK_UP(emu_forget)(emu);
    was_counting = LOOK_UP(emu_count)(emu, true);
    return true;
}

/* Every field of emu_counts is a uint64_t, so two of them are added as arrays. */
static void add_counts(struct emu_counts *sum, const struct emu_counts *counts)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
}
_Static_assert(sizeof(struct emu_counts) % sizeof(uint64_t) == 0, "emu_counts: uint64_t only");

static void add_line(struct counters *counters, const struct emu_line *line)
{
    for (size_t i = 0; i < counters->line_count; i++) {
        struct counter_line *known = &counters->lines[i];
        if (known->line != line->line || strcmp(known->file, line->file) != 0) continue;
        add_counts(&known->counts, &line->counts);
        return;
    }
    size_t bytes = (counters->line_count + 1) * sizeof *counters->lines;
    counters->lines = allocated(realloc(counters->lines, bytes));
    counters->lines[counters->line_count++] =
        (struct counter_line){.file = allocated(strdup(line->file ? line->file : "")),
                              .line = line->line,
                              .counts = line->counts};
}

static int compare_lines(const void *left, const void *right)
{
    const struct counter_line *a = left, *b = right;
    int files = strcmp(a->file, b->file);
    return files ? files : (a->line > b->line) - (a->line < b->line);
}

void counters_end(struct counters *counters)
{
    *counters = (struct counters){0};
    struct emu *emu = counters_emulator();
    LOOK_UP(emu_count)(emu, was_counting);
    size_t records = LOOK_UP(emu_records)(emu);
    for (size_t i = 0; i < records; i++) {
        const struct emu_launch_record *record = LOOK_UP(emu_record)(emu, i);
        counters->launches++;
        counters->seconds += record->seconds;
        add_counts(&counters->total, &record->total);
        for (size_t k = 0; k < record->line_count; k++) add_line(counters, &record->lines[k]);
    }
    LOOK_UP(emu_forget)(emu);
    if (counters->line_count)
        qsort(counters->lines, counters->line_count, sizeof *counters->lines, compare_lines);
}

void counters_free(struct counters *counters)
{
    for (size_t i = 0; i < counters->line_count; i++) free(counters->lines[i].file);
    free(counters->lines);
    *counters = (struct counters){0};
}

uint64_t counters_conflicts(const struct emu_shared *shared)
{
    return shared->wavefronts - shared->ideal;
}

double counters_sectors_per_request(const struct emu_global *global)
{
    return global->requests ? (double)global->sectors / (double)global->requests : 0;
}

const struct counter_line *counters_worst_line(const struct counters *counters)
{
    const struct counter_line *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < counters->line_count; i++) {
        const struct emu_counts *c = &counters->lines[i].counts;
        uint64_t conflicts = counters_conflicts(&c->shared_ld) + counters_conflicts(&c->shared_st);
        if (conflicts <= most) continue;
        most = conflicts;
        worst = &counters->lines[i];
    }
    return worst;
}

/* ---- launches -------------------------------------------------------------------------------- */

static struct launch *find(struct launches *all, const char *name)
{
    for (unsigned k = 0; k < all->kinds; k++)
        if (strcmp(all->of[k].kernel, name) == 0) return &all->of[k];
    if (all->kinds == LAUNCHES_KINDS) return NULL;
    struct launch *added = &all->of[all->kinds++];
    strcpy(added->kernel, name);
    return added;
}

static cudaError_t add(void *context, cudaGraphNode_t node, enum cudaGraphNodeType type)
{
    struct launches *all = context;
    struct cudaKernelNodeParams p;
    struct cudaFuncAttributes about;
    const char *mangled;
    char name[LAUNCHES_NAME];
    if (type != cudaGraphNodeTypeKernel) return cudaSuccess;
    CUDA_TRY(cudaGraphKernelNodeGetParams(node, &p));
    CUDA_TRY(cudaFuncGetAttributes(&about, p.func));
    CUDA_TRY(cudaFuncGetName(&mangled, p.func));
    format_kernel(mangled, name, sizeof name);
    struct launch *launch = find(all, name);
    size_t grid = (size_t)p.gridDim.x * p.gridDim.y * p.gridDim.z;
    all->all++;
    if (!launch || (launch->times++ && launch->grid >= grid)) return cudaSuccess;
    launch->grid = grid;
    launch->block = p.blockDim.x * p.blockDim.y * p.blockDim.z;
    launch->shared_bytes = about.sharedSizeBytes + p.sharedMemBytes;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&launch->blocks_per_sm, p.func,
                                                         (int)launch->block, p.sharedMemBytes);
}

/* What is done with each node of a graph. */
typedef cudaError_t node_fn(void *context, cudaGraphNode_t, enum cudaGraphNodeType);

static cudaError_t for_each_node(cudaGraph_t graph, node_fn *look, void *context, size_t *count)
{
    CUDA_TRY(cudaGraphGetNodes(graph, NULL, count));
    cudaGraphNode_t *nodes = allocated(calloc(*count + 1, sizeof(cudaGraphNode_t)));
    cudaError_t error = *count ? cudaGraphGetNodes(graph, nodes, count) : cudaSuccess;
    for (size_t i = 0; i < *count && !error; i++) {
        enum cudaGraphNodeType type;
        error = cudaGraphNodeGetType(nodes[i], &type);
        if (!error) error = look(context, nodes[i], type);
    }
    free(nodes);
    return error;
}

struct launches launches_of(run_fn *call, void *context)
{
    struct launches all = {0};
    size_t nodes;
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return all;
    if (!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)) {
        cudaError_t error = call(context, stream);
        if (!error) error = cudaGetLastError();
        cudaError_t ended = cudaStreamEndCapture(stream, &graph);
        if (error || ended || for_each_node(graph, add, &all, &nodes)) all = (struct launches){0};
        if (graph) cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
    (void)cudaGetLastError();
    return all;
}

bool launches_have(const struct launches *all, const char *kernel)
{
    for (unsigned k = 0; k < all->kinds; k++)
        if (strcmp(all->of[k].kernel, kernel) == 0) return true;
    return false;
}

const struct launch *launches_largest(const struct launches *all)
{
    const struct launch *largest = NULL;
    for (unsigned k = 0; k < all->kinds; k++)
        if (!largest || all->of[k].grid > largest->grid) largest = &all->of[k];
    return largest;
}

/* ---- calls that cannot be captured ----------------------------------------------------------- */

/* Describes the call that made CUDA refuse the capture. */
static const char *refused(cudaError_t error)
{
    switch (error) {
    case cudaErrorStreamCaptureImplicit:
        return "the scan uses the default stream (a launch there, cudaMemcpy or cudaMemset), not "
               "the given one";
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureMerge:
        return "the scan uses other streams, which do not begin and end with the given one";
    case cudaErrorStreamCaptureUnsupported:
        return "the scan allocates memory, waits, or copies synchronously, which would be timed";
    case cudaErrorStreamCaptureInvalidated:
        return "the scan allocates memory, waits, copies synchronously or uses the default stream";
    default: return NULL;
    }
}

static void name_refusal(cudaError_t error, char *breach)
{
    const char *why = refused(error);
    snprintf(breach, CONTRACT_TEXT, "%s (%s)",
             why ? why : "the scan fails where its stream is captured", cudaGetErrorName(error));
}

/* ---- nodes that a graph must not have -------------------------------------------------------- */

static bool is_on_device(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) return false;
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

static cudaError_t look_at_copy(cudaGraphNode_t node, const char **breach)
{
    struct cudaMemcpy3DParms copy = {0};
    CUDA_TRY(cudaGraphMemcpyNodeGetParams(node, &copy));
    if (!is_on_device(copy.srcPtr.ptr) || !is_on_device(copy.dstPtr.ptr))
        *breach = "the scan copies from or to the host";
    return cudaSuccess;
}

static cudaError_t look_at_node(void *context, cudaGraphNode_t node, enum cudaGraphNodeType type)
{
    const char **breach = context;
    cudaGraph_t child;
    size_t count;
    if (*breach) return cudaSuccess;
    switch (type) {
    case cudaGraphNodeTypeHost: *breach = "the scan has the host compute (a host function)"; break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        *breach = "the scan allocates memory, which would be timed (cudaMallocAsync)";
        break;
    case cudaGraphNodeTypeMemcpy: return look_at_copy(node, breach);
    case cudaGraphNodeTypeGraph:
        CUDA_TRY(cudaGraphChildGraphNodeGetGraph(node, &child));
        return for_each_node(child, look_at_node, breach, &count);
    default: break;
    }
    return cudaSuccess;
}

/* ---- both checks ----------------------------------------------------------------------------- */

/* Begins and ends a capture around the work, even if a launch in it has failed. */
static cudaError_t capture(run_fn *work, void *context, cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = NULL;
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaError_t error = work(context, stream);
    if (!error) error = cudaGetLastError();
    cudaError_t ended = cudaStreamEndCapture(stream, graph);
    (void)cudaGetLastError(); /* the error of the capture is reported, and cleared here */
    return error ? error : ended;
}

int contract_capture(run_fn *work, void *context, cudaStream_t stream, cudaGraphExec_t *exec,
                     char *breach, struct fault *fault)
{
    cudaGraph_t graph;
    size_t nodes = 1;
    const char *found = NULL;
    *exec = NULL;
    breach[0] = '\0';
    cudaError_t refusal = capture(work, context, stream, &graph);
    cudaError_t error = refusal ? cudaSuccess : for_each_node(graph, look_at_node, &found, &nodes);
    if (nodes == 0) found = "the scan uses other streams: the given one stays empty";
    if (refusal) name_refusal(refusal, breach);
    if (found) snprintf(breach, CONTRACT_TEXT, "%s", found);
    if (!*breach && !error) error = cudaGraphInstantiate(exec, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    CUDA_CHECK(fault, error);
    return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Twice the size of the L2, so that none of its earlier content remains. */
#define FLUSH_FACTOR 2

/* Faster than any memory so far, in bytes per second: emptying the L2 takes at least this long. */
#define FLUSH_RATE 10e12

#define REPS_GPU       15
#define REPS_GPU_LEAST 5 /* the fewest runs, so that a scan that is wrong now and then is found */
#define REPS_EMULATED  3
#define MOMENT         0.5 /* seconds that all timed runs together may take, except the fewest */

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int timing_default_reps(bool emulated, double once_seconds)
{
    int most = emulated ? REPS_EMULATED : REPS_GPU, least = emulated ? 1 : REPS_GPU_LEAST;
    if (once_seconds * most <= MOMENT) return most;
    int fit = (int)(MOMENT / once_seconds);
    return fit > least ? fit : least;
}

size_t timing_flush_bytes(bool emulated, size_t l2) { return emulated ? 0 : FLUSH_FACTOR * l2; }

static int open_device_timer(struct timer *timer, struct fault *fault)
{
    CUDA_CHECK(fault, cudaStreamCreate(&timer->stream));
    CUDA_CHECK(fault, cudaEventCreate(&timer->start));
    CUDA_CHECK(fault, cudaEventCreate(&timer->stop));
    struct cudaDeviceProp properties;
    CUDA_CHECK(fault, cudaGetDeviceProperties(&properties, 0));
    timer->flush_bytes = timing_flush_bytes(cuda_emulated(), (size_t)properties.l2CacheSize);
    if (timer->flush_bytes == 0) return 0;
    CUDA_CHECK(fault, cudaMalloc(&timer->flush, timer->flush_bytes));
    CUDA_CHECK(fault, cudaMemset(timer->flush, 0, timer->flush_bytes));
    return 0;
}

int timer_open(struct timer *timer, bool on_host, struct fault *fault)
{
    *timer = (struct timer){.on_host = on_host};
    if (on_host) return 0;
    int code = open_device_timer(timer, fault);
    if (code) timer_close(timer);
    return code;
}

void timer_close(struct timer *timer)
{
    if (timer->flush) cudaFree(timer->flush);
    if (timer->start) cudaEventDestroy(timer->start);
    if (timer->stop) cudaEventDestroy(timer->stop);
    if (timer->stream) cudaStreamDestroy(timer->stream);
    *timer = (struct timer){0};
}

static int time_once_on_host(run_fn *work, void *context, double *seconds, struct fault *fault)
{
    double start = clock_seconds();
    CUDA_CHECK(fault, work(context, NULL));
    *seconds = clock_seconds() - start;
    return 0;
}

static cudaError_t empty_l2(const struct timer *timer)
{
    if (!timer->flush) return cudaSuccess;
    double shortest = (double)timer->flush_bytes / FLUSH_RATE;
    for (double busy = 0; busy <= timer->lead; busy += shortest) {
        cudaError_t error =
            timer->how == FLUSH_READ
                ? flush_read(timer->flush, timer->flush_bytes, timer->stream)
                : cudaMemsetAsync(timer->flush, 0, timer->flush_bytes, timer->stream);
        if (error) return error;
    }
    return cudaSuccess;
}

/* Empties the L2 and runs `work` once, timed. */
static int timer_once(struct timer *timer, run_fn *work, void *context, double *seconds,
                      struct fault *fault)
{
    float milliseconds;
    if (timer->on_host) return time_once_on_host(work, context, seconds, fault);
    CUDA_CHECK(fault, empty_l2(timer));
    CUDA_CHECK(fault, cudaEventRecord(timer->start, timer->stream));
    CUDA_CHECK(fault, work(context, timer->stream));
    CUDA_CHECK(fault, cudaEventRecord(timer->stop, timer->stream));
    CUDA_CHECK(fault, cudaEventSynchronize(timer->stop));
    CUDA_CHECK(fault, cudaEventElapsedTime(&milliseconds, timer->start, timer->stop));
    *seconds = 1e-3 * milliseconds;
    return 0;
}

/* One timed run, with its preparation and its check. */
static int time_turn(const struct timer *timer, struct turn *turn, struct fault *fault)
{
    struct timer own = *timer;
    own.on_host |= turn->on_host;
    if (turn->lead > 0) own.lead = turn->lead;
    cudaError_t error = turn->prepare ? turn->prepare(turn->context, own.stream) : cudaSuccess;
    if (error) return cuda_fault(fault, error, "preparing a timed run");
    int code = timer_once(&own, turn->work, turn->context, &turn->seconds[turn->done++], fault);
    return code || !turn->check ? code : turn->check(turn->context, fault);
}

int timer_turns(struct timer *timer, struct turn *turns, size_t count, const char *label,
                struct fault *fault)
{
    int code = 0, rounds = 0;
    for (size_t i = 0; i < count; i++)
        if (turns[i].reps > rounds) rounds = turns[i].reps;
    if (label) progress_begin(label, (size_t)rounds);
    for (int round = 0; round < rounds && !code; round++) {
        for (size_t i = 0; i < count && !code; i++) {
            struct turn *turn = &turns[(i + (size_t)round) % count];
            if (turn->done < turn->reps) code = time_turn(timer, turn, fault);
        }
        if (label) progress_at((size_t)round + 1);
    }
    if (label) progress_end();
    return code;
}

int timer_run_warm(struct timer *timer, run_fn *prepare, run_fn *work, check_fn *check,
                   void *context, int reps, struct timing *timing, struct fault *fault)
{
    *timing = (struct timing){0};
    if (reps == 0) return 0;
    struct turn turn = {.prepare = prepare, .work = work, .check = check, .context = context};
    turn.reps = reps;
    turn.seconds = allocated(calloc((size_t)reps, sizeof *turn.seconds));
    int code = timer_turns(timer, &turn, 1, "timed runs", fault);
    if (!code) timing_summarize(timing, turn.seconds, reps);
    free(turn.seconds);
    return code;
}

int timer_run(struct timer *timer, run_fn *prepare, run_fn *work, void *context, int reps,
              struct timing *timing, struct fault *fault)
{
    cudaError_t error = prepare ? prepare(context, timer->stream) : cudaSuccess;
    if (!error) error = work(context, timer->stream);
    if (!error && !timer->on_host) error = cudaStreamSynchronize(timer->stream);
    if (error) return cuda_fault(fault, error, "the warm-up run");
    return timer_run_warm(timer, prepare, work, NULL, context, reps, timing, fault);
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The value at a fraction of the way through sorted values, interpolated between two of them. */
static double quantile(const double *sorted, int count, double fraction)
{
    double at = fraction * (count - 1);
    int below = (int)at;
    int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

void timing_summarize(struct timing *timing, double *seconds, int reps)
{
    *timing = (struct timing){.reps = reps};
    if (reps == 0) return;
    qsort(seconds, (size_t)reps, sizeof *seconds, compare);
    timing->least = seconds[0];
    timing->lower = quantile(seconds, reps, 0.25);
    timing->median = quantile(seconds, reps, 0.5);
    timing->upper = quantile(seconds, reps, 0.75);
}
