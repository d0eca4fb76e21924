/*
 * gpu.c — the models of GPUs that the emulator can take the place of.
 *
 * The limits of a block and of a multiprocessor (SM) come from the compute capability: CUDA C++
 * Programming Guide, "Compute Capabilities", table "Technical Specifications". The numbers of SMs,
 * clocks, buses and caches come from NVIDIA's data sheets and architecture white papers; the L2
 * sizes of the H200 and the B200 are those that cudaGetDeviceProperties returned on one. `memory`
 * is the total that nvidia-smi shows, which is slightly less than the advertised capacity.
 */
#include "common/emu/emu.h"

#include <strings.h>

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/* Every GPU of compute capability 7.5 to 10.x has these. */
#define COMMON_LIMITS                                                                              \
    .threads_per_block = 1024, .warp_size = 32, .registers_per_sm = 65536,                         \
    .registers_per_block = 65536, .constant = 64 * KIB, .shared_per_block = 48 * KIB

static const struct emu_gpu models[] = {
    {COMMON_LIMITS, .key = "h200", .name = "NVIDIA H200", .major = 9, .minor = 0, .sms = 132,
     .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 227 * KIB,
     .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .memory = 143771 * MIB, .l2 = 60 * MIB,
     .clock_khz = 1980000, .memory_clock_khz = 3201000, .memory_bus_bits = 6016},
    {COMMON_LIMITS, .key = "h100", .name = "NVIDIA H100 80GB HBM3", .major = 9, .minor = 0,
     .sms = 132, .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 227 * KIB,
     .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .memory = 81559 * MIB, .l2 = 50 * MIB,
     .clock_khz = 1980000, .memory_clock_khz = 2619000, .memory_bus_bits = 5120},
    {COMMON_LIMITS, .key = "a100", .name = "NVIDIA A100-SXM4-80GB", .major = 8, .minor = 0,
     .sms = 108, .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 163 * KIB,
     .shared_per_sm = 164 * KIB, .shared_reserved = 1 * KIB, .memory = 81920 * MIB, .l2 = 40 * MIB,
     .clock_khz = 1410000, .memory_clock_khz = 1593000, .memory_bus_bits = 5120},
    {COMMON_LIMITS, .key = "t4", .name = "Tesla T4", .major = 7, .minor = 5, .sms = 40,
     .threads_per_sm = 1024, .blocks_per_sm = 16, .shared_per_block_optin = 64 * KIB,
     .shared_per_sm = 64 * KIB, .shared_reserved = 0, .memory = 15360 * MIB, .l2 = 4 * MIB,
     .clock_khz = 1590000, .memory_clock_khz = 5001000, .memory_bus_bits = 256},
    {COMMON_LIMITS, .key = "rtx4090", .name = "NVIDIA GeForce RTX 4090", .major = 8, .minor = 9,
     .sms = 128, .threads_per_sm = 1536, .blocks_per_sm = 24, .shared_per_block_optin = 99 * KIB,
     .shared_per_sm = 100 * KIB, .shared_reserved = 1 * KIB, .memory = 24564 * MIB, .l2 = 72 * MIB,
     .clock_khz = 2520000, .memory_clock_khz = 10501000, .memory_bus_bits = 384},
    {COMMON_LIMITS, .key = "b200", .name = "NVIDIA B200", .major = 10, .minor = 0, .sms = 148,
     .threads_per_sm = 2048, .blocks_per_sm = 32, .shared_per_block_optin = 227 * KIB,
     .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .memory = 183359 * MIB,
     .l2 = 126 * MIB + 512 * KIB, .clock_khz = 1965000, .memory_clock_khz = 3996000,
     .memory_bus_bits = 7680},
};

/*
 * The blocks of a cluster run in one of the GPU's processing clusters (GPCs). These are the numbers
 * of SMs per GPC of an H200, derived from what cudaOccupancyMaxActiveClusters returned for clusters
 * of 2, 4, 8 and 16 blocks. For other GPUs they are unknown: SMS_PER_GPC for each GPC is assumed.
 */
static const int h200_gpcs[] = {18, 18, 18, 16, 16, 16, 16, 14};
enum { H200_SMS = 132, SMS_PER_GPC = 16 };

unsigned emu_active_clusters(const struct emu_gpu *gpu, unsigned cluster_blocks, unsigned per_sm)
{
    unsigned clusters = 0;
    if (cluster_blocks <= 1) return (unsigned)gpu->sms * per_sm;
    if (gpu->major == 9 && gpu->sms == H200_SMS) {
        for (size_t k = 0; k < sizeof h200_gpcs / sizeof *h200_gpcs; k++)
            clusters += (unsigned)h200_gpcs[k] / cluster_blocks;
        return clusters * per_sm;
    }
    for (int left = gpu->sms; left > 0; left -= SMS_PER_GPC)
        clusters += (unsigned)(left < SMS_PER_GPC ? left : SMS_PER_GPC) / cluster_blocks;
    return clusters * per_sm;
}

const struct emu_gpu *emu_gpu_at(size_t index)
{
    return index < sizeof models / sizeof *models ? &models[index] : NULL;
}

const struct emu_gpu *emu_gpu_find(const char *key)
{
    const struct emu_gpu *gpu;
    for (size_t i = 0; (gpu = emu_gpu_at(i)) != NULL; i++)
        if (strcasecmp(gpu->key, key) == 0) return gpu;
    return NULL;
}
