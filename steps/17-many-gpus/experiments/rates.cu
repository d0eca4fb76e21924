/*
 * rates: the times of scans by several GPUs, of their parts, and of what limits them.
 *
 * What it shows: for each number of elements, the times of step 17's scan with each exchange, of
 * its kernels one by one, of each exchange alone, of a copy of a part, and of step 12's scan of all
 * elements by rank 0 alone. An empty kernel in a graph shows the least time that can be measured of
 * an exchange in a graph. With two ranks there are also the times of a flag there and back, and of
 * copies between two GPUs. Results are verified by the definition of the scan: each element is made
 * of the one before it. The numbers are integers, so that this is exact.
 * How it measures: before a run all L2 caches are emptied by reading; then the GPUs wait for each
 * other, so that all begin at the same time. The time is that of the slowest rank, between two
 * events of its stream. The contenders run in turns.
 * How to run it: mpirun -np 2 build/experiments/17-rates --csv, on a machine with as many GPUs; or
 * profiles/measure/measure.py ranks.
 */
#include "common/experiment/experiment.h"
#include "common/harness/run/device.h"
#include "steps/12-pipeline/scan.h"
#include "steps/17-many-gpus/parts/exchange.h"
#include "steps/17-many-gpus/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- flags in memory ------------------------------------------------------------------------- */

/* Flags in memory: one GPU sets a flag after its stores, another GPU polls it. */

/* Release and acquire at the scope of the system: all GPUs and the CPU. A thread that finds the
 * flag also finds what the storing thread stored before it, and what its block stored before a
 * barrier. After a barrier this holds for the reader's whole block. */
static __device__ void set_flag(uint32_t *flag, uint32_t epoch)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)),
                 "r"(epoch)
                 : "memory");
}

static __device__ uint32_t get_flag(const uint32_t *flag)
{
    uint32_t epoch;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                 : "=r"(epoch)
                 : "l"(__cvta_generic_to_global(flag))
                 : "memory");
    return epoch;
}

static __device__ uint64_t clock_ns(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* ---- the experiment -------------------------------------------------------------------------- */

#define THREADS       256
#define ROUNDS        15
#define MOST          ((size_t)1 << 33) /* elements */
#define MOST_EMULATED ((size_t)1 << 16)
#define FLUSHES       4 /* the GPU is busy until the host has launched what is timed */
#define LINK_BYTES    ((size_t)256 << 20)
#define LINK_EMULATED ((size_t)1 << 16)
#define LINK_WAIT_NS  20000000000
#define PINGS         1000

struct bench {
    struct experiment *e;
    int rank, ranks;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    struct many_scan *meet; // scans one element; its exchange lets the GPUs wait for each other
    float *in, *in2, *out;  // of all elements, on each rank: step 12 scans them alone
    float4 *flush;
    size_t most, flush_bytes;
    void *step12;
    size_t step12_bytes;
    unsigned long long *result; // two words: what a kernel has counted
    cudaGraphExec_t empty;
};

/* What is scanned: n elements, of which this rank has a part. */
struct subject {
    struct bench *bench;
    enum many_op op;
    size_t n;
    struct many_part mine;
    struct many_scan *by[EXCHANGE_EXSCAN + 1]; // NULL: not possible here
    cudaGraphExec_t scan[EXCHANGE_EXSCAN + 1], exchange[EXCHANGE_EXSCAN + 1]; // NULL: not captured
    struct fault fault; // of a call that cannot return it
};

static const char *const exchange_name[] = {"mpi", "nccl", "peer", "exscan"};
static const char *op_name(enum many_op op) { return op == MANY_AFFINE_F32 ? "affine" : "sum"; }

/* ---- elements -------------------------------------------------------------------------------- */

static __device__ uint32_t mixed(uint64_t i)
{
    uint32_t z = (uint32_t)i * 0x9E3779B9u;
    z = (z ^ (z >> 16)) * 0x85EBCA6Bu; // MurmurHash3's last step
    z = (z ^ (z >> 13)) * 0xC2B2AE35u;
    return z ^ (z >> 16);
}

/* Integers, whose sums are exact, or real numbers; factors of 1 and -1. */
static __device__ float element_of(uint64_t i, bool real)
{
    uint32_t z = mixed(i);
    return real ? (float)z * 0x1p-32f - 0.5f : (float)(int)(z % 5) - 2;
}
static __device__ float factor_of(enum many_op op, uint64_t i)
{
    return op != MANY_AFFINE_F32 || mixed(i) >> 31 ? 1.0f : -1.0f;
}

/* For a sum the elements are `in`; for affine the factors are `in` and the elements `in2`. */
static __global__ void fill(enum many_op op, float *in, float *in2, size_t n, bool real)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    in[i] = op == MANY_AFFINE_F32 ? factor_of(op, i) : element_of(i, real);
    if (op == MANY_AFFINE_F32) in2[i] = element_of(i, real);
}

