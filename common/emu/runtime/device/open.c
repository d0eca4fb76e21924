/*
 * open.c — the devices that the program runs on, as the EMU_* variables describe them.
 *
 *   EMU_GPU=h200          the model (machine/device/gpu.c)
 *   EMU_MODEL=hopper      the generation by whose rules memory is counted (machine/device/models.c)
 *   EMU_PTX=75            runs PTX for this compute capability or an older one, as if the program
 *                         held no newer code; default: the newest that the model can run
 *   EMU_DEVICES=4         number of devices; default: 1
 *   EMU_THREADS=4         host threads; default: one per core, divided among MPI's local ranks
 *   EMU_MEMORY=2G         bytes of memory per device, with K, M or G for 2^10, 2^20, 2^30;
 *                         default: the model's, but at most half of the host's, divided among
 *                         MPI's local ranks, and less under ulimit -v
 *   EMU_TRACE=FILE        write every access to shared and global memory to this file, as text (of
 *                         several ranks: output/paths.c)
 *   EMU_TIMEOUT=60        limit of the time that a block may run without changing memory, in s
 *   EMU_KERNEL_TIMEOUT=N  limit of the time of a kernel, in s; default: no limit
 *   EMU_KERNEL_INSTRUCTIONS=N  limit of a kernel's warp instructions; default: no limit
 *   EMU_CLOCK_SEED=N      %clock, %globaltimer and %smid are made from this number
 *   EMU_ALLOW_EXITED=1    barriers do not wait for threads that have exited
 *
 * There are more variables for the report (output/report.c), the checkers (output/findings.c) and
 * kernels that run for long (output/progress.c).
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "common/emu/runtime/process/process.h"
#include "common/emu/binary/emu_elf.h"
#include "common/files/visible.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* By this ELF note, the command emu recognizes programs that are linked with libcudart_static.a. */
__attribute__((used, aligned(4), section(EMU_NOTE_SECTION))) static const struct {
    unsigned name_size, description_size, type;
    char name[8];
} note = {.name_size = sizeof note.name, .name = "Upsweep"};

static struct device devices[MAX_DEVICES];
static int device_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int current; /* the thread's device */

_Noreturn void cudart_refuse(const char *name, const char *value, const char *accepted)
{
    fprintf(stderr, "emu: %s=", name);
    visible_print(stderr, value, strlen(value));
    fprintf(stderr, " is not understood; it takes %s\n", accepted);
    cudart_exit(EXIT_USAGE);
}

const char *cudart_setting(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const struct emu_gpu *read_gpu(void)
{
    const char *key = cudart_setting("EMU_GPU");
    const struct emu_gpu *gpu = emu_gpu_find(key != NULL ? key : emu_gpu_at(0)->key);
    if (gpu != NULL) return gpu;

    char keys[200] = "one of";
    for (size_t i = 0; emu_gpu_at(i) != NULL; i++) {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, " %s", emu_gpu_at(i)->key);
    }
    cudart_refuse("EMU_GPU", key, keys);
}

static const struct emu_model *read_model(void)
{
    const char *key = cudart_setting("EMU_MODEL");
    const struct emu_model *model = key != NULL ? emu_model_find(key) : NULL;
    if (key != NULL && model == NULL)
        cudart_refuse("EMU_MODEL", key, "g80, gt200, fermi, kepler4, kepler8 or hopper");
    return model;
}

/* Reads a whole number above 0, for some variables with K, M or G behind it; 0 if the variable is
 * not set. */
static size_t read_number(const char *name, bool with_unit, size_t largest, const char *accepted)
{
    const char *value = cudart_setting(name);
    if (value == NULL) return 0;

    char *end;
    errno = 0;
    unsigned long long number = strtoull(value, &end, 10);
    const char *units = "KMG";
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    int shift = 0;
    if (with_unit && unit != NULL) {
        shift = 10 * (int)(unit - units + 1);
        end++;
    }
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || number == 0 ||
        number > largest >> shift)
        cudart_refuse(name, value, accepted);
    return (size_t)number << shift;
}

unsigned cudart_newest_code(void)
{
    enum { MAX_CAPABILITY = 999 };
    const struct emu_gpu *gpu = read_gpu();
    unsigned own = (unsigned)(10 * gpu->major + gpu->minor);
    unsigned most = (unsigned)read_number("EMU_PTX", false, MAX_CAPABILITY,
                                          "a compute capability, such as 75");
    return most && most < own ? most : own;
}

