/*
 * fingerprint.h — 64 bits that tell whether memory holds what it held before, without a copy of
 * it.
 *
 * A fingerprint is the sum of a hash over all words of 4 bytes. The hash is made of the word's
 * index and its bits. So it depends on each word and its place, but not on the order in which
 * threads add. Two different contents have the same fingerprint with a probability of about 2^-64.
 * Contents can be constructed that have the same one.
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include "common/command/fault.h"

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory on the host or the device, of any alignment and number of bytes (> 0). A last word that is
 * not whole is filled up with zeros. */
struct span {
    const void *memory;
    size_t bytes;
    bool on_host;
};

#define FINGERPRINT_SPANS 12 /* at most, taken together */

/* Where fingerprints are taken. On the emulator the host does it, after a copy: that takes a
 * hundredth of the time. */
struct fingerprinter {
    uint64_t *sums; /* on a GPU: FINGERPRINT_SPANS; NULL: the host does it */
    void *piece;    /* on the host: room for a copy of a part of device memory */
};

/* Returns 0, EXIT_USAGE (memory) or EXIT_DEVICE. `on_host`: no span will be on a device. */
int fingerprinter_open(struct fingerprinter *, bool on_host, struct fault *);
void fingerprinter_close(struct fingerprinter *);

/* Fills result[0..count) with the fingerprints of `count` spans, after what the stream has before;
 * waits. Returns 0 or EXIT_DEVICE. */
int fingerprints(struct fingerprinter *, const struct span *, size_t count, cudaStream_t,
                 uint64_t *result, struct fault *);

/* The sum over host memory whose first word has the index `first`. */
uint64_t fingerprint_on_host(const void *memory, size_t bytes, uint64_t first);
/* fingerprint.cu: adds the sum over device memory to *sum, which is on the device. */
cudaError_t fingerprint_on_device(const void *memory, size_t bytes, uint64_t *sum, cudaStream_t);

#ifdef __CUDACC__
#define FINGERPRINT_INLINE static __host__ __device__ inline
#else
#define FINGERPRINT_INLINE static inline
#endif

/* A word's hash: that of SplitMix64 (Steele, Lea, Flood 2014). */
FINGERPRINT_INLINE uint64_t fingerprint_hash(uint64_t index, uint32_t word)
{
    uint64_t z = (index + 1) * 0x9E3779B97F4A7C15u + word;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#ifdef __cplusplus
}
#endif

#endif
