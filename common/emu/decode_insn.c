/*
 * decode_insn.c — one instruction, by the family its opcode belongs to.
 *
 * An opcode is taken apart into the operation, its types and its modifiers, each understood by
 * itself, so that a combination never seen before is either carried out rightly or refused.
 * An opcode in none of the families is plain arithmetic.
 */
#include "decode_words.h"
#include <string.h>

void decode_instruction(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *opcode;
        void (*decode)(struct decoder *, const struct ptx_instruction *, struct insn *);
    } families[] = {
        {"ld", decode_access},         {"ldu", decode_access},
        {"st", decode_access},         {"atom", decode_atomic},
        {"red", decode_atomic},        {"cvta", decode_address_conversion},
        {"isspacep", decode_is_space}, {"setp", decode_compare},
        {"set", decode_compare},       {"cvt", decode_convert},
        {"mov", decode_move},          {"bra", decode_branch},
        {"brx", decode_branch_table},  {"ret", decode_exit},
        {"exit", decode_exit},         {"call", decode_call},
        {"bar", decode_barrier},       {"barrier", decode_barrier},
        {"membar", decode_fence},      {"fence", decode_fence},
        {"prefetch", decode_nothing},  {"prefetchu", decode_nothing},
        {"brkpt", decode_trap},        {"pmevent", decode_nothing},
        {"nanosleep", decode_spin},    {"trap", decode_trap},
        {"shfl", decode_collective},   {"vote", decode_collective},
        {"match", decode_collective},  {"redux", decode_collective},
        {"elect", decode_collective},  {"griddepcontrol", decode_nothing},
    };
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        if (!strcmp(families[k].opcode, source->words[0])) {
            families[k].decode(d, source, i);
            return;
        }
    decode_arithmetic(d, source, i);
}
