/*
 * emu.h — a GPU in software: the emulator's C API.
 *
 * It runs PTX, the assembly that nvcc emits, one warp instruction at a time on the CPU, and counts
 * what ncu counts. There are no globals: everything belongs to one `struct emu`, so that a program
 * may own several devices. The CUDA runtime library (runtime/) is a thin layer on this header.
 *
 * Errors: functions that can fail return 0 or an `enum emu_error`, whose values are those of
 * cudaError_t, and leave one or more sentences for emu_message(). Nothing aborts.
 *
 * Threads: calls on one `struct emu` may come from any host thread; they are carried out one at a
 * time, and a launch returns when the grid has ended.
 *
 * Memory: a device address lies in one reserved range that the host cannot read or write (a host
 * pointer dereference there faults, as it should); use emu_read and emu_write.
 */
#ifndef EMU_H
#define EMU_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct emu;
struct emu_module; /* one loaded PTX text; lives until emu_unload or emu_close */
struct emu_kernel; /* one .entry of a module; lives as long as it */

typedef uint64_t emu_addr; /* a device address; 0 is never valid */

/* The subset of cudaError_t that the emulator itself gives. */
enum emu_error {
    EMU_OK = 0,
    EMU_INVALID_VALUE = 1,
    EMU_OUT_OF_MEMORY = 2,
    EMU_INVALID_DEVICE_FUNCTION = 98,
    EMU_INVALID_PTX = 218,     /* malformed */
    EMU_UNSUPPORTED_PTX = 222, /* an instruction or a version that the emulator does not know */
    EMU_SYMBOL_NOT_FOUND = 500,
    EMU_ILLEGAL_ADDRESS = 700,
    EMU_LAUNCH_OUT_OF_RESOURCES =
        701, /* the block needs more registers or threads than the kernel may have */
    EMU_LAUNCH_TIMEOUT = 702, /* see emu_config.patience */
    EMU_ASSERT = 710,
    EMU_ILLEGAL_INSTRUCTION = 715,
    EMU_MISALIGNED_ADDRESS = 716,
    EMU_INVALID_ADDRESS_SPACE = 717,
    EMU_LAUNCH_FAILURE = 719, /* deadlock, a barrier that not all threads reach */
    EMU_COOPERATIVE_TOO_LARGE = 720,
    EMU_INTERRUPTED = 999, /* see emu_interrupt() */
    EMU_INVALID_CLUSTER_SIZE = 912,
};

/* A model of a GPU: what cudaGetDeviceProperties tells, and what limits a launch. Bytes, counts,
 * kHz. */
struct emu_gpu {
    const char *key;  /* for EMU_GPU=: "h200" */
    const char *name; /* "NVIDIA H200" */
    int major, minor; /* compute capability */
    int sms, threads_per_sm, blocks_per_sm, threads_per_block, warp_size;
    size_t shared_per_block, shared_per_block_optin, shared_per_sm, shared_reserved;
    int registers_per_sm, registers_per_block;
    size_t memory, l2, constant;
    int clock_khz, memory_clock_khz, memory_bus_bits;
};

/* The model called `key` ("h200", "t4", …; any letter case), or NULL. `index` walks all models in
 * order and ends with NULL. The first is the default. (gpu.c) */
const struct emu_gpu *emu_gpu_find(const char *key);
const struct emu_gpu *emu_gpu_at(size_t index);

/* The checkers, as bits. */
enum emu_check {
    EMU_CHECK_MEMORY = 1, /* memcheck: accesses out of bounds, leaks, API errors */
    EMU_CHECK_RACE = 2,   /* racecheck: hazards between threads */
    EMU_CHECK_INIT = 4,   /* initcheck: reads of what nothing has written */
    EMU_CHECK_SYNC = 8,   /* synccheck: barriers, member masks, deadlocks */
    EMU_CHECK_ALL = 15,
};

/* A place in the host program: return addresses, innermost first. */
enum { EMU_HOST_FRAMES = 6 };
struct emu_host_place {
    unsigned count;
    void *frames[EMU_HOST_FRAMES];
};

/*
 * The rules by which another generation would have served the same accesses to memory: "g80",
 * "gt200", "fermi", "kepler4", "kepler8", "hopper" (any letter case); NULL if there is none of that
 * key. The last is the default. By the rules of the others, wavefronts are passes through the banks,
 * and sectors are transactions, whose sizes differ. `index` walks all and ends with NULL. (models.c)
 */
struct emu_model_info {
    const char *key, *rules;
};
const struct emu_model *emu_model_find(const char *key);
const struct emu_model *emu_model_at(size_t index);
const struct emu_model_info *emu_model_info(const struct emu_model *);

