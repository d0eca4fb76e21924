/*
 * binary.h — machine code as ptxas wrote it: an ELF file for one GPU architecture.
 *
 * Each kernel has a section ".text.NAME" of 16-byte instructions; -lineinfo adds a table of their
 * source lines.
 */
#ifndef EMU_CUBIN_H
#define EMU_CUBIN_H

#include "elf_file.h"

struct cubin_place {
    const char *file; /* without its folder */
    unsigned line;    /* 0: unknown */
};

/* Code from this address of a section on, up to the next row, belongs to this source line. */
struct cubin_row {
    unsigned section;
    uint64_t address;
    struct cubin_place place;
    struct cubin_place caller; /* the call, if the code was inlined */
    unsigned order;            /* of rows with the same address, the last one counts */
};

struct cubin {
    struct elf file;
    struct cubin_row *rows; /* in order of section and address */
    size_t row_count;
};

/* Opens the `size` bytes at `data`, which must stay. Returns NULL, or a sentence that says what is
 * wrong. On success the caller must call cubin_close. */
const char *cubin_open(struct cubin *, const void *data, size_t size);
void cubin_close(struct cubin *);

/* A section by name, and its content: as elf_find and elf_content. */
unsigned cubin_section(const struct cubin *, const char *prefix, const char *name);
const unsigned char *cubin_content(const struct cubin *, unsigned section, size_t *size);

/* The source line of an instruction; NULL: unknown. */
const struct cubin_row *cubin_row(const struct cubin *, unsigned section, uint64_t address);

/* Fills cubin->rows; for cubin_open. False: no host memory. (cubin.c) */
bool cubin_read_lines(struct cubin *);

#endif
