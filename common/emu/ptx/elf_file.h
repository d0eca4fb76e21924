/*
 * elf_file.h — the sections of an ELF file in memory: a program, or machine code for a GPU.
 *
 * Nothing in the file is trusted: every offset and every length is checked. The file may begin at
 * any address, so entries of its tables are copied before they are read.
 */
#ifndef EMU_ELF_FILE_H
#define EMU_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
