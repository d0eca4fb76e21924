/* count.h — counters: rules, names, records; and whether machine code accesses memory as PTX
 * does. */
#ifndef EMU_COUNT_H
#define EMU_COUNT_H

#include "common/tools/emu/machine/machine.h"
#include "common/tools/emu/ptx/binary.h"

/* ---- the rules by which a GPU's memory instructions are counted ------------------------------ */

/* Shared memory has 32 banks; successive 32-bit words lie in successive banks. The number of
 * wavefronts of a group of lanes is the number of distinct words in its busiest bank. A group is
 * the warp for accesses of up to 4 bytes, half a warp for 8 bytes, a quarter for 16. Loads merge
 * two groups into one if, for every active lane n, lane n^1 is inactive or has the same address, or
 * if this holds for n^2. These rules agree exactly with ncu's Source page on an H200.
 *
 * ldmatrix and stmatrix move rows of 16 bytes. The eight rows of a matrix are a group.
 *
 * Global memory moves in sectors of 32 bytes; a request is one warp instruction.
 *
 * Atomics, copies, local and constant memory: see counters.c.
 * notes/fidelity.md compares all rules with recordings. */

/* Counts an access of a warp to shared or global memory. Accesses that ptxas merged count as the
 * machine code makes them: see fidelity.c.
 */
void count_access(struct insn_counts *, const struct warp *, const struct insn *,
                  const struct access *);

/* Counts a run, faster. False: it is no usual one, and count_access() has to count its lanes. */
bool count_run(struct insn_counts *, const struct warp *, const struct insn *,
               const struct access_run *);

/* The counts of an instruction, kept by the host thread that runs the warp. */
static inline struct insn_counts *counts_of(const struct warp *w, const struct insn *i)
{
    return &w->counts[i - w->block->launch->kernel->code];
}

/* ---- rules that take more than a few lines --------------------------------------------------- */

/* Each of them adds one access of a warp.
 *
 * `address` holds 32 lanes; only those in mask count; at least one does. */

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32 };

/* ---- the names of the counters, as the command and the report print them --------------------- */

/* A counter that ncu has too has ncu's name and follows ncu's rule (see above). Names that
 * begin with "emu__" are the emulator's own counters. */

struct metric {
    const char *name;
    const char *unit; /* as ncu prints it; "" for a plain count */
    const char *help; /* one line */
    bool by_default;  /* is it printed when no metric is asked for? */
    bool is_ratio;    /* printed with two decimals; otherwise a whole number */
    double (*value)(const struct emu_counts *);
};

/* The metric at an index, in the order of the list; NULL beyond its end. */
const struct metric *metric_at(size_t index);

/* How many metrics a list can hold. */
enum { MAX_METRICS = 64 };

/* Reads names separated by commas into chosen[MAX_METRICS], in their order, without repetition.
 * `names` of NULL means those printed by default. Returns the number of metrics, or 0 if a name is
 * unknown, which is then copied into wrong[size]. */
size_t metrics_choose(const char *names, const struct metric *chosen[], char *wrong, size_t size);

/* ---- which work an instruction is ------------------------------------------------------------ */

/* What work an instruction is: its operation, type and class, by PTX's words.
 *
 * Nothing is counted here. An instruction's kind is found once for each kernel, when the kernel is
 * first counted; a launch's numbers are then sums over its instructions (records.c). So a kernel
 * cannot hide its work in an operation that has not been thought of: an opcode that is not in the
 * table of classes is still a row of its own, under its own name. */

enum { WORK_NAME = 64, WORK_TYPE = 32 };

struct work_kind {
    char name[WORK_NAME], type[WORK_TYPE]; /* as emu_operation has them */
    enum emu_class work_class;
    unsigned elements; /* of a lane */
};

/* The kinds of a kernel's instructions, in order of class, name and type. */
struct kernel_kinds {
    struct kernel_kinds *next; /* in the list of its owner */
    size_t kind_count;
    struct work_kind *kinds;
    uint32_t *of_insn; /* index into kinds, by instruction */
};

/* ---- what launches have counted, for emu_record() -------------------------------------------- */

