/*
 * bench.cu — the emulator's bench: prints rows for profiles/emulated/speed.csv, without a heading.
 * Part `speed` of measure.py calls it.
 *
 *   run MODE PART      MODE   plain; counters: they are on while a workload is timed; or the tool
 *                             that EMU_TOOL names
 *                      PART   scans, micro, growth, launches, blocks; check: a scan, and the memory
 *                             that the process took for it
 *
 * EMU_THREADS is the number of host threads, BENCH_ONLY the name of the only workload to run.
 *
 * A workload is run once with counters, to count its warp instructions, and then several times to
 * time it. Time is processor time (user and system, all threads together), so that other programs
 * on the machine disturb little. Warp instructions per second of processor time are the rate of one
 * core. Of several runs the median is taken.
 */
#include "common/tools/emu/emu.h"
#include "common/step/step.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <sys/resource.h>
#include <unistd.h>

enum { RUNS = 7, BUFFER = 1 << 24 }; /* of a workload; bytes that kernels of one kind work on */

static const char *mode;
static long cores;

static double seconds_on(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct workload {
    const char *group, *name; /* of the row: "scan", "step 5" */
    size_t n;
    unsigned block; /* threads; 0: those of the launch with the most blocks */
};

static void row(const workload &w, const char *metric, double value, const char *unit)
{
    printf("%s,%s,%zu,%u,%ld,%s,%s,%.6g,%s\n", w.group, w.name, w.n, w.block, cores, mode, metric,
           value, unit);
    fflush(stdout);
}

static void check(cudaError_t error, const char *name)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "bench: %s: %s\n", name, emu_message(emu_runtime()));
    exit(1);
}

static double count_instructions(workload *w, const std::function<cudaError_t()> &run)
{
    double sum = 0;
    struct emu *emu = emu_runtime();
    emu_forget(emu);
    emu_count(emu, true);
    check(run(), w->name);
    unsigned most = 0, block = 0;
    for (size_t i = 0; i < emu_records(emu); i++) {
        const struct emu_launch_record *record = emu_record(emu, i);
        sum += (double)record->total.instructions;
        if (record->grid.x > most) most = record->grid.x, block = record->block.x;
    }
    if (w->block == 0) w->block = block;
    emu_forget(emu);
    return sum;
}

/* Runs a workload, which launches something and waits for it, and prints its rows. */
static void measure(workload w, const std::function<cudaError_t()> &run)
{
    double used[RUNS];
    const char *only = getenv("BENCH_ONLY");
    if (only != NULL && strcmp(only, w.name) != 0) return;
    double instructions = count_instructions(&w, run);
    emu_count(emu_runtime(), strcmp(mode, "counters") == 0);
    for (int i = 0; i < RUNS; i++) {
        double cpu = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
        check(run(), w.name);
        used[i] = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        emu_forget(emu_runtime());
    }
    std::sort(used, used + RUNS);
    row(w, "instructions", instructions, "warp instructions");
    row(w, "rate", instructions / used[RUNS / 2] / 1e6, "M/s a core");
}

static char *allocate(size_t bytes)
{
    char *address = NULL;
    if (bytes > 0) {
        check(cudaMalloc(&address, bytes), "cudaMalloc");
        check(cudaMemset(address, 0, bytes), "cudaMemset");
    }
    return address;
}

/* ---- the scans ------------------------------------------------------------------------------- */

extern "C" {
extern const struct step step02, step03, step04, step05, step06, step07;
}

/* Very short scans are repeated. */
static void measure_scan(const char *group, const struct step &step, size_t n, size_t repeats)
{
    char *out = allocate(n * sizeof(float)), *in = allocate(n * sizeof(float)), name[40];
    char *workspace = step.workspace ? allocate(step.workspace(n, 0)) : NULL;
    if (step.clear_workspace) cudaMemset(workspace, 0, step.workspace(n, 0));
    snprintf(name, sizeof name, "step %d", step.number);
    measure({group, name, n, 0}, [&] {
        cudaError_t error = cudaSuccess;
        for (size_t i = 0; i < repeats && error == cudaSuccess; i++)
            error = step.scan(out, in, n, 0, workspace, NULL);
        return error == cudaSuccess ? cudaDeviceSynchronize() : error;
    });
    cudaFree(out);
    cudaFree(in);
    cudaFree(workspace);
}

static void scans(void)
{
    measure_scan("scan", step02, 1024, 100);
    measure_scan("scan", step03, 2048, 100);
    measure_scan("scan", step04, 2048, 100);
    for (int k = 20; k <= 22; k += 2)
        for (const struct step *step : {&step05, &step06, &step07})
            measure_scan("scan", *step, (size_t)1 << k, 1);
}

