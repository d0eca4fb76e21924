#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "count.h"
#include "common/emu/ptx/matrix.h"
#include "common/emu/ptx/module.h"
#include "common/files/visible.h"
#include <stdlib.h>
#include <string.h>

/* ---- the list -------------------------------------------------------------------------------- */

static int compare_kinds(struct sass_access a, struct sass_access b)
{
    if (a.operation != b.operation) return a.operation - b.operation;
    if (a.space != b.space) return a.space - b.space;
    return a.bytes - b.bytes;
}

static int compare_places(const struct line_access *a, const char *file, unsigned line)
{
    int order = strcmp(a->file, file);
    if (order) return order;
    return a->line < line ? -1 : a->line > line;
}

/* The index of the first item that is not ordered before this place and kind. */
static size_t find_place(const struct line_accesses *list, const char *file, unsigned line,
                         struct sass_access kind)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_places(&list->item[middle], file, line);
        if (!order) order = compare_kinds(list->item[middle].kind, kind);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct line_access *find_line_access(const struct line_accesses *list, const char *file,
                                     unsigned line, struct sass_access kind)
{
    size_t i = find_place(list, file, line, kind);
    if (i == list->count) return NULL;
    struct line_access *item = &list->item[i];
    return compare_places(item, file, line) || compare_kinds(item->kind, kind) ? NULL : item;
}

/* Finds an item, and makes it if the list does not have it. NULL: out of memory. */
static struct line_access *need_line_access(struct line_accesses *list, const char *file,
                                            unsigned line, struct sass_access kind)
{
    struct line_access *item = find_line_access(list, file, line, kind);
    if (item) return item;
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        struct line_access *grown = realloc(list->item, room * sizeof *grown);
        list->lost |= !grown;
        if (!grown) return NULL;
        list->item = grown;
        list->room = room;
    }
    size_t place = find_place(list, file, line, kind);
    item = &list->item[place];
    memmove(item + 1, item, (list->count++ - place) * sizeof *item);
    *item = (struct line_access){.file = file, .line = line, .kind = kind};
    return item;
}

static void count_line_access(struct line_accesses *list, const char *file, unsigned line,
                              struct sass_access kind, enum code code, bool is_reduction)
{
    struct line_access *item = need_line_access(list, file, line, kind);
    if (!item) return;
    item->count[code]++;
    item->reductions += is_reduction;
}

size_t line_length(const struct line_accesses *list, size_t first)
{
    const struct line_access *item = &list->item[first];
    size_t count = 1;
    while (first + count < list->count && !compare_places(item + count, item->file, item->line))
        count++;
    return count;
}

/* ---- what is in the code --------------------------------------------------------------------- */

struct sass_access ptx_access(const struct insn *insn)
{
    unsigned operation = insn->tally == TALLY_LOAD     ? ACCESS_LOAD
                         : insn->tally == TALLY_STORE  ? ACCESS_STORE
                         : insn->tally == TALLY_ATOMIC ? ACCESS_ATOMIC
                         : insn->tally == TALLY_COPY   ? ACCESS_COPY
                                                       : ACCESS_NONE;
    if (operation == ACCESS_NONE) return (struct sass_access){0};
    enum ptx_space space = operation == ACCESS_COPY ? insn->copy.from.space : insn->address.space;
    if (space != PTX_GENERIC && space != PTX_GLOBAL && space != PTX_SHARED) operation = ACCESS_NONE;
    return (struct sass_access){.operation = operation,
                                .space = space,
                                .bytes = (uint8_t)(insn->element_bytes * insn->elements)};
}

/* The name that machine code has for the file with this number; "" if it is not declared. */
static const char *code_file(const struct ptx_text *text, unsigned file)
{
    return file < text->file_count && text->code_files[file] ? text->code_files[file] : "";
}

const char *insn_file(const struct emu_kernel *kernel, const struct insn *insn)
{
    return code_file(&kernel->module->text, kernel->lines[insn->line].file);
}

unsigned insn_line(const struct emu_kernel *kernel, const struct insn *insn)
{
    return *insn_file(kernel, insn) ? kernel->lines[insn->line].line : 0;
}

