/*
 * call-cost: what a call of the libraries of steps 12 to 16 costs the host.
 *
 * What it shows: for each library, the time in which a call returns, and the time in which the host
 * makes the same launches without the library: the same kernels with the same arguments, taken
 * from a graph that has captured the call. `beyond` is what the library adds. Then the time of each
 * query that a library could make at every call, so that it is worth keeping its answer. Nothing
 * waits for the GPU: a burst of calls fits into the queue of launches.
 * How to run it: make experiment-16-call-cost
 */
#include "common/experiment/experiment.h"
#include "steps/12-pipeline/scan.h"
#include "steps/13-compaction/compact.h"
#include "steps/14-summed-area-table/sat.h"
#include "steps/15-radix-sort/sort.h"
#include "common/tools/library/scan/scan.h"

#include <stdlib.h>
#include <string.h>

#define BURST         64 /* calls between two waits */
#define ROUNDS        41
#define LAUNCHES_MOST 16

/* A launch of a captured call. */
struct bare {
    cudaLaunchConfig_t config;
    cudaLaunchAttribute attributes[2]; /* a cluster; may overlap with the kernel before */
    const void *kernel;
    void **arguments; /* belong to the graph */
};

/* A call of a library with n elements, and its launches. */
struct job {
    size_t n;
    float *in;
    void *out;
    uint64_t *kept;
    void *workspace;
    size_t bytes;
    cudaGraph_t graph;
    struct bare bare[LAUNCHES_MOST];
    size_t launches;
};

/* ---- the libraries --------------------------------------------------------------------------- */

static cudaError_t scan(struct job *j, cudaStream_t stream)
{
    return scan_exclusive_f32(j->workspace, &j->bytes, (float *)j->out, j->in, j->n, stream);
}

static cudaError_t compact(struct job *j, cudaStream_t stream)
{
    struct predicate positive = predicate_between(key_of_f32(0x1p-149f), key_of_f32(1e30f));
    return compact_f32(j->workspace, &j->bytes, (float *)j->out, j->kept, j->in, j->n, &positive,
                       stream);
}

/* A picture of n bytes. */
static cudaError_t table(struct job *j, cudaStream_t stream)
{
    const size_t WIDTH = 512;
    struct sat_size size = {WIDTH, j->n / WIDTH, 1};
    return sat_u8(j->workspace, &j->bytes, (uint32_t *)j->out, (const uint8_t *)j->in, size,
                  stream);
}

static cudaError_t sort(struct job *j, cudaStream_t stream)
{
    return sort_keys_f32(j->workspace, &j->bytes, (float *)j->out, j->in, j->n, SORT_ASCENDING,
                         stream);
}

static cudaError_t largest(struct job *j, cudaStream_t stream)
{
    return scan_max_f32(j->workspace, &j->bytes, (float *)j->out, j->in, j->n, NULL, stream);
}

/* The sizes are one for each way to launch; the emulator takes only the small ones. */
static const struct library {
    const char *function;
    cudaError_t (*call)(struct job *, cudaStream_t);
    size_t n;
} libraries[] = {
    {"scan_exclusive_f32", scan, 1 << 10}, {"scan_exclusive_f32", scan, 1 << 23},
    {"scan_exclusive_f32", scan, 1 << 24}, {"compact_f32", compact, 1 << 10},
    {"compact_f32", compact, 1 << 24},     {"sat_u8", table, 1 << 18},
    {"sort_keys_f32", sort, 1 << 10},      {"sort_keys_f32", sort, 1 << 12},
    {"sort_keys_f32", sort, 1 << 16},      {"sort_keys_f32", sort, 1 << 18},
    {"sort_keys_f32", sort, 1 << 22},      {"scan_max_f32", largest, 1 << 10},
    {"scan_max_f32", largest, 1 << 24},
};
#define MOST_EMULATED ((size_t)1 << 12)

/* ---- the launches of a call ------------------------------------------------------------------ */

