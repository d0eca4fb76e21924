/*
 * fatbin.h — reads PTX and machine code from the container that nvcc embeds in a program.
 *
 * A fat binary holds several entries, each PTX text or machine code for one architecture, stored
 * uncompressed, as an LZ4 block or as a zstd frame. Nothing in the container is trusted: every
 * length is checked.
 */
#ifndef EMU_FATBIN_H
#define EMU_FATBIN_H

#include <stdbool.h>
#include <stddef.h>

/* What was found in one fat binary. */
struct fatbin_ptx {
    char *text;    /* malloc'ed, NUL-terminated; the caller frees it */
    size_t length; /* without the NUL */
    unsigned arch; /* 90 for compute_90 */
};

/*
 * Reads the PTX of the highest architecture not above max_arch (10 * major + minor) from the fat
 * binary at `data`, of which at most `limit` bytes may be read (SIZE_MAX: its own length field is
 * right). Returns 0 or an enum emu_error: EMU_INVALID_PTX for a malformed container, 209
 * (cudaErrorNoKernelImageForDevice) if it has no suitable PTX. The message then lists what it has.
 */
int fatbin_extract(const void *data, size_t limit, unsigned max_arch, struct fatbin_ptx *out,
                   char *message, size_t size);

/* Machine code found in one fat binary: an ELF file (binary.h). */
struct fatbin_code {
    const void *data; /* in the fat binary, or in `allocated` */
    size_t size;
    unsigned arch;   /* 90 for sm_90 */
    void *allocated; /* NULL if it was not compressed; the caller frees it */
};

/* Finds the machine code of the highest architecture not above max_arch; false if no code suits. */
bool fatbin_machine_code(const void *data, size_t limit, unsigned max_arch,
                         struct fatbin_code *out);

/* The size of the container that begins at `data`, in bytes; 0: no container begins there. */
size_t fatbin_size(const void *data, size_t limit);

#endif
