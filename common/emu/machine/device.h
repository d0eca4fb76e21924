/* device.h — struct emu: a device with its memory, its modules and its settings. */
#ifndef EMU_DEVICE_H
#define EMU_DEVICE_H

#include "heap.h"
#include "memory.h"
#include "common/emu/ptx/module.h"
#include "pool.h"

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
    size_t count, room;
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
    uint64_t clock_seed; /* clocks.h; 0: none */
    uint64_t executed;   /* with a clock_seed: warp instructions of all launches */
    bool descending, strict_readers;
    struct checkers *checkers;
    struct records *records;
    struct emu_trace *trace;   /* NULL: off */
    bool trace_steps;          /* as emu_config */
    struct pictures *pictures; /* NULL: off */
    void (*host_place)(struct emu_host_place *);
    void (*describe_host_place)(const struct emu_host_place *, char *text, size_t size);
    struct memory memory;
    struct heap heap;
    struct textures textures; /* they change only while no block runs */
    struct descendants
        *descendants;     /* of launches in kernels (schedule.h); NULL: none yet */
    size_t pending_limit; /* of those that have not begun; 0: the default */
    struct emu_host_side host_side; /* as emu_config */
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
/* For kernels: a texture or surface object; NULL: it is not open on this device. (texture.c) */
const struct emu_texture *device_texture(const struct emu *, uint64_t object);
/* Says what is wrong with an object that is not open: "it has been destroyed". (texture.c) */
const char *device_describe_object(const struct emu *, uint64_t object);
/* Frees all of them. (texture.c) */
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

/* The host's monotonic clock, in seconds. */
double device_seconds(void);
/* Appends to a text. */
void device_append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The kernel of an .entry, decoded when it is first asked for. Only one call at a time.
 * (module.c) */
int module_kernel(struct emu *, struct emu_module *, const struct ptx_function *,
                  struct emu_kernel **);
/* Frees a module that has been removed from the list. (module.c) */
void module_free(struct emu_module *);

/* The size of a launch's clusters, in blocks. (launch_check.c) */
struct emu_dim launch_cluster(const struct emu_kernel *, const struct emu_shape *);
/* Checks a launch. Returns 0, or an enum emu_error with the message set. `shared`: bytes per block.
 * (launch_check.c) */
int launch_check(struct emu *, const struct emu_kernel *, const struct emu_shape *, size_t shared);

/* Closes what launches in kernels need, if it is open. (children.c) */
void descendants_close(struct emu *);

/* Runs a launch to its end on the device's host threads, or until it is suspended.
 * (scheduler.c) */
void launch_run(struct launch *);
/* The launch that emu_progress() tells of; NULL: none. (progress.c) */
void progress_set(struct emu *, struct launch *);

#endif