static int take_launch(struct job *j, cudaGraphNode_t node, cudaStream_t stream,
                       struct fault *fault)
{
    struct bare *b = &j->bare[j->launches++];
    struct cudaKernelNodeParams p;
    cudaGraphNode_t before;
    cudaGraphEdgeData edge = {};
    size_t edges = 1;
    CUDA_CHECK(fault, cudaGraphKernelNodeGetParams(node, &p));
    CUDA_CHECK(fault, cudaGraphNodeGetDependencies(node, &before, &edge, &edges));
    b->kernel = p.func;
    b->arguments = p.kernelParams;
    b->config.gridDim = p.gridDim;
    b->config.blockDim = p.blockDim;
    b->config.dynamicSmemBytes = p.sharedMemBytes;
    b->config.stream = stream;
    b->config.attrs = b->attributes;
    cudaLaunchAttribute *cluster = &b->attributes[0];
    cluster->id = cudaLaunchAttributeClusterDimension;
    CUDA_CHECK(fault, cudaGraphKernelNodeGetAttribute(node, cluster->id, &cluster->val));
    b->config.numAttrs = cluster->val.clusterDim.x > 1;
    if (edge.type == cudaGraphDependencyTypeProgrammatic) {
        cudaLaunchAttribute *overlap = &b->attributes[b->config.numAttrs++];
        overlap->id = cudaLaunchAttributeProgrammaticStreamSerialization;
        overlap->val.programmaticStreamSerializationAllowed = 1;
    }
    return 0;
}

