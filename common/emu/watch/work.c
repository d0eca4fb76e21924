#include "work.h"
#include "common/emu/ptx/matrix.h"
#include <stdlib.h>
#include <string.h>

const char *emu_class_name(enum emu_class c)
{
    static const char *const names[EMU_CLASSES] = {
        "integer", "f16",    "f32",  "f64",  "logic", "compare", "convert", "move", "load",
        "store",   "atomic", "copy", "warp", "sync",  "matrix",  "control", "other"};
    return c < EMU_CLASSES ? names[c] : NULL;
}

/* ---- an opcode's words ----------------------------------------------------------------------- */

static bool is_among(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

/* Words that do not change what is computed or moved, but how it is rounded, ordered or cached. */
static bool is_modifier(const char *word)
{
    static const char *const modifiers[] = {
        "rn",      "rz",      "rm",       "rp",    "rna",     "rni",        "rzi",  "rmi",
        "rpi",     "ftz",     "noftz",    "sat",   "approx",  "full",       "relu", "satfinite",
        "sync",    "aligned", "volatile", "weak",  "relaxed", "acquire",    "mmio", "release",
        "acq_rel", "sc",      "cta",      "gpu",   "sys",     "cluster",    "nc",   "ca",
        "cg",      "cs",      "lu",       "cv",    "wb",      "wt",         "v2",   "v4",
        "v8",      "cc",      "uni",      "noinc", "unified", "bulk_group", NULL};
    return is_among(word, modifiers) || !strncmp(word, "L1::", 4) || !strncmp(word, "L2::", 4) ||
           !strncmp(word, "mbarrier::", strlen("mbarrier::"));
}

static void append(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? "." : "", word);
}

/* ---- classes --------------------------------------------------------------------------------- */

/* By opcode; arithmetic, which is in none of these lists, goes by its type. */
static const struct {
    enum emu_class work_class;
    const char *const *opcodes;
} classes[] = {
    {EMU_CLASS_LOGIC,
     (const char *const[]){"and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr", NULL}},
    {EMU_CLASS_COMPARE, (const char *const[]){"setp", "set", "selp", "slct", "testp", NULL}},
    {EMU_CLASS_CONVERT, (const char *const[]){"cvt", NULL}},
    {EMU_CLASS_MOVE,
     (const char *const[]){"mov", "prmt", "cvta", "isspacep", "mapa", "getctarank", "alloca",
                           "stacksave", "stackrestore", "createpolicy", NULL}},
    {EMU_CLASS_LOAD, (const char *const[]){"ld", "ldu", "tex", "tld4", "suld", NULL}},
    {EMU_CLASS_STORE, (const char *const[]){"st", "sust", NULL}},
    {EMU_CLASS_ATOMIC, (const char *const[]){"atom", "red", "sured", "multimem", NULL}},
    {EMU_CLASS_COPY, (const char *const[]){"cp", NULL}},
    {EMU_CLASS_WARP,
     (const char *const[]){"shfl", "vote", "match", "redux", "elect", "activemask", NULL}},
    {EMU_CLASS_SYNC, (const char *const[]){"bar", "barrier", "mbarrier", "fence", "membar",
                                           "griddepcontrol", NULL}},
    {EMU_CLASS_MATRIX, (const char *const[]){"mma", "wmma", "wgmma", "tcgen05", "ldmatrix",
                                             "stmatrix", "movmatrix", NULL}},
    {EMU_CLASS_CONTROL,
     (const char *const[]){"bra", "brx", "call", "ret", "exit", "trap", "brkpt", NULL}},
    {EMU_CLASS_OTHER, (const char *const[]){"nanosleep", "prefetch", "prefetchu", "applypriority",
                                            "discard", "pmevent", "setmaxnreg", NULL}},
    {EMU_CLASS_INTEGER, (const char *const[]){"popc", "clz", "bfind", "brev", "bfe", "bfi", "bmsk",
                                              "szext", "fns", NULL}},
};

static enum emu_class find_class(const char *opcode, enum ptx_type type)
{
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
        if (is_among(opcode, classes[k].opcodes)) return classes[k].work_class;
    if (type == PTX_NONE) return EMU_CLASS_OTHER;
    if (!ptx_type_is_float(type)) return EMU_CLASS_INTEGER;
    return type == PTX_F32 ? EMU_CLASS_F32 : type == PTX_F64 ? EMU_CLASS_F64 : EMU_CLASS_F16;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static unsigned type_elements(enum ptx_type type)
{
    static const enum ptx_type pairs[] = {PTX_F16X2, PTX_BF16X2, PTX_U16X2,
                                          PTX_S16X2, PTX_E4M3X2, PTX_E5M2X2};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k] == type) return 2;
    return 1;
}

