/* cubin.c — machine code of a kernel and its source lines. */
#include "binary.h"
#include <string.h>

/* Fills cubin->rows; for cubin_open. */
static void cubin_read_lines(struct cubin *);

/* ---- sections of machine code ---------------------------------------------------------------- */

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
    cubin_read_lines(cubin);
    return NULL;
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

/* ---- finds the source line of each machine instruction --------------------------------------- */

/* The section .debug_line holds a program for a small machine (DWARF 2, 6.2). The machine's
 * registers are an address, a file and a line; some of its instructions append a row to the table.
 * Relocations say in which code section each sequence of rows begins.
 *
 * The rows of an inlined function name the function's own lines, as .loc does in PTX. ptxas adds an
 * opcode that names the row of the call within the sequence (counting from 1; 0: not inlined). */

enum {
    DWARF_LEAST = 2,
    DWARF_MOST = 4, /* version 5 stores the files in another format */
    COPY = 1,
    ADVANCE_PC = 2,
    ADVANCE_LINE = 3,
    SET_FILE = 4,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC = 9,
    END_SEQUENCE = 1, /* extended opcodes, after a 0 */
    SET_ADDRESS = 2,
    INLINED_CALL = 0x90, /* NVIDIA's own opcode */
};

/* Bytes still to be read. Reading beyond the end gives zeros and sets `ended`. */
struct reader {
    const unsigned char *at, *end;
    bool ended;
};

static uint64_t take(struct reader *r, unsigned bytes)
{
    if ((size_t)(r->end - r->at) < bytes) {
        r->at = r->end;
        r->ended = true;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << 8 * i;
    r->at += bytes;
    return value;
}

/* A number of any length, seven bits per byte, the lowest first (DWARF 2, 7.6). */
static uint64_t take_leb(struct reader *r, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        unsigned byte = (unsigned)take(r, 1);
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80 && !r->ended) continue;
        if (is_signed && byte & 0x40 && shift < 64) value |= UINT64_MAX << shift;
        return value;
    }
}

/* A string with its NUL; "" if no NUL follows. */
static const char *take_string(struct reader *r)
{
    const unsigned char *start = r->at;
    const unsigned char *end = memchr(start, '\0', (size_t)(r->end - start));
    r->ended |= !end;
    r->at = end ? end + 1 : r->end;
    return end ? (const char *)start : "";
}

/* ---- one unit of the section ----------------------------------------------------------------- */

struct lines {
    struct cubin *cubin;
    const unsigned char *section; /* .debug_line */
    const unsigned char *relocations;
    size_t relocation_bytes, relocation_size; /* of the whole section, of one entry */
    unsigned symbols;                         /* the section with the relocations' symbols */
    size_t sequence;                          /* index of the sequence's first row */
};

struct unit {
    struct reader program;
    unsigned step; /* minimum_instruction_length */
    int line_base;
    unsigned line_range, opcode_base;
    const unsigned char *argument_counts; /* of the standard opcodes */
    struct reader files;
};

