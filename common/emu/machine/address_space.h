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

/* Has the host memory at an address? */
bool address_space_host_has(uint64_t address);

/*
 * Memory that processes share: files in memory. Such a file has no name, and it is gone when no
 * process uses it, however the processes end. Its first page holds a label; the content follows.
 */

/* A new file for `bytes` bytes of content. -1: the host has none. */
int address_space_file(uint64_t bytes);
/* Writes the label. False: the host has no memory for it. */
bool address_space_label(int file, const void *label, size_t size);
/* The file that another process has open as `file`, and its label. -1: errno says why. */
int address_space_borrow(int process, int file, void *label, size_t size);
void address_space_close_file(int file);
/* Makes these pages of the store the content of a file. With `keep`, what they hold becomes the
 * file's. False: the host has no memory or addresses for it. */
bool address_space_share(void *first_page, uint64_t bytes, int file, bool keep);
/* The pages are the process's own again, and 0. */
void address_space_unshare(void *first_page, uint64_t bytes);
/* This process's number. */
int address_space_process(void);
/* Random bytes, for a key. False: the host has none. */
bool address_space_random(void *bytes, size_t size);

#endif
