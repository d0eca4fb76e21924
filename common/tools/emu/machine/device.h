/* device.h — a device: its memory, its modules, its settings, and the messages of faults. */
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include "machine.h"
#include <sys/types.h>

/* ---- a hash table from addresses to pointers ------------------------------------------------- */

/* A table of zero bytes is empty. */

struct address_entry {
    uint64_t address;
    void *kept; /* NULL: the entry is free */
};

struct address_table {
    struct address_entry *entries;
    size_t size, count; /* entries; used entries */
};

/* The pointer of an address; NULL: it has none. */
void *address_table_find(const struct address_table *, uint64_t address);
/* Sets the pointer of an address, which must not be NULL. */
void address_table_set(struct address_table *, uint64_t address, void *kept);
/* Removes an address. */
void address_table_remove(struct address_table *, uint64_t address);
void address_table_close(struct address_table *);

/* ---- where device memory lies: addresses that only kernels use, and the bytes behind them ---- */

/* It asks the host's system for both.
 *
 * In WebAssembly, addresses of the host have 32 bits. Device addresses are then numbers that no
 * host address equals, and the bytes come from calloc. */

struct address_space {
    uint64_t base;  /* the first device address; 0: nothing is reserved */
    uint8_t *store; /* its byte */
    uint64_t bytes; /* of each of the two */
};

/* Reserves `bytes` device addresses and the memory behind them, for the device with this number, at
 * the same place in every run if it is free. `bytes` is a multiple of RANGES_GAP. All bytes are 0
 * and take memory when they are written. False: the host has too few addresses, or would have fewer
 * than `spare` bytes of them left. */
bool address_space_open(struct address_space *, uint64_t bytes, unsigned number, size_t spare);
void address_space_close(struct address_space *);
/* The host may take back the memory of these pages of the store, whose content is lost. */
void address_space_discard(void *first_page, size_t bytes);

/* Has the host memory at an address? */
bool address_space_host_has(uint64_t address);

/* Memory that processes share: files in memory. Such a file has no name, and it is gone when no
 * process uses it, however the processes end. Its first page holds a label; the content follows. */

/* A new file for `bytes` bytes of content. -1: the host has none. */
int address_space_file(uint64_t bytes);
/* Writes the label. False: the host has no memory for it. */
bool address_space_label(int file, const void *label, size_t size);
/* The file that another process has open as `file`, and its label. -1: errno says why. */
int address_space_borrow(int process, int file, void *label, size_t size);
void address_space_close_file(int file);
/* Makes these pages of the store the content of a file. With `keep`, what they hold becomes the
 * file's. False: the host has no memory or addresses for it. */
bool address_space_share(void *first_page, uint64_t bytes, int file, bool keep);
/* The pages are the process's own again, and 0. */
void address_space_unshare(void *first_page, uint64_t bytes);
/* This process's number. */
int address_space_process(void);
/* Random bytes, for a key. False: the host has none. */
bool address_space_random(void *bytes, size_t size);

/* ---- a sorted set of address ranges that do not overlap -------------------------------------- */

/* It is a search tree, balanced by random priorities (a treap). The priority is a hash of the
 * range's base, so every run has the same tree. Each node also keeps the ends of its subtree and
 * the widest hole between two of its ranges. Each function takes time logarithmic in the number of
 * ranges. */

/* Between two allocations is a gap of addresses that belong to none, so that accesses past the end
 * are detected. A hole is the space between two ranges that an allocation may use. */
enum { RANGES_ALIGNMENT = 512, RANGES_GAP = 4096 };

struct range_node;
struct ranges {
    struct range_node *root; /* NULL: no range */
    size_t count;
};

void ranges_close(struct ranges *);

/* Adds a range. Its address in host memory stays valid until it is removed. */
struct range *ranges_add(struct ranges *, struct range);
/* Removes the range that begins at `base`, which must be there. */
void ranges_remove(struct ranges *, uint64_t base);

/* The last range that begins at an address or below it; the first that begins above it. NULL: no
 * range does. */
