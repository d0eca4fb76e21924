/* emu.h — a GPU in software: the emulator's C API.
 *
 * It runs PTX, the assembly that nvcc emits, one warp instruction at a time on the CPU, and counts
 * what ncu counts. There are no globals. Everything belongs to one `struct emu`, so a program may
 * own several devices. The CUDA runtime library (runtime/) is a thin layer on this header.
 *
 * Errors: functions that can fail return 0 or an `enum emu_error`, whose values are those of
 * cudaError_t, and leave one or more sentences for emu_message(). Nothing aborts.
 *
 * Threads: calls on one `struct emu` may come from any host thread; the emulator carries them out
 * one at a time. A launch returns when the grid has ended.
 *
 * Memory: device addresses lie in one reserved range that the host can neither read nor write: a
 * host access there faults, as it should. Use emu_read and emu_write. */
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
struct emu_kernel; /* one .entry of a module; lives as long as the module */

typedef uint64_t emu_addr; /* 0 is never a valid address */

/* The subset of cudaError_t that the emulator itself gives. */
enum emu_error {
    EMU_OK = 0,
    EMU_INVALID_VALUE = 1,
    EMU_OUT_OF_MEMORY = 2,
    EMU_INVALID_CONFIGURATION = 9,   /* this one, and the next three, only for calls in kernels: */
    EMU_INVALID_COPY_KIND = 21,      /* a copy that is not from device to device */
    EMU_TOO_MANY_PENDING = 69,       /* see emu_pending_limit() */
    EMU_INVALID_DEVICE_FUNCTION = 98,
    EMU_OWN_MEMORY = 201,      /* emu_import(): this process has exported it */
    EMU_MAP_FAILED = 205,      /* emu_import(): it belongs to another user */
    EMU_NOT_A_PEER = 217,      /* emu_import(): it belongs to another model of GPU */
    EMU_INVALID_PTX = 218,     /* malformed */
    EMU_UNSUPPORTED_PTX = 222, /* an instruction or a version that the emulator does not know */
    EMU_INVALID_HANDLE = 400,  /* emu_import(): the memory is there no more */
    EMU_SYMBOL_NOT_FOUND = 500,
    EMU_ILLEGAL_ADDRESS = 700,
    EMU_LAUNCH_OUT_OF_RESOURCES =
        701,                  /* the block needs more registers or threads than the GPU allows */
    EMU_LAUNCH_TIMEOUT = 702, /* see emu_config.patience */
    EMU_ASSERT = 710,
    EMU_ILLEGAL_INSTRUCTION = 715,
    EMU_MISALIGNED_ADDRESS = 716,
    EMU_INVALID_ADDRESS_SPACE = 717,
    EMU_LAUNCH_FAILURE = 719, /* deadlock: not all threads reach a barrier */
    EMU_COOPERATIVE_TOO_LARGE = 720,
    EMU_INTERRUPTED = 999, /* see emu_interrupt() */
    EMU_INVALID_CLUSTER_SIZE = 912,
    EMU_SUSPENDED = -1, /* no error: see emu_resume() */
};

/* A model of a GPU: what cudaGetDeviceProperties returns, and the limits of a launch. Sizes in
 * bytes, frequencies in kHz. */
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

/* The model called `key` ("h200", "t4", …; any letter case), or NULL. emu_gpu_at gives the models
 * in order, the default first, and NULL beyond the last. (machine/device.c) */
const struct emu_gpu *emu_gpu_find(const char *key);
const struct emu_gpu *emu_gpu_at(size_t index);

/* The checkers, as bits. */
enum emu_check {
    EMU_CHECK_MEMORY = 1, /* memcheck: accesses out of bounds, leaks, API errors */
    EMU_CHECK_RACE = 2,   /* racecheck: hazards between threads */
    EMU_CHECK_INIT = 4,   /* initcheck: reads of memory that nothing has written */
    EMU_CHECK_SYNC = 8,   /* synccheck: barriers, member masks, deadlocks */
    EMU_CHECK_ALL = 15,
    EMU_CHECK_ORDER = 16, /* with EMU_CHECK_RACE: which barriers and fences are needed */
};

/* A place in the host program: return addresses, innermost first. */
enum { EMU_HOST_FRAMES = 6 };
struct emu_host_place {
    unsigned count;
    void *frames[EMU_HOST_FRAMES];
};

/*
 * The rules by which a generation of GPUs serves accesses to memory. emu_model_find takes a key in
 * any letter case ("g80", "gt200", "fermi", "kepler4", "kepler8", "hopper") and returns NULL if it
 * is unknown. emu_model_at gives all of them in order and NULL beyond the last; the last one,
 * Hopper, is the default. By the rules of the older generations, a wavefront is a pass through the
 * banks, and a sector is a transaction, whose size varies. (machine/models.c)
 */
struct emu_model_info {
    const char *key, *rules;
};
const struct emu_model *emu_model_find(const char *key);
const struct emu_model *emu_model_at(size_t index);
const struct emu_model_info *emu_model_info(const struct emu_model *);

