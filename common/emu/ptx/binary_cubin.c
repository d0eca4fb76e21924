#include "binary.h"

#include <stdlib.h>

enum { MACHINE_CUDA = 190 }; /* EM_CUDA */

const unsigned char *cubin_content(const struct cubin *cubin, unsigned section, size_t *size)
{
    return elf_content(&cubin->file, section, size);
}

unsigned cubin_section(const struct cubin *cubin, const char *prefix, const char *name)
{
    return elf_find(&cubin->file, prefix, name);
}

const char *cubin_open(struct cubin *cubin, const void *data, size_t size)
{
    *cubin = (struct cubin){0};
    enum elf_problem problem = elf_read(&cubin->file, data, size);
    if (problem == ELF_TOO_SHORT) return "it is too short";
    if (problem == ELF_OTHER_FORMAT || cubin->file.machine != MACHINE_CUDA)
        return "it is no ELF file for a GPU";
    if (problem != ELF_FINE || cubin->file.section_count == 0)
        return "its table of sections is damaged";
    if (cubin_read_lines(cubin)) return NULL;
    cubin_close(cubin);
    return "there is no host memory to read it";
}

void cubin_close(struct cubin *cubin)
{
    free(cubin->rows);
    *cubin = (struct cubin){0};
}

/* Is the row at or before this address, in the order of sections and addresses? */
static bool is_before(const struct cubin_row *row, unsigned section, uint64_t address)
{
    return row->section != section ? row->section < section : row->address <= address;
}

const struct cubin_row *cubin_row(const struct cubin *cubin, unsigned section, uint64_t address)
{
    size_t low = 0, high = cubin->row_count; /* rows before `low` are at or before it */
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