/* The accesses that ptxas makes of an instruction of tensor cores, all of one kind. */
static struct sass_access matrix_access(const struct matrix_insn *m)
{
    if (m->moves_rows)
        return (struct sass_access){m->stores ? ACCESS_STORE_ROWS : ACCESS_LOAD_ROWS, PTX_SHARED,
                                    m->access_bytes};
    return (struct sass_access){m->stores ? ACCESS_STORE : ACCESS_LOAD, m->address.space,
                                m->access_bytes};
}

static void collect_ptx(struct line_accesses *list, const struct emu_kernel *kernel)
{
    for (size_t i = 0; i < kernel->code_count; i++) {
        const struct insn *insn = &kernel->code[i];
        bool is_matrix = insn->family == FAMILY_MATRIX;
        struct sass_access kind = is_matrix ? matrix_access(insn->matrix) : ptx_access(insn);
        unsigned count = is_matrix ? insn->matrix->accesses : kind.operation != ACCESS_NONE;
        while (count--)
            count_line_access(list, insn_file(kernel, insn), insn_line(kernel, insn), kind,
                              CODE_PTX, false);
    }
}

/* The path of the file that machine code names so. */
static const char *path_of(const struct ptx_text *text, const char *name)
{
    for (unsigned file = 0; file < text->file_count; file++)
        if (!strcmp(code_file(text, file), name)) return text->files[file];
    return NULL;
}

/* The line on which a machine instruction counts, by the rule of parse_loc in ptx_function.c. */
static struct cubin_place place_of(const struct cubin_row *row, const struct ptx_text *text,
                                   const char *home)
{
    if (!row) return (struct cubin_place){"", 0};
    bool at_caller = row->caller.line && ptx_counts_at_caller(path_of(text, row->place.file), home);
    return at_caller ? row->caller : row->place;
}

/* Collects the accesses of a kernel's or function's machine code. False: it has no section of its
 * own. */
static bool collect_sass(struct line_accesses *list, const struct cubin *cubin, unsigned arch,
                         const struct ptx_text *text, const struct ptx_function *function)
{
    size_t bytes;
    unsigned section = cubin_section(cubin, ".text.", function->name);
    const unsigned char *code = cubin_content(cubin, section, &bytes);
    const char *home =
        function->home_file < text->file_count ? text->files[function->home_file] : NULL;
    for (size_t at = 0; bytes - at >= SASS_BYTES; at += SASS_BYTES) {
        struct sass_access kind = sass_access(code + at, arch);
        if (!kind.operation) continue;
        struct cubin_place place = place_of(cubin_row(cubin, section, at), text, home);
        count_line_access(list, place.file, place.line, kind, CODE_SASS,
                          sass_is_reduction(code + at));
    }
    return section != 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* ptxas often finds out the space of a generic access. So on a line with a generic access, the
 * spaces are ignored. */
static void forget_spaces(struct line_accesses *list)
{
    struct line_accesses old = *list;
    *list = (struct line_accesses){.lost = old.lost};
    for (size_t first = 0, length; first < old.count; first += length) {
        bool is_generic = false;
        length = line_length(&old, first);
        for (size_t i = first; i < first + length; i++)
            is_generic |= old.item[i].kind.space == PTX_GENERIC;
        for (size_t i = first; i < first + length; i++) {
            struct line_access *item = &old.item[i];
            if (is_generic) item->kind.space = PTX_GENERIC;
            struct line_access *to = need_line_access(list, item->file, item->line, item->kind);
            if (!to) continue;
            for (enum code code = 0; code < CODES; code++) to->count[code] += item->count[code];
            to->reductions += item->reductions;
        }
    }
    free(old.item);
}

/* ptxas may repeat the code of a line, and a loop on that line more often than the rest. So the
 * machine code may have each kind of access any whole number of times as often as the PTX. A loop
 * that is unrolled in PTX and unrolled again by ptxas may have another ratio (5 = 4 + 1 accesses
 * become 29 = 16 + 8 + 4 + 1), but then the ratio is the same for all kinds of the line. */
bool line_agrees(const struct line_access *line, size_t count)
{
    bool whole = true, even = true;
    const struct line_access *first = NULL;
    unsigned kinds = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned ptx = line[i].count[CODE_PTX], sass = line[i].count[CODE_SASS];
        if (!ptx && !sass) continue;
        if (!ptx || sass < ptx) return false;
        if (!kinds++) first = &line[i];
        whole &= sass % ptx == 0;
        even &= (uint64_t)sass * first->count[CODE_PTX] == (uint64_t)ptx * first->count[CODE_SASS];
    }
    return whole || (even && kinds > 1);
}