static double resident_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* A scan with a checker on: the time and the memory, to compare with a run without the checker. */
static void check_scan(void)
{
    measure_scan("check", step05, 1 << 20, 1);
    row({"check", "step 5", 1 << 20, 256}, "memory", resident_mib(), "MiB");
}

/* ---- kernels of one kind of work each -------------------------------------------------------- */

/* Their results are not used. They store them so that the compiler keeps the computation. */
enum { ROUNDS = 64, BINS = 256, WORDS = 64 };

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

static __global__ void empty() {}

static __global__ void arithmetic(unsigned *data)
{
    unsigned a = THREAD, b = a + 1;
    for (int i = 0; i < 16 * ROUNDS; i++) a = a * b + (a >> 3 ^ i);
    data[THREAD] = a;
}

/* Collatz: every lane has a different number of rounds, and different branches in each. */
static __global__ void divergence(unsigned *data)
{
    unsigned rounds = 0;
    for (unsigned a = THREAD % 1024 + 1; a != 1; rounds++)
        if (a % 2)
            a = 3 * a + 1;
        else
            a /= 2;
    data[THREAD] = rounds;
}

static __global__ void histogram(unsigned *data)
{
    __shared__ unsigned bins[BINS];
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    unsigned random = THREAD;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        atomicAdd(&bins[random >> 28], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&data[i], bins[i]);
}

static __global__ void one_counter(unsigned *data)
{
    for (int i = 0; i < ROUNDS; i++) atomicAdd(data, 1);
}

static __global__ void bytes(unsigned char *data)
{
    for (int i = 0; i < ROUNDS; i++) data[THREAD] = (unsigned char)(data[THREAD ^ i] + 1);
}

static __global__ void doubles(double *data)
{
    double a = THREAD + 1;
    for (int i = 0; i < ROUNDS; i++) a = sqrt(a) * 1.5 + sin(a) / (a + 2);
    data[THREAD] = a;
}

/* An array that is indexed by a number known only at run time lies in local memory. */
static __global__ void local_array(unsigned *data)
{
    unsigned array[WORDS], at = THREAD;
    for (int i = 0; i < WORDS; i++) array[i] = at * i;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        at = array[at % WORDS] + i;
        array[at % WORDS] ^= i;
    }
    data[THREAD] = at;
}

static __global__ void generic(unsigned *data)
{
    __shared__ unsigned shared[1024];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    volatile unsigned *from = THREAD % 64 < 32 ? shared + threadIdx.x : data + THREAD;
    unsigned sum = 0;
    for (int i = 0; i < ROUNDS; i++) sum += *from;
    data[THREAD] = sum;
}

static __device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __global__ void calls(unsigned *data) { data[THREAD] = fibonacci(10 + THREAD % 2); }

/* A stride of 33 words in memory: every lane has a sector of its own. */
static __global__ void scattered(unsigned *data)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += data[(THREAD * 33 + i * 4099) % (BUFFER / 4)];
    data[THREAD] = sum;
}

/* A stride of 32 words in shared memory: all lanes in one bank. */
static __global__ void conflicts(unsigned *data)
{
    __shared__ unsigned shared[32 * 32];
    unsigned lane = threadIdx.x % 32, sum = 0;
    for (unsigned i = 0; i < 32; i++) shared[lane * 32 + i] = i;
    __syncwarp();
    for (unsigned i = 0; i < ROUNDS; i++) sum += shared[lane * 32 + i % 32];
    data[THREAD] = sum;
}

/* The product of two matrices of SIDE x SIDE, by tiles of TILE x TILE. */
template <int TILE, int SIDE> static __global__ void matrix_product(float *data)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE, tiles = SIDE / TILE;
    unsigned row = blockIdx.x / tiles * TILE + y, column = blockIdx.x % tiles * TILE + x;
    float sum = 0;
    for (unsigned t = 0; t < SIDE; t += TILE) {
        a[y][x] = data[row * SIDE + t + x];
        b[y][x] = data[(t + y) * SIDE + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    data[SIDE * SIDE + row * SIDE + column] = sum;
}

static __global__ void tree(float *data)
{
    extern __shared__ float sums[];
    sums[threadIdx.x] = data[THREAD];
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        __syncthreads();
        if (threadIdx.x < offset) sums[threadIdx.x] += sums[threadIdx.x + offset];
    }
    if (threadIdx.x == 0) data[blockIdx.x] = sums[0];
}