/* The registers. */
struct line_state {
    unsigned section, line;
    uint64_t address, file, context;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* File number `index`, which counts from 1. */
static const char *file_name(struct reader files, uint64_t index)
{
    for (;;) {
        const char *name = take_string(&files);
        if (!*name) return "";
        if (index-- == 1) return base_name(name);
        for (int i = 0; i < 3; i++) take_leb(&files, false); /* folder, time, size */
    }
}

/* The section of code that the address at an offset of .debug_line is in; 0: unknown. */
static unsigned section_of(const struct lines *l, size_t offset)
{
    size_t bytes;
    const unsigned char *symbols = cubin_content(l->cubin, l->symbols, &bytes);
    for (size_t at = 0; l->relocation_bytes - at >= l->relocation_size; at += l->relocation_size) {
        Elf64_Rel relocation; /* Elf64_Rela begins with the same fields */
        memcpy(&relocation, l->relocations + at, sizeof relocation);
        if (relocation.r_offset != offset) continue;
        uint64_t index = ELF64_R_SYM(relocation.r_info);
        if (index >= bytes / sizeof(Elf64_Sym)) return 0;
        Elf64_Sym symbol;
        memcpy(&symbol, symbols + index * sizeof symbol, sizeof symbol);
        return symbol.st_shndx;
    }
    return 0;
}

static void emit(struct lines *l, const struct unit *unit, const struct line_state *state)
{
    struct cubin *cubin = l->cubin;
    cubin->rows = grown(cubin->rows, cubin->row_count, sizeof *cubin->rows);
    struct cubin_row *row = &cubin->rows[cubin->row_count];
    *row = (struct cubin_row){.section = state->section,
                              .address = state->address,
                              .place = {file_name(unit->files, state->file), state->line},
                              .order = (unsigned)cubin->row_count};
    if (state->context && state->context <= cubin->row_count - l->sequence)
        row->call = l->sequence + state->context;
    cubin->row_count++;
}

static void extended_opcode(struct lines *l, struct unit *unit, struct line_state *state)
{
    uint64_t length = take_leb(&unit->program, false);
    struct reader *program = &unit->program;
    if (!length || length > (size_t)(program->end - program->at)) {
        program->at = program->end;
        return;
    }
    struct reader inside = {program->at, program->at + length, false};
    program->at = inside.end;
    switch (take(&inside, 1)) {
    case SET_ADDRESS:
        state->section = section_of(l, (size_t)(inside.at - l->section));
        state->address = take(&inside, 8);
        break;
    case END_SEQUENCE:
        state->line = 0;
        emit(l, unit, state);
        *state = (struct line_state){.file = 1, .line = 1};
        l->sequence = l->cubin->row_count;
        break;
    case INLINED_CALL: state->context = take_leb(&inside, false); break;
    }
}

static void run(struct lines *l, struct unit *unit)
{
    struct line_state state = {.file = 1, .line = 1};
    struct reader *program = &unit->program;
    l->sequence = l->cubin->row_count;
    while (program->at < program->end) {
        unsigned opcode = (unsigned)take(program, 1);
        if (opcode >= unit->opcode_base) {
            unsigned advance = opcode - unit->opcode_base;
            state.address += advance / unit->line_range * unit->step;
            state.line += (unsigned)(unit->line_base + (int)(advance % unit->line_range));
            emit(l, unit, &state);
            continue;
        }
        switch (opcode) {
        case 0: extended_opcode(l, unit, &state); break;
        case COPY: emit(l, unit, &state); break;
        case ADVANCE_PC: state.address += take_leb(program, false) * unit->step; break;
        case ADVANCE_LINE: state.line += (unsigned)take_leb(program, true); break;
        case SET_FILE: state.file = take_leb(program, false); break;
        case CONST_ADD_PC:
            state.address += (255 - unit->opcode_base) / unit->line_range * unit->step;
            break;
        case FIXED_ADVANCE_PC: state.address += take(program, 2); break;
        default:
            for (unsigned i = unit->argument_counts[opcode - 1]; i-- > 0;) take_leb(program, false);
        }
    }
}

/* Reads a unit's header. False: its version is not supported. */
static bool read_header(struct reader content, struct unit *unit)
{
    unsigned version = (unsigned)take(&content, 2);
    uint64_t header = take(&content, 4);
    if (version < DWARF_LEAST || version > DWARF_MOST ||
        header > (size_t)(content.end - content.at))
        return false;
    unit->program = (struct reader){content.at + header, content.end, false};
    content.end = unit->program.at;
    unit->step = (unsigned)take(&content, 1);
    if (version >= 4) take(&content, 1); /* operations per instruction */
    take(&content, 1);                   /* is_stmt */
    unit->line_base = (int8_t)take(&content, 1);
    unit->line_range = (unsigned)take(&content, 1);
    unit->opcode_base = (unsigned)take(&content, 1);
    unit->argument_counts = content.at;
    if (!unit->line_range || !unit->opcode_base) return false;
    for (unsigned i = 1; i < unit->opcode_base; i++) take(&content, 1);
    while (!content.ended && *take_string(&content)) continue; /* folders */
    unit->files = content;
    return !content.ended;
}

/* ---- the section ----------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct cubin_row *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    bool ends = !x->place.line, too = !y->place.line; /* the end of a sequence */
    if (ends != too) return ends ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Afterwards the calls' indices are those of the sorted rows. */
static void sort_rows(struct cubin_row *rows, size_t count)
{
    size_t *place = allocated(malloc((count + 1) * sizeof *place)); /* by order */
    if (count) qsort(rows, count, sizeof *rows, by_place);
    for (size_t k = 0; k < count; k++) place[rows[k].order] = k;
    for (size_t k = 0; k < count; k++)
        if (rows[k].call) rows[k].call = place[rows[k].call - 1] + 1;
    free(place);
}

static void cubin_read_lines(struct cubin *cubin)
{
    size_t size;
    unsigned section = cubin_section(cubin, ".debug_line", ""),
             relocations = cubin_section(cubin, ".rela.debug_line", ""); /* since sm_80 */
    struct lines l = {.cubin = cubin, .relocation_size = sizeof(Elf64_Rela)};
    if (!relocations) {
        relocations = cubin_section(cubin, ".rel.debug_line", "");
        l.relocation_size = sizeof(Elf64_Rel);
    }
    if (!section || !relocations) return;
    l.section = cubin_content(cubin, section, &size);
    l.relocations = cubin_content(cubin, relocations, &l.relocation_bytes);
    l.symbols = elf_header(&cubin->file, relocations).sh_link;

    struct reader units = {l.section, l.section + size, false};
    while (units.at < units.end) {
        uint64_t length = take(&units, 4);
        if (units.ended || length > (size_t)(units.end - units.at)) break;
        struct reader content = {units.at, units.at + length, false};
        struct unit unit;
        if (read_header(content, &unit)) run(&l, &unit);
        units.at = content.end;
    }
    sort_rows(cubin->rows, cubin->row_count);
}
