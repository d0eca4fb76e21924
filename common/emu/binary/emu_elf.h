/*
 * emu_elf.h — looking into a program before it is run: which CUDA runtime will it use?
 */
#ifndef EMU_ELF_H
#define EMU_ELF_H

#include "elf_file.h"

/* A section that only programs linked with our libcudart_static.a have. Linkers keep notes. */
#define EMU_NOTE_SECTION ".note.upsweep"

enum runtime {
    RUNTIME_SHARED,     /* libcudart.so.13, found when the program starts */
    RUNTIME_OLD_SHARED, /* a libcudart.so of another version */
    RUNTIME_FIXED,      /* libcudart.so.13 through an RPATH, which nothing can get in front of */
    RUNTIME_OURS,       /* our libcudart_static.a, inside */
    RUNTIME_NVIDIA,     /* there is CUDA code, so NVIDIA's libcudart_static.a must be inside */
    RUNTIME_NONE,       /* no CUDA code at all */
    RUNTIME_NO_PROGRAM, /* not an ELF program for this machine */
    RUNTIME_UNREADABLE, /* errno says why */
};

enum runtime elf_runtime(const char *path);

/* Maps a program's file into memory. Returns RUNTIME_NONE on success, and the caller ends with
 * elf_close; otherwise why it cannot be read (RUNTIME_NO_PROGRAM, RUNTIME_UNREADABLE). */
enum runtime elf_open(const char *path, struct elf *);
void elf_close(struct elf *);

/* A section's content; NULL: there is none of that name. */
const void *elf_section(const struct elf *, const char *name, size_t *size);

#endif