/* Every block waits for all others, so all are in memory at the same time. */
static __global__ void gather(unsigned *came)
{
    if (threadIdx.x == 0) {
        atomicAdd(came, 1);
        while (*(volatile unsigned *)came < gridDim.x) continue;
    }
    __syncthreads();
}

/* ---- launches -------------------------------------------------------------------------------- */

template <typename T>
static void micro(const char *name, size_t n, void (*kernel)(T *), char *buffer,
                  unsigned block = 256)
{
    measure({"micro", name, n, block}, [&] {
        kernel<<<(unsigned)(n / block), block>>>((T *)buffer);
        return cudaDeviceSynchronize();
    });
}

static cudaError_t launch_empty(unsigned grid, unsigned block)
{
    empty<<<grid, block>>>();
    return cudaDeviceSynchronize();
}

static void micros(void)
{
    char *buffer = allocate(BUFFER);
    micro("arithmetic", 1 << 14, arithmetic, buffer);
    micro("divergence", 1 << 14, divergence, buffer);
    micro("histogram", 1 << 16, histogram, buffer);
    micro("one counter", 1 << 16, one_counter, buffer);
    micro("bytes", 1 << 17, bytes, buffer);
    micro("doubles", 1 << 13, doubles, buffer);
    micro("local array", 1 << 14, local_array, buffer);
    micro("generic", 1 << 17, generic, buffer);
    micro("calls", 1 << 14, calls, buffer);
    micro("scattered", 1 << 17, scattered, buffer);
    micro("bank conflicts", 1 << 17, conflicts, buffer);
    micro("matrix product", 256 * 256, matrix_product<16, 256>, buffer);
    measure({"micro", "tiny blocks", 1 << 22, 32}, [] { return launch_empty((1 << 22) / 32, 32); });
    cudaFree(buffer);
}

/* Launches of an empty kernel: the time of one launch. */
static void launches(void)
{
    enum { LAUNCHES = 20000, GRID = 16 };
    emu_count(emu_runtime(), strcmp(mode, "counters") == 0);
    double wall = seconds_on(CLOCK_MONOTONIC);
    for (int k = 0; k < LAUNCHES; k++) {
        check(launch_empty(GRID, 32), "empty kernel");
        if (k % 1000 == 0) emu_forget(emu_runtime());
    }
    row({"launches", "empty kernel", GRID, 32}, "launch",
        (seconds_on(CLOCK_MONOTONIC) - wall) / LAUNCHES * 1e6, "us");
}

static void growth(void)
{
    for (int k = 12; k <= 24; k += 2)
        measure_scan("growth with n", step05, (size_t)1 << k, k < 16 ? 100 : k < 18 ? 10 : 1);
    char *buffer = allocate(BUFFER);
    for (unsigned block = 32; block <= 1024; block *= 2)
        measure({"growth with the block", "tree", BUFFER / 16, block}, [&] {
            tree<<<BUFFER / 16 / block, block, block * sizeof(float)>>>((float *)buffer);
            return cudaDeviceSynchronize();
        });
    cudaFree(buffer);
}

/* A grid of many blocks: the additional memory that the process takes, and the time. */
static void measure_blocks(const char *name, unsigned grid, unsigned block, bool gathers)
{
    unsigned *zero = (unsigned *)allocate(sizeof *zero);
    double before = resident_mib(), wall = seconds_on(CLOCK_MONOTONIC);
    if (gathers) gather<<<grid, block>>>(zero);
    check(gathers ? cudaDeviceSynchronize() : launch_empty(grid, block), name);
    row({"blocks", name, grid, block}, "elapsed", seconds_on(CLOCK_MONOTONIC) - wall, "s");
    row({"blocks", name, grid, block}, "memory", resident_mib() - before, "MiB");
    cudaFree(zero);
}

static void blocks(void)
{
    enum { SMS = 132 }; /* of an H200, which holds 2 blocks of 1024 threads on each, or 32 of 64 */
    check(launch_empty(1, 32), "the first launch");
    measure_blocks("all waiting for the last", 32 * SMS, 64, true);
    measure_blocks("all waiting for the last", 2 * SMS, 1024, true);
    measure_blocks("that end at once", 1 << 20, 1024, false);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {{"scans", scans},       {"micro", micros},   {"growth", growth},
                 {"launches", launches}, {"blocks", blocks}, {"check", check_scan}};
    const char *threads = getenv("EMU_THREADS");
    cores = threads != NULL ? strtol(threads, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
    mode = argc > 1 ? argv[1] : "";
    for (const auto &part : parts)
        if (argc == 3 && strcmp(part.name, argv[2]) == 0) return part.run(), 0;
    fprintf(stderr, "usage: run MODE scans|micro|growth|launches|blocks|check\n");
    return 2;
}
