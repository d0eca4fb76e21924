/*
 * cudart_check.h — what the tests of the runtime library have in common: ok(call) and
 * is(call, error) end a test if a call gives something else; and random numbers.
 */
#ifndef CUDART_CHECK_H
#define CUDART_CHECK_H

#include "tests/fixtures/fixtures.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ok(call)           is(call, cudaSuccess)
#define is(call, expected) check(__FILE__, __LINE__, #call, call, expected)

static inline void check(const char *file, int line, const char *call, cudaError_t got,
                         cudaError_t expected)
{
    cr_assert(got == expected, "%s:%d: %s gives %s, not %s", file, line, call,
              cudaGetErrorName(got), cudaGetErrorName(expected));
}

static inline dim3 one_dimension(unsigned x) { return (dim3){x, 1, 1}; }

static inline void *device_memory(size_t bytes)
{
    void *memory;
    ok(cudaMalloc(&memory, bytes));
    return memory;
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

/* Closes stderr, after cr_redirect_stderr(), and returns what was written to it. */
static inline const char *read_stderr(void)
{
    static char text[4096];
    fclose(stderr); /* so that reading ends */
    FILE *file = cr_get_redirected_stderr();
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    return text;
}

#endif
