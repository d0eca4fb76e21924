/* decode_insn.c — decodes one instruction, by the family of its opcode; and those without
 * effect. */
#include "decode.h"
#include <string.h>

/* ---- instructions without effect ------------------------------------------------------------- */

/* Decodes the instructions that have no effect in the emulator, such as hints
 * for caches. Their forms are checked all the same: ptxas refuses one that is misspelt. */

enum { MOST_WORDS = 5 };

/* An instruction with the first of `needs` has to have the others, too, and may have those of
 * `may`. `operands` has a letter for each operand: a an address, s a number of bytes, or a constant
 * of ranges[]. */
static const struct quiet {
    const char *opcode, *needs[MOST_WORDS], *may[2], *operands;
} quiet[] = {
    {"prefetch", {"L1"}, {"global", "local"}, "a"},
    {"prefetch", {"L2"}, {"global", "local"}, "a"},
    {"prefetch", {"L2::evict_last"}, {"global"}, "a"},
    {"prefetch", {"L2::evict_normal"}, {"global"}, "a"},
    {"prefetch", {"tensormap"}, {"const", "param"}, "a"},
    {"prefetchu", {"L1"}, {NULL}, "a"},
    {"applypriority", {"L2::evict_normal"}, {"global"}, "al"},
    {"discard", {"L2"}, {"global"}, "al"},
    {"pmevent", {"mask"}, {NULL}, "m"},
    {"pmevent", {NULL}, {NULL}, "e"},
    {"griddepcontrol", {"wait"}, {NULL}, ""},
    {"griddepcontrol", {"launch_dependents"}, {NULL}, ""},
    {"setmaxnreg", {"inc", "sync", "aligned", "u32"}, {NULL}, "r"},
    {"setmaxnreg", {"dec", "sync", "aligned", "u32"}, {NULL}, "r"},
    {"cp", {"prefetch", "async", "bulk", "L2", "global"}, {"L2::cache_hint"}, "as"},
};

/* A constant is least, least + step, …, most. */
static const struct constant_range {
    char letter;
    int least, most, step;
    const char *says;
} ranges[] = {
    {'l', 128, 128, 1, "the number of bytes is 128"},
    {'e', 0, 15, 1, "an event is a number from 0 to 15"},
    {'m', 0, 65535, 1, "events are bits of a number from 0 to 65535"},
    {'s', 0, 1048560, 16, "the number of bytes is a multiple of 16, up to 1048560"},
    {'r', 24, 256, 8, "the number of registers is a multiple of 8, from 24 to 256"},
};

static const struct quiet *find_quiet(struct decoder *d, const struct ptx_instruction *source)
{
    for (size_t k = 0; k < sizeof quiet / sizeof *quiet; k++) {
        const char *word = quiet[k].needs[0];
        if (strcmp(quiet[k].opcode, source->words[0])) continue;
        if (!word || has_word(source, word)) return &quiet[k];
    }
    unknown_operation(d);
}

static void check_quiet_words(struct decoder *d, const struct ptx_instruction *source,
                              const struct quiet *q)
{
    struct words words = all_words(source);
    for (size_t k = 0; k < MOST_WORDS && q->needs[k]; k++)
        if (!take_word(&words, q->needs[k]))
            decode_fail(d, EMU_INVALID_PTX, "it needs .%s", q->needs[k]);
    for (size_t k = 0; k < sizeof q->may / sizeof *q->may && q->may[k]; k++)
        take_word(&words, q->may[k]);
    refuse_rest(d, &words);
}

static void check_quiet_operand(struct decoder *d, const struct ptx_instruction *source,
                                char letter, const struct ptx_operand *operand)
{
    if (letter == 'a') {
        struct words words = all_words(source);
        enum ptx_space space = take_space(&words);
        struct address address = address_operand(d, operand, space);
        need_long_address(d, &address);
    } else if (letter == 's') {
        check_operand(d, operand, PTX_U32, false);
        source_slot(d, operand, 4);
        if (operand->kind != PTX_INTEGER) return;
    }
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const struct constant_range *c = &ranges[k];
        if (c->letter != letter) continue;
        int64_t value = immediate(d, operand);
        if (value < c->least || value > c->most || (value - c->least) % c->step)
            decode_fail(d, EMU_INVALID_PTX, "%s", c->says);
    }
}

void decode_nothing(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    const struct quiet *q = find_quiet(d, source);
    unsigned operands = (unsigned)strlen(q->operands), policy = has_word(source, "L2::cache_hint");
    if (!strcmp(q->opcode, "setmaxnreg") && !d->function->is_specific)
        decode_fail(d, EMU_INVALID_PTX, "it needs .target sm_%ua", d->function->target);
    check_quiet_words(d, source, q);
    need_operands(d, source, operands + policy, operands + policy);
    for (unsigned k = 0; k < operands; k++)
        check_quiet_operand(d, source, q->operands[k], &source->operands[k]);
    if (policy) source_slot(d, &source->operands[operands], 8);
    /* griddepcontrol.wait: racecheck needs to know which threads have waited. */
    i->fn = has_word(source, "wait") ? op_grid_wait : op_find("nothing")->fn;
}

