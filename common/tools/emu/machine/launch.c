/* launch.c — one launch: its limits, its structure, its parameters. */
#include "events.h"
#include "schedule.h"

/* ---- checks a launch against the limits of the device and of the kernel ---------------------- */

/* The size of a launch's clusters, in blocks. */
static struct emu_dim launch_cluster(const struct emu_kernel *kernel, const struct emu_shape *shape)
{
    const unsigned *exact = kernel->info.cluster;
    if (shape->cluster.x) return shape->cluster;
    if (exact[0]) return (struct emu_dim){exact[0], exact[1], exact[2]};
    return (struct emu_dim){1, 1, 1};
}

static int check_cluster(struct emu *emu, const struct emu_kernel *kernel,
                         const struct emu_shape *shape)
{
    enum { FIRST_WITH_CLUSTERS = 9 }; /* compute capability */
    struct emu_dim grid = shape->grid, c = launch_cluster(kernel, shape);
    char name[EMU_NAME_SIZE];
    kernel_base_name(kernel->info.name, name, sizeof name);
    const unsigned *exact = kernel->info.cluster;
    uint64_t size = (uint64_t)c.x * c.y * c.z;
    unsigned most = shape->large_clusters ? EMU_LARGEST_CLUSTER : EMU_PORTABLE_CLUSTER;
    if (kernel->function->max_cluster && kernel->function->max_cluster < most)
        most = kernel->function->max_cluster;
    if (size > 1 && emu->gpu->major < FIRST_WITH_CLUSTERS)
        return device_failed(emu, EMU_INVALID_CLUSTER_SIZE,
                             "kernel %s: clusters of %llu blocks on a GPU of compute capability "
                             "%d.%d; they need %d.0",
                             name, (unsigned long long)size, emu->gpu->major, emu->gpu->minor,
                             FIRST_WITH_CLUSTERS);
    if (!size || size > most)
        return device_failed(emu, EMU_INVALID_CLUSTER_SIZE,
                             "kernel %s: clusters of (%u,%u,%u) blocks; 1 to %u can form one%s",
                             name, c.x, c.y, c.z, most,
                             most == EMU_PORTABLE_CLUSTER
                                 ? ", more with cudaFuncAttributeNonPortableClusterSizeAllowed"
                                 : "");
    if (exact[0] && (c.x != exact[0] || c.y != exact[1] || c.z != exact[2]))
        return device_failed(
            emu, EMU_INVALID_CLUSTER_SIZE,
            "kernel %s: clusters of (%u,%u,%u) blocks; it was compiled for (%u,%u,%u)", name, c.x,
            c.y, c.z, exact[0], exact[1], exact[2]);
    if (grid.x % c.x || grid.y % c.y || grid.z % c.z)
        return device_failed(emu, EMU_INVALID_CLUSTER_SIZE,
                             "kernel %s: a grid of (%u,%u,%u) blocks, which is no multiple of the "
                             "clusters' (%u,%u,%u)",
                             name, grid.x, grid.y, grid.z, c.x, c.y, c.z);
    return EMU_OK;
}

/* ptxas accepts such a kernel. That no GPU has more is in CUDA's manual, in the table of the limits
 * of each compute capability; it does not say which error a launch gives. */
static int check_local(struct emu *emu, const struct emu_kernel_info *kernel)
{
    enum { MOST_LOCAL = 512 << 10 };
    char name[EMU_NAME_SIZE];
    if (kernel->local_bytes <= MOST_LOCAL) return EMU_OK;
    kernel_base_name(kernel->name, name, sizeof name);
    return device_failed(emu, EMU_LAUNCH_OUT_OF_RESOURCES,
                         "kernel %s: %zu bytes of local memory a thread; a GPU has at most %d: "
                         "put large arrays into global memory",
                         name, kernel->local_bytes, MOST_LOCAL);
}

