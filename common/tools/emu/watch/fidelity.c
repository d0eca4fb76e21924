/* fidelity.c — compares a kernel's accesses in PTX with those in machine code, and counts merged
 * ones. */
#define _GNU_SOURCE /* memmem, open_memstream */
#include "count.h"
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/machine/events.h"
#include "common/files/visible.h"

/* Makes instructions count as the merged accesses of the machine code, on the lines where both then
 * agree, and changes these lines of the list. */
static void merge_accesses(struct emu_kernel *, struct line_accesses *);

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

/* The item of a line and kind; NULL: not in the list. */
static struct line_access *find_line_access(const struct line_accesses *list, const char *file,
                                            unsigned line, struct sass_access kind)
{
    size_t i = find_place(list, file, line, kind);
    if (i == list->count) return NULL;
    struct line_access *item = &list->item[i];
    return compare_places(item, file, line) || compare_kinds(item->kind, kind) ? NULL : item;
}

/* Finds an item, and makes it if the list does not have it. */
static struct line_access *need_line_access(struct line_accesses *list, const char *file,
                                            unsigned line, struct sass_access kind)
{
    struct line_access *item = find_line_access(list, file, line, kind);
    if (item) return item;
    list->item = grown(list->item, list->count, sizeof *list->item);
    size_t place = find_place(list, file, line, kind);
    item = &list->item[place];
    memmove(item + 1, item, (list->count++ - place) * sizeof *item);
    *item = (struct line_access){.file = file, .line = line, .kind = kind};
    return item;
}