/* What an operation on the bytes or halves of a word adds up, and the elements of a vector. */
static unsigned word_elements(const char *word)
{
    static const char *const twos[] = {"dp2a", "vabsdiff2", "v2", NULL}, *const fours[] = {
                                                                             "dp4a", "vabsdiff4",
                                                                             "v4", NULL};
    return is_among(word, twos) ? 2 : is_among(word, fours) ? 4 : !strcmp(word, "v8") ? 8 : 1;
}

/* The end of a function's text is a return. It has the source of the instruction before it. */
static bool is_implied(const struct insn *insn)
{
    bool leaves = insn->control == CONTROL_EXIT || insn->control == CONTROL_RETURN;
    const char *opcode = insn->source ? insn->source->words[0] : "";
    return leaves && strcmp(opcode, "ret") && strcmp(opcode, "exit");
}

/* Of a product of matrices: the products of elements that it adds up, a lane's part of them. */
static unsigned matrix_elements(const struct matrix_insn *m)
{
    enum { QUADS = 4 };
    unsigned products = (unsigned)m->d.rows * m->d.columns * m->k / WARP;
    if (m->k == 0) return 1;
    return m->d.distribution == DISTRIBUTION_QUADS ? products * QUADS : products;
}

static struct work_kind kind_of(const struct insn *insn)
{
    struct work_kind kind = {.elements = 1};
    const struct ptx_instruction *source = insn->source;
    enum ptx_type first = PTX_NONE;
    if (!source || is_implied(insn)) {
        strcpy(kind.name, insn->control == CONTROL_RETURN ? "ret" : "exit");
        kind.work_class = EMU_CLASS_CONTROL;
        return kind;
    }
    for (unsigned k = 0; k < source->word_count; k++) {
        const char *word = source->words[k];
        enum ptx_type type = k ? ptx_type_named(word) : PTX_NONE;
        kind.elements *= word_elements(word);
        if (type != PTX_NONE) {
            if (first == PTX_NONE) first = type;
            append(kind.type, sizeof kind.type, word);
        } else if (!k || !is_modifier(word)) {
            append(kind.name, sizeof kind.name, word);
        }
    }
    kind.elements *= type_elements(first);
    if (insn->family == FAMILY_MATRIX) kind.elements = matrix_elements(insn->matrix);
    kind.work_class = find_class(source->words[0], first);
    return kind;
}

/* ---- a kernel's ------------------------------------------------------------------------------ */

static int compare(const struct work_kind *a, const struct work_kind *b)
{
    if (a->work_class != b->work_class) return a->work_class < b->work_class ? -1 : 1;
    int names = strcmp(a->name, b->name);
    if (names) return names;
    int types = strcmp(a->type, b->type);
    if (types) return types;
    return a->elements < b->elements ? -1 : a->elements > b->elements;
}

static int compare_kinds(const void *a, const void *b) { return compare(a, b); }

/* Sorts kinds and leaves each only once; returns how many are left. */
static size_t make_distinct(struct work_kind *kinds, size_t count)
{
    size_t kept = 0;
    qsort(kinds, count, sizeof *kinds, compare_kinds);
    for (size_t k = 0; k < count; k++)
        if (!kept || compare(&kinds[kept - 1], &kinds[k])) kinds[kept++] = kinds[k];
    return kept;
}

struct kernel_kinds *work_new(const struct emu_kernel *kernel)
{
    size_t count = kernel->code_count;
    struct kernel_kinds *work = calloc(1, sizeof *work);
    struct work_kind *kinds = calloc(count, sizeof *kinds);
    uint32_t *of_insn = calloc(count, sizeof *of_insn);
    if (!work || !kinds || !of_insn) {
        free(work);
        free(kinds);
        free(of_insn);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) kinds[i] = kind_of(&kernel->code[i]);
    *work = (struct kernel_kinds){
        .kind_count = make_distinct(kinds, count), .kinds = kinds, .of_insn = of_insn};
    for (size_t i = 0; i < count; i++) {
        struct work_kind kind = kind_of(&kernel->code[i]);
        const struct work_kind *found =
            bsearch(&kind, kinds, work->kind_count, sizeof kind, compare_kinds);
        of_insn[i] = (uint32_t)(found - kinds);
    }
    struct work_kind *fitting = realloc(kinds, work->kind_count * sizeof *kinds);
    if (fitting) work->kinds = fitting;
    return work;
}

void work_free(struct kernel_kinds *work)
{
    while (work) {
        struct kernel_kinds *next = work->next;
        free(work->kinds);
        free(work->of_insn);
        free(work);
        work = next;
    }
}
