/* cubin.c — see cubin.h. The format: System V ABI, chapter 4; man 5 elf. */
#include "cubin.h"

#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190 }; /* EM_CUDA */

static bool is_inside(const struct cubin *cubin, uint64_t offset, uint64_t bytes)
{
    return offset <= cubin->size && bytes <= cubin->size - offset;
}

const unsigned char *cubin_content(const struct cubin *cubin, unsigned section, size_t *size)
{
    *size = 0;
    if (section >= cubin->section_count) return NULL;
    const Elf64_Shdr *s = &cubin->sections[section];
    if (s->sh_type == SHT_NOBITS || !is_inside(cubin, s->sh_offset, s->sh_size)) return NULL;
    *size = (size_t)s->sh_size;
    return cubin->data + s->sh_offset;
}

/* A section's name; "" if it has none. */
static const char *section_name(const struct cubin *cubin, unsigned section)
{
    size_t size;
    const unsigned char *names = cubin_content(cubin, cubin->names, &size);
    uint64_t at = cubin->sections[section].sh_name;
    if (!names || at >= size || !memchr(names + at, '\0', size - at)) return "";
    return (const char *)names + at;
}

unsigned cubin_section(const struct cubin *cubin, const char *prefix, const char *name)
{
    size_t length = strlen(prefix), size;
    for (unsigned i = 1; i < cubin->section_count; i++) {
        const char *full = section_name(cubin, i);
        if (!strncmp(full, prefix, length) && !strcmp(full + length, name))
            return cubin_content(cubin, i, &size) ? i : 0;
    }
    return 0;
}

const char *cubin_open(struct cubin *cubin, const void *data, size_t size)
{
    *cubin = (struct cubin){.data = data, .size = size};
    Elf64_Ehdr header;
    if (size < sizeof header) return "it is too short";
    memcpy(&header, data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != MACHINE_CUDA)
        return "it is no ELF file for a GPU";
    uint64_t bytes = (uint64_t)header.e_shnum * sizeof(Elf64_Shdr);
    if (header.e_shentsize != sizeof(Elf64_Shdr) || !bytes ||
        !is_inside(cubin, header.e_shoff, bytes))
        return "its table of sections is damaged";
    /* Copied, since the file may lie at any address. */
    cubin->sections = malloc(bytes);
    if (!cubin->sections) return "there is no host memory to read it";
    memcpy(cubin->sections, cubin->data + header.e_shoff, bytes);
    cubin->section_count = header.e_shnum;
    cubin->names = header.e_shstrndx;
    if (cubin_read_lines(cubin)) return NULL;
    cubin_close(cubin);
    return "there is no host memory to read it";
}

void cubin_close(struct cubin *cubin)
{
    free(cubin->sections);
    free(cubin->rows);
    *cubin = (struct cubin){0};
}

/* Is the row at or before that place? */
static bool is_before(const struct cubin_row *row, unsigned section, uint64_t address)
{
    return row->section != section ? row->section < section : row->address <= address;
}

const struct cubin_row *cubin_row(const struct cubin *cubin, unsigned section, uint64_t address)
{
    size_t low = 0, high = cubin->row_count; /* rows before `low` are before the place */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&cubin->rows[middle], section, address))
            low = middle + 1;
        else
            high = middle;
    }
    const struct cubin_row *row = low ? &cubin->rows[low - 1] : NULL;
    return row && row->section == section && row->place.line ? row : NULL;
}
