/*
 * data.h — the numbers to be scanned and the expected results, both on the device. One set of
 * random numbers serves every size and type.
 *
 * The numbers are small (8 bits), and every sum of neighbours is below 2^24. So each type of
 * sum holds them exactly. The scan of the first n numbers is the beginning of the scan of all. So
 * one sequential sum on the host is the reference of every size. A cast on the device converts
 * numbers and sums to each type.
 *
 * An output is compared on the device, element by element, for equality. If an element differs,
 * verify.h looks at the whole output on the host. Its verdict and its guess at the cause are the
 * ones that count.
 */
#ifndef DATA_H
#define DATA_H

#include "common/step/element.h"
#include "common/command/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

struct data {
    size_t n;     /* count of all numbers */
    int8_t *host; /* the numbers, and the sums of those before each */
    int32_t *host_sums;
    int8_t *small; /* the same on the device */
    int32_t *small_sums;
    enum element element; /* type of these: */
    void *in, *sums;      /* on the device; sums are of element_of_sum */
    float *host_in;       /* floats for steps on the CPU; NULL until data_on_host */
    void *found;          /* on the device: result of a comparison */
};

/* Device and host memory for n numbers, in bytes. `on_host`: data_on_host will be called. */
size_t data_device_bytes(size_t n, enum element);
size_t data_host_bytes(size_t n, bool on_host);

/* Makes n random numbers and their sums. Returns 0, EXIT_USAGE (memory) or EXIT_DEVICE. */
int data_open(struct data *, size_t n, struct fault *);
/* Gives `in` and `sums` another type. */
int data_convert(struct data *, enum element, struct fault *);
void data_on_host(struct data *);
void data_close(struct data *);

/* The result of a comparison: how many elements differ, and the first of them. */
struct difference {
    unsigned long long count, first;
};

/* Compares n elements at `out` (of a sum's type) with the scan of the numbers from `start` on; if
 * `copied`, with those sums of all numbers that stand from `start` on. Waits. */
cudaError_t data_compare(const struct data *, const void *out, size_t start, size_t n, bool copied,
                         struct difference *);
/* Compares n elements at `out` with the numbers from `start` on. */
cudaError_t data_compare_input(const struct data *, const void *out, size_t start, size_t n,
                               struct difference *);
/* Makes d->in and d->host_in again what they were, after a scan has written there. Waits. */
cudaError_t data_restore_input(const struct data *);
/* data.cu: the kernels behind these; `found` is on the device. */
cudaError_t cast_numbers(enum element, void *to, const int8_t *from, size_t n);
cudaError_t cast_sums(enum element, void *to, const int32_t *from, size_t n);
cudaError_t compare_sums(enum element, const void *got, const void *want, const void *minus,
                         size_t n, struct difference *found);
cudaError_t compare_numbers(enum element, const void *got, const int8_t *want, size_t n,
                            struct difference *found);

#ifdef __cplusplus
}
#endif

#endif
