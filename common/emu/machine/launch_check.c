/* launch_check.c — checks a launch against the limits of the device and of the kernel. */
#include "device.h"
#include "scheduler.h"

struct emu_dim launch_cluster(const struct emu_kernel *kernel, const struct emu_shape *shape)
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
    const char *name = kernel->info.name;
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
    if (kernel->local_bytes <= MOST_LOCAL) return EMU_OK;
    return device_failed(emu, EMU_LAUNCH_OUT_OF_RESOURCES,
                         "kernel %s: %zu bytes of local memory a thread; a GPU has at most %d: "
                         "put large arrays into global memory",
                         kernel->name, kernel->local_bytes, MOST_LOCAL);
}

int launch_check(struct emu *emu, const struct emu_kernel *kernel, const struct emu_shape *shape,
                 size_t shared)
{
    struct emu_dim grid = shape->grid, block = shape->block;
    enum { MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };
    const struct emu_gpu *gpu = emu->gpu;
    const char *name = kernel->info.name;
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