/* Counts elements of an exclusive scan that are not made of the one before. `last` stands before
 * the first. */
static __global__ void check(enum many_op op, const float *out, struct many_part mine, float last,
                             unsigned long long *wrong)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x, at = mine.begin + i;
    if (i >= mine.count) return;
    float before = i > 0 ? out[i - 1] : last, want = 0;
    if (at > 0) want = fmaf(factor_of(op, at - 1), before, element_of(at - 1, false));
    if (out[i] != want) atomicAdd(wrong, 1ull); // a NaN is wrong, too
}

/* A sum over all bits, which does not depend on which rank has which elements. */
static __global__ void digest(const float *out, struct many_part mine, unsigned long long *sum)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    uint64_t z = (mine.begin + i) * 0x9E3779B97F4A7C15u;
    if (i < mine.count) z ^= __float_as_uint(out[i]);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = i < mine.count ? z ^ (z >> 31) : 0;
    for (int d = 1; d < 32; d *= 2) z += __shfl_xor_sync(0xffffffff, z, d);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, (unsigned long long)z);
}

/* Reads everything, and stores nothing as long as the sum is not a number that it cannot be. */
static __global__ void read_all(const float4 *from, size_t vectors, unsigned long long *result)
{
    float4 v[4];
    size_t i = (size_t)blockIdx.x * THREADS * 4 + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++, i += THREADS) {
        v[k] = make_float4(0, 0, 0, 0);
        if (i < vectors) v[k] = from[i];
    }
#pragma unroll
    for (int k = 0; k < 4; k++) sum += v[k].x + v[k].y + v[k].z + v[k].w;
    if (sum == 0x1.234568p100f) *result = 1;
}

static unsigned blocks_for(size_t n) { return (unsigned)((n + THREADS - 1) / THREADS); }

static cudaError_t launch_read(struct bench *b, const void *from, size_t bytes, cudaStream_t stream)
{
    size_t vectors = bytes / sizeof(float4);
    if (vectors == 0) return cudaSuccess;
    read_all<<<blocks_for((vectors + 3) / 4), THREADS, 0, stream>>>((const float4 *)from, vectors,
                                                                    b->result);
    return cudaGetLastError();
}

/* ---- timing ---------------------------------------------------------------------------------- */

struct contender {
    const char *name;
    run_fn *work;
    void *context;
    bool alone; // of rank 0
    double seconds; // the median
};

/* Runs it once on all ranks that take part. */
static int run_timed(struct bench *b, const struct contender *c, double *seconds,
                     struct fault *fault)
{
    float milliseconds;
    for (int i = 0; i < FLUSHES; i++)
        CUDA_CHECK(fault, launch_read(b, b->flush, b->flush_bytes, b->stream));
    if (!c->alone) {
        int code = b->meet->exchange->run(b->meet, b->stream, fault);
        if (code) return code;
    }
    CUDA_CHECK(fault, cudaEventRecord(b->start, b->stream));
    CUDA_CHECK(fault, c->work(c->context, b->stream));
    CUDA_CHECK(fault, cudaEventRecord(b->stop, b->stream));
    CUDA_CHECK(fault, cudaEventSynchronize(b->stop));
    CUDA_CHECK(fault, cudaEventElapsedTime(&milliseconds, b->start, b->stop));
    *seconds = milliseconds * 1e-3;
    return 0;
}

