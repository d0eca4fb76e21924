/*
 * fatbin.h — taking PTX out of the container that nvcc embeds in a program.
 *
 * A fat binary holds several entries, each PTX text or machine code for one architecture, stored as
 * it is, as an LZ4 block or as a zstd frame. Nothing in it is trusted: every length is checked.
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
 * Takes the PTX of the highest architecture not above max_arch (10 * major + minor) out of a fat
 * binary at `data`, of which at most `limit` bytes may be read (SIZE_MAX: trust its own length
 * field). Returns 0, or an enum emu_error: EMU_INVALID_PTX for a malformed container, 209
 * (cudaErrorNoKernelImageForDevice) if it has no suitable PTX; message then says what it does have.
 */
int fatbin_extract(const void *data, size_t limit, unsigned max_arch, struct fatbin_ptx *out,
                   char *message, size_t size);

/* Machine code found in one fat binary: an ELF file (cubin.h). */
struct fatbin_code {
    const void *data; /* in the fat binary, or in `allocated` */
    size_t size;
    unsigned arch;   /* 90 for sm_90 */
    void *allocated; /* if it was compressed, otherwise NULL; the caller frees it */
};

/* Finds the machine code of the highest architecture not above max_arch; false if there is none. */
bool fatbin_machine_code(const void *data, size_t limit, unsigned max_arch,
                         struct fatbin_code *out);

/* The bytes of the container that begins at `data`; 0: there is none. */
size_t fatbin_size(const void *data, size_t limit);

#endif
