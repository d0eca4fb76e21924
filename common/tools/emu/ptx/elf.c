/* elf.c — reads ELF (System V ABI, chapter 4; man 5 elf). */
#include "binary.h"

#include <string.h>

static bool is_inside(const struct elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->size && bytes <= elf->size - offset;
}

enum elf_problem elf_read(struct elf *elf, const void *data, size_t size)
{
    Elf64_Ehdr h;
    *elf = (struct elf){.data = data, .size = size};
    if (size < sizeof h) return ELF_TOO_SHORT;
    memcpy(&h, data, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64)
        return ELF_OTHER_FORMAT;
    elf->type = h.e_type;
    elf->machine = h.e_machine;
    if (h.e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(elf, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr)))
        return ELF_DAMAGED_TABLE;
    elf->section_count = h.e_shnum;
    elf->table = h.e_shoff;
    elf->names = h.e_shstrndx;
    return ELF_FINE;
}

Elf64_Shdr elf_header(const struct elf *elf, unsigned section)
{
    Elf64_Shdr header;
    memcpy(&header, elf->data + elf->table + section * sizeof header, sizeof header);
    return header;
}

const unsigned char *elf_content(const struct elf *elf, unsigned section, size_t *size)
{
    *size = 0;
    if (section == 0 || section >= elf->section_count) return NULL;
    Elf64_Shdr s = elf_header(elf, section);
    if (s.sh_type == SHT_NOBITS || !is_inside(elf, s.sh_offset, s.sh_size)) return NULL;
    *size = (size_t)s.sh_size;
    return elf->data + s.sh_offset;
}

const char *elf_string(const struct elf *elf, unsigned section, uint64_t offset)
{
    size_t size;
    const unsigned char *strings = elf_content(elf, section, &size);
    if (strings == NULL || offset >= size || !memchr(strings + offset, '\0', size - offset))
        return "";
    return (const char *)strings + offset;
}

unsigned elf_find(const struct elf *elf, const char *prefix, const char *name)
{
    size_t length = strlen(prefix), size;
    for (unsigned i = 1; i < elf->section_count; i++) {
        const char *full = elf_string(elf, elf->names, elf_header(elf, i).sh_name);
        if (strncmp(full, prefix, length) == 0 && strcmp(full + length, name) == 0 &&
            elf_content(elf, i, &size) != NULL)
            return i;
    }
    return 0;
}
