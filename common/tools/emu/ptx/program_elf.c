/* program_elf.c — reads the dynamic section of programs (System V ABI, chapter 5; man 5 elf). */
#define _GNU_SOURCE
#include "binary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#else
#error "CUDA programs run on x86-64 and aarch64"
#endif

#define OUR_LIBRARY "libcudart.so.13"
#define ANY_VERSION "libcudart.so"

/* Is the file a program for this machine with readable sections? */
static bool is_program(struct elf *elf, const void *data, size_t size)
{
    return elf_read(elf, data, size) == ELF_FINE && elf->machine == THIS_MACHINE &&
           (elf->type == ET_EXEC || elf->type == ET_DYN);
}

const void *elf_section(const struct elf *elf, const char *name, size_t *size)
{
    return elf_content(elf, elf_find(elf, "", name), size);
}

static bool has_section(const struct elf *elf, const char *name)
{
    size_t size;
    return elf_section(elf, name, &size) != NULL;
}

/* The needed library whose name begins with libcudart.so; NULL: none. */
static const char *needed_cudart(const struct elf *elf)
{
    for (unsigned i = 0; i < elf->section_count; i++) {
        size_t size;
        const Elf64_Shdr header = elf_header(elf, i);
        const unsigned char *entries = elf_content(elf, i, &size);
        if (header.sh_type != SHT_DYNAMIC || entries == NULL) continue;
        for (Elf64_Dyn entry; size >= sizeof entry; entries += sizeof entry, size -= sizeof entry) {
            memcpy(&entry, entries, sizeof entry);
            if (entry.d_tag == DT_NULL) break;
            const char *name = elf_string(elf, header.sh_link, entry.d_un.d_val);
            if (entry.d_tag == DT_NEEDED && strncmp(name, ANY_VERSION, strlen(ANY_VERSION)) == 0)
                return name;
        }
    }
    return NULL;
}

/* Does it take this function from another library? */
static bool imports(const struct elf *elf, const char *function)
{
    for (unsigned i = 0; i < elf->section_count; i++) {
        size_t size;
        const Elf64_Shdr header = elf_header(elf, i);
        const unsigned char *symbols = elf_content(elf, i, &size);
        if (header.sh_type != SHT_DYNSYM || symbols == NULL) continue;
        for (Elf64_Sym symbol; size >= sizeof symbol;
             symbols += sizeof symbol, size -= sizeof symbol) {
            memcpy(&symbol, symbols, sizeof symbol);
            if (symbol.st_shndx == SHN_UNDEF &&
                strcmp(elf_string(elf, header.sh_link, symbol.st_name), function) == 0)
                return true;
        }
    }
    return false;
}

/* Objects that nvcc -cudart none has made get the runtime from another library. */
static enum runtime judge(const struct elf *elf)
{
    const char *cudart = needed_cudart(elf);
    if (has_section(elf, EMU_NOTE_SECTION)) return RUNTIME_OURS;
    if (cudart != NULL)
        return strcmp(cudart, OUR_LIBRARY) == 0 ? RUNTIME_SHARED : RUNTIME_OLD_SHARED;
    if (!has_section(elf, ".nv_fatbin")) return RUNTIME_NONE;
    return imports(elf, "__cudaRegisterFatBinary") ? RUNTIME_SHARED : RUNTIME_NVIDIA;
}

enum runtime elf_open(const char *path, struct elf *elf)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0) return RUNTIME_UNREADABLE;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
        close(file);
        return RUNTIME_NO_PROGRAM;
    }
    size_t size = (size_t)status.st_size;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED) return RUNTIME_UNREADABLE;
    if (is_program(elf, data, size)) return RUNTIME_NONE;
    elf_close(elf);
    return RUNTIME_NO_PROGRAM;
}

void elf_close(struct elf *elf) { munmap((void *)elf->data, elf->size); }

enum runtime elf_runtime(const char *path)
{
    struct elf elf;
    enum runtime runtime = elf_open(path, &elf);
    if (runtime != RUNTIME_NONE) return runtime;
    runtime = judge(&elf);
    elf_close(&elf);
    return runtime;
}

const char *elf_refusal(enum runtime runtime)
{
    switch (runtime) {
    case RUNTIME_NVIDIA:
        return "has NVIDIA's runtime linked into it (libcudart_static.a), which needs a GPU; "
               "relink it with nvcc -cudart shared, with g++ and -lcudart, or with the flags that "
               "emu "
               "--nvcc-flags prints";
    case RUNTIME_OLD_SHARED:
        return "was not built with CUDA 13, whose libcudart.so.13 the emulator replaces; rebuild "
               "it";
    default: return NULL;
    }
}