struct stream_ops; /* watch/race.h */

/* What kernels ask of the CUDA runtime, by the numbers and texts that CUDA has. Functions return 0,
 * or the error that the call in the kernel returns. NULL: kernels cannot ask. The functions may be
 * called by several threads at once. */
struct emu_host_side {
    unsigned devices; /* their number */
    int (*attribute)(int attribute, int device, int *value);
    int (*limit)(unsigned device, int limit, size_t *value);
    /* Blocks of this many threads on a multiprocessor. */
    int (*occupancy)(const struct emu_gpu *, const struct emu_kernel *, int threads,
                     size_t dynamic_shared, int *blocks);
    int (*set_condition)(uint64_t handle, unsigned value); /* of a conditional node */
    const char *(*error_name)(int error);
    const char *(*error_text)(int error);
};

struct emu_config {
    const struct emu_gpu *gpu; /* NULL: the default model */
    unsigned threads;          /* host threads that run blocks; 0: one per core */
    /* Bytes of device memory. 0: the model's, but at most half of the host's, and less where the
     * host has too few addresses left (ulimit -v). emu_memory_info() returns the result. */
    size_t memory;
    /* Processes like this one, which share the host's cores and its memory: each takes an equal
     * part by default. 0: 1 */
    unsigned processes;
    unsigned more; /* devices that will be opened after this one: addresses are kept for them */
    bool counters; /* count from the start; see emu_count() */
    /* Where every access to shared and global memory is written, as a line of text; NULL: nowhere.
     * A trace implies one host thread. The file is not owned. */
    FILE *trace;
    uint64_t trace_limit; /* lines that are written, besides the header; 0: all */
    /* The trace also has a line for each barrier, and for each warp-wide operation such as a
     * shuffle: see watch/trace.h. */
    bool trace_steps;
    bool pictures; /* keep what emu_bank_pictures() and emu_timelines() return */
    /* Seconds; 0: 60. A grid ends with an error if one of its blocks runs for this long while no
     * block changes memory (a spinning block), or if all blocks wait for each other for this long.
     * If all blocks repeat their states, and nothing outside of the grid can end the wait, 2
     * seconds are enough (not with a random schedule).
     * Passing a barrier, or storing a value that is already there, does not change memory. A block
     * may run four times as long whatever it does, and all blocks together 64 times as long until
     * one of them ends. */
    unsigned patience;
    /* A grid that runs for this many seconds, together with all that it launches, ends with an
     * error; 0: no limit. */
    unsigned limit;
    /* A grid that has executed more warp instructions than this, together with all that it
     * launches, ends with an error (0: no limit).
     * If its blocks fill the GPU and only wait, the message calls it a deadlock.
     * Whether it does so does not depend on the host's speed, nor on the number of its threads,
     * unless blocks poll what others write. It is noticed when a cluster's turn ends: up to 2^16
     * instructions of each of its warps later. */
    uint64_t instruction_limit;
    const struct emu_model *model; /* by whose rules memory is counted; NULL: Hopper's */
    /* What a GPU lets pass is a finding, one for each source line, whatever `checks` says, and no
     * error: accesses that leave an allocation and stay in its page, and barriers that threads of a
     * warp do not reach, because they have exited. Memory is 0 before it is written. */
    bool lenient;
    unsigned checks;      /* bits of enum emu_check */
    bool strict_readers;  /* racecheck: a relaxed load of a flag takes a fence of its own */
    size_t finding_limit; /* findings whose text is kept; 0: 100 */
    uint64_t schedule;    /* not 0: seed of a random but reproducible order of warps and blocks */
    bool descending;      /* the block with the highest index begins first */
    /* For racecheck: what this line, "scan.cu:12", puts in order counts as unordered; or NULL. Not
     * owned. */
    const char *unordered;
    /* Not 0: %clock, %globaltimer and %smid are made from this seed and from the number of
     * instructions that the device has executed, so that they repeat. Implies one host thread. */
    uint64_t clock_seed;
    unsigned number; /* of this device, among several: for its addresses and for messages */
    /* For racecheck: the operations that the device's launches and copies belong to, which several
     * devices share. NULL: all are in order. Not owned. */
    struct stream_ops *stream_ops;
    struct emu_host_side host_side;
    /* For findings: host_place finds where the program is, and describe_host_place puts that into
     * words, with a line for each frame. NULL: findings do not say it. */
    void (*host_place)(struct emu_host_place *);
    void (*describe_host_place)(const struct emu_host_place *, char *text, size_t size);
};

/* Makes a device. If that fails, returns NULL and writes one sentence into message[size]. A config
 * of NULL means all defaults. */
struct emu *emu_open(const struct emu_config *config, char *message, size_t size);
void emu_close(struct emu *);

const struct emu_gpu *emu_gpu(const struct emu *);