int launch_check(struct emu *emu, const struct emu_kernel *kernel, const struct emu_shape *shape,
                 size_t shared)
{
    struct emu_dim grid = shape->grid, block = shape->block;
    enum { MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };
    const struct emu_gpu *gpu = emu->gpu;
    char name[EMU_NAME_SIZE];
    kernel_base_name(kernel->info.name, name, sizeof name);
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    /* CUDA's manual names cudaErrorInvalidConfiguration for such launches. An H200 with CUDA 13
     * returns cudaErrorInvalidValue for each of them, and so does the emulator. */
    if (!threads || !grid.x || !grid.y || !grid.z)
        return device_failed(emu, EMU_INVALID_VALUE,
                             "kernel %s: the grid (%u,%u,%u) of blocks (%u,%u,%u) is empty", name,
                             grid.x, grid.y, grid.z, block.x, block.y, block.z);
    if (grid.x > INT32_MAX || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ)
        return device_failed(emu, EMU_INVALID_VALUE,
                             "kernel %s: the grid (%u,%u,%u) is beyond (%d,%d,%d)", name, grid.x,
                             grid.y, grid.z, INT32_MAX, MAX_GRID_YZ, MAX_GRID_YZ);
    if (block.x > (unsigned)gpu->threads_per_block || block.y > (unsigned)gpu->threads_per_block ||
        block.z > MAX_BLOCK_Z || threads > (unsigned)gpu->threads_per_block)
        return device_failed(
            emu, EMU_INVALID_VALUE,
            "kernel %s: a block of (%u,%u,%u) threads; at most %d fit, and at most "
            "%d in z",
            name, block.x, block.y, block.z, gpu->threads_per_block, MAX_BLOCK_Z);
    if (threads > kernel->info.max_threads)
        return device_failed(emu, EMU_INVALID_VALUE,
                             "kernel %s: a block of %llu threads; it was compiled for at most %u",
                             name, (unsigned long long)threads, kernel->info.max_threads);
    const unsigned *exact = kernel->function->exact_block;
    if (exact[0] && (block.x != exact[0] || block.y != exact[1] || block.z != exact[2]))
        return device_failed(
            emu, EMU_INVALID_VALUE,
            "kernel %s: a block of (%u,%u,%u) threads; it was compiled for (%u,%u,%u)", name,
            block.x, block.y, block.z, exact[0], exact[1], exact[2]);
    if (shared > gpu->shared_per_block_optin)
        return device_failed(emu, EMU_INVALID_VALUE,
                             "kernel %s: %zu bytes of shared memory a block; at most %zu fit", name,
                             shared, gpu->shared_per_block_optin);
    uint64_t resident =
        (uint64_t)blocks_per_sm(gpu, (unsigned)threads, shared) * (unsigned)gpu->sms;
    if (shape->cooperative && (uint64_t)grid.x * grid.y * grid.z > resident)
        return device_failed(
            emu, EMU_COOPERATIVE_TOO_LARGE,
            "kernel %s: a cooperative grid of %llu blocks; at most %llu are resident", name,
            (unsigned long long)grid.x * grid.y * grid.z, (unsigned long long)resident);
    int error = check_local(emu, &kernel->info);
    return error ? error : check_cluster(emu, kernel, shape);
}

/* ---- one launch: makes its structure, copies its parameters, and runs it --------------------- */

/* Global memory in which a cooperative grid counts its blocks for grid.sync(). */
static int make_workspace(struct emu *emu, emu_addr *workspace)
{
    int error = memory_alloc(&emu->memory, WORKSPACE_BYTES, workspace);
    if (!error) memset(memory_view(&emu->memory, *workspace, WORKSPACE_BYTES), 0, WORKSPACE_BYTES);
    if (!error) event_host_write(emu, *workspace, WORKSPACE_BYTES);
    return error;
}

static void launch_free(struct launch *launch)
{
    if (launch->workspace) memory_free(&launch->emu->memory, launch->workspace);
    if (launch->children) children_free(launch);
    pthread_mutex_destroy(&launch->lock);
    free(launch->total);
    free(launch->params);
    free(launch);
}