struct range *ranges_at(const struct ranges *, uint64_t address);
struct range *ranges_above(const struct ranges *, uint64_t address);

/* The lowest address for an allocation behind a range that ends at `end`. */
uint64_t ranges_behind(uint64_t end);
/* The first hole of at least `bytes` bytes behind the range that begins at `from`; 0: there is
 * none. The addresses behind the last range are not a hole. */
uint64_t ranges_hole(const struct ranges *, uint64_t from, uint64_t bytes);

/* ---- a hash table of data for each page of memory that has been accessed, by page number ----- */

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS };

struct page {
    uint64_t number, stamp; /* stamp: for the user of the table; 0 at first */
    uint64_t content[];     /* zeros at first */
};

struct pages {
    size_t bytes; /* of a page's content */
    struct address_table table;
    struct page *last; /* found last */
};

/* The page at a place of the table; NULL: there is none. */
static inline struct page *pages_at(const struct pages *pages, size_t place)
{
    return pages->table.entries[place].kept;
}

/* The page with a number; NULL: it does not exist. pages_touch makes it. */
struct page *pages_find(struct pages *, uint64_t number);
struct page *pages_touch(struct pages *, uint64_t number);
/* Removes the pages from the first to the last. */
void pages_drop(struct pages *, uint64_t first, uint64_t last);
void pages_close(struct pages *);

/* ---- device memory --------------------------------------------------------------------------- */

/* Device addresses are a reserved range of the process's address space in which nothing is mapped.
 * So a host program that dereferences a device pointer faults, as it would with a GPU. The bytes
 * are in a second range of the same size; `delta` is the distance between the two. Pages take
 * memory only when they are written. */

struct ipc_area; /* allocate.c */

struct memory {
    struct address_space space; /* the byte at address a is space.store[a - space.base] */
    size_t capacity, used;   /* bytes that may be allocated; bytes that are */
    uint8_t fresh;           /* the value of new bytes */
    uint64_t next;           /* where the next search begins: freed addresses are used last */
    struct ranges allocations, mapped; /* ranges of device addresses; of mapped host memory */
    pthread_mutex_t
        lock; /* of both, for kernels of other devices; emu->lock keeps out all others */
    struct ipc_area *areas; /* that several processes share; NULL: none */
    atomic_uint area_count; /* of them, for kernels of other devices, too */
};

/* Reserves addresses for `capacity` bytes, different ones for each device number. False: the host
 * has not enough addresses, or would have fewer than `spare` bytes of addresses left. */
bool memory_open(struct memory *, size_t capacity, unsigned number, size_t spare);
void memory_close(struct memory *);
/* Returns 0 or an enum emu_error. New memory reads as `fresh`, up to FRESH_LIMIT bytes. */
int memory_alloc(struct memory *, size_t bytes, emu_addr *);
int memory_free(struct memory *, emu_addr);
/* See emu_hide(). Returns the number of bytes; 0: nothing has changed. */
size_t memory_hide(struct memory *, emu_addr, bool hidden);
/* Takes addresses for another process's memory; `page_offset` is that of the first in its page. */
int memory_take(struct memory *, size_t bytes, uint64_t page_offset, emu_addr *);
void memory_give_back(struct memory *, emu_addr);
/* The pages of the store that hold a range, which hold no other one. */
void *memory_pages(const struct range *, uint64_t *bytes);
int memory_map(struct memory *, void *host, size_t bytes);
int memory_unmap(struct memory *, void *host);
/* The range that holds an address; NULL: none does. */
const struct range *memory_find(const struct memory *, uint64_t address);
/* The same, and also a hidden one. */
const struct range *memory_find_hidden(const struct memory *, uint64_t address);
/* The range that holds an address, or else the nearest one. NULL: no memory is allocated. */
const struct range *memory_nearest(const struct memory *, uint64_t address);
/* Is an address in a page of device memory of which a range has a part, or less than 4096 bytes
 * from mapped memory of the host? Stores the range's delta then. */