/* What went wrong last: sentences without a final newline; "" if nothing has. Valid until the next
 * call. */
const char *emu_message(const struct emu *);

/* ---- memory ---------------------------------------------------------------------------------- */

/* The alignment, in bytes, of an allocation of this size by cudaMalloc on an H200
 * (profiles/h200/alignments.csv). Pinned and managed memory has at least the same; memory of a pool
 * has 512 there, which the emulator exceeds. */
size_t emu_alignment(size_t bytes);
/* Allocates bytes (> 0) of device memory, aligned to emu_alignment(bytes); the content is undefined
 * (in fact every byte is 0xCD, or 0 if emu_config.lenient is set). */
int emu_alloc(struct emu *, size_t bytes, emu_addr *address);
/* Frees an address that emu_alloc returned. Any other address is EMU_INVALID_VALUE. */
int emu_free(struct emu *, emu_addr);
/* Lets kernels read and write [host, host+bytes) at its own address (pinned, mapped and managed
 * memory). emu_unmap_host ends that. */
int emu_map_host(struct emu *, void *host, size_t bytes);
int emu_unmap_host(struct emu *, void *host);
/* Finds the allocation (also a hidden one), mapped host range or symbol that holds an address.
 * False: none holds it. */
bool emu_find(struct emu *, emu_addr, emu_addr *base, size_t *bytes);
/* True for any address in the device's reserved range, allocated or not. */
bool emu_is_device(const struct emu *, emu_addr);
/* Sets how many bytes malloc may allocate in kernels. EMU_INVALID_VALUE after the first launch of a
 * kernel that calls malloc. 0 sets the default of 8 MiB and empties the heap, at any time. */
int emu_heap_limit(struct emu *, size_t bytes);
void emu_memory_info(struct emu *, size_t *free_bytes, size_t *total_bytes);

/* Copies between host and device. EMU_INVALID_VALUE, and nothing is copied, if the device range
 * does not lie inside one allocation. */
int emu_write(struct emu *, emu_addr to, const void *from, size_t bytes);
int emu_read(struct emu *, void *to, emu_addr from, size_t bytes);
/* Copies `slices` slices of `rows` rows of `bytes` bytes. On each side, `…_row` is the distance in
 * bytes from one row to the next, and `…_slice` that from one slice to the next. initcheck treats
 * all of it as one copy. */
struct emu_rows {
    size_t bytes, rows, slices;
    size_t to_row, to_slice, from_row, from_slice;
};
int emu_read_rows(struct emu *, void *to, emu_addr from, const struct emu_rows *);
int emu_copy(struct emu *, emu_addr to, emu_addr from, size_t bytes);
int emu_fill(struct emu *, emu_addr, unsigned char value, size_t bytes);

/* The host's address of device memory, for a library of the host that works on it, or NULL if the
 * rows (from_row, from_slice) do not lie inside one allocation. initcheck takes the rows for read
 * by `reader`, if they are read, and for written from now on, if they are written. */
void *emu_view(struct emu *, emu_addr, const struct emu_rows *, bool reads, bool writes,
               const char *reader);

/* Tells initcheck that this memory is undefined, as if it had just been allocated. */
void emu_renew(struct emu *, emu_addr, size_t bytes);
/* An allocation keeps its addresses although it is freed (`hidden`), or is allocated there anew. */
void emu_hide(struct emu *, emu_addr, bool hidden);

/* ---- several devices ------------------------------------------------------------------------- */

enum { EMU_MAX_PEERS = 15 };

/* Allows or forbids kernels of `emu` to access the memory of `peer`. Before the first call they may
 * not, and the message of a fault does not say whose memory it was. EMU_OUT_OF_MEMORY beyond
 * EMU_MAX_PEERS peers. Close `emu` before `peer`. */
int emu_set_peer(struct emu *, struct emu *peer, bool may_access);
/* Copies from one device's memory to another's. Errors are those of emu_copy; the message is in
 * `to`. */
int emu_copy_peer(struct emu *to, emu_addr to_address, struct emu *from, emu_addr from_address,
                  size_t bytes);

/* ---- several processes ----------------------------------------------------------------------- */

enum { EMU_HANDLE_BYTES = 64 };

/* Lets other processes of this user access the allocation that holds an address, until it is freed.
 * Writes a handle for them into handle[EMU_HANDLE_BYTES], the same one each time. initcheck then
 * takes the allocation for written. */
int emu_export(struct emu *, emu_addr, void *handle);
/* Gives another process's allocation addresses on this device. If it has some already, they are
 * counted once more. Atomics and the order of accesses hold between the processes. The memory stays
 * while it is imported, even if the other process frees it or ends. */
int emu_import(struct emu *, const void *handle, emu_addr *address);
/* How often the allocation that begins at an address has been imported; 0: it has not. */
unsigned emu_imported(struct emu *, emu_addr);
/* Takes back one emu_import(). EMU_INVALID_VALUE for any other address. */
int emu_close_import(struct emu *, emu_addr);

