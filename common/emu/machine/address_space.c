/* address_space.c — see address_space.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, MAP_FIXED_NOREPLACE */
#include "address_space.h"
#include "ranges.h"

/* The same addresses in every run if they are free, so that traces repeat. */
#define PREFERRED_BASE UINT64_C(0x300000000000)
#define PER_DEVICE     UINT64_C(0x010000000000)

#ifdef __wasm__

#include <stdlib.h>
#include <string.h>

bool address_space_open(struct address_space *space, uint64_t bytes, unsigned number, size_t spare)
{
    (void)spare; /* the memory grows, and the browser says when it cannot */
    uint8_t *store = bytes <= SIZE_MAX ? aligned_alloc(RANGES_GAP, (size_t)bytes) : NULL;
    if (!store) return false;
    memset(store, 0, (size_t)bytes);
    *space = (struct address_space){PREFERRED_BASE + number * PER_DEVICE, store, bytes};
    return true;
}

void address_space_close(struct address_space *space)
{
    free(space->store);
    *space = (struct address_space){0};
}

void address_space_discard(void *first_page, size_t bytes) { (void)first_page, (void)bytes; }

#else

#include <sys/mman.h>

enum { RESERVED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

/* Reserves addresses for device memory and for its bytes, at the preferred place if it is free. */
static bool reserve(struct address_space *space, uint64_t bytes, unsigned number)
{
    void *preferred = (void *)(uintptr_t)(PREFERRED_BASE + number * PER_DEVICE);
    void *addresses = mmap(preferred, bytes, PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
    if (addresses == MAP_FAILED) addresses = mmap(NULL, bytes, PROT_NONE, RESERVED, -1, 0);
    if (addresses == MAP_FAILED) return false;
    void *store = mmap(NULL, bytes, PROT_READ | PROT_WRITE, RESERVED, -1, 0);
    if (store == MAP_FAILED) {
        munmap(addresses, bytes);
        return false;
    }
    *space = (struct address_space){(uint64_t)(uintptr_t)addresses, store, bytes};
    return true;
}

/* Does the host have this many bytes of addresses left? */
static bool has_spare(size_t bytes)
{
    void *spare = bytes ? mmap(NULL, bytes, PROT_NONE, RESERVED, -1, 0) : NULL;
    if (spare == MAP_FAILED) return false;
    if (spare) munmap(spare, bytes);
    return true;
}

bool address_space_open(struct address_space *space, uint64_t bytes, unsigned number, size_t spare)
{
    if (!reserve(space, bytes, number)) return false;
    if (has_spare(spare)) return true;
    address_space_close(space);
    return false;
}

void address_space_close(struct address_space *space)
{
    munmap((void *)(uintptr_t)space->base, space->bytes);
    munmap(space->store, space->bytes);
    *space = (struct address_space){0};
}

void address_space_discard(void *first_page, size_t bytes)
{
    madvise(first_page, bytes, MADV_DONTNEED);
}

#endif