/* Do PTX and machine code have the same accesses when lines are ignored? For an access that two
 * paths share, ptxas sometimes names the line of the other path. */
static bool totals_agree(const struct line_accesses *list)
{
    for (size_t i = 0; i < list->count; i++) {
        uint64_t ptx = 0, sass = 0;
        for (size_t k = 0; k < list->count; k++) {
            if (compare_kinds(list->item[i].kind, list->item[k].kind)) continue;
            ptx += list->item[k].count[CODE_PTX];
            sass += list->item[k].count[CODE_SASS];
        }
        if (ptx != sass) return false;
    }
    return true;
}

/* Does the machine code have a wider access in place of narrower ones in the PTX? */
static bool line_is_merged(const struct line_access *line, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool wider = line[i].count[CODE_SASS] && !line[i].count[CODE_PTX];
        bool narrower = false;
        for (size_t k = 0; k < count; k++)
            if (line[k].kind.operation == line[i].kind.operation &&
                line[k].kind.space == line[i].kind.space &&
                line[k].count[CODE_SASS] < line[k].count[CODE_PTX]) {
                narrower |= line[k].kind.bytes < line[i].kind.bytes;
            }
        if (wider && narrower) return true;
    }
    return false;
}

static const char *operation_name(enum access_operation operation)
{
    static const char *const names[] = {"",       "loads",           "stores",          "atomics",
                                        "copies", "loads of rows", "stores of rows"};
    return names[operation];
}

static void describe_counts(FILE *out, const struct line_access *line, size_t count, enum code code)
{
    bool none = true;
    fputs(code == CODE_PTX ? " PTX" : ", SASS", out);
    for (size_t i = 0; i < count; i++) {
        if (!line[i].count[code]) continue;
        fprintf(out, "%s %u x %u bytes", none ? "" : " +", line[i].count[code], line[i].kind.bytes);
        none = false;
    }
    if (none) fputs(" none", out);
}

/* Prints "scan.cu:41 (". */
static void describe_place_of(FILE *out, const struct ptx_text *text,
                              const struct line_access *line)
{
    const char *path = path_of(text, line->file), *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path ? path : line->file;
    visible_print(out, name, strlen(name));
    fprintf(out, ":%u (", line->line);
}