static int time_once(struct bench *b, const struct contender *c, double *seconds,
                     struct fault *fault)
{
    double mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    int code = c->alone && b->rank > 0 ? 0 : run_timed(b, c, &mine, fault);
    MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return agree(MPI_COMM_WORLD, code, fault);
}

#define CONTENDERS 24

/* Times all of them in turns, and prints their rows. On the emulator each runs once. */
static int time_all(struct bench *b, struct contender *all, int count, const char *parameter,
                    struct fault *fault)
{
    double seconds[CONTENDERS][ROUNDS];
    int code = 0, rounds = b->e->emulated ? 1 : ROUNDS;
    for (int round = -1; round < rounds && !code; round++) // the first one warms up
        for (int i = 0; i < count && !code; i++) {
            int at = (i + round + count) % count;
            code = time_once(b, &all[at], &seconds[at][round < 0 ? 0 : round], fault);
        }
    for (int i = 0; i < count && !code && !b->e->emulated; i++) {
        struct timing timing;
        timing_summarize(&timing, seconds[i], rounds);
        all[i].seconds = timing.median;
        experiment_at(b->e, all[i].name, "%s", parameter);
        experiment_value(b->e, "time", timing.median, "s");
        experiment_value(b->e, "time_lower", timing.lower, "s");
        experiment_value(b->e, "time_upper", timing.upper, "s");
    }
    return code;
}

/* ---- what is measured of a scan -------------------------------------------------------------- */

static const float *my_in(const struct subject *s) { return s->bench->in + s->mine.begin; }
static const float *my_in2(const struct subject *s)
{
    return s->op == MANY_AFFINE_F32 ? s->bench->in2 + s->mine.begin : NULL;
}
static struct part *part_of(const struct subject *s) { return &s->by[EXCHANGE_MPI]->part; }

/* A subject with one of the exchanges. */
struct way {
    struct subject *s;
    enum many_exchange exchange;
};

/* A contender's work: what `call` returns for its context, a pointer to `type` with this name. */
#define WORK(work, type, name, call)                                                               \
    static cudaError_t work(void *context, cudaStream_t stream)                                    \
    {                                                                                              \
        struct type *name = (struct type *)context;                                                \
        return call;                                                                               \
    }

static cudaError_t run_scan(struct subject *s, enum many_exchange by, cudaStream_t stream)
{
    int code = many_run(s->by[by], s->bench->out, my_in(s), my_in2(s), false, stream, &s->fault);
    return code ? cudaErrorUnknown : cudaSuccess;
}
static cudaError_t run_exchange(struct subject *s, enum many_exchange by, cudaStream_t stream)
{
    int code = s->by[by]->exchange->run(s->by[by], stream, &s->fault);
    return code ? cudaErrorUnknown : cudaSuccess;
}
static __global__ void empty(void) {}

WORK(scan_by, way, w, run_scan(w->s, w->exchange, stream))
WORK(exchange_by, way, w, run_exchange(w->s, w->exchange, stream))
WORK(scan_graph, way, w, cudaGraphLaunch(w->s->scan[w->exchange], stream))
WORK(exchange_graph, way, w, cudaGraphLaunch(w->s->exchange[w->exchange], stream))
WORK(reduce_alone, subject, s, part_reduce(part_of(s), my_in(s), my_in2(s), stream))
WORK(finish_alone, subject, s,
     part_scan(part_of(s), s->bench->out, my_in(s), my_in2(s), false, stream))
WORK(read_part, subject, s,
     launch_read(s->bench, my_in(s), s->mine.count * sizeof(float), stream))
WORK(copy_part, subject, s,
     roof_copy_kernel(s->bench->out, my_in(s), s->mine.count * sizeof(float), stream))
WORK(step12_alone, subject, s,
     scan_exclusive_f32(s->bench->step12, &s->bench->step12_bytes, s->bench->out, s->bench->in,
                        s->n, stream))
WORK(empty_graph, subject, s, cudaGraphLaunch(s->bench->empty, stream))