/* The launches of a call that follows another one: the graph has both. */
static int capture(const struct library *l, struct job *j, cudaStream_t stream, struct fault *fault)
{
    cudaGraphNode_t nodes[2 * LAUNCHES_MOST];
    size_t count = 2 * LAUNCHES_MOST;
    CUDA_CHECK(fault, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = l->call(j, stream);
    if (!error) error = l->call(j, stream);
    cudaError_t end = cudaStreamEndCapture(stream, &j->graph);
    CUDA_CHECK(fault, error);
    CUDA_CHECK(fault, end);
    CUDA_CHECK(fault, cudaGraphGetNodes(j->graph, nodes, &count));
    for (size_t i = count / 2; i < count; i++)
        if (take_launch(j, nodes[i], stream, fault)) return fault->code;
    return 0;
}

static cudaError_t launch_bare(struct job *j)
{
    for (size_t i = 0; i < j->launches; i++) {
        const struct bare *b = &j->bare[i];
        cudaError_t error = cudaLaunchKernelExC(&b->config, b->kernel, b->arguments);
        if (error) return error;
    }
    return cudaSuccess;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* One call in a burst, in seconds: by the library, or only its launches. */
static int time_burst(const struct library *l, struct job *j, bool bare, cudaStream_t stream,
                      double *seconds, struct fault *fault)
{
    cudaError_t error = cudaSuccess;
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    double start = clock_seconds();
    for (int i = 0; i < BURST && !error; i++) error = bare ? launch_bare(j) : l->call(j, stream);
    *seconds = (clock_seconds() - start) / BURST;
    CUDA_CHECK(fault, error);
    return 0;
}

static int time_in_turns(struct experiment *e, const struct library *l, struct job *j,
                         cudaStream_t stream, struct fault *fault)
{
    double seconds[2][ROUNDS];
    struct timing timing[2];
    for (int round = -1; round < ROUNDS; round++) // the first round loads the kernels
        for (int bare = 0; bare < 2; bare++) {
            double *at = &seconds[bare][round < 0 ? 0 : round];
            if (time_burst(l, j, bare, stream, at, fault)) return fault->code;
        }
    for (int bare = 0; bare < 2; bare++) timing_summarize(&timing[bare], seconds[bare], ROUNDS);
    experiment_value(e, "call", timing[0].median, "s");
    experiment_value(e, "bare", timing[1].median, "s");
    experiment_value(e, "beyond", timing[0].median - timing[1].median, "s");
    return 0;
}

/* ---- the same result ------------------------------------------------------------------------- */

static int read_out(const struct job *j, void *to, cudaStream_t stream, struct fault *fault)
{
    size_t bytes = j->n * sizeof(float);
    CUDA_CHECK(fault, cudaMemcpyAsync(to, j->out, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(fault, cudaMemsetAsync(j->out, 0xff, bytes, stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    return 0;
}

/* Are the bare launches all that the call does? */
static int check(const struct library *l, struct job *j, cudaStream_t stream, struct fault *fault)
{
    size_t bytes = j->n * sizeof(float);
    char *called = (char *)malloc(bytes), *bare = (char *)malloc(bytes);
    int code = 0;
    CUDA_CHECK(fault, l->call(j, stream));
    if (!code) code = read_out(j, called, stream, fault);
    CUDA_CHECK(fault, launch_bare(j));
    if (!code) code = read_out(j, bare, stream, fault);
    if (!code && memcmp(called, bare, bytes) != 0)
        code = fail(fault, EXIT_WRONG, "%s of %zu: its launches alone have another result.",
                    l->function, l->n);
    free(called);
    free(bare);
    return code;
}

static int run_library(struct experiment *e, const struct library *l, struct fault *fault)
{
    struct job j = {};
    cudaStream_t stream;
    j.n = l->n;
    size_t bytes = j.n * sizeof(float);
    CUDA_CHECK(fault, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA_CHECK(fault, l->call(&j, stream)); // returns the size of its workspace
    CUDA_CHECK(fault, cudaMalloc(&j.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&j.out, bytes));
    CUDA_CHECK(fault, cudaMalloc(&j.kept, sizeof *j.kept));
    CUDA_CHECK(fault, cudaMalloc(&j.workspace, j.bytes));
    CUDA_CHECK(fault, cudaMemset(j.in, 1, bytes));
    CUDA_CHECK(fault, cudaMemset(j.workspace, 0, j.bytes));
    CUDA_CHECK(fault, cudaDeviceSynchronize()); // `stream` does not wait for them
    experiment_at(e, l->function, "n=%zu", l->n);
    int code = capture(l, &j, stream, fault);
    if (!code) experiment_value(e, "launches", (double)j.launches, "");
    if (!code && !e->emulated) code = check(l, &j, stream, fault);
    if (!code && !e->emulated) code = time_in_turns(e, l, &j, stream, fault);
    void *const memory[] = {j.in, j.out, j.kept, j.workspace};
    for (void *m : memory) cudaFree(m);
    if (j.graph) cudaGraphDestroy(j.graph);
    cudaStreamDestroy(stream);
    return code;
}

/* ---- queries --------------------------------------------------------------------------------- */

static __global__ void nothing() {}

static cudaError_t get_device(void)
{
    int device;
    return cudaGetDevice(&device);
}

static cudaError_t device_attribute(void)
{
    int shared;
    return cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
}

static cudaError_t set_attribute(void)
{
    return cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                64 << 10);
}

static cudaError_t get_attributes(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)nothing);
}

static cudaError_t occupancy(void)
{
    int blocks;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0);
}

static cudaError_t clusters(void)
{
    int fit;
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 8, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 256;
    config.attrs = &cluster;
    config.numAttrs = 1;
    return cudaOccupancyMaxActiveClusters(&fit, nothing, &config);
}

static int run_query(struct experiment *e, const char *name, cudaError_t (*query)(void),
                     struct fault *fault)
{
    double seconds[ROUNDS];
    struct timing timing;
    for (int round = 0; round < ROUNDS; round++) {
        cudaError_t error = cudaSuccess;
        double start = clock_seconds();
        for (int i = 0; i < BURST && !error; i++) error = query();
        seconds[round] = (clock_seconds() - start) / BURST;
        CUDA_CHECK(fault, error);
    }
    timing_summarize(&timing, seconds, ROUNDS);
    experiment_at(e, name, "%s", "");
    if (!e->emulated) experiment_value(e, "query", timing.median, "s");
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    static const struct {
        const char *name;
        cudaError_t (*query)(void);
    } queries[] = {
        {"cudaGetDevice", get_device},           {"cudaDeviceGetAttribute", device_attribute},
        {"cudaFuncSetAttribute", set_attribute}, {"cudaFuncGetAttributes", get_attributes},
        {"occupancy of blocks", occupancy},      {"occupancy of clusters", clusters}};
    int code = 0;
    e->lesson = "a library adds at most one or two microseconds to its launches; the queries whose "
                "answers it keeps would take as much again.";
    for (const struct library &l : libraries)
        if (!code && (!e->emulated || l.n <= MOST_EMULATED)) code = run_library(e, &l, fault);
    for (const auto &q : queries)
        if (!code) code = run_query(e, q.name, q.query, fault);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("16-call-cost", "What a call of a library costs the host", run, argc,
                           argv);
}
