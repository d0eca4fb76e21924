/* check.h — findings and the checkers: memcheck, initcheck, synccheck; what code does with a
 * value. */
#ifndef EMU_CHECK_H
#define EMU_CHECK_H

#include "common/tools/emu/machine/device.h"

/* ---- the list of a device's findings --------------------------------------------------------- */

/* A checker (memcheck, racecheck, initcheck, synccheck) reports with check_report(). Reports of the
 * same tool and kind at the same places are one finding with a count, which keeps the details of
 * the first report. At most emu_config.finding_limit findings keep their text; the others are only
 * counted.
 *
 * All host threads of a launch may report at the same time. The host reads findings between
 * launches, through emu.h. runtime/findings.c prints them in compute-sanitizer's format. */

/* Where in a grid something happened, as emu_place has it. insn NULL: the end of the kernel. */
struct check_place {
    bool is_known, is_copy, has_thread;
    const struct insn *insn;
    const char *access;
    struct emu_dim block, thread;
};

/* The kernels and lines of a finding about two launches, of which one is over: as emu_finding has
 * them. */
struct check_sources {
    const char *kernel, *other_kernel;
    struct emu_place place, other;
};

struct check_report {
    enum emu_check tool;
    enum emu_severity severity;
    const char *kind, *title; /* as emu_finding has them */
    const char *same;         /* identifies the finding, with the places; NULL: the title does */
    struct check_place place, other;
    bool per_thread; /* another thread at the same place is another finding */
    bool by_reader;  /* a hazard: the writer has its fence, and only the reader's is missing */
    uint64_t times;  /* how often it occurred; 0: once */
    /* If it is about an access: of a lane. */
    bool has_address;
    enum ptx_space space;
    uint64_t address;
    unsigned bytes;
    const char *head; /* NULL: it is made from the fields above (finding_text.c) */
    const struct check_sources *sources; /* NULL: the places above, of the launch */
    /* What is printed behind the head. A
     * count follows the head, as in "[96 hazards]", with `unit` as its unit; NULL: no count is
     * printed. `detail` is lines separated by '\n', already indented, or NULL. */
    const char *unit, *detail;
};

struct check_entry; /* a finding and what identifies it */
struct check_log {
    pthread_mutex_t lock;
    struct check_entry **entries; /* oldest first */
    size_t count, limit;
    struct check_entry **buckets; /* a hash table of the same */
    uint64_t errors, warnings, races; /* races: those errors that racecheck has found */
};

void check_open(struct check_log *, size_t limit);
void check_close(struct check_log *);

/* Keeps or counts a finding. launch NULL: it happened on the host. */
void check_report(struct emu *, const struct launch *, const struct check_report *);

/* Is this the first question about a source line and the kind of an instruction there, or about
 * an instruction without a line? For faults with which a launch goes on: one finding is enough. */
bool check_is_first_at(const struct launch *, const struct insn *);

/* Where the host program is now; empty if no finding can need it. */
void check_host_place(const struct emu *, struct emu_host_place *);

/* ---- for texts ------------------------------------------------------------------------------- */

enum { CHECK_TEXT = 1600 }; /* room for a head or a detail */

struct check_place check_place(const struct warp *, const struct insn *, int lane);
/* "kernel(int *) in file.cu:12 (PTX line 97)" */
void check_describe_insn(const struct emu_kernel *, const struct insn *, char *text, size_t size);
/* "thread (1,0,0) in block (0,0,0)" */
void check_describe_thread(const struct check_place *, char *text, size_t size);
/* The first lines of a finding, from its other fields. Most are
 *   TITLE
 *       at kernel(int *) in file.cu:12 (PTX line 97)
 *       by thread (1,0,0) in block (0,0,0)
 * a hazard has both places, and what happened on the host only its title. (finding_text.c) */
void finding_head(const struct emu_finding *, char *text, size_t size);

/* Appends a line with a title, and behind it a line for each frame. */
void check_append_host_place(const struct emu *, const struct emu_host_place *, const char *title,
                             char *text, size_t size);
/* Appends where the host launched a kernel, or which kernel did. */
void check_append_launch(const struct launch *, char *text, size_t size);

/* The bytes of a load that are used, a bit each: not those of a sink (_), nor those that the load
 * reads only because the compiler widened it. */
uint32_t check_used_bytes(const struct insn *i);

/* What an instruction is to the checkers. Accesses to textures and surfaces, and those of tensor
 * cores, are loads and stores here. */
enum tally check_tally(const struct insn *i);

/* For each instruction of a kernel, the first instruction of its source line with the same tally
 * (check_tally). An unrolled loop has many copies of an instruction, and findings are reported by
 * line. malloc'd. */
uint32_t *check_first_of_lines(const struct emu_kernel *);

/* ---- memcheck's list of all allocations, including freed ones -------------------------------- */

/* It is kept only while memcheck is on. Freed addresses are given out again as late as possible
 * (machine/device.h), so an access to freed memory is nearly always recognised. */

