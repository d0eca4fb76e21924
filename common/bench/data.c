#include "data.h"

#include "common/step/cuda_check.h"
#include "common/harness/input/input.h"

#include <stdlib.h>

#define SEED 1

size_t data_device_bytes(size_t n, enum element element)
{
    return n *
           (1 + sizeof(int32_t) + element_size(element) + element_size(element_of_sum(element)));
}

size_t data_host_bytes(size_t n, bool on_host)
{
    return n * (1 + sizeof(int32_t) + (on_host ? 2 * sizeof(float) : 0));
}

/* The exclusive scan with which all outputs are compared. */
static void sum_up(int32_t *sums, const int8_t *numbers, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sums[i] = sum;
        sum += numbers[i];
    }
}

static int upload(struct data *d, struct fault *fault)
{
    CUDA_CHECK(fault, cudaMalloc((void **)&d->small, d->n));
    CUDA_CHECK(fault, cudaMalloc((void **)&d->small_sums, d->n * sizeof *d->small_sums));
    CUDA_CHECK(fault, cudaMalloc(&d->found, sizeof(struct difference)));
    CUDA_CHECK(fault, cudaMemcpy(d->small, d->host, d->n, cudaMemcpyHostToDevice));
    CUDA_CHECK(fault, cudaMemcpy(d->small_sums, d->host_sums, d->n * sizeof *d->small_sums,
                                 cudaMemcpyHostToDevice));
    return 0;
}

int data_open(struct data *d, size_t n, struct fault *fault)
{
    struct input input;
    *d = (struct data){.n = n};
    int code = input_generate(&input, ELEMENT_I8, n, false, SEED, fault);
    if (code) return code;
    d->host = input.data;
    d->host_sums = allocated(malloc(n * sizeof *d->host_sums));
    sum_up(d->host_sums, d->host, n);
    code = upload(d, fault);
    if (code) data_close(d);
    return code;
}

int data_convert(struct data *d, enum element element, struct fault *fault)
{
    cudaFree(d->in);
    cudaFree(d->sums);
    d->in = d->sums = NULL;
    d->element = element;
    CUDA_CHECK(fault, cudaMalloc(&d->in, d->n * element_size(element)));
    CUDA_CHECK(fault, cudaMalloc(&d->sums, d->n * element_size(element_of_sum(element))));
    CUDA_CHECK(fault, cast_numbers(element, d->in, d->small, d->n));
    CUDA_CHECK(fault, cast_sums(element, d->sums, d->small_sums, d->n));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return 0;
}

static void fill_host_in(const struct data *d)
{
    for (size_t i = 0; i < d->n; i++) d->host_in[i] = d->host[i];
}

void data_on_host(struct data *d)
{
    if (d->host_in) return;
    d->host_in = allocated(malloc(d->n * sizeof *d->host_in));
    fill_host_in(d);
}

cudaError_t data_restore_input(const struct data *d)
{
    if (d->host_in) fill_host_in(d);
    CUDA_TRY(cast_numbers(d->element, d->in, d->small, d->n));
    return cudaDeviceSynchronize();
}

void data_close(struct data *d)
{
    cudaFree(d->small);
    cudaFree(d->small_sums);
    cudaFree(d->in);
    cudaFree(d->sums);
    cudaFree(d->found);
    free(d->host);
    free(d->host_sums);
    free(d->host_in);
    *d = (struct data){0};
}

/* ---- comparisons --------------------------------------------------------------------------- */

static const struct difference none = {0, ~0ull};

static const void *element_at(const void *array, enum element element, size_t index)
{
    return (const char *)array + index * element_size(element);
}

static cudaError_t begin(const struct data *d)
{
    return cudaMemcpy(d->found, &none, sizeof none, cudaMemcpyHostToDevice);
}

static cudaError_t end(const struct data *d, struct difference *found)
{
    return cudaMemcpy(found, d->found, sizeof *found, cudaMemcpyDeviceToHost);
}

cudaError_t data_compare(const struct data *d, const void *out, size_t start, size_t n, bool copied,
                         struct difference *found)
{
    const void *want = element_at(d->sums, element_of_sum(d->element), start);
    CUDA_TRY(begin(d));
    CUDA_TRY(compare_sums(d->element, out, want, copied ? NULL : want, n, d->found));
    return end(d, found);
}

cudaError_t data_compare_input(const struct data *d, const void *out, size_t start, size_t n,
                               struct difference *found)
{
    CUDA_TRY(begin(d));
    CUDA_TRY(compare_numbers(d->element, out, d->small + start, n, d->found));
    return end(d, found);
}
