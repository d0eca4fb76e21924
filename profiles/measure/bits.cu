/*
 * bits.cu — prints checksums of scans of real numbers for bits.py: n, type, scan, device, checksum.
 *
 * Random numbers divided by 3 use all digits of their type, so another order of additions would
 * change last bits. The CPU adds as step 12's reference.c does.
 */
#include "common/harness/input/input.h"
#include "common/harness/run/device.h"
#include "common/step/cuda_check.h"
#include "common/tools/library/scan/scan.h"
#include "steps/12-pipeline/reference.h"
#include "steps/12-pipeline/scan.h"

#include <inttypes.h>

#define LINE   "%zu,f%zu,%s,%s,%016" PRIx64 "\n"
#define HOPPER 90 // before it, another kernel adds in the same order
#define KEEP   0.9999

enum { EXCLUSIVE, INCLUSIVE, IN_PLACE, REVERSE, AVERAGE, WAYS };
static const char *const names[] = {"step 12 exclusive", "step 12 inclusive", "step 12 in place",
                                    "step 16 in reverse", "step 16 moving average"};

#define DEFINE_SCAN(name, T)                                                                       \
    static cudaError_t scan(int way, void *w, size_t *bytes, T *out, const T *in, size_t n)        \
    {                                                                                              \
        struct upsweep_scan_options o = {};                                                        \
        o.reverse = way == REVERSE;                                                                \
        if (o.reverse) return scan_sum_##name(w, bytes, out, in, n, &o, NULL);                     \
        if (way == AVERAGE)                                                                        \
            return scan_decay_##name(w, bytes, out, in, KEEP, 1 - KEEP, n, &o, NULL);              \
        if (way == INCLUSIVE) return scan_inclusive_##name(w, bytes, out, in, n, NULL);            \
        return scan_exclusive_##name(w, bytes, out, in, n, NULL);                                  \
    }                                                                                              \
    static void reference(int way, T *out, const T *in, size_t n)                                  \
    {                                                                                              \
        reference_##name(out, in, n, way == INCLUSIVE, kernel_for(n, sizeof(T), HOPPER, true));    \
    }
DEFINE_SCAN(f32, float)
DEFINE_SCAN(f64, double)

template <typename T>
static int run(size_t n, const char *device, struct fingerprinter *f, struct fault *fault)
{
    size_t size = n * sizeof(T), bits = 8 * sizeof(T), bytes;
    enum element element = bits == 32 ? ELEMENT_F32 : ELEMENT_F64;
    uint64_t checksum;
    struct input input;
    void *workspace;
    T *in, *out;
    if (input_generate(&input, element, n, RANDOM_UNIFORM, 1, fault)) return fault->code;
    T *x = (T *)input.data, *y = (T *)malloc(size);
    if (!y) return fail(fault, EXIT_USAGE, "no memory on the host for %zu sums.", n);
    for (size_t i = 0; i < n; i++) x[i] /= 3;
    CUDA_CHECK(fault, cudaMalloc(&in, size));
    CUDA_CHECK(fault, cudaMalloc(&out, size));
    CUDA_CHECK(fault, cudaMemcpy(in, x, size, cudaMemcpyHostToDevice));
    for (int way = 0; way < WAYS; way++) {
        struct span result = {out, size, false};
        CUDA_CHECK(fault, cudaMemcpy(out, in, size, cudaMemcpyDeviceToDevice));
        CUDA_CHECK(fault, scan(way, NULL, &bytes, out, in, n));
        CUDA_CHECK(fault, cudaMalloc(&workspace, bytes));
        CUDA_CHECK(fault, cudaMemset(workspace, 0, bytes));
        CUDA_CHECK(fault, scan(way, workspace, &bytes, out, way == IN_PLACE ? out : in, n));
        if (fingerprints(f, &result, 1, NULL, &checksum, fault)) return fault->code;
        CUDA_CHECK(fault, cudaFree(workspace));
        printf(LINE, n, bits, names[way], device, checksum);
        if (way > INCLUSIVE) continue;
        reference(way, y, x, n);
        checksum = fingerprint_on_host(y, size, 0);
        printf(LINE, n, bits, names[way], "CPU", checksum);
    }
    CUDA_CHECK(fault, cudaFree(in));
    CUDA_CHECK(fault, cudaFree(out));
    free(y);
    input_free(&input);
    return 0;
}

int main(int argc, char **argv)
{
    static const size_t usual[] = {1000, 100003, 1 << 23, 1 << 24};
    struct options options = {};
    struct fault fault = {};
    struct fingerprinter f;
    struct device device;
    options.argv = argv;
    if (device_choose(&options, &device, &fault) || fingerprinter_open(&f, false, &fault))
        return fault_say(&fault);
    int count = argc > 1 ? argc - 1 : device.emulated ? 2 : 4; // more take too long there
    for (int k = 0; k < count && !fault.code; k++) {
        size_t n = argc > 1 ? strtoull(argv[k + 1], NULL, 10) : usual[k];
        if (!run<float>(n, device.name, &f, &fault)) run<double>(n, device.name, &f, &fault);
    }
    fingerprinter_close(&f);
    return fault.code ? fault_say(&fault) : EXIT_RIGHT;
}