void count_line_access(struct line_accesses *list, const char *file, unsigned line,
                       struct sass_access kind, enum code code, bool is_reduction)
{
    struct line_access *item = need_line_access(list, file, line, kind);
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

static struct sass_access ptx_access(const struct insn *insn)
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

struct cubin_place code_place(const struct cubin *cubin, unsigned section, uint64_t address,
                            const struct ptx_text *text, const struct ptx_function *function)
{
    const struct cubin_row *row = cubin_row(cubin, section, address);
    const char *home =
        function->home_file < text->file_count ? text->files[function->home_file] : NULL;
    if (!row) return (struct cubin_place){"", 0};
    while (row->call && ptx_counts_at_caller(path_of(text, row->place.file), home))
        row = &cubin->rows[row->call - 1];
    return row->place;
}

/* Collects the accesses of a kernel's or function's machine code. False: it has no section of its
 * own. */
static bool collect_sass(struct line_accesses *list, const struct cubin *cubin, unsigned arch,
                         const struct ptx_text *text, const struct ptx_function *function)
{
    size_t bytes;
    unsigned section = cubin_section(cubin, ".text.", function->name);
    const unsigned char *code = cubin_content(cubin, section, &bytes);
    for (size_t at = 0; bytes - at >= SASS_BYTES; at += SASS_BYTES) {
        struct sass_access kind = sass_access(code + at, arch);
        if (!kind.operation) continue;
        struct cubin_place place = code_place(cubin, section, at, text, function);
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
    *list = (struct line_accesses){0};
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
static bool line_agrees(const struct line_access *line, size_t count)
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

void describe_place_of(FILE *out, const struct ptx_text *text, const struct line_access *line)
{
    const char *path = path_of(text, line->file), *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path ? path : line->file;
    visible_print(out, name, strlen(name));
    fprintf(out, ":%u", line->line);
}

/* "scan.cu:41 (shared stores: PTX 2 x 4 bytes, SASS 1 x 8 bytes)" */
static void describe_line(FILE *out, const struct ptx_text *text, const struct line_access *line,
                          size_t count)
{
    bool begun = false;
    if (*line->file) {
        describe_place_of(out, text, line);
        fputs(" (", out);
    }
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

/* Compares a kernel with machine code; the result lies in the arena of the kernel's module. NULL:
 * out of host memory. */
static struct emu_agreement *compare_code(struct emu_kernel *kernel, const struct cubin *cubin,
                                          unsigned arch)
{
    static const enum emu_agreement_label labels[] = {EMU_EXACT, EMU_COUNTED_AS_MERGED, EMU_MERGED,
                                                      EMU_CHANGED};
    struct line_accesses before = {0}, after = {0};
    struct emu_agreement *agreement = arena_take(&kernel->module->text.arena, sizeof *agreement);
    char *text;
    size_t size;
    FILE *out = allocated(open_memstream(&text, &size));
    /* NVIDIA's device runtime is in the machine code of kernels that use it, and not in PTX. */
    bool found = !kernel->uses_runtime && collect(&before, kernel, cubin, arch);
    after = before;
    after.item = allocated(malloc((before.count + 1) * sizeof *after.item));
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
                kernel->uses_runtime ? "functions of the CUDA runtime in it" : "no such kernel");
    if (copies_tensors(kernel)) fputs("; approximate for bulk copies of tensors", out);
    if (found) describe_fusion(out, kernel, cubin);
    fclose(out);
    agreement->text = arena_text(&kernel->module->text.arena, text, size);
    free(text);
    free(before.item);
    free(after.item);
    return agreement;
}

/* ---- counting merged accesses as one --------------------------------------------------------- */

/* Counting as the machine code does where ptxas merged neighbouring accesses.
 *
 * A group is several accesses in one basic block with the same guard and base register and
 * neighbouring addresses. On lines where PTX and machine code differ, a group is assumed to be
 * merged if the machine code has such a wide access on a line of the group. If PTX and machine code
 * then agree, the member with the lowest address counts as one wide access, and the other members
 * do not count. If they still differ, it is unknown what was merged, and the line counts as in
 * PTX. */

enum { NARROWEST_MERGED = 8, WIDEST_MERGED = 16, MOST_MEMBERS = WIDEST_MERGED };

struct group {
    struct insn *member[MOST_MEMBERS];
    unsigned count;
    struct line_access *wide; /* the list's item for the wide access */
};

struct merger {
    struct emu_kernel *kernel;
    struct line_accesses *list;
    bool *begins_block; /* by instruction */
    struct group *groups;
    size_t count;
};

/* ---- which instructions are side by side ----------------------------------------------------- */

static void mark_blocks(struct merger *m)
{
    const struct emu_kernel *kernel = m->kernel;
    for (size_t i = 0; i < kernel->code_count; i++) {
        const struct insn *insn = &kernel->code[i];
        if (insn->control == CONTROL_NONE) continue;
        if (i + 1 < kernel->code_count) m->begins_block[i + 1] = true;
        for (uint32_t k = 0; k < insn_target_count(insn); k++)
            m->begins_block[insn_target(insn, k)] = true;
    }
}

static bool same_kind(struct sass_access a, struct sass_access b)
{
    return a.operation == b.operation && a.space == b.space && a.bytes == b.bytes;
}

/* Finds an access of the same kind, guard and base in the basic block of instruction `first`, at
 * `distance` bytes from it. NULL: not found. */
static struct insn *neighbour(const struct merger *m, size_t first, int64_t distance)
{
    struct insn *code = m->kernel->code, *base = &code[first];
    for (int step = -1; step <= 1; step += 2) {
        size_t at = first;
        for (;;) {
            if (step < 0 ? m->begins_block[at] || !at : at + 1 >= m->kernel->code_count) break;
            if (step > 0 ? m->begins_block[at + 1] || insn_writes(&code[at], base->address.base)
                         : insn_writes(&code[at - 1], base->address.base))
                break;
            at = step < 0 ? at - 1 : at + 1;
            struct insn *other = &code[at];
            if (same_kind(ptx_access(other), ptx_access(base)) &&
                other->address.base == base->address.base && other->guard == base->guard &&
                other->guard_flip == base->guard_flip &&
                other->address.offset == base->address.offset + distance && !other->counted_bytes)
                return other;
        }
    }
    return NULL;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static struct line_access *find_item(const struct merger *m, const struct insn *insn,
                                     struct sass_access kind)
{
    return find_line_access(m->list, insn_file(m->kernel, insn), insn_line(m->kernel, insn), kind);
}

/* Does the machine code have fewer accesses of this kind on the access's line? */
static bool is_missing(const struct merger *m, const struct insn *insn)
{
    struct sass_access kind = ptx_access(insn);
    if (kind.operation != ACCESS_LOAD && kind.operation != ACCESS_STORE) return false;
    const struct line_access *item = find_item(m, insn, kind);
    return item && item->count[CODE_SASS] < item->count[CODE_PTX];
}

static void add_group(struct merger *m, const struct group *group)
{
    m->groups = grown(m->groups, m->count, sizeof *m->groups);
    m->groups[m->count++] = *group;
    group->member[0]->counted_bytes = group->wide->kind.bytes;
    for (unsigned k = 1; k < group->count; k++)
        group->member[k]->counted_bytes = COUNTED_WITH_ANOTHER;
}

/* Adds the group of `bytes` bytes that begins with instruction `first`, if it exists. */
static void try_group(struct merger *m, size_t first, unsigned bytes)
{
    struct group group = {.member = {&m->kernel->code[first]}};
    struct sass_access kind = ptx_access(group.member[0]);
    if (group.member[0]->counted_bytes || kind.bytes >= bytes || !is_missing(m, group.member[0]))
        return;
    unsigned members = bytes / kind.bytes;
    int64_t width = kind.bytes;
    /* The access is in the middle of a group that begins before it. */
    if (group.member[0]->address.offset % bytes && neighbour(m, first, -width)) return;
    kind.bytes = (uint8_t)bytes;
    for (group.count = 0; group.count < members; group.count++) {
        struct insn *member =
            group.count ? neighbour(m, first, group.count * width) : group.member[0];
        if (!member || !is_missing(m, member)) return;
        group.member[group.count] = member;
        struct line_access *wide = find_item(m, member, kind);
        if (wide && wide->count[CODE_SASS] > wide->count[CODE_PTX]) group.wide = wide;
    }
    if (group.wide) add_group(m, &group);
}

/* Counts a group as one access (by = 1), or as its members again (by = -1). */
static void count_group(struct merger *m, struct group *group, int by)
{
    for (unsigned k = 0; k < group->count; k++) {
        find_item(m, group->member[k], ptx_access(group->member[k]))->count[CODE_PTX] -=
            (unsigned)by;
        if (by < 0) group->member[k]->counted_bytes = 0;
    }
    group->wide->count[CODE_PTX] += (unsigned)by;
    if (by < 0) group->count = 0;
}

static bool touches(const struct merger *m, const struct group *group,
                    const struct line_access *line)
{
    for (unsigned k = 0; k < group->count; k++)
        if (insn_line(m->kernel, group->member[k]) == line->line &&
            !strcmp(insn_file(m->kernel, group->member[k]), line->file))
            return true;
    return false;
}

/* Undoes the groups on lines that do not agree. Returns whether there were any. */
static bool take_back(struct merger *m)
{
    bool any = false;
    for (size_t first = 0, length; first < m->list->count; first += length) {
        length = line_length(m->list, first);
        if (line_agrees(&m->list->item[first], length)) continue;
        for (size_t g = 0; g < m->count; g++) {
            if (!touches(m, &m->groups[g], &m->list->item[first])) continue;
            count_group(m, &m->groups[g], -1);
            any = true;
        }
    }
    return any;
}

static void merge_accesses(struct emu_kernel *kernel, struct line_accesses *list)
{
    struct merger m = {.kernel = kernel, .list = list};
    m.begins_block = allocated(calloc(kernel->code_count + 1, sizeof(bool)));
    mark_blocks(&m);
    for (unsigned bytes = WIDEST_MERGED; bytes >= NARROWEST_MERGED; bytes /= 2)
        for (size_t i = 0; i < kernel->code_count; i++) try_group(&m, i, bytes);
    for (size_t g = 0; g < m.count; g++) count_group(&m, &m.groups[g], 1);
    while (take_back(&m)) continue;
    free(m.groups);
    free(m.begins_block);
}

/* ---- the machine code that belongs to a module ----------------------------------------------- */

struct machine_code {
    const void *data;
    size_t size;
    unsigned arch; /* 90 for sm_90 */
    bool opened;
    struct cubin cubin;  /* if opened */
    const char *problem; /* why it cannot be read; NULL: no problem */
};

/* Did ptxas have an option with which it makes no fma? A note of the file holds its options. */
static bool never_fuses(const void *data, size_t size)
{
    static const char *const options[] = {"-O 0 ", "-fmad false "};
    struct elf file;
    size_t length;
    if (elf_read(&file, data, size) != ELF_FINE) return false;
    const unsigned char *note =
        elf_content(&file, elf_find(&file, ".note.nv.tkinfo", ""), &length);
    for (size_t k = 0; note && k < sizeof options / sizeof *options; k++)
        if (memmem(note, length, options[k], strlen(options[k]))) return true;
    return false;
}

void emu_machine_code(struct emu *emu, struct emu_module *module, const void *data, size_t size,
                      unsigned arch)
{
    struct machine_code *code = allocated(malloc(sizeof *code));
    *code = (struct machine_code){.data = data, .size = size, .arch = arch};
    pthread_mutex_lock(&emu->lock);
    event_module_close(module);
    module->machine_code = code;
    module->never_fuses |= never_fuses(data, size);
    pthread_mutex_unlock(&emu->lock);
}

void event_module_close(struct emu_module *module)
{
    struct machine_code *code = module->machine_code;
    if (code) cubin_close(&code->cubin);
    free(code);
    module->machine_code = NULL;
}

static const struct emu_agreement *unchecked(struct emu_kernel *kernel, const char *why)
{
    char text[200];
    int length = snprintf(text, sizeof text, "unchecked: %s", why);
    struct emu_agreement *agreement = arena_take(&kernel->module->text.arena, sizeof *agreement);
    agreement->text = arena_text(&kernel->module->text.arena, text, (size_t)length);
    return agreement;
}

static const struct emu_agreement *compare(struct emu_kernel *kernel)
{
    struct machine_code *code = kernel->module->machine_code;
    if (!code || !code->data) return unchecked(kernel, "there is no machine code");
    if (code->arch < SASS_OLDEST || code->arch > SASS_NEWEST)
        return unchecked(kernel, "the machine code is of an architecture that is not known here");
    if (!code->opened) {
        code->opened = true;
        code->problem = cubin_open(&code->cubin, code->data, code->size);
    }
    if (code->problem) return unchecked(kernel, code->problem);
    return compare_code(kernel, &code->cubin, code->arch);
}

const struct emu_agreement *kernel_agreement(struct emu_kernel *kernel)
{
    if (!kernel->agreement) kernel->agreement = compare(kernel);
    return kernel->agreement;
}

const struct emu_agreement *emu_agreement(struct emu *emu, struct emu_kernel *kernel)
{
    pthread_mutex_lock(&emu->lock);
    const struct emu_agreement *agreement = kernel_agreement(kernel);
    pthread_mutex_unlock(&emu->lock);
    return agreement;
}
