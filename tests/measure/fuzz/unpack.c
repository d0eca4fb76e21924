/*
 * unpack.c — fuzzes decompression: a valid container is put around the bytes, so that only the
 * compressed bytes can be wrong. The first byte chooses LZ4 or zstd, the next three say how long
 * the text claims to be.
 */
#include "fuzz.h"

#include "common/tools/emu/ptx/binary.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHOICE = 4,
    CONTAINER = 16,
    ENTRY = 64,
    KIND_PTX = 1,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000
};

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

int fuzz_unpack(const uint8_t *data, size_t size)
{
    if (size < CHOICE) return 0;
    uint64_t claimed = data[1] | (uint64_t)data[2] << 8 | (uint64_t)data[3] << 16;
    size_t packed = size - CHOICE, total = CONTAINER + ENTRY + packed;
    uint8_t *fatbin = calloc(1, total);
    if (fatbin == NULL) return 0;
    put(fatbin, 0xBA55ED50, 4);
    put(fatbin + 6, CONTAINER, 2);
    put(fatbin + 8, ENTRY + packed, 8);
    uint8_t *entry = fatbin + CONTAINER;
    put(entry, KIND_PTX, 2);
    put(entry + 4, ENTRY, 4);
    put(entry + 8, packed, 8);
    put(entry + 16, packed, 4);
    put(entry + 28, 90, 4);
    put(entry + 40, data[0] & 1 ? FLAG_ZSTD : FLAG_LZ4, 8);
    put(entry + 56, claimed, 8);
    if (packed > 0) memcpy(entry + ENTRY, data + CHOICE, packed);
    fuzz_fatbin(fatbin, total);
    free(fatbin);
    return 0;
}
