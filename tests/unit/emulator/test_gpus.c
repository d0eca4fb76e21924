/*
 * test_gpus.c — the properties of the emulated GPUs: the table of models, properties and
 * attributes, and the values that the harness takes from them.
 */
#define _GNU_SOURCE
#include "tests/support/cudart_check.h"

#include "common/harness/input/input.h"
#include "common/harness/run/device.h"
#include "common/tools/emu/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NVIDIA's data sheets and the CUDA C++ Programming Guide, "Compute Capabilities". */
static const struct {
    const char *key, *name;
    int major, minor, sms, threads_per_sm, blocks_per_sm;
    unsigned shared_kib, reserved_kib, memory_mib, l2_kib;
    int clock_mhz, memory_clock_mhz, bus_bits;
} gpus[] = {
    {"h200", "NVIDIA H200", 9, 0, 132, 2048, 32, 228, 1, 143771, 61440, 1980, 3201, 6016},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 2048, 32, 228, 1, 81559, 51200, 1980, 2619, 5120},
    {"a100", "NVIDIA A100-SXM4-80GB", 8, 0, 108, 2048, 32, 164, 1, 81920, 40960, 1410, 1593, 5120},
    {"t4", "Tesla T4", 7, 5, 40, 1024, 16, 64, 0, 15360, 4096, 1590, 5001, 256},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 8, 9, 128, 1536, 24, 100, 1, 24564, 73728, 2520, 10501,
     384},
    {"b200", "NVIDIA B200", 10, 0, 148, 2048, 32, 228, 1, 183359, 129536, 1965, 3996, 7680},
};
enum { GPUS = sizeof gpus / sizeof *gpus, KIB = 1024 };

Test(gpus, data_sheets)
{
    for (size_t i = 0; i < GPUS; i++) {
        const struct emu_gpu *g = emu_gpu_at(i);
        cr_assert(g && g == emu_gpu_find(gpus[i].key), "%s", gpus[i].key);
        cr_expect_str_eq(g->name, gpus[i].name);
        cr_expect(g->major == gpus[i].major && g->minor == gpus[i].minor, "%s", g->name);
        cr_expect_eq(g->sms, gpus[i].sms, "%s", g->name);
        cr_expect_eq(g->threads_per_sm, gpus[i].threads_per_sm, "%s", g->name);
        cr_expect_eq(g->blocks_per_sm, gpus[i].blocks_per_sm, "%s", g->name);
        cr_expect_eq(g->shared_per_sm, gpus[i].shared_kib * KIB, "%s", g->name);
        cr_expect_eq(g->shared_reserved, gpus[i].reserved_kib * KIB, "%s", g->name);
        cr_expect_eq(g->shared_per_block_optin, (gpus[i].shared_kib - gpus[i].reserved_kib) * KIB,
                     "%s", g->name);
        cr_expect_eq(g->memory, (size_t)gpus[i].memory_mib * KIB * KIB, "%s", g->name);
        cr_expect_eq(g->l2, gpus[i].l2_kib * KIB, "%s", g->name);
        cr_expect_eq(g->clock_khz, gpus[i].clock_mhz * 1000, "%s", g->name);
        cr_expect_eq(g->memory_clock_khz, gpus[i].memory_clock_mhz * 1000, "%s", g->name);
        cr_expect_eq(g->memory_bus_bits, gpus[i].bus_bits, "%s", g->name);
        cr_expect(g->threads_per_block == 1024 && g->warp_size == 32);
        cr_expect(g->registers_per_sm == 65536 && g->registers_per_block == 65536);
        cr_expect(g->constant == 64 * KIB && g->shared_per_block == 48 * KIB);
    }
    cr_expect(!emu_gpu_at(GPUS) && !emu_gpu_find("voodoo2") && emu_gpu_find("H200"));
}

/* The numbers of clusters of 2, 4, 8 and 16 blocks were measured on an H200. The other numbers are
 * computed. */
