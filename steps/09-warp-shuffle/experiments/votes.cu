/*
 * votes: ballots, agreement of all lanes, and lanes with the same value.
 *
 * What it shows: a ballot finds the lane whose value all lanes take (the last or the first lane
 * whose predicate is true). __all_sync lets a warp agree on the widest access that suits all its
 * lanes. __match_any_sync tells each lane which lanes have its value, so one of them can add for
 * all. __match_all_sync tells whether all lanes have the same value.
 * From: lecture (CS 380, lecture 25), "Broadcast", "Aligned memory copy", and its mention of match.
 * How to run it: make experiment-09-votes
 */
#include "common/experiment/experiment.h"

#include <string.h>

#define WARP      32
#define ALL_LANES 0xffffffff
#define PIECE     64 // bytes that each lane copies
#define KEYS      5

// ---- broadcast: the value of one lane, which a vote has chosen ---------------------------------

static __device__ int bfind(unsigned x) // index of the highest set bit
{
    int bit;
    asm("bfind.u32 %0, %1;" : "=r"(bit) : "r"(x));
    return bit;
}

static __global__ void broadcast(int *last, int *first, const int *x, unsigned voters)
{
    int lane = threadIdx.x;
    unsigned vote = __ballot_sync(ALL_LANES, voters >> lane & 1);
    if (vote) { // the same for all lanes
        last[lane] = __shfl_sync(ALL_LANES, x[lane], bfind(vote));
        first[lane] = __shfl_sync(ALL_LANES, x[lane], __ffs(vote) - 1);
    }
}

