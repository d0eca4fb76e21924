/* score_counts.c — what a run has counted, in the terms of the score. */
#include "score_parts.h"

#include <string.h>

enum { SECTOR = 32 }; /* bytes */

uint64_t count_wavefronts(const struct emu_counts *c)
{
    return c->shared_ld.wavefronts + c->shared_st.wavefronts + c->shared_atom.wavefronts;
}

uint64_t count_conflicts(const struct emu_counts *c)
{
    return count_wavefronts(c) - c->shared_ld.ideal - c->shared_st.ideal - c->shared_atom.ideal;
}

static const struct emu_global *global_kind(const struct emu_counts *c, int kind)
{
    const struct emu_global *kinds[] = {&c->global_ld,  &c->global_st, &c->global_atom,
                                        &c->global_red, &c->local_ld,  &c->local_st};
    return kind < (int)(sizeof kinds / sizeof *kinds) ? kinds[kind] : NULL;
}

uint64_t count_sectors(const struct emu_counts *c)
{
    uint64_t sum = 0;
    for (int k = 0; global_kind(c, k); k++) sum += global_kind(c, k)->sectors;
    return sum;
}

uint64_t count_ideal_sectors(const struct emu_counts *c)
{
    uint64_t sum = 0;
    for (int k = 0; global_kind(c, k); k++) sum += (global_kind(c, k)->bytes + SECTOR - 1) / SECTOR;
    return sum;
}

static bool is_in(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list)) return true;
    return false;
}

static bool begins_with(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

/* Integer arithmetic that addresses and conditions are made of. A sum of floats made of it takes
 * far more instructions than the cap on all others allows. */
static bool is_plain_integer(const char *name)
{
    static const char *const plain[] = {
        "add.",      "sub.",    "mul.", "mul.lo.", "mul.wide.", "mul.hi.", "mad.", "mad.lo.",
        "mad.wide.", "mad.hi.", "neg.", "abs.",    "min.",      "max.",    "div.", "rem.",
        "bfe.",      "bfi.",    "shf.", "clz.",    "bfind.",    "brev.",   "fns.", NULL};
    for (const char *const *p = plain; *p; p++)
        if (begins_with(name, *p)) return true;
    return false;
}

/* The types of cvt include a float's: a sum may be hidden in integers. */
static bool is_real(const char *name) { return strstr(name, ".f") || strstr(name, ".bf"); }

/* Shuffles and votes move values; redux adds them. */
static bool moves_only(const char *name)
{
    return begins_with(name, "shfl") || begins_with(name, "vote") || begins_with(name, "match") ||
           begins_with(name, "activemask") || begins_with(name, "elect");
}

/* Can the operation not hide an addition? */
static bool is_harmless(const struct lab *lab, const struct lab_operation *o)
{
    switch (o->work_class) {
    case EMU_CLASS_INTEGER:
        /* Population counts of ballots are how look-back finds its lane. */
        return is_plain_integer(o->name) || (lab->atomics && begins_with(o->name, "popc"));
    case EMU_CLASS_LOGIC:
    case EMU_CLASS_COMPARE:
    case EMU_CLASS_MOVE:
    case EMU_CLASS_LOAD:
    case EMU_CLASS_STORE:
    case EMU_CLASS_SYNC:
    case EMU_CLASS_CONTROL:
    case EMU_CLASS_OTHER: return true;
    case EMU_CLASS_CONVERT: return !is_real(o->name);
    case EMU_CLASS_WARP: return moves_only(o->name);
    case EMU_CLASS_ATOMIC: return lab->atomics && !is_real(o->name);
    case EMU_CLASS_COPY: return !strstr(o->name, "reduce");
    default: return false; /* f16, f32, f64, matrix */
    }
}

struct lab_sums lab_sums(const struct lab *lab, const struct lab_case_result *r)
{
    struct lab_sums sums = {.wavefronts = count_wavefronts(&r->total),
                            .conflicts = count_conflicts(&r->total),
                            .sectors = count_sectors(&r->total)};
    uint64_t most = 0;
    for (size_t i = 0; i < r->operation_count; i++) {
        const struct lab_operation *o = &r->operations[i];
        if (is_in(o->name, lab->expected)) {
            sums.adds += o->elements;
            sums.add_instructions += o->instructions;
            continue;
        }
        sums.other += o->lanes;
        if (is_harmless(lab, o)) continue;
        sums.unexpected += o->elements;
        if (o->elements < most) continue;
        most = o->elements;
        sums.worst = o->name;
        sums.worst_class = o->work_class;
    }
    return sums;
}