/* ---- textures and surfaces ------------------------------------------------------------------- */

/* What an object's memory is to the instructions that use it. */
enum emu_texture_shape {
    EMU_TEXTURE_LINEAR, /* a row that tex1Dfetch reads, by integers */
    EMU_TEXTURE_1D,
    EMU_TEXTURE_2D,
    EMU_TEXTURE_3D,
    EMU_TEXTURE_1D_LAYERED,
    EMU_TEXTURE_2D_LAYERED,
    EMU_TEXTURE_CUBE,
    EMU_TEXTURE_CUBE_LAYERED,
    EMU_TEXTURE_SHAPES
};
enum emu_channel { EMU_CHANNEL_SIGNED, EMU_CHANNEL_UNSIGNED, EMU_CHANNEL_FLOAT };
/* What a coordinate outside of a texture means. Values as of cudaTextureAddressMode. */
enum emu_outside { EMU_OUTSIDE_WRAP, EMU_OUTSIDE_CLAMP, EMU_OUTSIDE_MIRROR, EMU_OUTSIDE_BORDER };

/* A texture or surface object: global memory as elements of one to four channels. */
struct emu_texture {
    enum emu_texture_shape shape;
    bool is_surface;
    emu_addr base;
    uint64_t size[3];    /* elements in x, y and z, at least 1; layers and faces are in z */
    uint64_t row, slice; /* bytes from one row to the next, and from one slice, layer or face */
    unsigned channels, channel_bytes;
    enum emu_channel channel;
    /* Of a texture: */
    bool is_filtered;     /* linear filtering; else the nearest element */
    bool is_normalized;   /* coordinates from 0 to 1 stand for the whole size */
    bool reads_fractions; /* integers of 8 and 16 bits become floats up to 1 */
    enum emu_outside outside[3];
    float border[4]; /* what EMU_OUTSIDE_BORDER reads; 0 for integers */
};

/* Makes an object that kernels use by its number, which is never 0 and never given twice, nor by
 * another device. EMU_OUT_OF_MEMORY. */
int emu_texture_open(struct emu *, const struct emu_texture *, uint64_t *object);
/* EMU_INVALID_VALUE if the device has no such object. The memory stays. */
int emu_texture_close(struct emu *, uint64_t object);

/* ---- code ------------------------------------------------------------------------------------ */

/* Loads PTX text, which need not end with NUL. Messages call it `name`, usually the name of a file.
 * emu_kernel reads and decodes a kernel when it is first asked for. So a mistake in a kernel, or an
 * unsupported instruction, makes emu_kernel fail, not emu_load. */
int emu_load(struct emu *, const char *ptx, size_t length, const char *name,
             struct emu_module **module);

/* Loads several texts as one module, as nvlink joins the objects of nvcc -rdc=true: one text may
 * define what another declares .extern. EMU_INVALID_PTX if two texts define the same name. */
struct emu_ptx {
    const char *text;
    size_t length;
    const char *name;
    bool never_fuses; /* as ptxas with -O0 or -fmad=false: no product and sum become one fma */
};
int emu_link(struct emu *, const struct emu_ptx *, size_t count, struct emu_module **module);
void emu_unload(struct emu *, struct emu_module *);
/* The path of the source file with this index, as the module's PTX names it (-lineinfo); NULL: it
 * names fewer. The module owns it. */
const char *emu_source(const struct emu_module *, size_t index);

/* The name of the .entry with this index; NULL: the module has fewer. The module owns it. */
const char *emu_kernel_name(const struct emu_module *, size_t index);
/* The .entry called `name` (mangled). EMU_INVALID_DEVICE_FUNCTION if the module has no such
 * .entry; EMU_SYMBOL_NOT_FOUND if it uses a function or variable that no text defines. */
int emu_kernel(struct emu *, struct emu_module *, const char *name, struct emu_kernel **kernel);
/* Decodes the functions that no kernel has called so far: EMU_INVALID_PTX if one is wrong,
 * EMU_SYMBOL_NOT_FOUND if one uses a function or variable that no text defines. */
int emu_check_functions(struct emu *, struct emu_module *);
/* The .global or .const variable called `name`. EMU_SYMBOL_NOT_FOUND if the module has no such
 * variable. */
int emu_symbol(struct emu *, struct emu_module *, const char *name, emu_addr *address,
               size_t *bytes);

/* Moves a __managed__ variable into mapped host memory, so that it has the same address on the host
 * and on every device. The host range must have room for its bytes. With `fill`, the variable's
 * initial value is copied there. EMU_INVALID_VALUE if a kernel of the module has already been asked
 * for. */
int emu_place_symbol(struct emu *, struct emu_module *, const char *name, void *host, bool fill);

/*
 * Gives a module the machine code that ptxas made of its PTX for one architecture (90: sm_90): the
 * ELF file that nvcc calls a cubin. The bytes are not copied and must stay until the module is
 * unloaded. A kernel is compared with it before its first counted launch. Where ptxas has merged
 * neighbouring accesses, the emulator counts the merged access.
 */
