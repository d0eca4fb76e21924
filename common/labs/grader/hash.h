/* hash.h — FNV-1a, which tells texts apart. It protects from nothing: two texts with
 * the same hash are easily made. */
#ifndef LABS_HASH_H
#define LABS_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of no bytes. */
#define HASH_NONE UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* The hash of what `hash` is of, and then of these bytes. */
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    for (const unsigned char *at = bytes, *end = at + size; at < end; at++)
        hash = hash_mix(hash, *at);
    return hash;
}

#endif
