/* records.c — what launches have counted, and which work an instruction is. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "count.h"
#include "common/tools/emu/machine/device.h"

/* ---- which work an instruction is ------------------------------------------------------------ */

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

static struct kernel_kinds *work_new(const struct emu_kernel *kernel)
{
    size_t count = kernel->code_count;
    struct kernel_kinds *work = allocated(malloc(sizeof *work));
    struct work_kind *kinds = allocated(calloc(count, sizeof *kinds));
    uint32_t *of_insn = allocated(calloc(count, sizeof *of_insn));
    for (size_t i = 0; i < count; i++) kinds[i] = kind_of(&kernel->code[i]);
    *work = (struct kernel_kinds){
        .kind_count = make_distinct(kinds, count), .kinds = kinds, .of_insn = of_insn};
    for (size_t i = 0; i < count; i++) {
        struct work_kind kind = kind_of(&kernel->code[i]);
        const struct work_kind *found =
            bsearch(&kind, kinds, work->kind_count, sizeof kind, compare_kinds);
        of_insn[i] = (uint32_t)(found - kinds);
    }
    work->kinds = allocated(realloc(kinds, work->kind_count * sizeof *kinds));
    return work;
}

/* Frees a list of them. */
static void work_free(struct kernel_kinds *work)
{
    while (work) {
        struct kernel_kinds *next = work->next;
        free(work->kinds);
        free(work->of_insn);
        free(work);
        work = next;
    }
}

/* ---- records of launches --------------------------------------------------------------------- */

/* Oldest first. */
struct records {
    struct emu_launch_record **all;
    size_t count, room;
    size_t launched; /* records of grids that kernels have launched, since one of the host ended */
    uint64_t left_out; /* grids beyond the most that are kept */
    struct kernel_kinds
        *work; /* of all kernels that have been counted, since records refer to it */
};

/* ---- one launch ------------------------------------------------------------------------------ */

static void add_shared(struct emu_shared *to, const struct insn_counts *from)
{
    to->instructions += from->shared_requests;
    to->wavefronts += from->wavefronts;
    to->ideal += from->ideal;
    to->source_ideal += from->source_ideal;
    to->one_address += from->one_address;
}

static void add_global(struct emu_global *to, const struct insn_counts *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
    to->bytes += from->bytes;
    to->moved += from->moved ? from->moved : from->sectors * SECTOR_BYTES;
    to->needed += from->needed;
}

static void add_atomic(struct emu_counts *to, const struct insn *insn,
                       const struct insn_counts *from)
{
    bool is_reduction = insn->counted_bytes == COUNTED_AS_REDUCTION;
    add_shared(&to->shared_atom, from);
    add_global(is_reduction ? &to->global_red : &to->global_atom, from);
}

static void add_copy(struct emu_counts *to, const struct insn *insn, const struct insn_counts *from)
{
    add_shared(&to->shared_copy, from);
    add_global(&to->global_ld, from);
    to->copies.requests += from->requests;
    to->copies.sectors += from->copied_sectors;
    if (insn->copy.bypass) return;
    to->copies.cached_requests += from->shared_requests;
    to->copies.cached_sectors += from->copied_sectors;
}

/* Of an instruction of tensor cores, which has no tally. */
static void add_matrix(struct emu_counts *to, const struct matrix_insn *m,
                       const struct insn_counts *from)
{
    add_shared(m->stores ? &to->shared_st : &to->shared_ld, from);
    add_global(m->stores ? &to->global_st : &to->global_ld, from);
    if (m->moves_rows) add_shared(m->stores ? &to->stmatrix : &to->ldmatrix, from);
}

static void add_counts(struct emu_counts *to, const struct insn *insn, enum emu_class work_class,
                       const struct insn_counts *from)
{
    to->instructions += from->executed;
    to->classes[work_class] += from->executed;
    to->lanes += from->lanes;
    to->constant_divergent += from->divergent;
    to->constant_replays += from->replays;
    bool is_local = insn->address.space == PTX_LOCAL;
    switch (insn->tally) {
    case TALLY_NONE:
        if (insn->family == FAMILY_MATRIX) add_matrix(to, insn->matrix, from);
        break;
    case TALLY_BARRIER: to->barriers += from->executed; break;
    case TALLY_LOAD:
        add_shared(&to->shared_ld, from);
        add_global(is_local ? &to->local_ld : &to->global_ld, from);
        break;
    case TALLY_STORE:
        add_shared(&to->shared_st, from);
        add_global(is_local ? &to->local_st : &to->global_st, from);
        break;
    case TALLY_COPY: add_copy(to, insn, from); break;
    case TALLY_ATOMIC: add_atomic(to, insn, from); break;
    default: to->adds[insn->tally - TALLY_ADD] += from->lanes; break;
    }
}

/* Elements are known from the instruction, but for those of bulk copies. */
static uint64_t elements_of(const struct insn *insn, const struct work_kind *kind,
                            const struct insn_counts *from)
{
    if (insn->family != FAMILY_BULK) return from->lanes * kind->elements;
    return from->bytes / (insn->bulk.reduces ? insn->element_bytes : 1);
}