struct allocation {
    uint64_t base, bytes;
    bool is_freed;
    struct emu_host_place made, freed;
};

struct alloc_log {
    struct allocation *all; /* oldest first */
    size_t count;
    struct address_table
        newest; /* by base: 1 + the index of the last allocation that began there */
};

void alloc_log_close(struct alloc_log *);
void alloc_log_add(struct emu *, uint64_t base, uint64_t bytes);
void alloc_log_free(struct emu *, uint64_t base);

/* Appends lines that describe an address that must not be accessed: near which allocation it is, or
 * in which freed one, and where in the program that was allocated and freed. `bytes`: of the
 * access, or 0. */
void alloc_log_append(struct emu *, uint64_t address, uint64_t bytes, char *text, size_t size);

/* ---- the checkers' state of a device: emu->checkers ------------------------------------------ */

struct checkers {
    struct check_log findings;
    struct alloc_log allocations;
    struct address_table said; /* places that have a finding: check_is_first_at() */
    struct race *race; /* of racecheck and initcheck; NULL: off */
    struct init *init;
    struct order_check *order;
};

/* ---- which barriers, fences and waits are needed (needed.c) ---------------------------------- */

struct order_check *order_open(void);
void order_close(struct order_check *);
/* A launch begins; ends, after its hazards have been reported. */
void order_begin(struct launch *);
void order_end(struct launch *);
/* Is the instruction one of those that this copy leaves out? */
bool order_skips(const struct launch *, const struct insn *);
/* Racecheck has found a hazard. */
void order_hazard(const struct launch *, const struct check_report *);

/* ---- barriers and warp-wide operations that are used wrongly --------------------------------- */

/* The machine announces the arguments (machine/events.h); finding_text.c passes on faults. What
 * PTX forbids is an error, even if today's GPUs do what was meant, and so is the use of an
 * undefined value. What may only leave a value undefined is a warning, and so is what PTX defines
 * and the CUDA guide forbids. */

enum sync_kind {
    SYNC_DIVERGENT_IN_WARP,
    SYNC_DIVERGENT_IN_BLOCK,
    SYNC_INVALID_ARGUMENTS,
    SYNC_ENDLESS,
    SYNC_EXITED_MEMBERS,
    SYNC_UNDEFINED_SHUFFLE,
    SYNC_EXITED_WARPS,
};

/* The events of machine/events.h with the same names; of a barrier that threads have exited before,
 * the two kinds of it. */
void sync_barrier_arguments(struct warp *, const struct fragment *, const struct insn *,
                            unsigned number, unsigned threads);
void sync_barrier_exited(struct warp *, const struct insn *, unsigned waiting, unsigned exited);
void sync_barrier_parted(struct warp *, const struct insn *, unsigned waiting, unsigned exited);
void sync_member_masks(struct warp *, const struct insn *, uint32_t lanes);
struct exchange;
void sync_exchange(struct warp *, const struct exchange *);
/* Stops following values. */
void sync_forget(struct block *);

/* Reports a lane that can never go on, whichever checkers are on. `why`: one line; `picture`: of
 * machine/schedule.h, or "". */
void sync_report_stuck(struct warp *, const struct insn *, int lane, enum sync_kind,
                       const char *why, const char *picture);

/* ---- which bytes of memory have been written: a bit for each byte ---------------------------- */

/* Padding of a structure may stay unwritten and is read when the structure is copied. Unwritten
 * bytes look like padding if they begin behind a written byte, and end at the next multiple of an
 * alignment, before a member with this alignment, or at the end of the structure. They are taken
 * for padding only if a store in the same page had this alignment: an element as wide; or a vector
 * as wide, if the same gap also occurs 16, 32, 48 or 64 bytes further on or before. (A vector alone
 * would excuse the last element of an array that a kernel with vector stores has forgotten.)
 *
 * A limit: a forgotten member is taken for padding if it looks like padding. */

/* The bits of device memory, in pages that are made when written; or of a block's shared memory, in
 * one piece. */
struct written {
    struct pages pages;
    uint64_t *bits; /* NULL: the bits are in pages */
    size_t words;
    uint64_t widths; /* widths of the stores to the piece; a page keeps them in its stamp */
};

/* The bytes of a range that have not been written and are not padding. */
struct unwritten {
    uint64_t bytes, first; /* their number, and the lowest of them; 0: all bytes are written */
};

/* ---- reads of memory that has not been written ----------------------------------------------- */

/* It keeps a bit for each byte of device memory and of a block's shared memory. (compute-sanitizer
 * checks global memory only.) Stores and atomics of kernels write bytes, and so do copies and fills
 * by the host. A copy from device to device copies the bits and is not a read. Variables of a
 * module count as written, and so does mapped host memory.
 *
 * A byte must have been written before a kernel loads it, before one of the kernel's asynchronous
 * copies reads it, and before it is copied to the host. Padding of structures is an exception
 *
 * (used_bytes), or that it discards. In shared memory a finding is a warning and not an error, but
 * for atomics: much correct code, such as CUB's merge sort, reads an element beyond those it has
 * filled and does not use it. Local memory is not checked, because compilers copy halves of
 * structures there. */