bool memory_passes(const struct memory *, uint64_t address, int64_t *delta);
/* memory_find() for a kernel of another device. It returns a copy, since the range may be freed at
 * any time. */
bool memory_look(struct memory *, uint64_t address, struct range *);
/* The host's address of [address, address + bytes); NULL: this is not inside of one range. */
void *memory_view(const struct memory *, uint64_t address, size_t bytes);

/* ---- memory that several processes share (allocate.c) ---------------------------------------- */

/* Moves the bytes of an exported range back: other processes keep what they have imported. The
 * content of the pages is lost. */
void ipc_withdraw(struct memory *, const struct range *);
/* Forgets all of them, before the memory is closed. */
void ipc_close_all(struct memory *);

/* ---- malloc and free in kernels -------------------------------------------------------------- */

/* The heap is one range of device memory. It is made at the launch of the first kernel that calls
 * malloc, so the device's list of ranges does not change while a grid runs. The list of its blocks
 * is kept in host memory, behind a lock. Blocks stay allocated after the kernel; the host cannot
 * access them. */

struct heap {
    uint64_t base;     /* 0: not made yet */
    size_t wanted;     /* requested bytes; 0: a GPU's default */
    size_t granules;   /* units of allocation */
    size_t free, next; /* free granules; where the search for the next block begins */
    uint32_t *owner;   /* of each granule: 1 + the first granule of its block; 0: free */
    uint64_t *bytes;   /* of the block that begins, or began, in a granule */
    pthread_mutex_t lock;
};

/* Makes the heap if it is not there yet. Returns 0 or an enum emu_error. */
int heap_open(struct heap *, struct memory *);
void heap_close(struct heap *, struct memory *);

/* A block's address, aligned to 16; 0: the heap is exhausted. */
uint64_t heap_alloc(struct heap *, uint64_t bytes);
/* Frees a block and sets its size; returns NULL. Otherwise returns what is wrong with the
 * address. */
const char *heap_free(struct heap *, uint64_t address, uint64_t *bytes);
/* The block that holds an address. False: no block does. */
bool heap_find(struct heap *, uint64_t address, struct range *);
/* The first block that begins at *granule or behind it; *granule becomes the next place to search.
 * False: there are no more blocks. */
bool heap_walk(struct heap *, size_t *granule, struct range *);
/* "8 bytes past the end of the block of 24 bytes at 0x…", "in a block that was freed" */
void heap_describe(struct heap *, uint64_t address, char *text, size_t size);

/* ---- host threads that wait for work, so that a launch does not have to start any ------------ */

/* Threads are started when they are first needed, and sleep between launches. The calling thread
 * begins the work at once. Others join when they have woken up, if work is left. So a small launch
 * takes little longer than with one thread. */

enum { MAX_HOST_THREADS = 256 };

struct thread_pool {
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t offered, done;
    pthread_t threads[MAX_HOST_THREADS];
    unsigned started;
    void (*work)(void *);
    void *argument;
    unsigned wanted;  /* threads that may still join */
    unsigned working; /* threads that have joined and are not done */
    bool closing;
    pid_t process; /* a child after fork() has only its own thread */
};

void pool_open(struct thread_pool *);
void pool_close(struct thread_pool *);

/* ---- rules by which older GPUs would have served the same accesses --------------------------- */

/* The rules are those of the CUDA C Programming Guide 4.2, appendix F, and of the Kepler tuning
 * guide, 1.4.3.1. Shared memory: `wavefronts` counts passes, and `ideal` the passes for the same
 * bytes without conflicts. Global memory: `sectors` counts transactions, which have different
 * sizes; `moved` is the sum of their sizes, and `needed` is the number of different bytes
 * requested. needed / moved is the bus utilisation. */

struct model_rule {
    void (*count)(struct insn_counts *, const uint64_t *address, uint32_t mask, unsigned bytes,
                  unsigned unit); /* NULL: today's rules */
    unsigned unit;                /* bytes of a word of a bank, or of the least transaction */
};

struct emu_model {
    struct emu_model_info info;
    struct model_rule shared, load, store; /* load, store: global memory */
};

