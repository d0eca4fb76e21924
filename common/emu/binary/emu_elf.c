/*
 * emu_elf.c — see emu_elf.h. The format: System V ABI, chapters 4 and 5; man 5 elf.
 *
 * A program is a file like any other, so every offset in it is checked against its length.
 */
#define _GNU_SOURCE
#include "emu_elf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
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

static bool is_inside(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

/* Checks the header and finds the sections. False: not a program for this machine. */
static bool find_sections(struct elf *elf)
{
    if (elf->size < sizeof *elf->header) return false;
    elf->header = (const Elf64_Ehdr *)elf->data;
    const Elf64_Ehdr *h = elf->header;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_machine != THIS_MACHINE || (h->e_type != ET_EXEC && h->e_type != ET_DYN))
        return false;
    if (h->e_shentsize != sizeof *elf->section || h->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        !is_inside(elf, h->e_shoff, (uint64_t)h->e_shnum * sizeof *elf->section))
        return false;
    elf->section = (const Elf64_Shdr *)(elf->data + h->e_shoff);
    return true;
}

/* The string at an offset of a string table; "" if there is none. */
static const char *string_at(const struct elf *elf, unsigned table, uint64_t offset)
{
    if (table >= elf->header->e_shnum) return "";
    const Elf64_Shdr *s = &elf->section[table];
    if (!is_inside(elf, s->sh_offset, s->sh_size) || offset >= s->sh_size) return "";
    const char *text = (const char *)elf->data + s->sh_offset + offset;
    return memchr(text, '\0', s->sh_size - offset) != NULL ? text : "";
}

const void *elf_section(const struct elf *elf, const char *name, size_t *size)
{
    for (unsigned i = 0; i < elf->header->e_shnum; i++) {
        const Elf64_Shdr *s = &elf->section[i];
        if (strcmp(string_at(elf, elf->header->e_shstrndx, s->sh_name), name) != 0 ||
            !is_inside(elf, s->sh_offset, s->sh_size))
            continue;
        *size = (size_t)s->sh_size;
        return elf->data + s->sh_offset;
    }
    return NULL;
}

static bool has_section(const struct elf *elf, const char *name)
{
    size_t size;
    return elf_section(elf, name, &size) != NULL;
}

/* What the dynamic section says. */
struct dynamic {
    const char *cudart; /* the needed library whose name begins with libcudart.so; NULL: none */
    const char *rpath;  /* the old tag, searched before LD_LIBRARY_PATH; NULL: none */
    bool has_runpath;   /* the new one, which switches the old one off */
};

static struct dynamic read_dynamic(const struct elf *elf)
{
    struct dynamic found = {0};
    for (unsigned i = 0; i < elf->header->e_shnum; i++) {
        const Elf64_Shdr *s = &elf->section[i];
        if (s->sh_type != SHT_DYNAMIC || !is_inside(elf, s->sh_offset, s->sh_size) ||
            s->sh_offset % _Alignof(Elf64_Dyn) != 0)
            continue;
        const Elf64_Dyn *entry = (const Elf64_Dyn *)(elf->data + s->sh_offset);
        for (size_t k = 0; k < s->sh_size / sizeof *entry && entry[k].d_tag != DT_NULL; k++) {
            const char *text = string_at(elf, s->sh_link, entry[k].d_un.d_val);
            if (entry[k].d_tag == DT_RUNPATH) found.has_runpath = true;
            if (entry[k].d_tag == DT_RPATH) found.rpath = text;
            if (entry[k].d_tag == DT_NEEDED && strncmp(text, ANY_VERSION, strlen(ANY_VERSION)) == 0)
                found.cudart = text;
        }
    }
    return found;
}

/* Does one of the folders, separated by colons, hold a libcudart? */
static bool holds_library(const char *folders)
{
    char path[PATH_MAX];
    while (*folders != '\0') {
        size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, folders, OUR_LIBRARY);
        if (length > 0 && access(path, F_OK) == 0) return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static enum runtime judge(const struct elf *elf)
{
    if (has_section(elf, EMU_NOTE_SECTION)) return RUNTIME_OURS;
    struct dynamic dynamic = read_dynamic(elf);
    if (dynamic.cudart == NULL)
        return has_section(elf, ".nv_fatbin") ? RUNTIME_NVIDIA : RUNTIME_NONE;
    if (strcmp(dynamic.cudart, OUR_LIBRARY) != 0) return RUNTIME_OLD_SHARED;
    if (dynamic.rpath != NULL && !dynamic.has_runpath && holds_library(dynamic.rpath))
        return RUNTIME_FIXED;
    return RUNTIME_SHARED;
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
    *elf = (struct elf){.size = (size_t)status.st_size};
    void *data = mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (data == MAP_FAILED) return RUNTIME_UNREADABLE;
    elf->data = data;
    if (find_sections(elf)) return RUNTIME_NONE;
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
