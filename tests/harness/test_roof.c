/*
 * test_roof.c — the ways to copy that make the roof, and the two that empty the L2: the first copy
 * up to the last byte and no further, and the others do not change the array that they read.
 */
#include "common/harness/run/device.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };

/* Copies in every way, and checks each byte and the guards. */
static void expect_copies(size_t bytes)
{
    struct buffer from, to;
    struct fault fault;
    unsigned char *want = malloc(bytes + 1), *got = malloc(bytes + 1);
    cr_assert(want != NULL && got != NULL);
    cr_assert(buffer_make(&from, bytes, 0, false, "from", &fault) == 0, "%s", fault.text);
    cr_assert(buffer_make(&to, bytes, 0, false, "to", &fault) == 0, "%s", fault.text);
    for (size_t i = 0; i < bytes; i++) want[i] = (unsigned char)(i * 2654435761u >> 13);
    cr_assert(buffer_upload(&from, 0, want, bytes) == cudaSuccess);

    for (int way = 0; way < ROOF_WAYS; way++) {
        const char *name = roof_ways[way].name;
        cudaError_t error;
        cr_assert(buffer_poison(&to, NULL) == cudaSuccess);
        cr_assert(roof_ways[way].copy(to.data, from.data, bytes, NULL) == cudaSuccess, "%s", name);
        cr_assert(cudaDeviceSynchronize() == cudaSuccess, "%s of %zu bytes", name, bytes);
        cr_assert(buffer_download(&to, 0, got, bytes) == cudaSuccess);
        cr_expect(memcmp(got, want, bytes) == 0, "%s of %zu bytes", name, bytes);
        cr_expect(buffer_damage(&to, &error) == 0 && error == cudaSuccess, "%s of %zu bytes", name,
                  bytes);
    }
    buffer_free(&from);
    buffer_free(&to);
    free(want);
    free(got);
}

Test(roof, every_way_copies_every_byte_and_no_other)
{
    static const size_t sizes[] = {1, 15, 16, 17, 16384, 16384 + 16, 5 * 16384 + 3, MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) expect_copies(sizes[i]);
}

/* Every block of the bulk kernel goes round its ring: 132 SMs with 2 blocks of 6 stages. */
Test(roof, bulk_copies_go_round_the_ring) { expect_copies(2 * 132 * 16384 * 15 + 16 * 77 + 5); }

Test(roof, misaligned_pointers_are_refused)
{
    char *buffer;
    cr_assert(cudaMalloc((void **)&buffer, 4096) == cudaSuccess);
    for (int way = 1; way < ROOF_WAYS; way++) /* cudaMemcpyAsync takes any alignment */
        cr_expect(roof_ways[way].copy(buffer, buffer + 2052, 1024, NULL) ==
                  cudaErrorMisalignedAddress);
    cudaFree(buffer);
}

Test(roof, reading_to_empty_the_l2_changes_nothing)
{
    static unsigned char got[MIB];
    unsigned char *array;
    cr_assert(cudaMalloc((void **)&array, MIB) == cudaSuccess);
    cr_assert(cudaMemset(array, 0, MIB) == cudaSuccess);
    cr_assert(flush_read(array, MIB, NULL) == cudaSuccess);
    cr_assert(cudaMemcpy(got, array, MIB, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < MIB; i++) cr_assert(got[i] == 0, "byte %d", i);
    cudaFree(array);
}