static cudaError_t launch_empty(void *, cudaStream_t stream)
{
    empty<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

/* Captures one run of the work. */
static int capture(struct bench *b, run_fn *work, void *context, cudaGraphExec_t *to,
                   struct fault *fault)
{
    cudaStream_t stream = b->stream;
    cudaGraph_t graph;
    CUDA_CHECK(fault, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = work(context, stream), end = cudaStreamEndCapture(stream, &graph);
    CUDA_CHECK(fault, error);
    CUDA_CHECK(fault, end);
    error = cudaGraphInstantiate(to, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_CHECK(fault, error);
    return 0;
}

static int open_way(struct way *w, struct fault *fault)
{
    struct subject *s = w->s;
    int at = w->exchange;
    if (at == EXCHANGE_NCCL && (!&exchange_nccl || s->bench->e->emulated)) return 0;
    return many_create(&s->by[at], MPI_COMM_WORLD, s->op, w->exchange, s->n,
                       MANY_WAIT_FOREVER, fault);
}

/* Graphs of the scan and of the exchange alone, if the host does not take part in them. */
static int capture_way(struct way *w, struct fault *fault)
{
    struct subject *s = w->s;
    int at = w->exchange;
    if (at == EXCHANGE_MPI || at == EXCHANGE_EXSCAN) return 0;
    int code = capture(s->bench, scan_by, w, &s->scan[at], fault);
    if (!code) code = capture(s->bench, exchange_by, w, &s->exchange[at], fault);
    return agree(MPI_COMM_WORLD, code, fault);
}

static void close_subject(struct subject *s, struct fault *fault)
{
    for (int at = EXCHANGE_MPI; at <= EXCHANGE_EXSCAN; at++) {
        if (s->scan[at]) cudaGraphExecDestroy(s->scan[at]);
        if (s->exchange[at]) cudaGraphExecDestroy(s->exchange[at]);
        many_destroy(s->by[at], fault);
    }
}

/* ---- verification ---------------------------------------------------------------------------- */

static int fill_all(struct subject *s, bool real, struct fault *fault)
{
    struct bench *b = s->bench;
    fill<<<blocks_for(s->n), THREADS, 0, b->stream>>>(s->op, b->in, b->in2, s->n, real);
    CUDA_CHECK(fault, cudaGetLastError());
    return 0;
}

/* Scans once, by a graph if there is one. What an earlier run has stored is replaced by NaN. */
static int scan_once(struct way *w, struct fault *fault)
{
    struct subject *s = w->s;
    struct bench *b = s->bench;
    CUDA_CHECK(fault, cudaMemsetAsync(b->out, 0xff, s->mine.count * sizeof(float), b->stream));
    CUDA_CHECK(fault, cudaMemsetAsync(b->result, 0, sizeof *b->result, b->stream));
    if (s->scan[w->exchange]) {
        CUDA_CHECK(fault, scan_graph(w, b->stream));
    } else if (scan_by(w, b->stream)) {
        *fault = s->fault;
        return fault->code;
    }
    CUDA_CHECK(fault, cudaStreamSynchronize(b->stream));
    return many_check(s->by[w->exchange], fault);
}

/* What a kernel has added up to `result` on all ranks. */
static int all_results(struct bench *b, cudaError_t launched, unsigned long long *all,
                       struct fault *fault)
{
    unsigned long long mine = 0;
    if (!launched) launched = cudaStreamSynchronize(b->stream);
    if (!launched)
        launched = cudaMemcpy(&mine, b->result, sizeof mine, cudaMemcpyDeviceToHost);
    MPI_Allreduce(&mine, all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    int code = launched ? cuda_fault(fault, launched, "a kernel that verifies") : 0;
    return agree(MPI_COMM_WORLD, code, fault);
}

/* Is every element made of the one before? A rank gets the last one before its part from the rank
 * before. */
static int verify(struct way *w, struct fault *fault)
{
    struct subject *s = w->s;
    struct bench *b = s->bench;
    int rank = b->rank, next = rank + 1 < b->ranks ? rank + 1 : MPI_PROC_NULL;
    unsigned long long wrong;
    float own = 0, last = 0;
    int code = agree(MPI_COMM_WORLD, scan_once(w, fault), fault);
    if (code) return code;
    cudaError_t error = cudaMemcpy(&own, b->out + s->mine.count - 1, sizeof own,
                                   cudaMemcpyDeviceToHost);
    MPI_Sendrecv(&own, 1, MPI_FLOAT, next, 0, &last, 1, MPI_FLOAT,
                 rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check<<<blocks_for(s->mine.count), THREADS, 0, b->stream>>>(s->op, b->out, s->mine, last,
                                                                b->result);
    code = all_results(b, error ? error : cudaGetLastError(), &wrong, fault);
    if (code || wrong == 0) return code;
    return fail(fault, EXIT_WRONG, "%s of %zu elements by %s: %llu elements are wrong.",
                op_name(s->op), s->n, exchange_name[w->exchange], wrong);
}

static int checksum(struct way *w, unsigned long long *sum, struct fault *fault)
{
    struct subject *s = w->s;
    struct bench *b = s->bench;
    int code = agree(MPI_COMM_WORLD, scan_once(w, fault), fault);
    if (code) return code;
    digest<<<blocks_for(s->mine.count), THREADS, 0, b->stream>>>(b->out, s->mine, b->result);
    return all_results(b, cudaGetLastError(), sum, fault);
}

/* Real numbers, whose sums depend on the order: rows that are the same for any number of ranks. */
static int checksums(struct subject *s, struct way *ways, struct fault *fault)
{
    unsigned long long sum, first = 0;
    int code = agree(MPI_COMM_WORLD, fill_all(s, true, fault), fault);
    for (int at = EXCHANGE_MPI; at < EXCHANGE_EXSCAN && !code; at++) {
        if (!s->by[at]) continue;
        code = checksum(&ways[at], &sum, fault);
        if (at == EXCHANGE_MPI) first = sum;
        if (!code && sum != first)
            code = fail(fault, EXIT_WRONG, "%s gives other bits than mpi.", exchange_name[at]);
    }
    if (code) return code;
    experiment_at(s->bench->e, "bits", "%s n=%zu", op_name(s->op), s->n);
    experiment_value(s->bench->e, "checksum_high", (double)(first >> 32), "");
    experiment_value(s->bench->e, "checksum_low", (double)(first & UINT32_MAX), "");
    return 0;
}

/* ---- all sizes ------------------------------------------------------------------------------- */

/* The contenders of a subject. Their number is returned. */
static int contenders_of(struct subject *s, struct way *ways, struct contender *c)
{
    static const char *const scans[] = {"scan mpi", "scan nccl", "scan peer", "scan exscan"};
    static const char *const exchanges[] = {"exchange mpi", "exchange nccl", "exchange peer",
                                            "exchange exscan"};
    int count = 0;
    c[count++] = {"copy", copy_part, s, false, 0};
    if (s->op != MANY_AFFINE_F32) c[count++] = {"step12", step12_alone, s, true, 0};
    c[count++] = {"read", read_part, s, false, 0};
    c[count++] = {"reduce", reduce_alone, s, false, 0};
    c[count++] = {"empty kernel", empty_graph, s, false, 0};
    c[count++] = {"finish", finish_alone, s, false, 0};
    for (int at = EXCHANGE_MPI; at <= EXCHANGE_EXSCAN; at++) {
        if (!s->by[at]) continue;
        bool graph = s->scan[at] != NULL;
        c[count++] = {scans[at], graph ? scan_graph : scan_by, &ways[at], false, 0};
        c[count++] = {exchanges[at], graph ? exchange_graph : exchange_by, &ways[at], false, 0};
    }
    c[count++] = {"scan peer without a graph", scan_by, &ways[EXCHANGE_PEER], false, 0};
    return count;
}

static int measure(struct subject *s, struct way *ways, struct fault *fault)
{
    struct contender c[CONTENDERS];
    char parameter[EXPERIMENT_TEXT];
    int count = contenders_of(s, ways, c);
    snprintf(parameter, sizeof parameter, "%s n=%zu ranks=%d", op_name(s->op), s->n,
             s->bench->ranks);
    return time_all(s->bench, c, count, parameter, fault);
}

static int run_subject(struct bench *b, enum many_op op, size_t n, struct fault *fault)
{
    struct subject s = {b, op, n, many_part_of(n, b->ranks, b->rank), {}, {}, {}, {}};
    struct way ways[EXCHANGE_EXSCAN + 1];
    int code = agree(MPI_COMM_WORLD, fill_all(&s, false, fault), fault);
    for (int at = EXCHANGE_MPI; at <= EXCHANGE_EXSCAN; at++) {
        ways[at] = {&s, (enum many_exchange)at};
        if (!code) code = open_way(&ways[at], fault);
        if (!code && s.by[at]) code = verify(&ways[at], fault);
        if (!code && s.by[at]) code = capture_way(&ways[at], fault);
        if (!code && s.scan[at]) code = verify(&ways[at], fault);
    }
    if (!code) code = measure(&s, ways, fault);
    if (!code) code = checksums(&s, ways, fault);
    struct fault later;
    close_subject(&s, &later);
    return code;
}

/* ---- between two GPUs ------------------------------------------------------------------------ */

struct link {
    struct bench *bench;
    char *mine, *theirs; // of the other one of ranks 0 and 1
    size_t bytes;
    uint32_t sent; // flags so far
};

/* Flags go there and back, between one thread of each GPU. The flags are the first words of both,
 * and have the number `sent` at first. */
static __global__ void ping(uint32_t *mine, uint32_t *theirs, uint32_t sent, bool begins)
{
    uint64_t start = clock_ns();
    for (uint32_t i = sent + 1; i <= sent + PINGS; i++) {
        if (begins) set_flag(theirs, i);
        while (get_flag(mine) != i)
            if (clock_ns() - start > LINK_WAIT_NS) __trap();
        if (!begins) set_flag(theirs, i);
    }
}

static cudaError_t ping_pong(void *context, cudaStream_t stream)
{
    struct link *l = (struct link *)context;
    ping<<<1, 1, 0, stream>>>((uint32_t *)l->mine, (uint32_t *)l->theirs, l->sent,
                              l->bench->rank == 0);
    l->sent += PINGS;
    return cudaGetLastError();
}

/* Both halves: the other rank may copy here at the same time. */
static cudaError_t copy_there(void *context, cudaStream_t stream)
{
    struct link *l = (struct link *)context;
    return cudaMemcpyAsync(l->theirs + l->bytes / 2, l->mine + l->bytes / 2, l->bytes / 2,
                           cudaMemcpyDeviceToDevice, stream);
}

static int open_link(struct link *l, struct fault *fault)
{
    cudaIpcMemHandle_t mine = {}, all[2];
    void *opened;
    CUDA_CHECK(fault, cudaMalloc((void **)&l->mine, l->bytes));
    CUDA_CHECK(fault, cudaMemset(l->mine, 0, l->bytes));
    CUDA_CHECK(fault, cudaIpcGetMemHandle(&mine, l->mine));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    CUDA_CHECK(fault, cudaIpcOpenMemHandle(&opened, all[1 - l->bench->rank],
                                           cudaIpcMemLazyEnablePeerAccess));
    l->theirs = (char *)opened;
    return 0;
}

static int run_link(struct bench *b, struct fault *fault)
{
    struct link l = {b, NULL, NULL, b->e->emulated ? LINK_EMULATED : LINK_BYTES, 0};
    struct contender c[] = {{"flag there and back", ping_pong, &l, false, 0},
                            {"copy to a peer", copy_there, &l, true, 0},
                            {"copies to each other", copy_there, &l, false, 0}};
    int code = agree(MPI_COMM_WORLD, open_link(&l, fault), fault);
    if (!code) code = time_all(b, c, sizeof c / sizeof *c, "ranks=2", fault);
    if (!code && !b->e->emulated) {
        experiment_at(b->e, c[0].name, "ranks=2");
        experiment_value(b->e, "time_each", c[0].seconds / PINGS, "s");
        for (int i = 1; i <= 2; i++) {
            experiment_at(b->e, c[i].name, "ranks=2");
            experiment_value(b->e, "rate", (double)l.bytes / 2 / c[i].seconds, "B/s");
        }
    }
    if (l.theirs) cudaIpcCloseMemHandle(l.theirs);
    MPI_Barrier(MPI_COMM_WORLD);
    cudaFree(l.mine);
    return code;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int open_bench(struct bench *b, struct fault *fault)
{
    size_t bytes = b->most * sizeof(float);
    b->flush_bytes = b->e->emulated ? 4096 : b->e->timer.flush_bytes;
    CUDA_CHECK(fault, cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
    CUDA_CHECK(fault, cudaEventCreate(&b->start));
    CUDA_CHECK(fault, cudaEventCreate(&b->stop));
    CUDA_CHECK(fault, cudaMalloc(&b->in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&b->in2, bytes));
    CUDA_CHECK(fault, cudaMalloc(&b->out, bytes));
    CUDA_CHECK(fault, cudaMalloc(&b->flush, b->flush_bytes));
    CUDA_CHECK(fault, cudaMemset(b->flush, 0, b->flush_bytes));
    CUDA_CHECK(fault, cudaMalloc(&b->result, sizeof *b->result));
    CUDA_CHECK(fault, scan_exclusive_f32(NULL, &b->step12_bytes, NULL, NULL, b->most, b->stream));
    CUDA_CHECK(fault, cudaMalloc(&b->step12, b->step12_bytes));
    CUDA_CHECK(fault, scan_workspace_init(b->step12, b->step12_bytes, b->stream));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return capture(b, launch_empty, NULL, &b->empty, fault);
}

static void close_bench(struct bench *b)
{
    struct fault fault;
    void *const memory[] = {b->in, b->in2, b->out, b->flush, b->result, b->step12};
    many_destroy(b->meet, &fault);
    if (b->empty) cudaGraphExecDestroy(b->empty);
    for (void *m : memory) cudaFree(m);
    cudaEventDestroy(b->start);
    cudaEventDestroy(b->stop);
    cudaStreamDestroy(b->stream);
}

static int run_all(struct bench *b, struct fault *fault)
{
    static const int sums[] = {20, 22, 24, 25, 26, 28, 30, 31, 32, 33}, affines[] = {28, 30};
    static const size_t emulated[] = {(size_t)1 << 14, MOST_EMULATED};
    int code = agree(MPI_COMM_WORLD, open_bench(b, fault), fault);
    if (!code)
        code = many_create(&b->meet, MPI_COMM_WORLD, MANY_SUM_I32, EXCHANGE_PEER, 1,
                           MANY_WAIT_FOREVER, fault);
    for (size_t n : emulated)
        if (!code && b->e->emulated) {
            code = run_subject(b, MANY_SUM_F32, n, fault);
            if (!code) code = run_subject(b, MANY_AFFINE_F32, n, fault);
        }
    for (int power : sums)
        if (!code && !b->e->emulated)
            code = run_subject(b, MANY_SUM_F32, (size_t)1 << power, fault);
    for (int power : affines)
        if (!code && !b->e->emulated)
            code = run_subject(b, MANY_AFFINE_F32, (size_t)1 << power, fault);
    if (!code && b->ranks == 2) code = run_link(b, fault);
    close_bench(b);
    return code;
}

static int run(struct experiment *e, struct fault *fault)
{
    struct bench b = {};
    e->lesson = "P GPUs read and write 3 words per element, one GPU 2: the speed-up is 2/3 P at "
                "most.";
    b.e = e;
    b.most = e->emulated ? MOST_EMULATED : MOST;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
    int code = run_all(&b, fault);
    MPI_Finalize();
    if (code && b.rank > 0) exit(code); // rank 0 says why
    return code;
}

/* Only rank 0 prints rows. */
int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank && atoi(rank) > 0 && !freopen("/dev/null", "w", stdout)) return EXIT_DEVICE;
    ranks_prepare();
    return experiment_main("17-rates", "Scans by several GPUs, and what limits them", run, argc,
                           argv);
}
