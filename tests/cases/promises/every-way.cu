/*
 * every-way: is step 12 right in every way in which it can be called?
 *
 * What it shows: for each type, exclusive and inclusive scans, in place, of arrays that are not
 * aligned to 16 bytes, and of more than 2^32 elements (where memory suffices): every element is
 * compared with its known sum, on the GPU. How to run it: make promises &&
 * build/promises/12-every-way
 */
#include "common/experiment/experiment.h"
#include "known.cuh"
#include "steps/12-pipeline/parts/shape.h"

/* One way to call it. */
struct way {
    const char *name;
    bool inclusive, in_place;
    size_t offset; // elements by which arrays are off their alignment
};

static const struct way ways[] = {
    {"exclusive", false, false, 0},
    {"inclusive", true, false, 0},
    {"exclusive in place", false, true, 0},
    {"inclusive in place", true, true, 0},
    {"exclusive misaligned", false, false, 1},
    {"inclusive in place misaligned", true, true, 3},
};
#define WAYS (sizeof ways / sizeof *ways)

#define REST ((size_t)64 << 20) // bytes for all but input and output: the workspace

/* Numbers of elements, by purpose. On the emulator they are small. Only types of 8 bytes have a
 * large one there, since scan_onchip and scan_pipeline take these from a smaller n on. */
struct sizes {
    size_t ways, large, huge;
};
static const struct sizes on_gpu = {((size_t)1 << 26) + 3, (size_t)1 << 28, ((size_t)1 << 32) + 5};
static const struct sizes on_emulator = {70003, ONCHIP_MAX(8) + 8193, 0};

/* Does the GPU have enough free memory? */
static int fits(size_t bytes, bool *yes, struct fault *fault)
{
    size_t left, all;
    CUDA_CHECK(fault, cudaMemGetInfo(&left, &all));
    *yes = bytes < left;
    return 0;
}

/* Scans n elements in that way, and counts those that are wrong. */
template <typename In, typename Sum>
static int run_way(struct experiment *e, const char *type, const struct way *way, size_t n,
                   struct fault *fault)
{
    size_t out_bytes = (n + way->offset) * sizeof(Sum), in_bytes = (n + way->offset) * sizeof(In);
    cudaStream_t stream = e->timer.stream;
    unsigned long long *wrong, count;
    void *in, *out, *workspace;
    bool room = false;
    size_t bytes;

    if (way->in_place && sizeof(In) != sizeof(Sum)) return 0;
    if (way->in_place) in_bytes = 0;
    if (fits(out_bytes + in_bytes + REST, &room, fault)) return fault->code;
    if (!room) return 0; // then there is no row
    CUDA_CHECK(fault, cudaMalloc(&out, out_bytes));
    if (!way->in_place) CUDA_CHECK(fault, cudaMalloc(&in, in_bytes));
    CUDA_CHECK(fault, cudaMalloc(&wrong, sizeof *wrong));
    CUDA_CHECK(fault, cudaMemset(wrong, 0, sizeof *wrong));
    CUDA_CHECK(fault, cudaMemset(out, 0xFF, out_bytes));
    CUDA_CHECK(fault, (make_workspace<In, Sum>(&workspace, &bytes, n)));

    Sum *to = (Sum *)out + way->offset;
    In *from = way->in_place ? (In *)(void *)to : (In *)in + way->offset;
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    CUDA_CHECK(fault, known_fill(from, n, stream));
    CUDA_CHECK(fault, scan(way->inclusive, workspace, &bytes, to, from, n, stream));
    CUDA_CHECK(fault, known_check<In>(to, n, way->inclusive, wrong, stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    CUDA_CHECK(fault, cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    CUDA_CHECK(fault, cudaFree(out));
    if (!way->in_place) CUDA_CHECK(fault, cudaFree(in));
    CUDA_CHECK(fault, cudaFree(wrong));
    CUDA_CHECK(fault, cudaFree(workspace));

    char variant[EXPERIMENT_TEXT];
    snprintf(variant, sizeof variant, "%s %s", type, way->name);
    experiment_at(e, variant, "%zu", n);
    experiment_value(e, "wrong", (double)count, "");
    if (count > 0)
        return fail(fault, EXIT_WRONG, "%s: %llu of %zu elements are wrong.", variant, count, n);
    return 0;
}

template <typename In, typename Sum>
static int run_type(struct experiment *e, const char *type, struct fault *fault)
{
    const struct sizes *sizes = e->emulated ? &on_emulator : &on_gpu;
    for (size_t w = 0; w < WAYS; w++)
        if (run_way<In, Sum>(e, type, &ways[w], sizes->ways, fault)) return fault->code;
    if (e->emulated && sizeof(Sum) < 8) return 0;
    if (run_way<In, Sum>(e, type, &ways[0], sizes->large, fault)) return fault->code;
    return sizes->huge ? run_way<In, Sum>(e, type, &ways[0], sizes->huge, fault) : 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    int code = run_type<float, float>(e, "f32", fault);
    if (!code) code = run_type<double, double>(e, "f64", fault);
    if (!code) code = run_type<int32_t, int32_t>(e, "i32", fault);
    if (!code) code = run_type<uint64_t, uint64_t>(e, "u64", fault);
    if (!code) code = run_type<int16_t, int32_t>(e, "i16", fault);
    if (!code) code = run_type<int8_t, int32_t>(e, "i8", fault);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("12-every-way", "Is step 12 right in every way to call it?", run, argc,
                           argv);
}