/* NULL: no device memory is left for its workspace. */
static struct launch *launch_new(struct emu *emu, struct emu_kernel *kernel,
                                 const struct emu_shape *shape, size_t shared, void *const *args)
{
    struct emu_dim grid = shape->grid, block = shape->block;
    struct launch *launch = allocated(calloc(1, sizeof *launch));
    struct emu_dim cluster = launch_cluster(kernel, shape);
    unsigned size = cluster.x * cluster.y * cluster.z;
    unsigned resident = emu_active_clusters(
        emu->gpu, size, blocks_per_sm(emu->gpu, block.x * block.y * block.z, shared));
    *launch = (struct launch){.emu = emu,
                              .kernel = kernel,
                              .id = emu->launches++,
                              .operation = shape->operation,
                              .grid = grid,
                              .block = block,
                              .cluster = cluster,
                              .cluster_size = size,
                              .explicit_cluster = shape->cluster.x || kernel->info.cluster[0],
                              .cluster_count = (uint64_t)grid.x * grid.y * grid.z / size,
                              .dynamic_shared = shape->dynamic_shared,
                              .shared_bytes = shared,
                              .counting = emu->counting,
                              .model = emu->model,
                              .lenient = emu->lenient,
                              .checks = emu->checks,
                              .descending = emu->descending,
                              .resident_limit = resident ? resident : 1};
    pthread_mutex_init(&launch->lock, NULL);
    /* 8 more bytes: a load of a whole element may reach beyond the end */
    launch->params = allocated(calloc(1, kernel->param_bytes + 8));
    if (emu->counting)
        launch->total = allocated(calloc(kernel->code_count, sizeof *launch->total));
    if (shape->cooperative && make_workspace(emu, &launch->workspace)) {
        launch_free(launch);
        return NULL;
    }
    for (unsigned i = 0; i < kernel->info.params; i++)
        memcpy(launch->params + kernel->info.param_offset[i], args[i], kernel->info.param_size[i]);
    return launch;
}

/* The launch has ended: returns its error, and frees it. */
static int end(struct emu *emu, struct launch *launch)
{
    int error = launch->error;
    event_launch_end(launch, device_seconds() - launch->began);
    if (error)
        device_failed(emu, error, "%s", launch->message);
    else
        error = children_take(emu, launch);
    launch_free(launch);
    return error;
}

/* Runs it to its end, or until it is suspended. */
static int go_on_alone(struct emu *emu, struct launch *launch)
{
    launch_run(launch);
    emu->suspended = launch->suspended ? launch : NULL;
    return emu->suspended ? EMU_SUSPENDED : end(emu, launch);
}

/* The same, with all that it launches. */
static int go_on(struct emu *emu, struct launch *launch)
{
    int error;
    do {
        error = go_on_alone(emu, launch);
        launch = error ? NULL : children_next(emu, &error);
    } while (launch);
    if (error && error != EMU_SUSPENDED) children_drop(emu);
    return error;
}

/* An interrupt may come in a thread that holds the lock and cannot go on, after a crash. */
static bool take_lock(struct emu *emu)
{
    return (emu->interrupted ? pthread_mutex_trylock(&emu->lock)
                             : pthread_mutex_lock(&emu->lock)) == 0;
}

int emu_resume(struct emu *emu, bool waits)
{
    if (!take_lock(emu)) return EMU_SUSPENDED;
    struct launch *launch = emu->suspended;
    if (launch) launch->may_suspend = !waits;
    int error = launch ? go_on(emu, launch) : EMU_OK;
    pthread_mutex_unlock(&emu->lock);
    return error;
}

/* What the launch needs beyond its structure. */
static int prepare(struct emu *emu, struct launch *launch, const struct emu_shape *shape)
{
    struct emu_kernel *kernel = launch->kernel;
    if (kernel->uses_runtime) {
        int error = children_open(emu, launch);
        if (error) return error;
    }
    random_begin(launch, emu->schedule);
    launch->may_suspend = shape->may_suspend && emu->maps_host;
    launch->began = device_seconds();
    return EMU_OK;
}

