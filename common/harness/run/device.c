#define _GNU_SOURCE
#include "run_device.h"

#include "counters.h"
#include "common/step/cuda_check.h"
#include "common/files/visible.h"
#include "common/harness/print/print.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLDEST_CAPABILITY 75 /* the Makefile compiles for compute_75 and newer */

#define EMULATOR_LIBRARY "libcudart.so.13"

/* This variable is set before the program starts again under the emulator. It says why, and stops a
 * second attempt. */
#define MARKER "UPSWEEP_EMULATED"

void device_problem(cudaError_t error, int count, int driver, int runtime, char *text, size_t size)
{
    text[0] = '\0';
    if (driver == 0)
        snprintf(text, size, "no NVIDIA driver is installed");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(text, size,
                 "the NVIDIA driver is made for CUDA %d.%d, older than this program's runtime "
                 "%d.%d (update the driver)",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (error == cudaErrorNoDevice || (!error && count == 0))
        snprintf(text, size, "there is an NVIDIA driver, but no GPU that it may use");
    else if (error)
        snprintf(text, size, "CUDA says: %s", cudaGetErrorString(error));
}

/* Writes the reason why CUDA cannot run here, as a part of a sentence; "" if it can. */
static void gpu_problem(char *text, size_t size)
{
    int count = 0, driver = 0, runtime = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    device_problem(error, count, driver, runtime, text, size);
    if (*text) return;
    struct cudaDeviceProp gpu;
    error = cudaGetDeviceProperties(&gpu, 0);
    if (error)
        snprintf(text, size, "CUDA says: %s", cudaGetErrorString(error));
    else if (10 * gpu.major + gpu.minor < OLDEST_CAPABILITY)
        snprintf(text, size, "the %.80s has compute capability %d.%d, below %d.%d", gpu.name,
                 gpu.major, gpu.minor, OLDEST_CAPABILITY / 10, OLDEST_CAPABILITY % 10);
}

static int inspect(struct device *device, struct fault *fault)
{
    struct cudaDeviceProp gpu;
    size_t total;
    CUDA_CHECK(fault, cudaGetDeviceProperties(&gpu, 0));
    snprintf(device->name, sizeof device->name, "%s", gpu.name);
    device->major = gpu.major;
    device->minor = gpu.minor;
    device->sms = gpu.multiProcessorCount;
    device->threads_per_sm = gpu.maxThreadsPerMultiProcessor;
    device->warp_size = gpu.warpSize;
    device->l2 = (size_t)gpu.l2CacheSize;
    CUDA_CHECK(fault, cudaMemGetInfo(&device->memory_free, &total));
    return 0;
}

/* The path of this program. */
static bool own_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0) return false;
    path[length] = '\0';
    return true;
}

/* The emulator's folder and its library, from where this program lies: ./stepN, or
 * build/experiments/NAME. If the library is in neither place, the first folder. */
static void find_emulator(const char *program, char *folder, char *library, size_t size)
{
    static const char *const from_program[] = {"build/emu", "../emu", "build/emu"};
    int directory = (int)(strrchr(program, '/') - program);
    for (size_t i = 0; i < sizeof from_program / sizeof *from_program; i++) {
        snprintf(folder, size, "%.*s/%s", directory, program, from_program[i]);
        snprintf(library, size, "%.*s/%s/%s", directory, program, from_program[i],
                 EMULATOR_LIBRARY);
        if (access(library, R_OK) == 0) return;
    }
}

/* Starts this program again with the emulator's library first. Returns only if that fails. */
static int restart(const struct options *options, const char *why, struct fault *fault)
{
    char program[PATH_MAX], folder[PATH_MAX + 64], library[PATH_MAX + 64];
    if (!own_path(program, sizeof program))
        return fail(fault, EXIT_DEVICE, "cannot find this program through /proc/self/exe: %s.",
                    strerror(errno));
    find_emulator(program, folder, library, sizeof library);
    const char *and = *why ? ", and " : "";
    if (access(library, R_OK) != 0)
        return fail(fault, EXIT_DEVICE,
                    "%s%sthe emulator's %.300s is missing; `make emu` builds it.", why, and,
                    library);
    if (getenv(MARKER) && !cuda_emulated())
        return fail(
            fault, EXIT_DEVICE,
            "the emulator's %.300s was not loaded in place of CUDA's runtime; was this program "
            "linked with -cudart shared?",
            library);

    const char *old = getenv("LD_LIBRARY_PATH");
    char *path = NULL;
    if (asprintf(&path, "%s%s%s", folder, old && *old ? ":" : "", old ? old : "") < 0)
        return fail(fault, EXIT_DEVICE, "no memory left to start the emulator.");
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv(MARKER, why, 1);
    if (options->trace) setenv("EMU_TRACE", options->trace, 1);
    if (isatty(STDERR_FILENO)) setenv("EMU_PROGRESS", "0", 0); /* a bar is drawn there */
    free(path);
    execv(program, options->argv);
    return fail(fault, EXIT_DEVICE, "cannot start %.300s again under the emulator: %s.", program,
                strerror(errno));
}

int device_choose(const struct options *options, struct device *device, struct fault *fault)
{
    *device = (struct device){.emulated = cuda_emulated()};
    if (options->trace) {
        int code = output_check(options->trace, fault);
        if (code) return code;
    }
    if (device->emulated) {
        const char *traced = getenv("EMU_TRACE"), *why = getenv(MARKER);
        if (options->device == DEVICE_CUDA)
            return fail(
                fault, EXIT_DEVICE,
                "a GPU was asked for, but the emulator stands in for CUDA's runtime; start the "
                "program without build/emu in LD_LIBRARY_PATH.");
        if (options->trace && (!traced || strcmp(traced, options->trace) != 0))
            return restart(options, why ? why : "", fault);
        visible(device->why, sizeof device->why, why ? why : "");
        return inspect(device, fault);
    }
    if (options->device == DEVICE_EMU || options->trace) return restart(options, "", fault);
    char problem[DEVICE_NAME];
    gpu_problem(problem, sizeof problem);
    if (!*problem) return inspect(device, fault);
    if (options->device == DEVICE_CUDA)
        return fail(fault, EXIT_DEVICE, "%s; --device emu runs the step without a GPU.", problem);
    return restart(options, problem, fault);
}

void device_cpu_name(char *name, size_t size)
{
    snprintf(name, size, "CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return;
    char line[DEVICE_NAME];
    while (fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    fclose(file);
}
