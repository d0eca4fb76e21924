/*
 * test_runs.c — what the checks of every run are made of: guards.
 */
#include "common/buffer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* ---- guards ---------------------------------------------------------------------------------- */

static void write_byte(struct buffer *buffer, long at, unsigned char value)
{
    unsigned char *place = (unsigned char *)buffer->data + at;
    if (buffer->on_host)
        *place = value;
    else
        cr_assert(cudaMemcpy(place, &value, 1, cudaMemcpyHostToDevice) == cudaSuccess);
}

static void expect_damage(struct buffer *buffer, long want)
{
    cudaError_t error;
    cr_expect_eq(buffer_damage(buffer, &error), want);
    cr_expect_eq(error, cudaSuccess);
}

Test(runs, guards_show_the_nearest_damage)
{
    for (int on_host = 0; on_host < 2; on_host++) {
        enum { N = 300001 };
        struct buffer buffer;
        struct fault fault;
        cr_assert_eq(buffer_make(&buffer, N, 3, on_host, "a buffer", &fault), 0);
        expect_damage(&buffer, 0);
        static const long beyond[] = {300000, 256 << 10, 5000, 2, 1};
        for (size_t i = 0; i < 5; i++) {
            write_byte(&buffer, N - 1 + beyond[i], 0);
            expect_damage(&buffer, beyond[i]);
        }
        for (size_t i = 0; i < 5; i++) write_byte(&buffer, N - 1 + beyond[i], BUFFER_POISON);
        expect_damage(&buffer, 0);
        for (size_t i = 0; i < 5; i++) {
            write_byte(&buffer, -beyond[i], 0);
            expect_damage(&buffer, -beyond[i]);
        }
        write_byte(&buffer, N, 0);
        expect_damage(&buffer, 1);
        buffer_free(&buffer);
    }
}
