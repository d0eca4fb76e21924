/*
 * decode_spin.c — finds loops that only wait for a clock, as `while (clock64() - start < n);`: time
 * leaps over them (machine/clocks.h).
 *
 * Such a loop is a row of at most 32 instructions that touch no memory, and ends with its only
 * jump. The jump's condition depends on the clock that is read in the loop, and on nothing else
 * that the loop changes: with a limit on its passes, too, a loop works as long as time allows.
 */
#include "decode.h"
#include <string.h>

enum { LONGEST = 32 };

struct tainted {
    unsigned registers[4 * LONGEST];
    unsigned count;
};

static bool is_tainted(const struct tainted *t, unsigned index)
{
    for (unsigned k = 0; k < t->count; k++)
        if (t->registers[k] == index) return true;
    return false;
}

static bool reads_tainted(const struct tainted *t, const struct ptx_instruction *source)
{
    for (unsigned k = 1; k < source->operand_count; k++)
        if (source->operands[k].kind == PTX_REGISTER && is_tainted(t, source->operands[k].index))
            return true;
    return source->guard >= 0 && is_tainted(t, (unsigned)source->guard);
}

static void taint_result(struct tainted *t, const struct ptx_instruction *source)
{
    const struct ptx_operand *to = &source->operands[0];
    if (to->kind == PTX_REGISTER) t->registers[t->count++] = to->index;
    if (to->other) t->registers[t->count++] = to->other->index;
}

/* Does it only compute registers, and read no clock? */
static bool can_be_left_out(const struct insn *i)
{
    static const bool plain[FAMILY_GROUP + 1] = {
        [FAMILY_ARITHMETIC] = true, [FAMILY_LOGIC] = true, [FAMILY_COMPARE] = true,
        [FAMILY_CONVERT] = true,    [FAMILY_PACK] = true,
    };
    if (i->control != CONTROL_NONE || !i->source) return false;
    return plain[i->family] || (i->family == FAMILY_OTHER && !strcmp(i->source->words[0], "mov"));
}

/* Does the jump's condition depend on registers that a pass of the loop leaves to the next one, and
 * that are not made from the clock, such as a counter? */
static bool is_counted(const struct insn *code, size_t first, size_t jump,
                       const struct tainted *clock)
{
    struct tainted counted = {0};
    for (size_t n = first; n < jump; n++) {
        struct tainted later = counted;
        for (size_t m = n; m < jump; m++)
            if (!reads_tainted(clock, code[m].source)) taint_result(&later, code[m].source);
        if (reads_tainted(&later, code[n].source)) taint_result(&counted, code[n].source);
    }
    return reads_tainted(&counted, code[jump].source);
}

/* The length of the loop around code[read]; 0: none that only waits. */
static size_t length_of_spin(const struct insn *code, size_t from, size_t read, size_t end)
{
    struct tainted tainted = {0};
    size_t jump = read + 1, first;
    taint_result(&tainted, code[read].source);
    for (; jump < end && jump - read < LONGEST && can_be_left_out(&code[jump]); jump++)
        if (reads_tainted(&tainted, code[jump].source)) taint_result(&tainted, code[jump].source);
    first = jump < end && code[jump].control == CONTROL_BRANCH ? code[jump].target : end;
    if (first < from || first > read || jump - first >= LONGEST ||
        !reads_tainted(&tainted, code[jump].source))
        return 0;
    for (size_t n = first; n < read; n++)
        if (!can_be_left_out(&code[n])) return 0;
    return is_counted(code, first, jump, &tainted) ? 0 : jump + 1 - first;
}

void decode_spins(struct insn *code, size_t from, size_t end)
{
    for (size_t n = from; n < end; n++)
        if (code[n].family == FAMILY_CLOCK)
            code[n].clock.loop = (uint8_t)length_of_spin(code, from, n, end);
}
