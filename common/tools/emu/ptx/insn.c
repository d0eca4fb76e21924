/* insn.c — queries about a decoded instruction. */
#include "insn.h"

static bool is_among(slot s, const slot *list, unsigned count)
{
    while (count--)
        if (list[count] == s) return true;
    return false;
}

slot insn_result(const struct insn *i)
{
    if (i->family == FAMILY_CONVERT && i->convert.wide_result != NO_SLOT)
        return i->convert.wide_result;
    return i->family == FAMILY_MEMORY && i->tally != TALLY_STORE ? i->memory.value[0] : i->d;
}

slot insn_second_result(const struct insn *i)
{
    return i->family == FAMILY_COMPARE   ? i->compare.opposite
           : i->family == FAMILY_LOGIC   ? i->logic.predicate
           : i->family == FAMILY_WARP    ? i->warp.predicate
           : i->family == FAMILY_TEXTURE ? i->texture.resident
                                         : NO_SLOT;
}

bool insn_writes(const struct insn *i, slot s)
{
    if (i->d == s || insn_result(i) == s || insn_second_result(i) == s) return true;
    switch ((enum family)i->family) {
    case FAMILY_MEMORY: return i->tally != TALLY_STORE && is_among(s, i->memory.value, MAX_VECTOR);
    case FAMILY_VECTOR_ATOMIC: return is_among(s, i->vector.result, MAX_ATOMIC_VECTOR);
    case FAMILY_PACK: return i->d == NO_SLOT && is_among(s, i->pack.part, MAX_VECTOR);
    case FAMILY_WIDE_MOVE: return is_among(s, i->wide_move.to, 2);
    case FAMILY_TEXTURE:
        return !i->texture.stores && is_among(s, i->texture.value, MAX_ATOMIC_VECTOR);
    case FAMILY_MATRIX:
        return !i->matrix->stores && is_among(s, i->matrix->d.slot, i->matrix->d.registers);
    case FAMILY_ALLOCA: return i->alloca.top == s;
    default: return false;
    }
}