/* How many processes mpirun has started on this host, as Open MPI and MPICH say it; 1: none. */
static unsigned local_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    enum { MOST = 1 << 16 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = cudart_setting(names[i]);
        unsigned long number = value != NULL ? strtoul(value, NULL, 10) : 0;
        if (number > 0 && number < MOST) return (unsigned)number;
    }
    return 1;
}

bool cudart_switch(const char *name)
{
    const char *value = cudart_setting(name);
    if (value == NULL || strcmp(value, "0") == 0) return false;
    if (strcmp(value, "1") != 0) cudart_refuse(name, value, "0 or 1");
    return true;
}

static void open_device(struct device *device, const struct emu_config *config)
{
    char message[256];
    device->emu = emu_open(config, message, sizeof message);
    if (device->emu == NULL) {
        cudart_print(message);
        cudart_exit(EXIT_DEVICE);
    }
    device->number = (int)config->number;
    pthread_mutex_init(&device->report, NULL);
    cudart_default_limits(device);
}

/* Makes the devices peers without access, so that messages can name the owner of an address. */
static void introduce(void)
{
    for (int i = 0; i < device_count; i++)
        for (int k = 0; k < device_count; k++)
            if (i != k) emu_set_peer(devices[i].emu, devices[k].emu, false);
}

/* Reads the settings of a device from the variables. Returns the number of devices. */
static int read_config(struct emu_config *config)
{
    enum { MAX_THREADS = 1024, MAX_PATIENCE = 1000000 };
    *config = (struct emu_config){
        .gpu = read_gpu(),
        .model = read_model(),
        .threads = (unsigned)read_number("EMU_THREADS", false, MAX_THREADS, "1 to 1024"),
        .memory =
            read_number("EMU_MEMORY", true, SIZE_MAX / 2, "a number of bytes, such as 512M or 2G"),
        .processes = local_ranks(),
        .patience = (unsigned)read_number("EMU_TIMEOUT", false, MAX_PATIENCE, "1 to 1000000"),
        .limit = (unsigned)read_number("EMU_KERNEL_TIMEOUT", false, MAX_PATIENCE, "1 to 1000000"),
        .instruction_limit = read_number("EMU_KERNEL_INSTRUCTIONS", false, SIZE_MAX,
                                         "a number of warp instructions, from 1 on"),
        .clock_seed = read_number("EMU_CLOCK_SEED", false, SIZE_MAX, "a number from 1 on"),
        .allow_exited = cudart_switch("EMU_ALLOW_EXITED"),
    };
    int count = (int)read_number("EMU_DEVICES", false, MAX_DEVICES, "1 to 16");
    return count == 0 ? 1 : count;
}

/* Runs when the program is loaded, so a wrong setting ends the program before it does anything. The
 * settings are read again when the device is first used. */
__attribute__((constructor)) static void check_settings(void)
{
    struct emu_config config;
    read_config(&config);
    cudart_newest_code();
    cudart_check_trace();
}

static void open_devices(void)
{
    struct emu_config config;
    int count = read_config(&config);
    cudart_fork_claim();
    config.counters = cudart_report_wanted();
    config.trace = cudart_open_trace();
    config.pictures = cudart_document_has_pictures();
    cudart_check_config(&config);
    for (; (int)config.number < count; config.number++) {
        config.more = (unsigned)count - 1 - config.number;
        open_device(&devices[config.number], &config);
    }
    device_count = count;
    introduce();
    cudart_catch_interrupt();
    cudart_progress_watch();
}

int cudart_device_count(void)
{
    pthread_once(&once, open_devices);
    return device_count;
}

struct device *cudart_device_at(int number)
{
    pthread_once(&once, open_devices);
    return &devices[number];
}

struct device *cudart_device(void) { return cudart_device_at(current); }

int cudart_use_device(int number)
{
    int was = current;
    current = number;
    return was;
}

struct device *cudart_owner(const void *address)
{
    for (int i = 0; i < cudart_device_count(); i++)
        if (emu_is_device(devices[i].emu, (emu_addr)address)) return &devices[i];
    return NULL;
}

struct emu *emu_runtime(void) { return cudart_device()->emu; }
