/* score.c — what a run has counted, in the terms of the score. */
#include "score_parts.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32 /* bytes */, WARP_LANES = 32 };

uint64_t count_wavefronts(const struct emu_counts *c)
{
    return c->shared_ld.wavefronts + c->shared_st.wavefronts + c->shared_atom.wavefronts +
           c->shared_copy.wavefronts;
}

uint64_t count_conflicts(const struct emu_counts *c)
{
    return count_wavefronts(c) - c->shared_ld.ideal - c->shared_st.ideal - c->shared_atom.ideal -
           c->shared_copy.ideal;
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

/* The bytes of the type that a name ends with: 4 of "add.f32". */
static unsigned bytes_of_type(const char *name)
{
    enum { BITS = 8 };
    size_t end = strlen(name);
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') end--;
    return (unsigned)atoi(name + end) / BITS;
}

/* Bulk copies are in no counter of sectors, as on a GPU. Their bytes are among the operations: the
 * elements of a copy are its bytes, those of a reduction are numbers. */
static uint64_t bulk_sectors(const struct lab_operation *o)
{
    bool reduces = begins_with(o->name, "cp.reduce.async.bulk");
    if (!reduces && !begins_with(o->name, "cp.async.bulk")) return 0;
    if (!strstr(o->name, ".global") || strstr(o->name, ".prefetch")) return 0;
    return (o->elements * (reduces ? bytes_of_type(o->name) : 1) + SECTOR - 1) / SECTOR;
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

/* Integer atomic operations and population counts: look-back needs some, but a sum could be hidden
 * in many of them. */
static bool is_borrowed(const struct lab_operation *o)
{
    if (o->work_class == EMU_CLASS_ATOMIC) return !is_real(o->name);
    return o->work_class == EMU_CLASS_INTEGER && begins_with(o->name, "popc");
}

/* Can the operation not hide an addition? */
static bool is_harmless(const struct lab_operation *o)
{
    switch (o->work_class) {
    case EMU_CLASS_INTEGER: return is_plain_integer(o->name);
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
    case EMU_CLASS_COPY: return !strstr(o->name, "reduce");
    default: return false; /* f16, f32, f64, matrix, atomic */
    }
}

/* Operations of one kind that may hide additions. The kind with most elements is the worst one. */
static void add_unexpected(struct lab_sums *sums, const char *name, uint32_t work_class,
                           uint64_t elements, uint64_t *most)
{
    sums->unexpected += elements;
    if (elements == 0 || elements < *most) return;
    *most = elements;
    sums->worst = name;
    sums->worst_class = work_class;
}

/* The number of elements of borrowed operations that are free: 0 if the step's own solution has
 * none of them. A 64th of the additions is too little to hide a sum in. */
static uint64_t free_loan(const struct lab_sums *reference)
{
    enum { TIMES = 2, MORE = 8, PART = 64 };
    if (reference->borrowed == 0) return 0;
    return TIMES * reference->borrowed + MORE + reference->adds / PART;
}

static void add_borrowed(struct lab_sums *sums, const struct lab_operation *worst,
                         const struct lab_sums *reference, uint64_t *most)
{
    uint64_t loan = reference ? free_loan(reference) : UINT64_MAX;
    if (sums->borrowed > loan)
        add_unexpected(sums, worst->name, worst->work_class, sums->borrowed - loan, most);
}

struct lab_sums lab_sums(const struct lab *lab, const struct lab_case_result *r,
                         const struct lab_sums *reference)
{
    struct lab_sums sums = {.wavefronts = count_wavefronts(&r->total),
                            .conflicts = count_conflicts(&r->total),
                            .sectors = count_sectors(&r->total),
                            .other = r->dropped,
                            .other_instructions = r->dropped / WARP_LANES, /* at least */
                            .longest_warps = r->longest_warps};
    uint64_t most = 0;
    const struct lab_operation *borrowed = NULL;
    for (size_t i = 0; i < r->operation_count; i++) {
        const struct lab_operation *o = &r->operations[i];
        if (is_in(o->name, lab->expected)) {
            sums.adds += o->elements;
            sums.add_instructions += o->instructions;
            continue;
        }
        sums.sectors += bulk_sectors(o);
        sums.other += o->lanes;
        sums.other_instructions += o->instructions;
        if (begins_with(o->name, "shfl")) sums.shuffles += o->instructions;
        if (is_borrowed(o)) {
            sums.borrowed += o->elements;
            if (!borrowed || o->elements > borrowed->elements) borrowed = o;
        } else if (!is_harmless(o)) {
            sums.unexpected_instructions += o->instructions;
            add_unexpected(&sums, o->name, o->work_class, o->elements, &most);
        }
    }
    add_borrowed(&sums, borrowed, reference, &most);
    add_unexpected(&sums, "too many different operations", EMU_CLASSES, r->dropped, &most);
    return sums;
}