struct emu_config {
    const struct emu_gpu *gpu; /* NULL: the default model */
    unsigned threads;          /* host threads that run blocks; 0: every core */
    /* Bytes of device memory; 0: the model's, at most half of the host's, and less where the host
     * has no addresses for so much (ulimit -v): emu_memory_info() tells how much it is. */
    size_t memory;
    unsigned more; /* devices that will be opened after this one: addresses are left for them */
    bool counters; /* count from the start; see emu_count() */
    FILE *trace;   /* every shared and global access as a line of text; implies one
                                  host thread; not owned; NULL: none */
    /* A block that has run for this many seconds (0: 60) while no block has changed memory is given up,
     * and with it the grid: it spins. So are blocks that all wait for each other for so long. To
     * pass a barrier, or to store what is there already, changes nothing. */
    unsigned patience;
    unsigned
        limit; /* a grid that has run for so many seconds is given up in any case; 0: none is */
    const struct emu_model *model; /* by whose rules memory is counted; NULL: today's */
    bool allow_exited;    /* a barrier does not wait for threads that have exited, as today's
                                  hardware happens to do; otherwise that is an error */
    unsigned checks;      /* bits of enum emu_check */
    size_t finding_limit; /* findings whose text is kept; 0: 100 */
    uint64_t schedule;    /* not 0: warps and blocks take turns in an order made from this seed */
    bool descending;      /* blocks begin with the last index of the grid, not with the first */
    unsigned number; /* which of several devices it is: its addresses differ, and messages say it */
    /* For findings: where the program is now, and that place in words, a line for each frame. NULL:
     * they do not tell. */
    void (*host_place)(struct emu_host_place *);
    void (*describe_host_place)(const struct emu_host_place *, char *text, size_t size);
};

/* Makes a device. Returns NULL and writes one sentence into message[size] if it can't.
 * config may be NULL: all defaults. */
struct emu *emu_open(const struct emu_config *config, char *message, size_t size);
void emu_close(struct emu *);

const struct emu_gpu *emu_gpu(const struct emu *);

/* What went wrong last: sentences without a final newline; "" if nothing has. Valid until the next
 * call. */
const char *emu_message(const struct emu *);

/* ---- memory -------------------------------------------------------------------------------- */

/* Allocates bytes (> 0) of device memory, aligned to 256; content is undefined (poisoned with
 * 0xCD). */
int emu_alloc(struct emu *, size_t bytes, emu_addr *address);
/* Frees an address that emu_alloc gave. EMU_INVALID_VALUE if it is none. */
int emu_free(struct emu *, emu_addr);
/* Makes [host, host+bytes) readable and writable for kernels under its own address (pinned, mapped
 * and managed memory). emu_unmap_host takes it back. */
int emu_map_host(struct emu *, void *host, size_t bytes);
int emu_unmap_host(struct emu *, void *host);
/* The allocation (or mapped host range, or symbol) that holds an address. False: none does. */
bool emu_find(struct emu *, emu_addr, emu_addr *base, size_t *bytes);
/* True for any address in the device's reserved range, allocated or not. */
bool emu_is_device(const struct emu *, emu_addr);
/* How many bytes malloc in kernels may give: until a kernel that calls it is launched. 0: the
 * default of 8 MiB, and what the heap holds is gone. */
int emu_heap_limit(struct emu *, size_t bytes);
void emu_memory_info(struct emu *, size_t *free_bytes, size_t *total_bytes);

/* Copies between host and device. EMU_INVALID_VALUE, and nothing is copied, if the device range
 * does not lie inside one allocation. */
int emu_write(struct emu *, emu_addr to, const void *from, size_t bytes);
int emu_read(struct emu *, void *to, emu_addr from, size_t bytes);
/* The same for `slices` times `rows` rows of `bytes` bytes each, and so far from one row, and from
 * one slice, to the next, there and here. For initcheck it is one copy. */
struct emu_rows {
    size_t bytes, rows, slices;
    size_t to_row, to_slice, from_row, from_slice;
};
int emu_read_rows(struct emu *, void *to, emu_addr from, const struct emu_rows *);
int emu_copy(struct emu *, emu_addr to, emu_addr from, size_t bytes);
int emu_fill(struct emu *, emu_addr, unsigned char value, size_t bytes);

/* initcheck: what memory holds is undefined from now on, as if it were newly allocated. */
void emu_renew(struct emu *, emu_addr, size_t bytes);

/* ---- several devices ----------------------------------------------------------------------- */

enum { EMU_MAX_PEERS = 15 };

/* Kernels of `emu` may reach the memory of `peer`, or may not (no longer). Before the first call
 * they could not, and a fault there would not say whose memory it was. EMU_OUT_OF_MEMORY beyond
 * EMU_MAX_PEERS. A peer is closed only after `emu`. */