void emu_machine_code(struct emu *, struct emu_module *, const void *cubin, size_t size,
                      unsigned arch);

/* Does the machine code access memory as the PTX does, so that a GPU counts the same? */
enum emu_agreement_label {
    EMU_UNCHECKED,         /* there is no machine code */
    EMU_EXACT,             /* the accesses are the same on every line */
    EMU_COUNTED_AS_MERGED, /* ptxas merged accesses; the merged ones are counted */
    EMU_MERGED,            /* ptxas merged accesses; those of the PTX are counted */
    EMU_CHANGED,           /* ptxas removed accesses or changed them */
};
struct emu_agreement {
    enum emu_agreement_label label;
    unsigned arch; /* of the machine code; 0: no machine code */
    const char
        *text; /* the label, and the lines that differ: "merged by ptxas at scan.cu:41 (…)" */
};
/* Valid as long as the kernel. */
const struct emu_agreement *emu_agreement(struct emu *, struct emu_kernel *);

struct emu_kernel_info {
    const char *name;
    unsigned params; /* number of parameters; below, the offset and size of each in bytes */
    const unsigned *param_offset, *param_size;
    size_t shared_bytes;     /* static shared memory per block */
    size_t constant_bytes;   /* of all __constant__ variables of its module */
    size_t local_bytes;      /* local memory per thread */
    unsigned registers;      /* per thread, estimated from PTX (on a GPU, ptxas decides) */
    unsigned max_threads;    /* per block: .maxntid, or the device's limit */
    const unsigned *cluster; /* the cluster's blocks in x, y, z, as compiled; x = 0: any */
};
const struct emu_kernel_info *emu_kernel_info(const struct emu_kernel *);

struct emu_dim {
    unsigned x, y, z;
};

/* How a grid is launched. */
struct emu_shape {
    struct emu_dim grid, block;
    size_t dynamic_shared;
    bool cooperative;       /* all blocks are resident at once and may wait for each other */
    struct emu_dim cluster; /* blocks of a cluster; x = 0: as the kernel was compiled */
    bool large_clusters;    /* more than EMU_PORTABLE_CLUSTER blocks are allowed */
    uint64_t operation;     /* its number in emu_config.stream_ops; 0: none */
    bool may_suspend;       /* see emu_resume() */
};
enum { EMU_PORTABLE_CLUSTER = 8, EMU_LARGEST_CLUSTER = 16 };

/* The number of clusters that a GPU holds at once, given the number of blocks that one
 * multiprocessor holds. */
unsigned emu_active_clusters(const struct emu_gpu *, unsigned cluster_blocks, unsigned per_sm);

/* Runs a grid to its end. args[i] points to parameter i. A fault stops the grid; what was written
 * before stays in memory. */
int emu_launch_shape(struct emu *, struct emu_kernel *, const struct emu_shape *,
                     void *const *args);
/* A program of which main is a kernel, too (cc/syntax/program.c). It runs on a device of its
 * own, the host, and its calls of host_call() are carried out on `gpu`, launches at once. */
struct emu_program {
    struct emu *gpu;
    struct emu_module *module; /* of the GPU */
    int error, fault;          /* cudaGetLastError(); of a kernel, which later calls return */
    char message[2000];        /* what that kernel has done */
};
/* Runs a kernel without parameters as main; `module` is the host's. (ops/host_call.c) */
int emu_run_main(struct emu *host, struct emu_module *module, const char *name,
                 struct emu_program *);

/* Between begin and end, all launches count as one for the limits of emu_config; pairs may be
 * nested. emu_together_check() returns EMU_LAUNCH_TIMEOUT if they have reached the one in seconds.
 */
void emu_together_begin(struct emu *);
int emu_together_check(struct emu *);
void emu_together_end(struct emu *);
/* If the shape says so and host memory is mapped, a grid whose blocks all wait in loops is
 * suspended, since the host may end its wait: emu_launch_shape returns EMU_SUSPENDED. emu_resume
 * goes on with it, and returns its end, or EMU_SUSPENDED again. With `waits` it is not suspended
 * again. No other grid may be launched before it has ended. Without a suspended grid: EMU_OK. */
int emu_resume(struct emu *, bool waits);
/* Runs a grid with the clusters that its kernel was compiled for, if any. */
int emu_launch(struct emu *, struct emu_kernel *, struct emu_dim grid, struct emu_dim block,
               size_t dynamic_shared, void *const *args, bool cooperative);

/* Sets how many grids and copies kernels may have launched that have not begun. EMU_INVALID_VALUE
 * while a grid is suspended. 0: the default. */
int emu_pending_limit(struct emu *, size_t launches);
/* Sets how much dynamic shared memory kernels may ask for when they launch this one. 0: the
 * default. */