/* Makes the list of a device's records, emu->records. */
void records_open(struct emu *);
void records_close(struct emu *);
/* records_begin prepares a launch that is counted: merged accesses then count as in the machine
 * code. records_end keeps its counts per line and in total, unless the launch failed. */
void records_begin(struct launch *);
void records_end(const struct launch *, double seconds);

/* ---- what one machine instruction does to memory --------------------------------------------- */

/* NVIDIA does not document the encoding. The bits in sass.c were found by comparing nvdisasm's text
 * with the bytes, for sm_75 to sm_120. In all of these an instruction has 16 bytes. */

enum { SASS_BYTES = 16, SASS_OLDEST = 75, SASS_NEWEST = 121 /* architectures */ };

enum access_operation {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_COPY,
    ACCESS_LOAD_ROWS,
    ACCESS_STORE_ROWS
};

/* An access to shared or global memory; COPY: from global to shared memory, asynchronously; ROWS:
 * of matrices (ldmatrix, stmatrix), whatever their number. */
struct sass_access {
    uint8_t operation; /* enum access_operation */
    uint8_t space;     /* PTX_SHARED, PTX_GLOBAL, PTX_GENERIC */
    uint8_t bytes;     /* per lane; 0: unknown */
};

/* The access that an instruction makes; ACCESS_NONE if it makes no access or is never executed. */
struct sass_access sass_access(const unsigned char *instruction, unsigned arch);
/* Is it an atomic without a result that goes by a rule of its own: RED in global memory; in shared
 * memory ATOMS.POPC.INC, by which ptxas adds 1? */
bool sass_is_reduction(const unsigned char *instruction);

/* Does it round a product and a sum once? The bytes of the type: 4 (FFMA), 8 (DFMA), 2 (HFMA2, of
 * halves and bf16). 0: no, or it only moves, adds (a * 1 + b) or multiplies (a * b + 0). */
unsigned sass_fused(const unsigned char *instruction);

/* ---- does a kernel's machine code access memory as its PTX does? ----------------------------- */

/*
 * The emulator runs and counts PTX; a GPU runs what ptxas made of it. For each source line, the
 * access instructions of both are counted by operation, space and width, and compared. ptxas may
 * repeat code (unrolled loops, copied ends of paths), which multiplies all accesses of a line.
 * Anything else is a difference:
 *
 *   merged    two neighbouring 4-byte accesses of a thread became one of 8 bytes
 *   changed   an access was left out or shared between two paths, or became a loop (atomics)
 *
 * The comparison does not notice when more lanes execute an access than in PTX (a load moved up
 * before an `if`).
 */

enum code { CODE_PTX, CODE_SASS, CODES };

/* The number of accesses of one kind on a source line. */
struct line_access {
    const char *file; /* "" and line 0: unknown */
    unsigned line;
    struct sass_access kind;
    unsigned count[CODES];
    unsigned reductions; /* how many of the machine code's are */
};

/* In order of file, line and kind. */
struct line_accesses {
    struct line_access *item;
    size_t count;
};

void count_line_access(struct line_accesses *, const char *file, unsigned line, struct sass_access,
                       enum code, bool is_reduction);

/* The access that a PTX instruction makes; ACCESS_NONE: no access that is counted. */
const char *insn_file(const struct emu_kernel *, const struct insn *);
unsigned insn_line(const struct emu_kernel *, const struct insn *);

/* The line on which a machine instruction counts, by the rule of parse_loc in ptx_function.c. */
struct cubin_place code_place(const struct cubin *, unsigned section, uint64_t address,
                            const struct ptx_text *, const struct ptx_function *);
/* Prints "scan.cu:41". */
void describe_place_of(FILE *, const struct ptx_text *, const struct line_access *);

/* line_length: the number of items of the line that begins at item `first`. line_agrees: do PTX and
 * machine code agree on these items? */
size_t line_length(const struct line_accesses *, size_t first);

/* Says where the machine code fuses products and sums otherwise than decode_passes.c. (fused.c) */
void describe_fusion(FILE *, const struct emu_kernel *, const struct cubin *);

/* A kernel's agreement as emu_agreement() tells it; never NULL. (fidelity.c) */
const struct emu_agreement *kernel_agreement(struct emu_kernel *);

#endif
