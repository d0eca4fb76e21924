/* binary.h — what nvcc puts into a program: containers, compression, ELF, machine code. */
#ifndef EMU_BINARY_H
#define EMU_BINARY_H

#include "common/files/allocated.h"
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the sections of an ELF file in memory: a program, or machine code for a GPU ------------- */

/* Nothing in the file is trusted: every offset and every length is checked. The file may begin at
 * any address, so entries of its tables are copied before they are read. */

struct elf {
    const unsigned char *data;
    size_t size;
    unsigned type, machine; /* ET_EXEC, …; EM_X86_64, … */
    unsigned section_count; /* section 0 is always empty */
    uint64_t table;         /* the offset of the table of sections */
    unsigned names;         /* the section that holds the others' names */
};

enum elf_problem { ELF_FINE, ELF_TOO_SHORT, ELF_OTHER_FORMAT, ELF_DAMAGED_TABLE };

/* Finds the sections of the file of `size` bytes at `data`, which must stay. Nothing has to be
 * freed. Returns ELF_OTHER_FORMAT if the bytes are not an ELF file of 64 bits. */
enum elf_problem elf_read(struct elf *, const void *data, size_t size);

/* The header of a section, which must be < section_count. */
Elf64_Shdr elf_header(const struct elf *, unsigned section);

/* The content of a section and its number of bytes. NULL and 0 bytes: the section does not exist,
 * is section 0, or its content does not lie inside the file. */
const unsigned char *elf_content(const struct elf *, unsigned section, size_t *size);

/* The string at an offset of a section of strings; "" if none lies there. */
const char *elf_string(const struct elf *, unsigned section, uint64_t offset);

/* The first section called prefix + name with a content; 0: no such section. */
unsigned elf_find(const struct elf *, const char *prefix, const char *name);

/* ---- reads a program's file before it is run: which CUDA runtime will it use? ---------------- */

/* A note section that only programs linked with our libcudart_static.a have. Linkers keep notes. */
#define EMU_NOTE_SECTION ".note.upsweep"

enum runtime {
    RUNTIME_SHARED,     /* libcudart.so.13, found when the program starts */
    RUNTIME_OLD_SHARED, /* a libcudart.so of another version */
    RUNTIME_OURS,       /* our libcudart_static.a is linked in */
    RUNTIME_NVIDIA,     /* CUDA code without libcudart.so: NVIDIA's static library */
    RUNTIME_NONE,       /* no CUDA code at all */
    RUNTIME_NO_PROGRAM, /* not an ELF program for this machine */
    RUNTIME_UNREADABLE, /* errno says why */
};

enum runtime elf_runtime(const char *path);

/* Why a program or library with CUDA code would not run on the emulator, as the end of a sentence
 * that begins with its name; NULL: it would, or it has no CUDA code. */
const char *elf_refusal(enum runtime);

/* Maps a program's file into memory. Returns RUNTIME_NONE on success; the caller must then call
 * elf_close. Otherwise returns RUNTIME_NO_PROGRAM or RUNTIME_UNREADABLE. */
enum runtime elf_open(const char *path, struct elf *);
void elf_close(struct elf *);

/* The content of the section of this name; NULL: no such section. */
const void *elf_section(const struct elf *, const char *name, size_t *size);

/* ---- machine code as ptxas wrote it: an ELF file for one GPU architecture -------------------- */

/* Each kernel has a section ".text.NAME" of 16-byte instructions; -lineinfo adds a table of their
 * source lines. */

struct cubin_place {
    const char *file; /* without its folder */
    unsigned line;    /* 0: unknown */
};

/* Code from this address of a section on, up to the next row, belongs to this source line. */
struct cubin_row {
    unsigned section;
    uint64_t address;
    struct cubin_place place;
    unsigned order; /* of rows with the same address, the last one counts */
    size_t call;    /* index + 1 of the row of the call; 0: the code was not inlined */
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

/* ---- reads PTX and machine code from the container that nvcc embeds in a program ------------- */

/* A fat binary holds several entries, each PTX text or machine code for one architecture, stored
 * uncompressed, as an LZ4 block or as a zstd frame. Nothing in the container is trusted: every
 * length is checked. */

/* What was found in one fat binary. */
struct fatbin_ptx {
    char *text;    /* malloc'ed, NUL-terminated; the caller frees it */
    size_t length; /* without the NUL */
    unsigned arch; /* 90 for compute_90 */
    bool never_fuses; /* it is meant for ptxas with -O0 or -fmad=false */
};

/* Reads the PTX of the highest architecture not above max_arch (10 * major + minor) from the fat
 * binary at `data`, of which at most `limit` bytes may be read (SIZE_MAX: its own length field is
 * right). Returns 0 or an enum emu_error: EMU_INVALID_PTX for a malformed container, 209
 * (cudaErrorNoKernelImageForDevice) if it has no suitable PTX. The message then lists what it
 * has. */
int fatbin_extract(const void *data, size_t limit, unsigned max_arch, struct fatbin_ptx *out,
                   char *message, size_t size);

/* Machine code found in one fat binary: an ELF file. */
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

/* ---- decoding one LZ4 block: the compression that `nvcc --compress-mode=speed` uses ---------- */

/* Decodes the block at from[0..from_size) into to[0..to_size). True if the block is well-formed and
 * fills `to` exactly. Never reads or writes outside the two ranges. The format: "LZ4 Block Format
 * Description", lz4/doc/lz4_Block_format.md. */
bool lz4_decode(unsigned char *to, size_t to_size, const unsigned char *from, size_t from_size);

#endif