int launch_start(struct emu *emu, struct emu_kernel *kernel, const struct emu_shape *shape,
                 void *const *args, const struct launch_origin *origin, struct launch **out)
{
    size_t shared = shape->dynamic_shared ? kernel->dynamic_shared_offset + shape->dynamic_shared
                                          : kernel->info.shared_bytes;
    int error = launch_check(emu, kernel, shape, shared);
    if (error) return error;
    if (kernel->uses_heap && heap_open(&emu->heap, &emu->memory))
        return device_failed(emu, EMU_OUT_OF_MEMORY, "no device memory for the heap of malloc");
    struct launch *launch = launch_new(emu, kernel, shape, shared, args);
    if (!launch)
        return device_failed(emu, EMU_OUT_OF_MEMORY, "no device memory for a cooperative launch");
    if (origin) {
        launch->launched_by = origin->kernel;
        launch->launcher = origin->launch;
        launch->depth = origin->depth;
        launch->ended = origin->ended;
    }
    error = prepare(emu, launch, shape);
    if (error) {
        launch_free(launch);
        return error;
    }
    event_launch_begin(launch);
    *out = launch;
    return EMU_OK;
}

static void begin_together(struct emu *emu)
{
    emu->together.began = device_seconds();
    emu->together.executed = 0;
}

void emu_together_begin(struct emu *emu)
{
    pthread_mutex_lock(&emu->lock);
    if (emu->together.depth++ == 0) begin_together(emu);
    pthread_mutex_unlock(&emu->lock);
}

int emu_together_check(struct emu *emu)
{
    pthread_mutex_lock(&emu->lock);
    bool is_over = emu->limit && device_seconds() - emu->together.began > emu->limit;
    int error = is_over ? device_failed(emu, EMU_LAUNCH_TIMEOUT,
                                        "launches that count as one have run for %u seconds, and "
                                        "EMU_KERNEL_TIMEOUT allows no more",
                                        emu->limit)
                        : EMU_OK;
    pthread_mutex_unlock(&emu->lock);
    return error;
}

void emu_together_end(struct emu *emu)
{
    pthread_mutex_lock(&emu->lock);
    emu->together.depth--;
    pthread_mutex_unlock(&emu->lock);
}

static int run(struct emu *emu, struct emu_kernel *kernel, const struct emu_shape *shape,
               void *const *args)
{
    struct launch *launch;
    if (!emu->together.depth) begin_together(emu);
    int error = launch_start(emu, kernel, shape, args, NULL, &launch);
    return error ? error : go_on(emu, launch);
}

int emu_launch_shape(struct emu *emu, struct emu_kernel *kernel, const struct emu_shape *shape,
                     void *const *args)
{
    pthread_mutex_lock(&emu->lock);
    int error = run(emu, kernel, shape, args);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_launch(struct emu *emu, struct emu_kernel *kernel, struct emu_dim grid,
               struct emu_dim block, size_t dynamic_shared, void *const *args, bool cooperative)
{
    const struct emu_shape shape = {
        .grid = grid, .block = block, .dynamic_shared = dynamic_shared, .cooperative = cooperative};
    return emu_launch_shape(emu, kernel, &shape, args);
}

int emu_pending_limit(struct emu *emu, size_t launches)
{
    pthread_mutex_lock(&emu->lock);
    int error = emu->suspended ? EMU_INVALID_VALUE : EMU_OK;
    if (!error) emu->pending_limit = launches;
    if (!error) descendants_close(emu); /* the next launch opens it with the new size */
    pthread_mutex_unlock(&emu->lock);
    return error;
}

void emu_allow_shared(struct emu_kernel *kernel, size_t bytes)
{
    kernel->most_dynamic_shared = bytes;
}

/* As ptxas, which takes an even number, and no fewer than 24. */
void emu_limit_registers(struct emu_kernel *kernel, unsigned most)
{
    enum { LEAST = 24 };
    unsigned even = most < LEAST ? LEAST : most / 2 * 2;
    if (kernel->info.registers > even) kernel->info.registers = even;
}

uint64_t emu_last_operation(const struct emu *emu)
{
    return emu->descendants ? emu->descendants->ended : 0;
}

void emu_interrupt(struct emu *emu) { emu->interrupted = true; }

bool emu_count(struct emu *emu, bool on)
{
    pthread_mutex_lock(&emu->lock);
    bool was = emu->counting;
    emu->counting = on;
    pthread_mutex_unlock(&emu->lock);
    return was;
}
