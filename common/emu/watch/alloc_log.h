/*
 * alloc_log.h — memcheck's list of all allocations, including freed ones.
 *
 * It is kept only while memcheck is on. Freed addresses are given out again as late as possible
 * (machine/memory.h), so an access to freed memory is nearly always recognised.
 */
#ifndef EMU_ALLOC_LOG_H
#define EMU_ALLOC_LOG_H

#include "common/emu/emu.h"
#include "common/emu/machine/address_table.h"

struct allocation {
    uint64_t base, bytes;
    bool is_freed;
    struct emu_host_place made, freed;
};

struct alloc_log {
    struct allocation *all; /* oldest first */
    size_t count, room;
    struct address_table
        newest; /* by base: 1 + the index of the last allocation that began there */
};

void alloc_log_close(struct alloc_log *);
void alloc_log_add(struct emu *, uint64_t base, uint64_t bytes);
void alloc_log_free(struct emu *, uint64_t base);

/* Appends lines that describe an address that must not be accessed: near which allocation it is, or
 * in which freed one, and where in the program that was allocated and freed. `bytes`: of the
 * access, or 0. */
void alloc_log_append(struct emu *, uint64_t address, uint64_t bytes, char *text, size_t size);

#endif