/* initcheck's state of a device. */
struct init *init_open(void);
void init_close(struct init *);
/* Bytes of device memory are unwritten from now on; are written; get the bits of other bytes. */
void init_forget(struct init *, uint64_t address, uint64_t bytes);
void init_write(struct init *, uint64_t address, uint64_t bytes);
void init_copy(struct init *to, uint64_t to_address, struct init *from, uint64_t from_address,
               uint64_t bytes);
/* The host reads, by a function of a library or (NULL) by a copy: one finding if some of the bytes
 * have not been written. */
void init_read(struct emu *, uint64_t address, const struct emu_rows *, const char *reader);

/* A grid begins; the state of a block, which serves one block after another. */
void init_begin(struct launch *);
struct init_block *init_block_new(const struct block *);
void init_block_start(struct block *);
void init_block_free(struct init_block *);

void init_access(struct warp *, const struct insn *, const struct access *);

/* ---- the body of a function within a kernel's code ------------------------------------------- */

struct code_body {
    const struct insn *code; /* ends with an exit or a return of its own */
    size_t count;
    const struct ptx_function *function;
};

/* Are two instructions the same one, or copies of one in the source? nvcc copies a barrier when it
 * unrolls a loop. Copies have the same .loc, through the same inlined calls. And one copy follows
 * the other in one pass through the code, unlike the two arms of an `if`. nvcc -G makes no copies.
 * A limit: two barriers in one source line, of which one follows the other, are taken for copies,
 * because nvcc gives them the same .loc. Without .loc two instructions are never copies. Out of
 * memory: yes. */
bool code_is_same(const struct emu_kernel *, const struct insn *, const struct insn *);

/* ---- which bits of an instruction's result may depend on a value ----------------------------- */

/* Which bits of an instruction's result may depend on a value, if these bits of its operands do.
 *
 * Two words are often put into one register, such as a status above a sum. A test of the status
 * then does not depend on the sum. Shifts, masks, packing and comparisons with constants are
 * followed bit by bit. After any other instruction, all bits may depend on the value. */

#define ALL_BITS UINT64_MAX

/* `bits`, by register of the function: those that may depend on the value. */
struct value_bits {
    uint64_t *bits;
    const struct ptx_function *function;
};

/* Those of an operand. An address has none: the memory that a value points to is another value. */
uint64_t value_bits_of(const struct value_bits *, const struct ptx_operand *);
/* Those of an instruction's first operand, its result. */
uint64_t value_bits_result(const struct value_bits *, const struct ptx_instruction *);
/* The bits that a load or an atomic fills in each of its results. */
uint64_t value_bits_loaded(const struct ptx_instruction *);
/* Adds bits to those of an operand. If it is a vector, `each` adds them to each part, and otherwise
 * the vector's parts share them. Have they become more? */
bool value_bits_add(struct value_bits *, const struct ptx_operand *, uint64_t bits, bool each);

/* ---- what a kernel's code does with a value that it has read from memory --------------------- */

/* Some accesses without an order are right all the same, because the program looks at the value and
 * tries again: a poll of a flag, a loop around atomicCAS. One run does not show this, since its
 * first try may succeed. So the code is analysed. A value is followed within one function, through
 * registers and through the function's variables in local memory. */

/* Does the value that the access at index `place` reads decide whether memory is read again? After
 * an atomic: the same word, by the same instruction or by an access that names its address by the
 * same register. After a load: any word, by a strong access. The answer is also yes if it cannot be
 * found out: the value goes to another function, or memory has run out. */
bool uses_tries_again(const struct emu_kernel *, size_t place);
/* Is the value compared with anything, so that the code may act on it? Here it is followed through
 * shared memory, too: often one thread draws a ticket there for its block. */
bool uses_compares(const struct emu_kernel *, size_t place);
/* Does the value of the load at `from` go into the value that the store at `to` stores? And does it
 * decide whether this store is carried out? The answer is no if the two are in different functions:
 * values are not followed that far. */
bool uses_feeds(const struct emu_kernel *, size_t from, size_t to);
bool uses_decides(const struct emu_kernel *, size_t from, size_t to);
/* Does the value of the load at `from` decide whether the load at `to` is carried out, or whether a
 * branch is that decides it, and so on? */
bool uses_repeats(const struct emu_kernel *, size_t from, size_t to);
/* Is the value of the load at `place` only a guess, which an atomicCAS compares and the code
 * corrects until it is right? The guess itself is then stored nowhere. */
bool uses_swaps(const struct emu_kernel *, size_t place);

/* A branch near a load or an atomic, and the instructions between the two that compute the branch's
 * guard from the value: bit k of `parts` is the k-th instruction behind the load. */
struct decision {
    uint32_t parts;
    uint32_t branch;                     /* 0: the value has more uses than this one branch */
    const struct ptx_function *function; /* the function whose registers they use */
};
struct decision uses_decision(const struct emu_kernel *, size_t place);

#endif