int emu_set_peer(struct emu *, struct emu *peer, bool may_access);
/* Copies from one device's memory to another's. Errors as emu_copy, with the message in `to`. */
int emu_copy_peer(struct emu *to, emu_addr to_address, struct emu *from, emu_addr from_address,
                  size_t bytes);

/* ---- code ---------------------------------------------------------------------------------- */

/* Loads PTX text (need not end with NUL). `name` is for messages: a file's name. Kernels are read
 * and decoded when first asked for, so a mistake in one, or an instruction that is not supported,
 * fails emu_kernel, not emu_load. */
int emu_load(struct emu *, const char *ptx, size_t length, const char *name,
             struct emu_module **module);

/* Loads several texts as one module, as nvlink joins the objects of nvcc -rdc=true: what one
 * declares .extern another defines. EMU_INVALID_PTX if two define the same name. */
struct emu_ptx {
    const char *text;
    size_t length;
    const char *name;
};
int emu_link(struct emu *, const struct emu_ptx *, size_t count, struct emu_module **module);
void emu_unload(struct emu *, struct emu_module *);

/* The .entry called `name` (mangled). EMU_INVALID_DEVICE_FUNCTION if there is none. */
int emu_kernel(struct emu *, struct emu_module *, const char *name, struct emu_kernel **kernel);
/* The .global or .const variable called `name`. EMU_SYMBOL_NOT_FOUND if there is none. */
int emu_symbol(struct emu *, struct emu_module *, const char *name, emu_addr *address,
               size_t *bytes);

/* Moves a variable into host memory, which must be mapped and hold its bytes: a __managed__ one, at
 * the same address on the host and on every device. Its content goes there too if `fill` says so.
 * EMU_INVALID_VALUE once a kernel of the module has been asked for. */
int emu_place_symbol(struct emu *, struct emu_module *, const char *name, void *host, bool fill);

/*
 * What ptxas made of a module's PTX for one GPU (90: sm_90), the ELF file that nvcc calls a cubin.
 * The bytes are not copied and must stay until the module is unloaded. Kernels are compared with it
 * when they are first counted, and where it has merged accesses in a plain way, they count as it
 * does.
 */
void emu_machine_code(struct emu *, struct emu_module *, const void *cubin, size_t size,
                      unsigned arch);

/* Does the machine code access memory as the PTX does, so that a GPU counts the same? */
enum emu_agreement_label {
    EMU_UNCHECKED,         /* there is no machine code */
    EMU_EXACT,             /* on every line the same accesses */
    EMU_COUNTED_AS_MERGED, /* ptxas merged some, which are counted so: the same */
    EMU_MERGED,            /* ptxas merged some; they are counted as in PTX */
    EMU_CHANGED,           /* ptxas left some out, or made others of them */
};
struct emu_agreement {
    enum emu_agreement_label label;
    unsigned arch; /* of the machine code; 0: none */
    const char
        *text; /* the label, and the lines that differ: "merged by ptxas at scan.cu:41 (…)" */
};
/* Valid as long as the kernel. */
const struct emu_agreement *emu_agreement(struct emu *, struct emu_kernel *);

struct emu_kernel_info {
    const char *name;
    unsigned params; /* number of parameters, then each one's offset and size in bytes */
    const unsigned *param_offset, *param_size;
    size_t shared_bytes;     /* static shared memory a block */
    size_t local_bytes;      /* local memory a thread */
    unsigned registers;      /* a thread, estimated from PTX (ptxas decides on a GPU) */
    unsigned max_threads;    /* a block: .maxntid, or the device's limit */
    const unsigned *cluster; /* blocks in x, y, z that it was compiled for; x = 0: any */
};
const struct emu_kernel_info *emu_kernel_info(const struct emu_kernel *);

struct emu_dim {
    unsigned x, y, z;
};

/* How a grid is launched. */
struct emu_shape {
    struct emu_dim grid, block;
    size_t dynamic_shared;
    bool cooperative;       /* all blocks are resident at once, and may wait for each other */
    struct emu_dim cluster; /* blocks that share their memory; x = 0: as the kernel was compiled */
    bool large_clusters;    /* more than EMU_PORTABLE_CLUSTER blocks are allowed */
};
enum { EMU_PORTABLE_CLUSTER = 8, EMU_LARGEST_CLUSTER = 16 };

/* How many clusters of that shape a GPU holds at once, if a multiprocessor holds so many blocks. */
unsigned emu_active_clusters(const struct emu_gpu *, unsigned cluster_blocks, unsigned per_sm);

