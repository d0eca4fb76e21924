/*
 * emu_elf.h — reads a program's file before it is run: which CUDA runtime will it use?
 */
#ifndef EMU_ELF_H
#define EMU_ELF_H

#include "elf_file.h"

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

#endif
