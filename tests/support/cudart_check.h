/*
 * cudart_check.h — what the tests of the runtime library have in common: ok(call) and
 * is(call, error) end a test if a call gives something else, and so does given() for a call that
 * fails; device memory, with guards where a test asks for them; and random numbers.
 */
#ifndef CUDART_CHECK_H
#define CUDART_CHECK_H

#include "tests/cases/fixtures/fixtures.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ok(call)           is(call, cudaSuccess)
#define is(call, expected) check(__FILE__, __LINE__, #call, call, expected)

static inline void check(const char *file, int line, const char *call, cudaError_t got,
                         cudaError_t expected)
{
    cr_assert(got == expected, "%s:%d: %s gives %s, not %s", file, line, call,
              cudaGetErrorName(got), cudaGetErrorName(expected));
}

/* What a function stores through its first parameter, or through its last one. */
#define given(type, function, ...)                                                                 \
    ({                                                                                             \
        type answer;                                                                               \
        ok(function(&answer, ##__VA_ARGS__));                                                      \
        answer;                                                                                    \
    })
#define given_last(type, function, ...)                                                            \
    ({                                                                                             \
        type answer;                                                                               \
        ok(function(__VA_ARGS__, &answer));                                                        \
        answer;                                                                                    \
    })

static inline dim3 one_dimension(unsigned x) { return (dim3){x, 1, 1}; }

static inline void *device_memory(size_t bytes)
{
    void *memory;
    ok(cudaMalloc(&memory, bytes));
    return memory;
}

#define GUARD 64 /* bytes before and behind an array, each of them 0xA5 */

/* Device memory with guards, displaced by some bytes. */
struct guarded {
    unsigned char *base, *data;
    size_t bytes;
};

static inline struct guarded guarded(const void *from, size_t bytes, size_t displaced)
{
    struct guarded g = {.base = (unsigned char *)device_memory(bytes + displaced + 2 * GUARD),
                        .bytes = bytes};
    g.data = g.base + GUARD + displaced;
    ok(cudaMemset(g.base, 0xA5, bytes + displaced + 2 * GUARD));
    if (from && bytes) ok(cudaMemcpy(g.data, from, bytes, cudaMemcpyHostToDevice));
    return g;
}

/* Frees it, if its guards are as they were, and the array as well if `was` is given. */
static inline void release(struct guarded *g, const void *was, const char *name)
{
    size_t before = (size_t)(g->data - g->base), all = before + g->bytes + GUARD;
    unsigned char *now = (unsigned char *)malloc(all);
    ok(cudaMemcpy(now, g->base, all, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < all; i++)
        cr_assert((i >= before && i < before + g->bytes) || now[i] == 0xA5,
                  "%s: byte %ld of %zu has changed", name, (long)i - (long)before, g->bytes);
    if (was && g->bytes) cr_assert(!memcmp(now + before, was, g->bytes), "%s has changed", name);
    free(now);
    ok(cudaFree(g->base));
}

/* An int in device memory, or in memory of any other kind. */
static inline int value_at(const int *address)
{
    int value;
    ok(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDefault));
    return value;
}

/* 64 random bits (splitmix64), the same ones in every run. */
static inline uint64_t random_bits(void)
{
    static uint64_t state = 1;
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Closes stderr, after cr_redirect_stderr(), and returns what was written to it; or stdout. */
static inline const char *read_redirected(FILE *stream, FILE *redirected)
{
    static char text[4096];
    fclose(stream); /* so that reading ends */
    text[fread(text, 1, sizeof text - 1, redirected)] = '\0';
    return text;
}
static inline const char *read_stderr(void)
{
    return read_redirected(stderr, cr_get_redirected_stderr());
}

#endif
