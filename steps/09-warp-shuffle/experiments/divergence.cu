/*
 * divergence: collective functions after the lanes of a warp have diverged.
 *
 * What it shows: since Volta, lanes in different branches of an if may shuffle with each other if
 * all lanes of the mask execute a shuffle (`both arms`). Or the mask names only the lanes of one
 * branch (`own arm`). If it names lanes that do not execute the shuffle (`one arm`), the program is
 * wrong and a GPU may wait forever; so this kernel runs only on the emulator, whose synccheck
 * reports it. __activemask() returns the lanes that happen to be active. After an if, and even
 * inside of `if (__activemask() == 0xffffffff)`, the warp need not have converged (`example 1`,
 * `example 2`). On many GPUs it has, but not under the emulator's --schedule. A ballot with a mask
 * that is known beforehand (`ballot`) makes the lanes converge and returns them.
 * From: lecture (CS 380, lecture 25), "Divergent branches" and "Unreliable assumptions".
 * How to run it: make experiment-09-divergence
 */
#include "common/experiment/experiment.h"

#define WARP      32
#define ALL_LANES 0xffffffff
#define LOWER     0x0000ffff // the halves of a warp
#define UPPER     0xffff0000
#define THREADS   1024

// ---- a sum in a branch -------------------------------------------------------------------------

// The sum of v over the lanes of the mask, which is the warp or one of its halves.
static __device__ int get_warp_sum(unsigned mask, int v)
{
    int lanes = __popc(mask);
    for (int d = 1; d < lanes; d *= 2) v += __shfl_xor_sync(mask, v, d);
    return v;
}

static __global__ void both_arms(int *out)
{
    int lane = threadIdx.x % WARP;
    if (lane < WARP / 2)
        out[threadIdx.x] = get_warp_sum(ALL_LANES, lane);
    else
        out[threadIdx.x] = get_warp_sum(ALL_LANES, 100 * lane);
}

static __global__ void own_arm(int *out)
{
    int lane = threadIdx.x % WARP;
    if (lane < WARP / 2)
        out[threadIdx.x] = get_warp_sum(LOWER, lane);
    else
        out[threadIdx.x] = get_warp_sum(UPPER, 100 * lane);
}

static __global__ void one_arm(int *out)
{
    int lane = threadIdx.x % WARP;
    if (lane < WARP / 2)
        out[threadIdx.x] = get_warp_sum(ALL_LANES, lane); // the upper half never executes this
    else
        out[threadIdx.x] = 100 * lane;
}

static int run_sum(struct experiment *e, const char *name, void (*kernel)(int *), int *device,
                   struct fault *fault)
{
    static int host[THREADS];
    int lower = 0, upper = 0, wrong = 0;
    for (int l = 0; l < WARP / 2; l++) lower += l;
    for (int l = WARP / 2; l < WARP; l++) upper += 100 * l;

    kernel<<<1, THREADS>>>(device);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < THREADS; i++) {
        int want = kernel != own_arm ? lower + upper : i % WARP < WARP / 2 ? lower : upper;
        if (kernel == one_arm && i % WARP >= WARP / 2) want = 100 * (i % WARP);
        wrong += host[i] != want;
    }
    experiment_at(e, name, "sum");
    experiment_value(e, "wrong", wrong, "");
    if (wrong && kernel != one_arm)
        return fail(fault, EXIT_WRONG, "%s: %d of the sums are wrong.", name, wrong);
    return 0;
}

// ---- which lanes are active?
// ----------------------------------------------------------------------------

// Each lane stores the mask that it found, which should contain all lanes.
static __global__ void example_1(unsigned *found, volatile int *data)
{
    if (threadIdx.x % WARP < 16)
        data[threadIdx.x] += 1; // A
    else
        data[threadIdx.x] *= 3; // B
    found[threadIdx.x] = __activemask();
}

static __global__ void example_2(unsigned *found, volatile int *data)
{
    unsigned mask = ALL_LANES;
    data[threadIdx.x] = 1;
    if (__activemask() == ALL_LANES) mask = __activemask();
    found[threadIdx.x] = mask;
}

static __global__ void asked(unsigned *found, volatile int *data)
{
    if (threadIdx.x % WARP < 16)
        data[threadIdx.x] += 1; // A
    else
        data[threadIdx.x] *= 3; // B
    found[threadIdx.x] = __ballot_sync(ALL_LANES, true);
}

static int run_mask(struct experiment *e, const char *name,
                    void (*kernel)(unsigned *, volatile int *), unsigned *device,
                    struct fault *fault)
{
    static unsigned host[THREADS];
    int parted = 0;

    kernel<<<1, THREADS>>>(device, (int *)device + THREADS);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (unsigned mask : host) parted += mask != ALL_LANES;
    experiment_at(e, name, "mask");
    experiment_value(e, "not_all", parted, "");
    if (kernel == asked && parted)
        return fail(fault, EXIT_WRONG, "A ballot of all lanes is not of all in %d of them.",
                    parted);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "`one arm` is an error that synccheck finds; an active mask is full "
                "only by chance.";
    int *device, code;
    CUDA_CHECK(fault, cudaMalloc(&device, 2 * THREADS * sizeof *device));
    CUDA_CHECK(fault, cudaMemset(device, 0, 2 * THREADS * sizeof *device));
    code = run_sum(e, "both arms", both_arms, device, fault);
    if (!code) code = run_sum(e, "own arm", own_arm, device, fault);
    if (!code && e->emulated) code = run_sum(e, "one arm", one_arm, device, fault);
    if (!code) code = run_mask(e, "example 1", example_1, (unsigned *)device, fault);
    if (!code) code = run_mask(e, "example 2", example_2, (unsigned *)device, fault);
    if (!code) code = run_mask(e, "ballot", asked, (unsigned *)device, fault);
    CUDA_CHECK(fault, cudaFree(device));
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("09-divergence", "Collective functions after lanes have diverged", run,
                           argc, argv);
}