/* Counts an access by a model's rules. Arguments as for count_shared and count_global in
 * counters.c. */
void model_shared(const struct emu_model *, struct insn_counts *, const uint64_t *address,
                  uint32_t mask, unsigned bytes);
void model_global(const struct emu_model *, struct insn_counts *, const uint64_t *address,
                  uint32_t mask, unsigned bytes, bool load);

/* ---- struct emu: a device with its memory, its modules and its settings ---------------------- */

/* The state of the observers: see events.h. */
struct checkers;
struct emu_trace;
struct pictures;
struct records;

/* Another device. Kernels may access its memory only if may_access is set. */
struct peer {
    struct emu *emu;
    bool may_access;
};

/* Texture and surface objects: an object's number minus 1 is its place; NULL: it is closed. */
struct textures {
    struct emu_texture **all;
    size_t count;
};

/* Launches that count as one for the limits: one of the host with all that its kernels launch, or
 * all between emu_together_begin() and emu_together_end(). */
struct together {
    unsigned depth; /* of the pairs of these calls that the host is in */
    double began;
    uint64_t executed; /* warp instructions, in turns that are over */
};

struct emu {
    const struct emu_gpu *gpu;
    unsigned number;
    unsigned threads;         /* host threads that run a grid */
    struct thread_pool pool;  /* all but the calling thread */
    unsigned patience, limit; /* seconds */
    atomic_bool interrupted;
    const struct emu_model *model; /* NULL: today's rules */
    bool counting, lenient;
    unsigned checks;            /* bits of enum emu_check */
    uint64_t instruction_limit; /* of launches together; 0: none */
    struct together together;   /* the lock of the running launch protects it */
    uint64_t schedule;
    uint64_t clock_seed; /* schedule.h; 0: none */
    uint64_t executed;   /* with a clock_seed: warp instructions of all launches */
    bool descending, strict_readers;
    const char *unordered;
    struct checkers *checkers;
    struct records *records;
    struct emu_trace *trace;   /* NULL: off */
    bool trace_steps;          /* as emu_config */
    struct pictures *pictures; /* NULL: off */
    const struct debugger *debugger; /* events.h; NULL: none */
    void (*host_place)(struct emu_host_place *);
    void (*describe_host_place)(const struct emu_host_place *, char *text, size_t size);
    struct memory memory;
    struct heap heap;
    struct textures textures; /* they change only while no block runs */
    struct descendants
        *descendants;     /* of launches in kernels (schedule.h); NULL: none yet */
    size_t pending_limit; /* of those that have not begun; 0: the default */
    struct emu_host_side host_side; /* as emu_config */
    struct emu_program *program;    /* whose main runs here; NULL: none */
    struct peer peers[EMU_MAX_PEERS];
    unsigned peer_count;
    struct emu_module *modules;
    unsigned launches;
    struct launch *running;       /* NULL: none */
    struct launch *suspended;     /* see emu_resume(); NULL: none */
    bool maps_host;               /* kernels can access memory of the host */
    pthread_mutex_t running_lock; /* of `running`, whose launch is not freed while it is held */
    _Atomic(const struct emu_kernel *)
        warned; /* the last kernel that was warned of a wrong printf */
    char message[LAUNCH_MESSAGE + 200];
    pthread_mutex_t lock; /* serialises the calls of emu.h's functions */
};

/* What memory holds that nothing has been stored to. */
#define FRESH_BYTE(emu) ((emu)->lenient ? 0 : 0xCD)

