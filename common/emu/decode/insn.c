/* insn.c — questions about a decoded instruction. */
#include "insn.h"

static bool is_among(slot s, const slot *list, unsigned count)
{
    while (count--)
        if (list[count] == s) return true;
    return false;
}

bool insn_writes(const struct insn *i, slot s)
{
    if (i->d == s) return true;
    switch ((enum family)i->family) {
    case FAMILY_MEMORY:
        return i->tally != TALLY_STORE && is_among(s, i->memory.value, MAX_VECTOR);
    case FAMILY_VECTOR_ATOMIC: return is_among(s, i->vector.result, MAX_ATOMIC_VECTOR);
    case FAMILY_WARP: return i->warp.predicate == s;
    default: return is_among(s, i->v, MAX_VECTOR);
    }
}