Test(gpus, clusters_at_once)
{
    static const struct {
        const char *key;
        unsigned blocks, per_sm, clusters;
    } cases[] = {
        {"h200", 1, 1, 132}, {"h200", 0, 2, 264}, {"h200", 2, 1, 66}, {"h200", 4, 1, 31},
        {"h200", 8, 1, 15},  {"h200", 16, 1, 7},  {"h200", 8, 3, 45}, {"b200", 8, 1, 18},
        {"b200", 16, 1, 9},  {"b200", 4, 1, 37},  {"b200", 3, 2, 92},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(
            emu_active_clusters(emu_gpu_find(cases[i].key), cases[i].blocks, cases[i].per_sm),
            cases[i].clusters, "%s: %u x %u", cases[i].key, cases[i].blocks, cases[i].per_sm);
}

/* ---- properties ------------------------------------------------------------------------------ */

static int attribute(enum cudaDeviceAttr which)
{
    return given(int, cudaDeviceGetAttribute, which, 0);
}

Test(gpus, properties_of_an_h200)
{
    struct cudaDeviceProp p = given(struct cudaDeviceProp, cudaGetDeviceProperties, 0);
    cr_expect_str_eq(p.name, "NVIDIA H200 (emulated)");
    cr_expect(!memcmp(p.uuid.bytes, "emulated GPU\0\0\0\0", sizeof p.uuid.bytes));
    cr_expect(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 && p.maxThreadsDim[2] == 64);
    cr_expect(p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 &&
              p.maxGridSize[2] == 65535);
    cr_expect_eq(p.totalConstMem, 64 * KIB);
    cr_expect_eq(p.memPitch, 2147483647);
    cr_expect(p.textureAlignment == 512 && p.texturePitchAlignment == 32 &&
              p.surfaceAlignment == 512);
    cr_expect_eq(p.persistingL2CacheMaxSize, 60 * KIB * KIB / 8 * 5);
    cr_expect_eq(p.accessPolicyMaxWindowSize, 128 * KIB * KIB);
}

/* Properties that differ between generations. */
static void expect_generation(const char *key, int clusters, int ratio, bool has_persisting)
{
    setenv("EMU_GPU", key, 1);
    cr_expect_eq(attribute(cudaDevAttrClusterLaunch), clusters, "%s", key);
    cr_expect_eq(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio), ratio, "%s", key);
    cr_expect_eq(attribute(cudaDevAttrMaxPersistingL2CacheSize) > 0, has_persisting, "%s", key);
    cr_expect_eq(attribute(cudaDevAttrMaxAccessPolicyWindowSize) > 0, has_persisting, "%s", key);
}
Test(gpus, of_turing) { expect_generation("t4", 0, 32, false); }
Test(gpus, of_ampere) { expect_generation("a100", 0, 2, true); }
Test(gpus, of_ada) { expect_generation("rtx4090", 0, 64, true); }
Test(gpus, of_blackwell) { expect_generation("b200", 1, 2, true); }

Test(gpus, several_are_numbered)
{
    setenv("EMU_DEVICES", "2", 1);
    struct cudaDeviceProp p = given(struct cudaDeviceProp, cudaGetDeviceProperties, 1);
    cr_expect(p.pciBusID == 1 && p.multiGpuBoardGroupID == 1);
    cr_expect_eq(p.uuid.bytes[sizeof p.uuid.bytes - 1], 1);
    is(cudaGetDeviceProperties(&p, 2), cudaErrorInvalidDevice);
    is(cudaGetDeviceProperties(&p, -1), cudaErrorInvalidDevice);
    is(cudaGetDeviceProperties(NULL, 0), cudaErrorInvalidValue);
}

/* ---- the harness ----------------------------------------------------------------------------- */

Test(gpus, the_harness_takes_what_the_device_says)
{
    struct device d;
    struct fault fault;
    struct options options = {.device = DEVICE_EMU};
    size_t total, available;
    setenv("EMU_GPU", "rtx4090", 1);
    cr_assert_eq(device_choose(&options, &d, &fault), 0);
    cr_expect(d.emulated && !*d.why);
    cr_expect_str_eq(d.name, "NVIDIA GeForce RTX 4090 (emulated)");
    cr_expect(d.major == 8 && d.minor == 9 && d.sms == 128);
    cr_expect(d.threads_per_sm == 1536 && d.warp_size == 32);
    cr_expect_eq(d.l2, 72 * KIB * KIB);
    ok(cudaMemGetInfo(&available, &total));
    cr_expect_eq(d.memory_free, available);
}

Test(gpus, a_gpu_is_not_to_be_had_here)
{
    struct device d;
    struct fault fault;
    struct options options = {.device = DEVICE_CUDA};
    cr_expect_eq(device_choose(&options, &d, &fault), EXIT_DEVICE);
    cr_expect_str_eq(fault.text, "a GPU was asked for, but the emulator stands in for CUDA's "
                                 "runtime; start the program without build/emu in "
                                 "LD_LIBRARY_PATH.");
}

/* The value that the system reports. */
Test(gpus, processor_and_memory_of_the_host)
{
    char name[DEVICE_NAME], line[DEVICE_NAME] = "", wanted[DEVICE_NAME] = "CPU";
    device_cpu_name(name, sizeof name);
    FILE *file = popen("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1", "r");
    cr_assert(file);
    if (fgets(line, sizeof line, file)) strcpy(wanted, strtok(line, "\n"));
    pclose(file);
    cr_expect_str_eq(name, wanted);
    size_t pages = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    cr_expect(host_memory() > pages / 1000 && host_memory() <= pages);
}