/* "scan.cu:41 (shared stores: PTX 2 x 4 bytes, SASS 1 x 8 bytes)" */
static void describe_line(FILE *out, const struct ptx_text *text, const struct line_access *line,
                          size_t count)
{
    bool begun = false;
    if (*line->file) describe_place_of(out, text, line);
    for (size_t i = 0, length; i < count; i += length) {
        struct sass_access kind = line[i].kind;
        for (length = 1; i + length < count; length++)
            if (line[i + length].kind.operation != kind.operation ||
                line[i + length].kind.space != kind.space)
                break;
        bool same = true;
        for (size_t k = i; k < i + length; k++)
            same &= line[k].count[CODE_PTX] == line[k].count[CODE_SASS];
        if (same) continue;
        fprintf(out, "%s%s %s:", begun ? "; " : "", ptx_space_name(kind.space),
                operation_name(kind.operation));
        describe_counts(out, line + i, length, CODE_PTX);
        describe_counts(out, line + i, length, CODE_SASS);
        begun = true;
    }
    if (*line->file) fputc(')', out);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

enum verdict { AGREES, COUNTED, MERGED, CHANGED, VERDICTS };

/* The verdict on a line: `before` has its counts before accesses were merged, `after` those
 * afterwards. */
static enum verdict judge(const struct line_access *before, const struct line_access *after,
                          size_t count)
{
    if (line_agrees(before, count)) return AGREES;
    if (line_agrees(after, count)) return COUNTED;
    return line_is_merged(before, count) ? MERGED : CHANGED;
}

/* Names the lines of each verdict; returns the worst one. */
static enum verdict describe(FILE *out, const struct ptx_text *text,
                             const struct line_accesses *before, const struct line_accesses *after)
{
    static const char *const heads[] = {"", "merged by ptxas, and counted so, at ",
                                        "merged by ptxas at ", "changed by ptxas at "};
    enum verdict worst = AGREES;
    for (enum verdict verdict = COUNTED; verdict < VERDICTS; verdict++) {
        bool begun = false;
        for (size_t i = 0, length; i < before->count; i += length) {
            length = line_length(before, i);
            if (judge(&before->item[i], &after->item[i], length) != verdict) continue;
            fprintf(out, "%s%s", !begun && worst ? "; " : "", begun ? ", " : heads[verdict]);
            describe_line(out, text, &before->item[i], length);
            begun = true;
            worst = verdict;
        }
    }
    if (worst == AGREES) fputs("exact", out);
    return worst;
}

static bool collect(struct line_accesses *list, const struct emu_kernel *kernel,
                    const struct cubin *cubin, unsigned arch)
{
    const struct ptx_text *text = &kernel->module->text;
    if (!collect_sass(list, cubin, arch, text, kernel->function)) return false;
    for (size_t i = 0; i < kernel->function_count; i++)
        if (kernel->callees[i]) collect_sass(list, cubin, arch, text, kernel->callees[i]->function);
    collect_ptx(list, kernel);
    forget_spaces(list);
    return true;
}

/* Atomics count as reductions where all of their line and kind are such in the machine code. */
static void mark_reductions(struct emu_kernel *kernel, const struct line_accesses *list)
{
    for (size_t i = 0; i < kernel->code_count; i++) {
        struct insn *insn = &kernel->code[i];
        struct sass_access kind = ptx_access(insn);
        if (kind.operation != ACCESS_ATOMIC) continue;
        const char *file = insn_file(kernel, insn);
        unsigned line = insn_line(kernel, insn);
        const struct line_access *item = find_line_access(list, file, line, kind);
        kind.space = PTX_GENERIC;
        if (!item) item = find_line_access(list, file, line, kind);
        if (!item || !item->count[CODE_SASS]) continue;
        bool are_all = item->reductions == item->count[CODE_SASS];
        insn->counted_bytes = are_all ? COUNTED_AS_REDUCTION : 0;
    }
}

/* How ncu counts bulk copies of tensors was not recorded. */
static bool copies_tensors(const struct emu_kernel *kernel)
{
    for (size_t i = 0; i < kernel->code_count; i++)
        if (kernel->code[i].family == FAMILY_BULK && kernel->code[i].bulk.rank) return true;
    return false;
}

struct emu_agreement *compare_code(struct emu_kernel *kernel, const struct cubin *cubin,
                                   unsigned arch)
{
    static const enum emu_agreement_label labels[] = {EMU_EXACT, EMU_COUNTED_AS_MERGED, EMU_MERGED,
                                                      EMU_CHANGED};
    struct line_accesses before = {0}, after = {0};
    struct emu_agreement *agreement = arena_take(kernel->module->arena, sizeof *agreement);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    /* NVIDIA's device runtime is in the machine code of kernels that use it, and not in PTX. */
    bool found = !kernel->uses_runtime && collect(&before, kernel, cubin, arch);
    after = before;
    after.item = malloc((before.count + 1) * sizeof *after.item);
    if (agreement && out && after.item && !before.lost) {
        if (before.count) memcpy(after.item, before.item, before.count * sizeof *after.item);
        bool exact = found && totals_agree(&before);
        if (found) mark_reductions(kernel, &before);
        if (found && !exact) merge_accesses(kernel, &after);
        *agreement = (struct emu_agreement){.label = EMU_UNCHECKED, .arch = arch};
        if (exact)
            agreement->label = EMU_EXACT, fputs("exact", out);
        else if (found)
            agreement->label = labels[describe(out, &kernel->module->text, &before, &after)];
        else
            fprintf(out, "unchecked: the machine code of sm_%u has %s", arch,
                    kernel->uses_runtime ? "functions of the CUDA runtime in it"
                                         : "no such kernel");
        if (copies_tensors(kernel)) fputs("; approximate for bulk copies of tensors", out);
    } else {
        agreement = NULL;
    }
    if (out) fclose(out);
    if (agreement && text) agreement->text = arena_text(kernel->module->arena, text, size);
    free(text);
    free(before.item);
    free(after.item);
    return agreement && agreement->text ? agreement : NULL;
}