/* The operations that were executed. */
static struct emu_operation *add_operations(const struct launch *launch, size_t *count)
{
    const struct emu_kernel *kernel = launch->kernel;
    const struct kernel_kinds *work = kernel->work;
    struct emu_operation *all = allocated(calloc(work->kind_count, sizeof *all));
    for (size_t i = 0; i < kernel->code_count; i++) {
        const struct insn_counts *from = &launch->total[i];
        const struct work_kind *kind = &work->kinds[work->of_insn[i]];
        struct emu_operation *to = &all[work->of_insn[i]];
        to->instructions += from->executed;
        to->lanes += from->lanes;
        to->elements += elements_of(&kernel->code[i], kind, from);
    }
    *count = 0;
    for (size_t k = 0; k < work->kind_count; k++) {
        struct emu_operation operation = all[k];
        if (!operation.instructions) continue;
        operation.name = work->kinds[k].name;
        operation.type = work->kinds[k].type;
        operation.work_class = work->kinds[k].work_class;
        all[(*count)++] = operation;
    }
    return all;
}

static struct emu_launch_record *record_make(const struct launch *launch, double seconds)
{
    const struct emu_kernel *kernel = launch->kernel;
    const struct ptx_text *text = &kernel->module->text;
    struct emu_launch_record *record = allocated(malloc(sizeof *record));
    struct emu_line *lines = allocated(calloc(kernel->line_count, sizeof *lines));
    /* For a launch that is counted by the rules of an older generation. */
    static const struct emu_agreement by_model = {
        .text = "unchecked: by another generation's rules, for which there is no machine code"};
    const struct emu_agreement *checked = launch->model ? &by_model : kernel->agreement;
    /* The record has copies, because the module may be unloaded before the record is read. */
    char *name = allocated(strdup(kernel->info.name)),
         *agreement = allocated(strdup(checked->text)),
         *by = launch->launched_by ? allocated(strdup(launch->launched_by->info.name)) : NULL;
    bool failed = launch->error && launch->error != EMU_INTERRUPTED;
    size_t operation_count = 0;
    struct emu_operation *operations = add_operations(launch, &operation_count);
    *record = (struct emu_launch_record){.id = launch->id,
                                         .kernel = name,
                                         .grid = launch->grid,
                                         .block = launch->block,
                                         .dynamic_shared = launch->dynamic_shared,
                                         .static_shared = kernel->info.shared_bytes,
                                         .launched_by = by,
                                         .launcher = launch->launcher,
                                         .error = failed ? launch->error : EMU_OK,
                                         .agreement = *checked,
                                         .seconds = seconds,
                                         .longest_warp = launch->longest_warp,
                                         .lines = lines,
                                         .operation_count = operation_count,
                                         .operations = operations};
    record->agreement.text = agreement;
    for (size_t i = 0; i < kernel->code_count; i++) {
        if (!launch->total[i].executed) continue;
        const struct insn *insn = &kernel->code[i];
        enum emu_class work_class = kernel->work->kinds[kernel->work->of_insn[i]].work_class;
        add_counts(&record->total, insn, work_class, &launch->total[i]);
        add_counts(&lines[insn->line].counts, insn, work_class, &launch->total[i]);
    }
    for (size_t i = 0; i < kernel->line_count; i++) {
        const struct source_line *line = &kernel->lines[i];
        const char *file = line->file < text->file_count ? text->files[line->file] : NULL;
        if (!line->line || !file || !lines[i].counts.instructions) continue;
        struct emu_line *out = &lines[record->line_count++];
        struct emu_counts counts = lines[i].counts;
        *out = (struct emu_line){allocated(strdup(file)), line->line, counts};
    }
    return record;
}

static void record_free(struct emu_launch_record *record)
{
    for (size_t i = 0; i < record->line_count; i++) free((char *)record->lines[i].file);
    free((struct emu_line *)record->lines);
    free((struct emu_operation *)record->operations);
    free((char *)record->kernel);
    free((char *)record->launched_by);
    free((char *)record->agreement.text);
    free(record);
}

/* ---- a device's ------------------------------------------------------------------------------ */

void records_open(struct emu *emu) { emu->records = allocated(calloc(1, sizeof *emu->records)); }

void records_close(struct emu *emu)
{
    emu_forget(emu);
    free(emu->records->all);
    work_free(emu->records->work);
    free(emu->records);
    emu->records = NULL;
}

void records_begin(struct launch *launch)
{
    struct records *records = launch->emu->records;
    struct emu_kernel *kernel = launch->kernel;
    if (!launch->counting) return;
    if (!launch->model) kernel_agreement(kernel);
    if (kernel->work) return;
    kernel->work = work_new(kernel);
    kernel->work->next = records->work;
    records->work = kernel->work;
}

/* A chain of grids that launch each other may be endless; its records must not be. */
static bool is_beyond(struct records *records, const struct launch *launch)
{
    enum { MOST_LAUNCHED = 1 << 16 };
    if (!launch->launched_by) records->launched = 0;
    if (!launch->launched_by || records->launched++ < MOST_LAUNCHED) return false;
    records->left_out++;
    return true;
}

void records_end(const struct launch *launch, double seconds)
{
    struct records *records = launch->emu->records;
    bool is_of_use = !launch->error || launch->error == EMU_INTERRUPTED || launch->launched_by;
    if (!launch->counting || !is_of_use || is_beyond(records, launch)) return;
    records->all = grown(records->all, records->count, sizeof *records->all);
    records->all[records->count++] = record_make(launch, seconds);
}

size_t emu_records(const struct emu *emu) { return emu->records->count; }

const struct emu_launch_record *emu_record(const struct emu *emu, size_t index)
{
    return index < emu->records->count ? emu->records->all[index] : NULL;
}

uint64_t emu_records_left_out(const struct emu *emu) { return emu->records->left_out; }

void emu_forget_but(struct emu *emu, size_t first)
{
    for (size_t i = first; i < emu->records->count; i++) record_free(emu->records->all[i]);
    if (emu->records->count > first) emu->records->count = first;
}

void emu_forget(struct emu *emu) { emu_forget_but(emu, 0); }
