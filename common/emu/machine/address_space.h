/*
 * address_space.h — where device memory lies: addresses that only kernels use, and the bytes behind
 * them. It asks the host's system for both.
 *
 * In WebAssembly, addresses of the host have 32 bits. Device addresses are then numbers that no
 * host address equals, and the bytes come from calloc.
 */
#ifndef EMU_ADDRESS_SPACE_H
#define EMU_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_space {
    uint64_t base;  /* the first device address; 0: nothing is reserved */
    uint8_t *store; /* its byte */
    uint64_t bytes; /* of each of the two */
};

/* Reserves `bytes` device addresses and the memory behind them, for the device with this number, at
 * the same place in every run if it is free. `bytes` is a multiple of RANGES_GAP. All bytes are 0
 * and take memory when they are written. False: the host has too few addresses, or would have fewer
 * than `spare` bytes of them left. */
bool address_space_open(struct address_space *, uint64_t bytes, unsigned number, size_t spare);
void address_space_close(struct address_space *);
/* The host may take back the memory of these pages of the store, whose content is lost. */
void address_space_discard(void *first_page, size_t bytes);

#endif