/* ---- decodes one instruction, by the family of its opcode ------------------------------------ */

/* An opcode is split into the operation, its types and its modifiers, and each part is decoded by
 * itself. So an unknown combination is either carried out correctly or refused. An opcode that
 * belongs to no family is plain arithmetic. */

/* What the emulator leaves out on purpose, by the name that programmers know, and what may be used
 * instead. */
#define WARP_GROUPS                                                                                \
    "products of matrices by several warps (wgmma, tcgen05)", "multiply by wmma or mma.sync instead"
#define SPARSE                                                                                     \
    "products of sparse matrices (mma.sp)", "multiply the whole matrix by mma.sync instead"
#define VIDEO                                                                                      \
    "video instructions but vabsdiff2 and vabsdiff4", "compute the parts by integer operations "   \
                                                      "instead"
static const struct feature {
    const char *opcode, *word; /* a modifier that must be there; NULL: none */
    const char *name, *advice;
} features[] = {
    {"txq", NULL, "queries of textures", "pass what is asked for to the kernel instead"},
    {"suq", NULL, "queries of surfaces", "pass what is asked for to the kernel instead"},
    {"istypep", NULL, "references to textures and surfaces", "pass a texture object instead"},
    {"sured", NULL, "atomics on surfaces", "use atomics on memory of cudaMalloc instead"},
    {"sust", "p", "surfaces whose stores convert (sust.p)",
     "store the bits by surf1Dwrite, "
     "surf2Dwrite and so on instead"},
    {"mma", "sp", SPARSE},
    {"mma", "sp::ordered_metadata", SPARSE},
    {"wgmma", NULL, WARP_GROUPS},
    {"tcgen05", NULL, WARP_GROUPS},
    {"tensormap", NULL, "changes of tensor maps in kernels (tensormap.replace)",
     "encode a map for each tensor on the host (cuTensorMapEncodeTiled) instead"},
    {"multimem", NULL, "multicast memory", "access the memory of each GPU by itself instead"},
    {"clusterlaunchcontrol", NULL, "clusters that take over others' work (clusterlaunchcontrol)",
     "take work by an atomic counter instead"},
    {"vadd", NULL, VIDEO},
    {"vsub", NULL, VIDEO},
    {"vabsdiff", NULL, VIDEO},
    {"vmin", NULL, VIDEO},
    {"vmax", NULL, VIDEO},
    {"vshl", NULL, VIDEO},
    {"vshr", NULL, VIDEO},
    {"vmad", NULL, VIDEO},
    {"vset", NULL, VIDEO},
    {"vadd2", NULL, VIDEO},
    {"vadd4", NULL, VIDEO},
    {"vsub2", NULL, VIDEO},
    {"vsub4", NULL, VIDEO},
    {"vavrg2", NULL, VIDEO},
    {"vavrg4", NULL, VIDEO},
    {"vmin2", NULL, VIDEO},
    {"vmin4", NULL, VIDEO},
    {"vmax2", NULL, VIDEO},
    {"vmax4", NULL, VIDEO},
    {"vset2", NULL, VIDEO},
    {"vset4", NULL, VIDEO},
};

static void refuse_feature(struct decoder *d, const struct ptx_instruction *source)
{
    for (size_t k = 0; k < sizeof features / sizeof *features; k++) {
        const struct feature *f = &features[k];
        if (!strcmp(f->opcode, source->words[0]) && (!f->word || has_word(source, f->word)))
            decode_fail(d, EMU_UNSUPPORTED_PTX, "the emulator has no %s; %s", f->name, f->advice);
    }
}

void decode_instruction(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    static const struct {
        const char *opcode;
        void (*decode)(struct decoder *, const struct ptx_instruction *, struct insn *);
    } families[] = {
        {"ld", decode_access},
        {"ldu", decode_access},
        {"st", decode_store},
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
        {"prefetch", decode_prefetch},
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
        {"stacksave", decode_stack_move},
        {"stackrestore", decode_stack_move},
        {"createpolicy", decode_policy},
        {"applypriority", decode_nothing},
        {"discard", decode_nothing},
        {"griddepcontrol", decode_nothing},
        {"mapa", decode_cluster_address},
        {"getctarank", decode_cluster_address},
        {"mbarrier", decode_mbarrier},
        {"cp", decode_copy},
        {"setmaxnreg", decode_nothing},
        {"tex", decode_texture},
        {"tld4", decode_gather},
        {"suld", decode_surface},
        {"sust", decode_surface},
        {"mma", decode_matrix},
        {"wmma", decode_matrix},
        {"ldmatrix", decode_matrix},
        {"stmatrix", decode_matrix},
        {"movmatrix", decode_matrix},
    };
    refuse_feature(d, source);
    check_target(d, source);
    check_pairs(d, source);
    check_sink(d, source);
    for (size_t k = 0; k < sizeof families / sizeof *families; k++)
        if (!strcmp(families[k].opcode, source->words[0])) {
            families[k].decode(d, source, i);
            return;
        }
    decode_arithmetic(d, source, i);
}