void emu_allow_shared(struct emu_kernel *, size_t bytes);
/* Sets the most registers that a thread of this kernel may have. */
void emu_limit_registers(struct emu_kernel *, unsigned most);
/* racecheck: the operation in emu_config.stream_ops after which the last launch is over, with all
 * that its kernels have launched; 0: no operation. */
uint64_t emu_last_operation(const struct emu *);

/* Asks the running grid to stop soon, with EMU_INTERRUPTED and a message that says where it was.
 * Every later launch fails at once in the same way. Meant for a process that is about to end; any
 * thread may call it while another thread launches. */
void emu_interrupt(struct emu *);

/* How far the grid is that runs. */
enum { EMU_NAME_SIZE = 256 };
struct emu_progress {
    char kernel[EMU_NAME_SIZE];   /* the mangled name, cut if it is longer */
    unsigned launch;              /* its number: 0, 1, … since emu_open */
    uint64_t blocks, begun, done; /* of the grid, and those of them that have begun and ended */
    double seconds, advanced;     /* since it began; until a block last ended */
    unsigned threads;             /* host threads that may run its blocks */
};
/* From any thread, while another launches. False: no grid runs. */
bool emu_progress(struct emu *, struct emu_progress *);

/* ---- counters -------------------------------------------------------------------------------- */

/* Shared memory: warp instructions, the wavefronts that they need, and the wavefronts that they
 * would need without bank conflicts (`ideal`). The difference is what the hardware counts as bank
 * conflicts. `source_ideal` is what ncu's Source page calls ideal: it differs from `ideal` where
 * lanes are inactive. `one_address` counts instructions whose lanes, several, have one address. */
struct emu_shared {
    uint64_t instructions, wavefronts, ideal, source_ideal, one_address;
};

/* Global or local memory: requests (of global memory one per warp instruction), 32-byte sectors,
 * the bytes that the lanes ask for, and the bytes that move. By the rules of an older model,
 * `needed` counts each byte that a request needs once. */
struct emu_global {
    uint64_t requests, sectors, bytes, moved, needed;
};

/* Asynchronous copies (cp.async; LDGSTS in machine code), besides their wavefronts. NVIDIA's
 * software counts the first two from addresses, the hardware the others: of copies through the L1
 * cache (.ca) only. Copies also count in global_ld, as the hardware counts them. */
struct emu_copies {
    uint64_t requests, sectors;
    uint64_t cached_requests, cached_sectors;
};

enum emu_add { EMU_ADD_F32, EMU_ADD_F64, EMU_ADD_I32, EMU_ADD_I64, EMU_ADD_F16, EMU_ADDS };

/* Classes of PTX instructions. Each instruction is in one class, so that the counts of all classes
 * add up to emu_counts.instructions. ptxas makes other instructions of them: do not compare these
 * counts with a GPU's. */
enum emu_class {
    EMU_CLASS_INTEGER, /* also popc, bfe, dp4a and the video instructions */
    EMU_CLASS_F16,     /* arithmetic on f16, bf16 and pairs of them */
    EMU_CLASS_F32,
    EMU_CLASS_F64,
    EMU_CLASS_LOGIC,   /* and, or, xor, not, lop3, shifts */
    EMU_CLASS_COMPARE, /* setp, set, selp, slct, testp */
    EMU_CLASS_CONVERT, /* cvt */
    EMU_CLASS_MOVE,    /* mov, prmt, cvta, … */
    EMU_CLASS_LOAD,    /* from any state space */
    EMU_CLASS_STORE,
    EMU_CLASS_ATOMIC,  /* atom, red */
    EMU_CLASS_COPY,    /* cp */
    EMU_CLASS_WARP,    /* shfl, vote, match, redux, elect, activemask */
    EMU_CLASS_SYNC,    /* bar, barrier, mbarrier, fence, membar */
    EMU_CLASS_MATRIX,  /* mma and its loads and stores */
    EMU_CLASS_CONTROL, /* branches, calls, returns, exits */
    EMU_CLASS_OTHER,
    EMU_CLASSES
};
/* "integer", "f16", …; NULL beyond the last. (records.c) */
const char *emu_class_name(enum emu_class);

struct emu_counts {
    struct emu_shared shared_ld, shared_st, shared_atom, shared_copy;
    struct emu_shared ldmatrix, stmatrix; /* those of shared_ld and shared_st that move matrices */
    struct emu_copies copies;
    struct emu_global global_ld, global_st;
    struct emu_global global_atom, global_red; /* red: without a result in the machine code */
    struct emu_global local_ld, local_st;
    /* Loads from constant memory by more than one address, and how often they are repeated. */
    uint64_t constant_divergent, constant_replays;
    uint64_t barriers;       /* warp instructions that are block barriers */
    uint64_t instructions;   /* PTX warp instructions (the machine code has other ones) */
    uint64_t lanes;          /* sum of the active lanes of all instructions */
    uint64_t adds[EMU_ADDS]; /* lanes that executed an add or sub of that kind (fma not included) */
    uint64_t classes[EMU_CLASSES]; /* `instructions` by class */
};

