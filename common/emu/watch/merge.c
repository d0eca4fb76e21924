/*
 * merge.c — counting as the machine code does where ptxas merged neighbouring accesses.
 *
 * A group is several accesses in one basic block with the same guard and base register and
 * neighbouring addresses. On lines where PTX and machine code differ, a group is assumed to be
 * merged if the machine code has such a wide access on a line of the group. If PTX and machine code
 * then agree, the member with the lowest address counts as one wide access, and the other members
 * do not count. If they still differ, it is unknown what was merged, and the line counts as in PTX.
 */
#include "count.h"
#include "common/emu/ptx/module.h"
#include <stdlib.h>
#include <string.h>

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
    size_t count, room;
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
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : 16;
        struct group *grown = realloc(m->groups, room * sizeof *grown);
        if (!grown) return;
        m->groups = grown;
        m->room = room;
    }
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

void merge_accesses(struct emu_kernel *kernel, struct line_accesses *list)
{
    struct merger m = {.kernel = kernel, .list = list};
    m.begins_block = calloc(kernel->code_count + 1, sizeof(bool));
    if (!m.begins_block) return;
    mark_blocks(&m);
    for (unsigned bytes = WIDEST_MERGED; bytes >= NARROWEST_MERGED; bytes /= 2)
        for (size_t i = 0; i < kernel->code_count; i++) try_group(&m, i, bytes);
    for (size_t g = 0; g < m.count; g++) count_group(&m, &m.groups[g], 1);
    while (take_back(&m)) continue;
    free(m.groups);
    free(m.begins_block);
}
