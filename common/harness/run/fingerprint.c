#include "fingerprint.h"

#include "counters.h"
#include "common/step/cuda_check.h"

#include <stdlib.h>
#include <string.h>

#define WORD  sizeof(uint32_t)
#define PIECE ((size_t)1 << 20) /* bytes copied to the host at a time; a multiple of WORD */

int fingerprinter_open(struct fingerprinter *f, bool on_host, struct fault *fault)
{
    *f = (struct fingerprinter){0};
    if (on_host) return 0;
    if (!cuda_emulated()) {
        CUDA_CHECK(fault, cudaMalloc((void **)&f->sums, FINGERPRINT_SPANS * sizeof *f->sums));
        return 0;
    }
    f->piece = allocated(malloc(PIECE));
    return 0;
}

void fingerprinter_close(struct fingerprinter *f)
{
    if (f->sums) cudaFree(f->sums);
    free(f->piece);
    *f = (struct fingerprinter){0};
}

uint64_t fingerprint_on_host(const void *memory, size_t bytes, uint64_t first)
{
    const unsigned char *at = memory;
    uint64_t sum = 0, words = bytes / WORD;
    uint32_t word;
    for (uint64_t k = 0; k < words; k++, at += WORD) {
        memcpy(&word, at, WORD);
        sum += fingerprint_hash(first + k, word);
    }
    if (bytes % WORD == 0) return sum;
    word = 0;
    memcpy(&word, at, bytes % WORD);
    return sum + fingerprint_hash(first + words, word);
}

/* Takes the fingerprint of device memory through a copy on the host. */
static int through_host(struct fingerprinter *f, const struct span *span, uint64_t *result,
                        struct fault *fault)
{
    *result = 0;
    for (size_t at = 0; at < span->bytes; at += PIECE) {
        size_t bytes = span->bytes - at < PIECE ? span->bytes - at : PIECE;
        CUDA_CHECK(fault, cudaMemcpy(f->piece, (const char *)span->memory + at, bytes,
                                     cudaMemcpyDeviceToHost));
        *result += fingerprint_on_host(f->piece, bytes, at / WORD);
    }
    return 0;
}

/* All spans on the device, by kernels. Spans on the host are left out. */
static int on_gpu(struct fingerprinter *f, const struct span *spans, size_t count,
                  cudaStream_t stream, uint64_t *result, struct fault *fault)
{
    uint64_t sums[FINGERPRINT_SPANS];
    size_t bytes = count * sizeof *sums;
    CUDA_CHECK(fault, cudaMemsetAsync(f->sums, 0, bytes, stream));
    for (size_t i = 0; i < count; i++)
        if (!spans[i].on_host)
            CUDA_CHECK(fault,
                       fingerprint_on_device(spans[i].memory, spans[i].bytes, &f->sums[i], stream));
    CUDA_CHECK(fault, cudaMemcpyAsync(sums, f->sums, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    for (size_t i = 0; i < count; i++)
        if (!spans[i].on_host) result[i] = sums[i];
    return 0;
}

static int by_host(struct fingerprinter *f, const struct span *spans, size_t count,
                   cudaStream_t stream, uint64_t *result, struct fault *fault)
{
    int code = 0;
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    for (size_t i = 0; i < count && !code; i++)
        if (!spans[i].on_host) code = through_host(f, &spans[i], &result[i], fault);
    return code;
}

int fingerprints(struct fingerprinter *f, const struct span *spans, size_t count,
                 cudaStream_t stream, uint64_t *result, struct fault *fault)
{
    int code = f->sums    ? on_gpu(f, spans, count, stream, result, fault)
               : f->piece ? by_host(f, spans, count, stream, result, fault)
                          : 0;
    for (size_t i = 0; i < count && !code; i++)
        if (spans[i].on_host) result[i] = fingerprint_on_host(spans[i].memory, spans[i].bytes, 0);
    return code;
}