/* Runs a grid to its end. args[i] points to parameter i. A fault stops the grid; memory keeps what
 * was written until then. */
int emu_launch_shape(struct emu *, struct emu_kernel *, const struct emu_shape *,
                     void *const *args);
/* The same, for the usual shape. */
int emu_launch(struct emu *, struct emu_kernel *, struct emu_dim grid, struct emu_dim block,
               size_t dynamic_shared, void *const *args, bool cooperative);

/* Ends the grid that runs, soon, with EMU_INTERRUPTED and a message that says where it was; every
 * later one ends at its beginning. For a process that is about to end: from any thread, while
 * another launches. */
void emu_interrupt(struct emu *);

/* ---- counters ------------------------------------------------------------------------------ */

/* Shared memory: wavefronts needed, and how few would do if no two lanes met in a bank. The
 * difference is ncu's "excessive" and is the bank conflicts. Instructions = warp instructions. */
struct emu_shared {
    uint64_t instructions, wavefronts, ideal;
};

/* Global memory: one request a warp instruction, 32-byte sectors, and the bytes the lanes asked for;
 * what moved in all; and by another model's rules the bytes that were needed, each once a request. */
struct emu_global {
    uint64_t requests, sectors, bytes, moved, needed;
};

enum emu_add { EMU_ADD_F32, EMU_ADD_F64, EMU_ADD_I32, EMU_ADD_I64, EMU_ADD_F16, EMU_ADDS };

struct emu_counts {
    struct emu_shared shared_ld, shared_st, shared_atom;
    struct emu_global global_ld, global_st, global_atom;
    uint64_t barriers;       /* warp instructions that are block barriers */
    uint64_t instructions;   /* PTX warp instructions; ptxas makes other ones of them */
    uint64_t lanes;          /* active lanes summed over those */
    uint64_t adds[EMU_ADDS]; /* lanes that executed an add or sub of that kind (fma not included) */
};

struct emu_line {
    const char *file;
    unsigned line;
    struct emu_counts counts;
};

/* One launch as counted. `lines` holds only lines with a non-zero count, in order of file and line;
 * it is empty without -lineinfo. */
struct emu_launch_record {
    unsigned id;        /* 0, 1, … since emu_open */
    const char *kernel; /* mangled name */
    struct emu_dim grid, block;
    size_t dynamic_shared, static_shared;
    double seconds;                 /* the emulator's own time */
    struct emu_agreement agreement; /* with the machine code */
    struct emu_counts total;
    size_t line_count;
    const struct emu_line *lines;
};

/* Turns counting on or off for the launches that follow; returns what it was. */
bool emu_count(struct emu *, bool on);
/* The records of counted launches, oldest first, valid until emu_forget or emu_close. */
size_t emu_records(const struct emu *);
const struct emu_launch_record *emu_record(const struct emu *, size_t index);
void emu_forget(struct emu *);

/* ---- findings ------------------------------------------------------------------------------ */

enum emu_severity { EMU_FINDING_ERROR, EMU_FINDING_WARNING };
#define EMU_NO_LAUNCH UINT_MAX

/* What a checker found; see check.h. Texts are lines with '\n' between them. */
struct emu_finding {
    enum emu_check tool;
    enum emu_severity severity;
    const char *head;
    const char *unit;   /* what `count` counts ("hazards"), if that is to be printed; or NULL */
    const char *detail; /* or NULL */
    uint64_t count;     /* how often, over all launches */
    unsigned launch;    /* the id of the first launch that had it, or EMU_NO_LAUNCH */
};

/* The checkers that emu_config asked for. */
unsigned emu_checks(const struct emu *);
/* The first findings, as many as emu_config.finding_limit; valid until emu_close. */
size_t emu_findings(const struct emu *);
const struct emu_finding *emu_finding(const struct emu *, size_t index);
/* How many distinct ones there were, of which more than those may be kept. */
uint64_t emu_finding_count(const struct emu *, enum emu_severity);
/* Adds one from the host's side. */
void emu_add_finding(struct emu *, enum emu_check, enum emu_severity, const char *head,
                     const char *detail);

/* memcheck: adds a finding for each allocation that is still there; returns how many they are. */
size_t emu_report_leaks(struct emu *, uint64_t *bytes);
/* memcheck: lines that say why an address cannot be freed. */
void emu_describe_bad_free(struct emu *, emu_addr, char *text, size_t size);

/* ---- the runtime library ------------------------------------------------------------------- */

/* Only in libcudart.so.13 as built here (runtime/): the device that this program's CUDA calls run
 * on. A program looks this name up with dlsym to know whether it is being emulated. */
struct emu *emu_runtime(void);

#ifdef __cplusplus
}
#endif

#endif
