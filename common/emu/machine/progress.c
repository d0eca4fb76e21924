/* progress.c — how far the grid is that runs, for emu_progress(). */
#include "device.h"
#include <stdio.h>

void progress_set(struct emu *emu, struct launch *launch)
{
    pthread_mutex_lock(&emu->running_lock);
    emu->running = launch;
    pthread_mutex_unlock(&emu->running_lock);
}

static void read_launch(struct launch *launch, struct emu_progress *progress)
{
    pthread_mutex_lock(&launch->lock);
    uint64_t begun = launch->next_cluster, done = begun - launch->resident;
    progress->advanced = launch->advanced - launch->began;
    pthread_mutex_unlock(&launch->lock);
    snprintf(progress->kernel, sizeof progress->kernel, "%s", launch->kernel->info.name);
    progress->launch = launch->id;
    progress->blocks = launch->cluster_count * launch->cluster_size;
    progress->begun = begun * launch->cluster_size;
    progress->done = done * launch->cluster_size;
    progress->seconds = device_seconds() - launch->began;
    progress->threads = launch->emu->threads;
}

/* The launch cannot end meanwhile: it waits for the lock before it is freed. */
bool emu_progress(struct emu *emu, struct emu_progress *progress)
{
    pthread_mutex_lock(&emu->running_lock);
    struct launch *launch = emu->running;
    if (launch) read_launch(launch, progress);
    pthread_mutex_unlock(&emu->running_lock);
    return launch;
}