static int run_broadcast(struct experiment *e, int *device, struct fault *fault)
{
    static const unsigned voters[] = {1, 0x80000000, 0xffffffff, 0x00c0ffe0, 0x00000100};
    int host[3 * WARP], wrong = 0;

    for (unsigned who : voters) {
        for (int l = 0; l < 3 * WARP; l++) host[l] = 1000 + l;
        CUDA_CHECK(fault, cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
        broadcast<<<1, WARP>>>(device + WARP, device + 2 * WARP, device, who);
        CUDA_CHECK(fault, cudaGetLastError());
        CUDA_CHECK(fault, cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
        for (int l = 0; l < WARP; l++) {
            wrong += host[WARP + l] != 1000 + 31 - __builtin_clz(who);
            wrong += host[2 * WARP + l] != 1000 + __builtin_ctz(who);
        }
    }
    experiment_at(e, "broadcast", "last and first voter");
    experiment_value(e, "wrong", wrong, "");
    return wrong ? fail(fault, EXIT_WRONG, "broadcast: %d values are wrong.", wrong) : 0;
}

// ---- copy: by the widest access that suits all lanes
// ------------------------------------------------------------------

template <typename T> static __device__ bool fits(const char *to, const char *from)
{
    return ((uintptr_t)to | (uintptr_t)from) % sizeof(T) == 0;
}

template <typename T> static __device__ void copy_as(char *to, const char *from)
{
#pragma unroll 1
    for (int i = 0; i < PIECE / (int)sizeof(T); i++) ((T *)to)[i] = ((const T *)from)[i];
}

// Do all lanes agree? If not `together`, each lane decides for itself.
template <bool together> static __device__ bool agree(bool mine)
{
    return together ? __all_sync(ALL_LANES, mine) : mine;
}

// Lane l copies PIECE bytes from a place whose offset is in the table.
template <bool together>
static __global__ void copy(char *out, const char *in, const int *displaced)
{
    char *to = out + 2 * PIECE * threadIdx.x + displaced[threadIdx.x];
    const char *from = in + 2 * PIECE * threadIdx.x + displaced[threadIdx.x];
    if (agree<together>(fits<uint4>(to, from)))
        copy_as<uint4>(to, from);
    else if (agree<together>(fits<uint2>(to, from)))
        copy_as<uint2>(to, from);
    else
        copy_as<char>(to, from);
}

struct copying {
    void (*kernel)(char *, const char *, const int *);
    char *out, *in;
    int *displaced;
};

static cudaError_t launch_copy(void *context, cudaStream_t stream)
{
    struct copying *c = (struct copying *)context;
    c->kernel<<<1, WARP, 0, stream>>>(c->out, c->in, c->displaced);
    return cudaGetLastError();
}

// The lanes' addresses: all multiples of 16, some only multiples of 8, or one odd.
static const struct {
    const char *name;
    int lane_5, lane_9; // offsets of these lanes; the others have 0
} cases[] = {{"all at 16", 0, 0}, {"one at 8", 8, 0}, {"one at 8 and one at 1", 8, 1}};

static int run_copy(struct experiment *e, bool together, struct fault *fault)
{
    static char in[2 * PIECE * WARP], got[sizeof in];
    struct copying c = {together ? copy<true> : copy<false>, NULL, NULL, NULL};
    CUDA_CHECK(fault, cudaMalloc(&c.in, sizeof in));
    CUDA_CHECK(fault, cudaMalloc(&c.out, sizeof in));
    CUDA_CHECK(fault, cudaMalloc(&c.displaced, WARP * sizeof(int)));
    for (size_t i = 0; i < sizeof in; i++) in[i] = (char)(i * 7 + i / 251);
    CUDA_CHECK(fault, cudaMemcpy(c.in, in, sizeof in, cudaMemcpyHostToDevice));

    for (auto &it : cases) {
        int displaced[WARP] = {};
        displaced[5] = it.lane_5, displaced[9] = it.lane_9;
        CUDA_CHECK(fault,
                   cudaMemcpy(c.displaced, displaced, sizeof displaced, cudaMemcpyHostToDevice));
        CUDA_CHECK(fault, cudaMemset(c.out, 0, sizeof in));
        experiment_at(e, together ? "copy as all can" : "copy as each can", "%s", it.name);
        if (experiment_measure(e, launch_copy, &c, NULL, fault)) return fault->code;
        CUDA_CHECK(fault, cudaMemcpy(got, c.out, sizeof got, cudaMemcpyDeviceToHost));
        for (int l = 0; l < WARP; l++) {
            int at = 2 * PIECE * l + displaced[l];
            if (memcmp(got + at, in + at, PIECE) != 0)
                return fail(fault, EXIT_WRONG, "%s: lane %d's bytes are wrong.", it.name, l);
        }
    }
    CUDA_CHECK(fault, cudaFree(c.in));
    CUDA_CHECK(fault, cudaFree(c.out));
    CUDA_CHECK(fault, cudaFree(c.displaced));
    return 0;
}

// ---- match: lanes with the same value
// ------------------------------------------------------------------

// counts[key] becomes the number of lanes with this key; one lane adds for all lanes with its key.
// same[lane] becomes the mask of lanes with its key, and all[lane] the mask of all lanes if the
// warp has only one key, else 0.
static __global__ void match(int *counts, int *adds, unsigned *same, unsigned *all, const int *keys)
{
    int lane = threadIdx.x, key = keys[lane], pred;
    unsigned peers = __match_any_sync(ALL_LANES, key);
    if (lane == __ffs(peers) - 1) {
        atomicAdd(&counts[key], __popc(peers));
        atomicAdd(adds, 1);
    }
    same[lane] = peers;
    all[lane] = __match_all_sync(ALL_LANES, key, &pred);
    if (pred != (all[lane] != 0)) all[lane] = 1; // the two results differ: an error
}

static int run_match(struct experiment *e, bool alike, struct fault *fault)
{
    struct {
        int counts[KEYS], adds, keys[WARP];
        unsigned same[WARP], all[WARP];
    } host = {}, *device;
    int wrong = 0, expected[KEYS] = {}, used = 0;
    for (int l = 0; l < WARP; l++) host.keys[l] = alike ? 3 : l * l % KEYS; // 0, 1 and 4
    for (int l = 0; l < WARP; l++) expected[host.keys[l]]++;

    CUDA_CHECK(fault, cudaMalloc(&device, sizeof host));
    CUDA_CHECK(fault, cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice));
    match<<<1, WARP>>>(device->counts, &device->adds, device->same, device->all, device->keys);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    CUDA_CHECK(fault, cudaFree(device));
    for (int k = 0; k < KEYS; k++) wrong += host.counts[k] != expected[k], used += expected[k] > 0;
    for (int l = 0; l < WARP; l++) {
        unsigned same = 0;
        for (int k = 0; k < WARP; k++) same |= (unsigned)(host.keys[k] == host.keys[l]) << k;
        wrong += host.same[l] != same;
        wrong += host.all[l] != (alike ? ALL_LANES : 0);
    }
    wrong += host.adds != used;
    experiment_at(e, "match", "%s", alike ? "one key" : "three keys");
    experiment_value(e, "atomics", host.adds, "");
    experiment_value(e, "wrong", wrong, "");
    return wrong ? fail(fault, EXIT_WRONG, "match: %d values are wrong.", wrong) : 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "one vote tells every lane what all lanes answer, so one lane can act for all.";
    int *device, code;
    CUDA_CHECK(fault, cudaMalloc(&device, 3 * WARP * sizeof *device));
    code = run_broadcast(e, device, fault);
    CUDA_CHECK(fault, cudaFree(device));
    for (int which = 0; which < 2 && !code; which++) code = run_copy(e, which, fault);
    for (int which = 0; which < 2 && !code; which++) code = run_match(e, which, fault);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("09-votes", "Ballots, agreement and matches in a warp", run, argc, argv);
}
