/*
 * devices.c — the devices that the program runs on, as the settings describe them.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "process.h"
#include "common/emu/ptx/emu_elf.h"
#include "common/emu/command/settings.h"
#include "common/files/visible.h"

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

_Static_assert(MAX_DEVICES == 16, "the range of EMU_DEVICES in settings.inc");
static struct device devices[MAX_DEVICES];
static int device_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int current; /* the thread's device */

_Noreturn void cudart_refuse(enum setting_id id, const char *value, const char *takes)
{
    fprintf(stderr, "emu: %s=", settings[id].variable);
    visible_print(stderr, value, strlen(value));
    fprintf(stderr, " is not understood; it takes %s\n", takes);
    cudart_exit(EXIT_USAGE);
}

static void read_settings(void)
{
    char takes[200];
    const struct setting *wrong = settings_read();
    if (wrong == NULL) return;
    setting_takes(wrong, takes, sizeof takes);
    enum setting_id id = (enum setting_id)(wrong - settings);
    cudart_refuse(id, setting_text(id), takes);
}

const char *cudart_environment(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const struct emu_gpu *read_gpu(void)
{
    const char *key = setting_text(SETTING_GPU);
    const struct emu_gpu *gpu = key != NULL ? emu_gpu_find(key) : emu_gpu_at(0);
    if (gpu != NULL) return gpu;

    char keys[200] = "one of";
    for (size_t i = 0; emu_gpu_at(i) != NULL; i++) {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, " %s", emu_gpu_at(i)->key);
    }
    cudart_refuse(SETTING_GPU, key, keys);
}

const struct emu_model *cudart_model(void)
{
    const char *key = setting_text(SETTING_MODEL);
    const struct emu_model *model = key != NULL ? emu_model_find(key) : NULL;
    if (key != NULL && model == NULL)
        cudart_refuse(SETTING_MODEL, key, settings[SETTING_MODEL].takes);
    return model;
}

unsigned cudart_newest_code(void)
{
    const struct emu_gpu *gpu = read_gpu();
    unsigned own = (unsigned)(10 * gpu->major + gpu->minor);
    unsigned most = (unsigned)setting_number(SETTING_PTX);
    return most && most < own ? most : own;
}

/* How many processes mpirun has started on this host, as Open MPI and MPICH say it; 1: none. */
static unsigned local_ranks(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
    enum { MOST = 1 << 16 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = cudart_environment(names[i]);
        unsigned long number = value != NULL ? strtoul(value, NULL, 10) : 0;
        if (number > 0 && number < MOST) return (unsigned)number;
    }
    return 1;
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
    pthread_mutex_init(&device->going_on, NULL);
    cudart_default_limits(device);
}

/* Makes the devices peers without access, so that messages can name the owner of an address. */
static void introduce(void)
{
    for (int i = 0; i < device_count; i++)
        for (int k = 0; k < device_count; k++)
            if (i != k) emu_set_peer(devices[i].emu, devices[k].emu, false);
}

static struct emu_config read_config(void)
{
    return (struct emu_config){
        .gpu = read_gpu(),
        .model = cudart_model(),
        .threads = (unsigned)setting_number(SETTING_THREADS),
        .memory = (size_t)setting_number(SETTING_MEMORY),
        .processes = local_ranks(),
        .patience = (unsigned)setting_number(SETTING_TIMEOUT),
        .limit = (unsigned)setting_number(SETTING_KERNEL_TIMEOUT),
        .instruction_limit = setting_number(SETTING_KERNEL_INSTRUCTIONS),
        .clock_seed = setting_number(SETTING_CLOCK_SEED),
        .lenient = setting_is(SETTING_LENIENT, "1"),
    };
}

/* Runs when the program is loaded, so a wrong setting ends the program before it does anything. */
__attribute__((constructor)) static void begin(void)
{
    read_settings();
    cudart_check_settings();
    cudart_document_settings();
    read_config();
    cudart_check_trace();
    cudart_parent_tell();
    cudart_progress_settings();
    cudart_tables_settings();
}

/* The program may have changed its environment since it was loaded. */
static void open_devices(void)
{
    read_settings();
    struct emu_config config = read_config();
    int count = (int)setting_number(SETTING_DEVICES);
    cudart_fork_claim();
    cudart_observe_status();
    config.counters = cudart_report_wanted();
    config.trace = cudart_open_trace();
    config.pictures = cudart_document_has_pictures();
    cudart_check_config(&config);
    config.host_side = cudart_host_side();
    config.host_side.devices = (unsigned)count;
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
