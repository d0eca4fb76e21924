/*
 * tensor_map.h — what a CUtensorMap holds under the emulator: a layout of its own in the 128 bytes
 * that are opaque to programs. The driver API makes a map (runtime/driver_tensor.c), and bulk
 * copies of tensors read it (tensor.c).
 */
#ifndef EMU_TENSOR_MAP_H
#define EMU_TENSOR_MAP_H

#include "common/emu/ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* USED: what the members of struct tensor_map fill. */
enum {
    TENSOR_RANKS = 5,
    TENSOR_MAP_BYTES = 128,
    TENSOR_MAP_USED = 107,
    TENSOR_MAP_ALIGNMENT = 64,
};

/* Within lines of 16 << swizzle bytes, chunks of 16 bytes of shared memory change places; see
 * swizzled() in tensor.c. */
enum tensor_swizzle { SWIZZLE_NONE, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128 };

/* Dimension 0 is the one whose elements are neighbours. */
struct tensor_map {
    uint64_t seal;                     /* tensor_map_seal(): other bytes are no map */
    uint64_t address;                  /* of the first element */
    uint64_t size[TENSOR_RANKS];       /* elements along each dimension */
    uint64_t stride[TENSOR_RANKS - 1]; /* bytes, of dimensions 1 to 4 */
    uint16_t box[TENSOR_RANKS];        /* elements that a copy spans */
    uint8_t step[TENSOR_RANKS];        /* of these it takes every step-th */
    uint8_t rank;
    uint8_t type; /* enum ptx_type, of the elements */
    uint8_t swizzle;
    bool fills_nan; /* what lies outside of the tensor becomes NaN, not 0 */
    uint8_t unused[TENSOR_MAP_BYTES - TENSOR_MAP_USED];
};
/* What the seal of a map must be: a hash of all that follows it (FNV-1a, by words). */
static inline uint64_t tensor_map_seal(const struct tensor_map *map)
{
    uint64_t words[TENSOR_MAP_BYTES / sizeof(uint64_t)], hash = UINT64_C(0xcbf29ce484222325);
    memcpy(words, map, sizeof words);
    for (unsigned k = 1; k < TENSOR_MAP_BYTES / sizeof(uint64_t); k++)
        hash = (hash ^ words[k]) * UINT64_C(0x100000001b3);
    return hash;
}
_Static_assert(sizeof(struct tensor_map) == TENSOR_MAP_BYTES, "it is a CUtensorMap");

#endif