/* Sets the message of emu_message(), and returns the error. */
int device_failed(struct emu *, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For kernels: the range that holds an address, on this device or a peer. False: no range does. */
bool device_range(const struct emu *, uint64_t address, struct range *);
/* For kernels: a texture or surface object; NULL: it is not open on this device. (module.c) */
const struct emu_texture *device_texture(const struct emu *, uint64_t object);
/* Says what is wrong with an object that is not open: "it has been destroyed". (module.c) */
const char *device_describe_object(const struct emu *, uint64_t object);
/* Frees all of them. (module.c) */
void device_close_textures(struct emu *);
/* Do other processes access memory that kernels of the device may access, too? */
bool device_shares_memory(const struct emu *);
/* Describes an address that cannot be one of global memory: "a null pointer", "8 bytes from a null
 * pointer", "it is an address of shared memory". False: it could be. */
bool device_is_odd_address(uint64_t address, char *text, size_t size);
/* Is it an address of another device's memory, mapped or not? */
bool device_is_of_peer(const struct emu *, uint64_t address);
/* If the whole pointer must be wrong, and not an index, what it is: "not in device memory; is it a
 * pointer to memory of the host?" NULL: it may be an index that leaves an allocation. */
const char *device_foreign_address(const struct emu *, uint64_t address);
/* "12 bytes past the end of the 400 bytes at 0x…", or "no memory is allocated near it" */
void device_describe_address(const struct emu *, uint64_t address, char *text, size_t size);

/* The host's monotonic clock, in seconds, or what the function of device_set_clock() returns: a
 * debugger's clock, which repeats. */
double device_seconds(void);
void device_set_clock(double (*seconds)(void));
/* Appends to a text. */
void device_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The kernel of an .entry, decoded when it is first asked for. Only one call at a time.
 * (module.c) */
int module_kernel(struct emu *, struct emu_module *, const struct ptx_function *,
                  struct emu_kernel **);
/* Frees a module that has been removed from the list. (module.c) */
void module_free(struct emu_module *);

/* Checks a launch. Returns 0, or an enum emu_error with the message set. `shared`: bytes per block.
 * (launch.c) */
int launch_check(struct emu *, const struct emu_kernel *, const struct emu_shape *, size_t shared);

/* Closes what launches in kernels need, if it is open. (run.c) */
void descendants_close(struct emu *);

/* Runs a launch to its end on the device's host threads, or until it is suspended. (scheduler.c) */
void launch_run(struct launch *);

/* ---- emu --lenient: accesses outside of memory that a GPU lets pass -------------------------- */

/* A GPU maps memory in pages, and notices only an access to a page that it has not mapped. So an
 * access passes if an allocation has a part of its page of 2 MiB. Outside of device memory it
 * passes if mapped memory of the host is less than 4 KiB away, so that nearly all pointers of the
 * host are noticed. Shared memory is handed out in units of 128 bytes. (notes/checks.md) */

/* The bytes of a block's shared memory, of `size` bytes, with those that pass behind it. */
uint64_t stray_shared_bytes(uint64_t size);

/* An access of which some lane leaves an allocation, or a block's shared memory. Keeps the lanes
 * that go on together, sets access->outside to those of them that are outside, and announces these.
 * A load of a lane outside reads what is there, or 0 behind memory of the host, which has its own
 * data there. A store or an atomic goes nowhere. Lanes that read 0 or store go on alone, and their
 * addresses lead to block->nowhere. The first function also sets w->near; the second, access->host.
 * False: the access of the first lane does not pass. */
bool stray_enter_global(struct warp *, const struct insn *, struct access *);
bool stray_enter_shared(struct warp *, const struct insn *, struct access *, struct block *owner);

/* ---- reports of invalid accesses ------------------------------------------------------------- */

/* Each function announces all invalid lanes, and ends the launch with the error of the first one.
 * access->space must not be generic. In spaces other than global memory, addresses count from the
 * start of the space. */

void access_misaligned(struct warp *, const struct insn *, const struct access *);
/* For global and constant memory. */
void access_outside_global(struct warp *, const struct insn *, const struct access *);
/* For the other spaces, which have `size` bytes. */
void access_outside(struct warp *, const struct insn *, const struct access *, uint64_t size);
/* ", 4 bytes before its beginning: index -1", if an address is a negative number */
void describe_before(uint64_t address, unsigned bytes, char text[80]);
/* For a space that cannot be written or has no atomics. */
void access_not_allowed(struct warp *, const struct insn *, const struct access *);

#endif