/* The PTX instructions of one operation and type that a launch has executed. */
struct emu_operation {
    const char *name; /* the opcode without types, rounding, cache hints, order and scope: "fma",
                         "mad.lo", "red.global.add", "redux.add" */
    const char *type; /* its types, with dots between: "f32", "f32.s32"; "": it has none */
    enum emu_class work_class;
    uint64_t instructions; /* warp instructions */
    uint64_t lanes;        /* active lanes summed over those */
    /* Elements that those lanes have computed, moved or added up: 2 for each lane of an f16x2 or a
     * .v2, 4 for one of dp4a; of a product of matrices its multiplications; of a bulk reduction the
     * elements, of a bulk copy the bytes. */
    uint64_t elements;
};

struct emu_line {
    const char *file;
    unsigned line;
    struct emu_counts counts;
};

/* One launch as counted. `lines` holds the lines with a non-zero count, in order of file and line.
 * It is empty without -lineinfo. `operations` holds all operations that were executed, in order of
 * class, name and type. */
struct emu_launch_record {
    unsigned id;        /* 0, 1, … since emu_open */
    const char *kernel; /* mangled name */
    struct emu_dim grid, block;
    size_t dynamic_shared, static_shared;
    double seconds;                 /* time that the emulator took */
    struct emu_agreement agreement; /* with the machine code */
    struct emu_counts total;
    uint64_t longest_warp; /* warp instructions of the warp that executed most */
    size_t line_count;
    const struct emu_line *lines;
    size_t operation_count;
    const struct emu_operation *operations;
    /* Of a launch that a kernel has made: the kernel's mangled name, and its launch. NULL: the host
     * has made it. */
    const char *launched_by;
    unsigned launcher;
    int error; /* of such a launch: a fault, after which nothing is counted; else 0 */
};

/* Turns counting on or off for the launches that follow; returns the previous setting. */
bool emu_count(struct emu *, bool on);
/* The records of counted launches, oldest first, valid until emu_forget or emu_close. */
size_t emu_records(const struct emu *);
const struct emu_launch_record *emu_record(const struct emu *, size_t index);
void emu_forget(struct emu *);
/* Frees all records but the first ones. */
void emu_forget_but(struct emu *, size_t first);
/* A launch has at most 2^16 records of grids that kernels have launched for it: the number of those
 * that have none, since emu_open. */
uint64_t emu_records_left_out(const struct emu *);

/* ---- findings -------------------------------------------------------------------------------- */

enum emu_severity { EMU_FINDING_ERROR, EMU_FINDING_WARNING, EMU_FINDING_NOTE };
#define EMU_NO_LAUNCH UINT_MAX

/* Where in a grid something happened. */
struct emu_place {
    bool is_known;        /* false: there is no such place, and nothing else is set */
    const char *file;     /* of the CUDA source; NULL: not known, without -lineinfo */
    unsigned line;        /* 0: not known */
    unsigned caller_line; /* of the call, in this file, through which the line's function was
                             inlined; 0: it was not, or not known */
    unsigned ptx_line;    /* of the PTX text; 0: the end of the kernel */
    const char
        *access;     /* of a hazard: "Read access", "Write access", "Copy access", …; else NULL */
    bool is_copy;    /* the access is made by a copy that a thread has begun */
    bool has_thread; /* false: it is not known which thread */
    struct emu_dim block, thread;
};

/*
 * What a checker found. `kind` is a word for programs:
 *   memcheck   out-of-bounds, misaligned, not-allowed, fault, leak, api-error
 *   racecheck  read-after-write, write-after-read, write-after-write, unseen-by-copy,
 *              unfenced-read, unfenced-write, written-constant, lost-update, use-before-exit,
 *              use-after-exit, unordered-operations
 *   initcheck  uninitialized-read, uninitialized-copy
 *   synccheck  divergent-in-warp, divergent-in-block, invalid-arguments, endless, exited-members,
 *              undefined-shuffle; fault
 *   order      needed, not-needed, never-executed, not-looked-at
 * The texts `head` and `detail` are lines with '\n' between them. `head` is made from the fields.
 */
struct emu_finding {
    enum emu_check tool;
    enum emu_severity severity;
    const char *kind;
    const char *title;             /* what was wrong, in words; it names no place */
    const char *kernel;            /* mangled name; NULL: it happened on the host */
    const char *other_kernel;      /* of `other`, if that is another launch; else NULL */
    struct emu_place place, other; /* of a hazard: the later access, and the earlier one */
    const char *space; /* of the memory: "global", "shared", …; NULL: it is not about an access */
    emu_addr address;  /* if `space` is set: the first one that was found */
    unsigned bytes;    /* of the access; 0: not known */
    const char *head;
    const char *unit;   /* what `count` counts ("hazards"), if it should be printed; else NULL */
    const char *detail; /* what else there is to say; or NULL */
    uint64_t count;     /* how often, over all launches */
    unsigned launch;    /* id of the first launch with this finding, or EMU_NO_LAUNCH */
};

