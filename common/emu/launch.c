/* launch.c — one launch: its limits checked, its parameters copied, its counts kept. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "device.h"
#include "sched.h"
#include "watch.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int check_launch(struct emu *emu, const struct emu_kernel *kernel, struct emu_dim grid,
                        struct emu_dim block, size_t shared, bool cooperative)
{
    enum { MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };
    const struct emu_gpu *gpu = emu->gpu;
    const char *name = kernel->info.name;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!threads || !grid.x || !grid.y || !grid.z)
        return device_failed(emu, EMU_INVALID_CONFIGURATION,
                             "kernel %s: the grid (%u,%u,%u) of blocks (%u,%u,%u) is empty", name,
                             grid.x, grid.y, grid.z, block.x, block.y, block.z);
    if (grid.x > INT32_MAX || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ)
        return device_failed(emu, EMU_INVALID_CONFIGURATION,
                             "kernel %s: the grid (%u,%u,%u) is beyond (%d,%d,%d)", name, grid.x,
                             grid.y, grid.z, INT32_MAX, MAX_GRID_YZ, MAX_GRID_YZ);
    if (block.x > (unsigned)gpu->threads_per_block || block.y > (unsigned)gpu->threads_per_block ||
        block.z > MAX_BLOCK_Z || threads > (unsigned)gpu->threads_per_block)
        return device_failed(emu, EMU_INVALID_CONFIGURATION,
                             "kernel %s: a block of (%u,%u,%u) threads; at most %d fit", name,
                             block.x, block.y, block.z, gpu->threads_per_block);
    if (threads > kernel->info.max_threads)
        return device_failed(emu, EMU_LAUNCH_OUT_OF_RESOURCES,
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
    if (cooperative && (uint64_t)grid.x * grid.y * grid.z > resident)
        return device_failed(
            emu, EMU_COOPERATIVE_TOO_LARGE,
            "kernel %s: a cooperative grid of %llu blocks; at most %llu are resident", name,
            (unsigned long long)grid.x * grid.y * grid.z, (unsigned long long)resident);
    return EMU_OK;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void keep_record(struct emu *emu, const struct launch *launch, double seconds)
{
    if (emu->record_count == emu->record_room) {
        size_t room = emu->record_room ? 2 * emu->record_room : 16;
        struct emu_launch_record **grown = realloc(emu->records, room * sizeof *grown);
        if (!grown) return;
        emu->records = grown;
        emu->record_room = room;
    }
    struct emu_launch_record *record = record_make(launch, seconds);
    if (record) emu->records[emu->record_count++] = record;
}

static int run(struct emu *emu, struct emu_kernel *kernel, struct emu_dim grid,
               struct emu_dim block, size_t dynamic_shared, void *const *args, bool cooperative)
{
    size_t shared =
        dynamic_shared ? kernel->dynamic_shared_offset + dynamic_shared : kernel->info.shared_bytes;
    int error = check_launch(emu, kernel, grid, block, shared, cooperative);
    if (error) return error;
    struct launch *launch = calloc(1, sizeof *launch);
    uint8_t *params =
        calloc(1, kernel->param_bytes + 8); /* 8: an element may be loaded beyond a short end */
    struct insn_counts *total = emu->counting ? calloc(kernel->code_count, sizeof *total) : NULL;
    if (!launch || !params || (emu->counting && !total)) {
        free(launch), free(params), free(total);
        return device_failed(emu, EMU_OUT_OF_MEMORY, "out of host memory");
    }
    for (unsigned i = 0; i < kernel->info.params; i++)
        memcpy(params + kernel->info.param_offset[i], args[i], kernel->info.param_size[i]);
    unsigned threads = block.x * block.y * block.z,
             per_sm = blocks_per_sm(emu->gpu, threads, shared);
    *launch = (struct launch){.emu = emu,
                              .kernel = kernel,
                              .id = emu->launches++,
                              .grid = grid,
                              .block = block,
                              .cluster = {1, 1, 1},
                              .cluster_size = 1,
                              .cluster_count = (uint64_t)grid.x * grid.y * grid.z,
                              .dynamic_shared = dynamic_shared,
                              .shared_bytes = shared,
                              .params = params,
                              .counting = emu->counting,
                              .allow_exited = emu->allow_exited,
                              .checks = emu->checks,
                              .trace = emu->tracing ? &emu->trace : NULL,
                              .total = total,
                              .resident_limit =
                                  (uint64_t)(per_sm ? per_sm : 1) * (unsigned)emu->gpu->sms};
    pthread_mutex_init(&launch->lock, NULL);
    device_host_place(emu, &launch->host_place);

    double start = seconds_now();
    if (watch_begin(launch))
        launch_run(launch);
    else
        launch->error = EMU_OUT_OF_MEMORY;
    watch_end(launch);
    double seconds = seconds_now() - start;

    error = launch->error;
    if (error)
        device_failed(emu, error, "%s", launch->message);
    else if (emu->counting)
        keep_record(emu, launch, seconds);
    pthread_mutex_destroy(&launch->lock);
    free(total);
    free(params);
    free(launch);
    return error;
}

int emu_launch(struct emu *emu, struct emu_kernel *kernel, struct emu_dim grid,
               struct emu_dim block, size_t dynamic_shared, void *const *args, bool cooperative)
{
    pthread_mutex_lock(&emu->lock);
    int error = run(emu, kernel, grid, block, dynamic_shared, args, cooperative);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

/* ---- records ------------------------------------------------------------------------------- */

bool emu_count(struct emu *emu, bool on)
{
    pthread_mutex_lock(&emu->lock);
    bool was = emu->counting;
    emu->counting = on;
    pthread_mutex_unlock(&emu->lock);
    return was;
}

size_t emu_records(const struct emu *emu) { return emu->record_count; }

const struct emu_launch_record *emu_record(const struct emu *emu, size_t index)
{
    return index < emu->record_count ? emu->records[index] : NULL;
}

void emu_forget(struct emu *emu)
{
    for (size_t i = 0; i < emu->record_count; i++) record_free(emu->records[i]);
    emu->record_count = 0;
}
