/*
 * decode_insn.c — decodes one instruction, by the family of its opcode.
 *
 * An opcode is split into the operation, its types and its modifiers, and each part is decoded by
 * itself. So an unknown combination is either carried out correctly or refused. An opcode that
 * belongs to no family is plain arithmetic.
 */
#include "decode_words.h"
#include <string.h>

/* Refuses features that the emulator leaves out on purpose, with a message that names them as
 * programmers do. */
static void refuse_feature(struct decoder *d, const char *opcode)
{
    static const char video[] = "video instructions but vabsdiff2 and vabsdiff4";
    static const char tensor[] = "tensor-core instructions", textures[] = "textures",
                      surfaces[] = "surfaces";
    const struct {
        const char *opcode, *feature;
    } features[] = {
        {"tex", textures},
        {"tld4", textures},
        {"txq", textures},
        {"istypep", textures},
        {"suld", surfaces},
        {"sust", surfaces},
        {"sured", surfaces},
        {"suq", surfaces},
        {"wmma", tensor},
        {"mma", tensor},
        {"wgmma", tensor},
        {"tcgen05", tensor},
        {"ldmatrix", tensor},
        {"stmatrix", tensor},
        {"movmatrix", tensor},
        {"vadd", video},
        {"vsub", video},
        {"vabsdiff", video},
        {"vmin", video},
        {"vmax", video},
        {"vshl", video},
        {"vshr", video},
        {"vmad", video},
        {"vset", video},
        {"vadd2", video},
        {"vadd4", video},
        {"vsub2", video},
        {"vsub4", video},
        {"vavrg2", video},
        {"vavrg4", video},
        {"vmin2", video},
        {"vmin4", video},
        {"vmax2", video},
        {"vmax4", video},
        {"vset2", video},
        {"vset4", video},
        {"multimem", "multicast memory"},
        {"setmaxnreg", "registers that move between warps"},
    };
    for (size_t k = 0; k < sizeof features / sizeof *features; k++)
        if (!strcmp(features[k].opcode, opcode))
            decode_fail(d, EMU_UNSUPPORTED_PTX, "the emulator has no %s", features[k].feature);
}

void decode_instruction(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *opcode;
        void (*decode)(struct decoder *, const struct ptx_instruction *, struct insn *);
    } families[] = {
        {"ld", decode_access},
        {"ldu", decode_access},
        {"st", decode_access},
        {"atom", decode_atomic},
        {"red", decode_atomic},
        {"cvta", decode_address_conversion},
        {"isspacep", decode_is_space},
        {"setp", decode_compare},
        {"set", decode_compare},
        {"cvt", decode_convert},
        {"mov", decode_move},
        {"bra", decode_branch},
        {"brx", decode_branch_table},
        {"ret", decode_exit},
        {"exit", decode_exit},
        {"call", decode_call},
        {"bar", decode_barrier},
        {"barrier", decode_barrier},
        {"membar", decode_fence},
        {"fence", decode_fence},
        {"prefetch", decode_nothing},
        {"prefetchu", decode_nothing},
        {"brkpt", decode_trap},
        {"pmevent", decode_nothing},
        {"nanosleep", decode_spin},
        {"trap", decode_trap},
        {"shfl", decode_collective},
        {"vote", decode_collective},
        {"match", decode_collective},
        {"redux", decode_collective},
        {"elect", decode_collective},
        {"lop3", decode_lop3},
        {"alloca", decode_alloca},
        {"stacksave", decode_stack_save},
        {"stackrestore", decode_stack_restore},
        {"createpolicy", decode_policy},
        {"applypriority", decode_nothing},
        {"discard", decode_nothing},
        {"griddepcontrol", decode_nothing},
        {"mapa", decode_cluster_address},
        {"getctarank", decode_cluster_address},
        {"mbarrier", decode_mbarrier},
        {"cp", decode_copy},
        {"setmaxnreg", decode_nothing},
    };
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        if (!strcmp(families[k].opcode, source->words[0])) {
            families[k].decode(d, source, i);
            return;
        }
    refuse_feature(d, source->words[0]);
    decode_arithmetic(d, source, i);
}