/* The checkers that emu_config asked for. */
unsigned emu_checks(const struct emu *);
/* The first findings, at most emu_config.finding_limit of them; valid until emu_close. */
size_t emu_findings(const struct emu *);
const struct emu_finding *emu_finding(const struct emu *, size_t index);
/* The number of distinct findings of a severity, including those beyond the limit. */
uint64_t emu_finding_count(const struct emu *, enum emu_severity);
/* The number of errors among them that racecheck has found. */
uint64_t emu_race_count(const struct emu *);
/* EMU_CHECK_ORDER: adds a note to `to` for each place of a kernel that puts accesses in order and
 * has this answer, unless `to` has one for the place, and counts these notes, those beyond the
 * limit included. For several devices: call it for all of them with each answer in turn. */
enum emu_order_answer {
    EMU_ORDER_NEEDED,
    EMU_ORDER_NOT_NEEDED,
    EMU_ORDER_NOT_LOOKED_AT,
    EMU_ORDER_NEVER_EXECUTED,
    EMU_ORDER_ANSWERS
};
void emu_report_order(struct emu *, struct emu *to, enum emu_order_answer, size_t *count);
/* Adds a finding about the host program. */
void emu_add_finding(struct emu *, enum emu_check, enum emu_severity, const char *kind,
                     const char *title, const char *detail);

/* memcheck: memory of the host has been allocated for devices; 0 bytes: it has been freed. */
void emu_log_host(struct emu *, const void *host, size_t bytes);
/* memcheck: adds a finding for each allocation that has not been freed; returns their number. */
size_t emu_report_leaks(struct emu *, uint64_t *bytes);
/* memcheck: lines that say why an address cannot be freed. */
void emu_describe_bad_free(struct emu *, emu_addr, char *text, size_t size);

/* How many lines the trace has, also beyond emu_config.trace_limit. */
uint64_t emu_traced(const struct emu *);

/* ---- pictures -------------------------------------------------------------------------------- */

/* Of a source line, the access to shared memory with the most bank conflicts. */
struct emu_bank_picture {
    const char *kernel; /* mangled */
    unsigned launch;
    const char *file;
    unsigned line;
    uint64_t block; /* its index in the grid */
    unsigned warp;
    bool is_load, is_atomic;
    unsigned bytes; /* a lane */
    uint32_t mask;
    uint32_t address[32]; /* in shared memory, of the lanes in `mask` */
    uint64_t wavefronts, ideal;
};

/* When the warps of a block run. One step is an instruction of one warp. */
enum emu_turn_end { EMU_TURN_OVER, EMU_TURN_AT_BARRIER, EMU_TURN_WAITS, EMU_TURN_EXITED };
struct emu_turn {
    unsigned warp;
    bool is_divergent;     /* its lanes are at several instructions */
    enum emu_turn_end end; /* how it stops: it may go on, or waits, at a barrier or for a phase of
                              an mbarrier, or has exited */
    uint64_t from, to;     /* steps */
};
struct emu_timeline {
    const char *kernel; /* mangled; its first launch, and block 0 */
    unsigned warps;
    uint64_t steps;
    const struct emu_turn *turns; /* in their order */
    size_t turn_count;
    bool is_cut; /* there are more, which are not kept */
};

/* What emu_config.pictures asked for, until the next launch; 16 kernels at most have a timeline. */
const struct emu_bank_picture *emu_bank_pictures(const struct emu *, size_t *count);
const struct emu_timeline *emu_timelines(const struct emu *, size_t *count);

/* ---- the runtime library --------------------------------------------------------------------- */

/* The device that this program's CUDA calls run on. Only the emulator's libcudart.so.13 has this
 * function (runtime/), so a program can look the name up with dlsym to find out whether it is
 * emulated. */
struct emu *emu_runtime(void);

/* Memory that a call of a library reads or writes: rows as those that emu_read_rows() reads. `host`
 * is set to the host's address of it. */
struct emu_area {
    const void *address;
    struct emu_rows rows;
    bool reads, writes;
    void *host;
};
/*
 * For libraries that take the place of NVIDIA's (libs/): work begins in a stream (a
 * cudaStream_t), on these areas. The checkers are told, and when the function returns
 * cudaSuccess, the caller does the work before it returns to the program. `name` is that of the
 * library's function, and lives as long as the program. Memory that is not there is a fault, as in
 * a kernel: the function says so, and returns cudaErrorIllegalAddress. A stream that is captured:
 * cudaErrorStreamCaptureUnsupported. Other errors are those of any work in a stream.
 */
int emu_library_work(void *stream, const char *name, struct emu_area *areas, size_t count);
/* Says, once for each `feature` of a library, that the emulator does not offer it, why, and where
 * it was called. */
void emu_library_refuse(const char *feature, const char *why);

#ifdef __cplusplus
}
#endif

#endif
