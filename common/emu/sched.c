#define _POSIX_C_SOURCE 200809L
#include "sched.h"
#include "block.h"
#include "device.h"
#include <stdlib.h>
#include <time.h>

enum { MAX_HOST_THREADS = 256 };

unsigned blocks_per_sm(const struct emu_gpu *gpu, unsigned threads, size_t shared_bytes)
{
    unsigned warps = (threads + WARP - 1) / WARP, most = (unsigned)gpu->blocks_per_sm;
    unsigned by_threads = warps ? (unsigned)gpu->threads_per_sm / (warps * WARP) : 0;
    size_t by_shared = gpu->shared_per_sm / (shared_bytes + gpu->shared_reserved +
                                             !(shared_bytes + gpu->shared_reserved));
    if (by_threads < most) most = by_threads;
    if (by_shared < most) most = (unsigned)by_shared;
    return most;
}

/* The next block to run: a new one while the GPU has room, then the one that has waited longest.
 * `spare` is the memory of a block that has ended, for a new one. NULL: none is left for this
 * thread. */
static struct block *next_block(struct launch *launch, struct block **spare)
{
    struct block *block = NULL;
    pthread_mutex_lock(&launch->lock);
    bool is_new = launch->next_block < launch->block_count &&
                  launch->resident < launch->resident_limit && !launch->error;
    uint64_t index = launch->next_block;
    if (is_new) {
        launch->next_block++;
        launch->resident++;
    } else if (launch->waiting && !launch->error) {
        block = launch->waiting;
        launch->waiting = block->next;
        if (!launch->waiting) launch->waiting_end = &launch->waiting;
    }
    pthread_mutex_unlock(&launch->lock);
    if (!is_new) return block;

    block = *spare ? *spare : block_new(launch);
    *spare = NULL;
    if (block) {
        block_start(block, index);
        return block;
    }
    pthread_mutex_lock(&launch->lock);
    if (!launch->error)
        snprintf(launch->message, sizeof launch->message,
                 "out of host memory for a block of kernel %s", launch->kernel->info.name);
    launch->error = EMU_OUT_OF_MEMORY;
    pthread_mutex_unlock(&launch->lock);
    return NULL;
}

static void wait_in_queue(struct launch *launch, struct block *block)
{
    block->next = NULL;
    pthread_mutex_lock(&launch->lock);
    *launch->waiting_end = block;
    launch->waiting_end = &block->next;
    pthread_mutex_unlock(&launch->lock);
}

static void add_up(struct launch *launch, const struct insn_counts *counts)
{
    pthread_mutex_lock(&launch->lock);
    for (size_t i = 0; i < launch->kernel->code_count; i++) {
        struct insn_counts *total = &launch->total[i];
        total->executed += counts[i].executed;
        total->lanes += counts[i].lanes;
        total->shared_requests += counts[i].shared_requests;
        total->wavefronts += counts[i].wavefronts;
        total->ideal += counts[i].ideal;
        total->requests += counts[i].requests;
        total->sectors += counts[i].sectors;
        total->bytes += counts[i].bytes;
    }
    pthread_mutex_unlock(&launch->lock);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A block whose slice is over: has it waited too long for what never comes? Only its own running
 * time counts, and only while it changes nothing, so that no block is given up for being slow. */
static void check_patience(struct block *block, double seconds)
{
    unsigned patience = block->launch->emu->patience;
    block->idle = block->changed ? 0 : block->idle + seconds;
    block->changed = false;
    if (block->idle > patience) block_give_up(block, patience);
}

/* One host thread. */
static void *work(void *argument)
{
    struct launch *launch = argument;
    struct insn_counts *counts =
        launch->counting ? calloc(launch->kernel->code_count, sizeof *counts) : NULL;
    struct block *block, *spare = NULL;
    while ((block = next_block(launch, &spare))) {
        double start = now();
        if (!block_run(block, counts)) {
            check_patience(block, now() - start);
            wait_in_queue(launch, block);
            continue;
        }
        block_free(spare);
        spare = block;
        pthread_mutex_lock(&launch->lock);
        launch->resident--;
        pthread_mutex_unlock(&launch->lock);
    }
    block_free(spare);
    if (counts) add_up(launch, counts);
    free(counts);
    return NULL;
}

void launch_run(struct launch *launch)
{
    pthread_t threads[MAX_HOST_THREADS];
    unsigned wanted = launch->emu->threads, started = 0;
    if (wanted > launch->block_count) wanted = (unsigned)launch->block_count;
    if (wanted > MAX_HOST_THREADS) wanted = MAX_HOST_THREADS;
    launch->waiting_end = &launch->waiting;
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, work, launch))
        started++;
    work(launch); /* this thread works too */
    while (started) pthread_join(threads[--started], NULL);
    /* After a fault blocks may still be waiting. */
    for (struct block *block = launch->waiting, *next; block; block = next) {
        next = block->next;
        block_free(block);
    }
}
