/* device.c — where a step runs, and memory there. */
#define _GNU_SOURCE
#include "device.h"
#include "runs.h"
#include "common/files/visible.h"
#include "common/step/cuda_check.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- device ---------------------------------------------------------------------------------- */

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
    char program[PATH_MAX] = "", folder[PATH_MAX + 64], library[PATH_MAX + 64], *path;
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return fail(fault, EXIT_DEVICE, "this program cannot be found: %s.", strerror(errno));
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
    if (asprintf(&path, "%s%s%s", folder, old && *old ? ":" : "", old ? old : "") < 0) path = NULL;
    setenv("LD_LIBRARY_PATH", allocated(path), 1);
    setenv(MARKER, why, 1);
    if (options->trace) setenv("EMU_TRACE", options->trace, 1);
    free(path);
    execv(program, options->argv);
    return fail(fault, EXIT_DEVICE, "cannot start %.300s again under the emulator: %s.", program,
                strerror(errno));
}

int device_choose(const struct options *options, struct device *device, struct fault *fault)
{
    *device = (struct device){.emulated = cuda_emulated()};
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

/* ---- buffer ---------------------------------------------------------------------------------- */

#define ALIGNMENT ((size_t)256) /* what cudaMalloc promises */

static size_t round_up(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static size_t guard_for(size_t bytes, bool on_host)
{
    if (!on_host && !cuda_emulated()) return BUFFER_GUARD_MOST;
    if (!on_host && counters_checks() & EMU_CHECK_MEMORY) return 0;
    size_t guard = round_up(bytes);
    if (guard < BUFFER_GUARD_LEAST) return BUFFER_GUARD_LEAST;
    return guard < BUFFER_GUARD_MOST ? guard : BUFFER_GUARD_MOST;
}

size_t buffer_room(size_t bytes, size_t offset)
{
    return round_up(bytes + offset) + 2 * BUFFER_GUARD_MOST;
}

static int allocate(struct buffer *buffer, const char *what, struct fault *fault)
{
    if (buffer->on_host) {
        buffer->base = aligned_alloc(ALIGNMENT, round_up(buffer->whole));
        if (buffer->base) return 0;
        return fail(fault, EXIT_USAGE, "%zu bytes for %s do not fit into host memory.",
                    buffer->whole, what);
    }
    cudaError_t error = cudaMalloc((void **)&buffer->base, buffer->whole);
    if (error == cudaErrorMemoryAllocation)
        return fail(fault, EXIT_USAGE, "%zu bytes for %s do not fit into device memory.",
                    buffer->whole, what);
    CUDA_CHECK(fault, error);
    return 0;
}

int buffer_make(struct buffer *buffer, size_t bytes, size_t offset, bool on_host, const char *what,
                struct fault *fault)
{
    size_t guard = guard_for(bytes, on_host);
    *buffer = (struct buffer){.bytes = bytes, .front = guard + offset, .on_host = on_host};
    buffer->whole = guard ? round_up(buffer->front + bytes + guard) : offset + bytes;
    int code = allocate(buffer, what, fault);
    if (code) return code;
    CUDA_CHECK(fault, buffer_renew(buffer));
    buffer->data = buffer->base + buffer->front;
    return 0;
}

void buffer_free(struct buffer *buffer)
{
    if (buffer->on_host)
        free(buffer->base);
    else if (buffer->base)
        cudaFree(buffer->base); /* nothing could be done about an error here */
    *buffer = (struct buffer){0};
}

cudaError_t buffer_renew(const struct buffer *buffer)
{
    if (!buffer->on_host) {
        CUDA_TRY(cudaMemset(buffer->base, BUFFER_POISON, buffer->whole));
        return cudaDeviceSynchronize();
    }
    memset(buffer->base, BUFFER_POISON, buffer->whole);
    return cudaSuccess;
}

cudaError_t buffer_poison(const struct buffer *buffer, cudaStream_t stream)
{
    if (!buffer->on_host)
        return cudaMemsetAsync(buffer->data, BUFFER_POISON, buffer->bytes, stream);
    memset(buffer->data, BUFFER_POISON, buffer->bytes);
    return cudaSuccess;
}

cudaError_t buffer_upload(const struct buffer *buffer, size_t at, const void *from, size_t bytes)
{
    unsigned char *to = (unsigned char *)buffer->data + at;
    if (!buffer->on_host) return cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
    memcpy(to, from, bytes);
    return cudaSuccess;
}

cudaError_t buffer_download(const struct buffer *buffer, size_t at, void *to, size_t bytes)
{
    const unsigned char *from = (const unsigned char *)buffer->data + at;
    if (!buffer->on_host) return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
    memcpy(to, from, bytes);
    return cudaSuccess;
}

/* The number of bytes, from the data on, that are still poison. */
static size_t poisoned(const unsigned char *guard, size_t bytes, bool is_front)
{
    size_t i = 0;
    /* Are all equal? memcmp compares many at a time. */
    if (guard[0] == BUFFER_POISON && !memcmp(guard, guard + 1, bytes - 1)) return bytes;
    while (i < bytes && guard[is_front ? bytes - 1 - i : i] == BUFFER_POISON) i++;
    return i;
}

/* The same of the guard that begins at byte `at` of the allocation. */
static size_t intact(const struct buffer *buffer, size_t at, size_t bytes, cudaError_t *error)
{
    if (*error || bytes == 0) return bytes;
    size_t count = bytes;
    unsigned char *guard = allocated(malloc(bytes));
    const struct buffer whole = {.data = buffer->base, .on_host = buffer->on_host};
    *error = buffer_download(&whole, at, guard, bytes);
    if (!*error) count = poisoned(guard, bytes, at == 0);
    free(guard);
    return count;
}

long buffer_damage(const struct buffer *buffer, cudaError_t *error)
{
    size_t end = buffer->front + buffer->bytes, rear = buffer->whole - end;
    *error = cudaSuccess;
    size_t left = intact(buffer, 0, buffer->front, error);
    size_t right = intact(buffer, end, rear, error);
    if (left == buffer->front && right == rear) return 0;
    if (right == rear || (left < buffer->front && left < right)) return -(long)(left + 1);
    return (long)(right + 1);
}

int buffer_check(const struct buffer *buffer, const char *name, size_t element_bytes, char *damage,
                 size_t size, struct fault *fault)
{
    if (!buffer->base || *damage) return 0;
    cudaError_t error;
    long where = buffer_damage(buffer, &error);
    CUDA_CHECK(fault, error);
    if (where == 0) return 0;
    size_t bytes = (size_t)labs(where);
    snprintf(damage, size, "%s was written %zu element%s %s", name,
             (bytes + element_bytes - 1) / element_bytes, bytes > element_bytes ? "s" : "",
             where > 0 ? "past its end" : "before its start");
    return 0;
}

/* ---- fingerprint ----------------------------------------------------------------------------- */

#define WORD  sizeof(uint32_t)
#define PIECE ((size_t)1 << 20) /* bytes copied to the host at a time; a multiple of WORD */

int fingerprinter_open(struct fingerprinter *f, bool on_host, struct fault *fault)
{
    *f = (struct fingerprinter){0};
    if (on_host) return 0;
    if (!cuda_emulated()) {
        CUDA_CHECK(fault, cudaMalloc((void **)&f->sums, FINGERPRINT_SPANS * sizeof *f->sums));
        return 0;
    }
    f->piece = allocated(malloc(PIECE));
    return 0;
}

void fingerprinter_close(struct fingerprinter *f)
{
    if (f->sums) cudaFree(f->sums);
    free(f->piece);
    *f = (struct fingerprinter){0};
}

uint64_t fingerprint_on_host(const void *memory, size_t bytes, uint64_t first)
{
    const unsigned char *at = memory;
    uint64_t sum = 0, words = bytes / WORD;
    uint32_t word;
    for (uint64_t k = 0; k < words; k++, at += WORD) {
        memcpy(&word, at, WORD);
        sum += fingerprint_hash(first + k, word);
    }
    if (bytes % WORD == 0) return sum;
    word = 0;
    memcpy(&word, at, bytes % WORD);
    return sum + fingerprint_hash(first + words, word);
}

/* Takes the fingerprint of device memory through a copy on the host. */
static int through_host(struct fingerprinter *f, const struct span *span, uint64_t *result,
                        struct fault *fault)
{
    *result = 0;
    for (size_t at = 0; at < span->bytes; at += PIECE) {
        size_t bytes = span->bytes - at < PIECE ? span->bytes - at : PIECE;
        CUDA_CHECK(fault, cudaMemcpy(f->piece, (const char *)span->memory + at, bytes,
                                     cudaMemcpyDeviceToHost));
        *result += fingerprint_on_host(f->piece, bytes, at / WORD);
    }
    return 0;
}

/* All spans on the device, by kernels. Spans on the host are left out. */
static int on_gpu(struct fingerprinter *f, const struct span *spans, size_t count,
                  cudaStream_t stream, uint64_t *result, struct fault *fault)
{
    uint64_t sums[FINGERPRINT_SPANS];
    size_t bytes = count * sizeof *sums;
    CUDA_CHECK(fault, cudaMemsetAsync(f->sums, 0, bytes, stream));
    for (size_t i = 0; i < count; i++)
        if (!spans[i].on_host && spans[i].bytes)
            CUDA_CHECK(fault,
                       fingerprint_on_device(spans[i].memory, spans[i].bytes, &f->sums[i], stream));
    CUDA_CHECK(fault, cudaMemcpyAsync(sums, f->sums, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    for (size_t i = 0; i < count; i++)
        if (!spans[i].on_host) result[i] = sums[i];
    return 0;
}

static int by_host(struct fingerprinter *f, const struct span *spans, size_t count,
                   cudaStream_t stream, uint64_t *result, struct fault *fault)
{
    int code = 0;
    CUDA_CHECK(fault, cudaStreamSynchronize(stream));
    for (size_t i = 0; i < count && !code; i++)
        if (!spans[i].on_host && spans[i].bytes)
            code = through_host(f, &spans[i], &result[i], fault);
    return code;
}

int fingerprints(struct fingerprinter *f, const struct span *spans, size_t count,
                 cudaStream_t stream, uint64_t *result, struct fault *fault)
{
    int code = f->sums    ? on_gpu(f, spans, count, stream, result, fault)
               : f->piece ? by_host(f, spans, count, stream, result, fault)
                          : 0;
    for (size_t i = 0; i < count && !code; i++)
        if (spans[i].on_host || spans[i].bytes == 0)
            result[i] = fingerprint_on_host(spans[i].memory, spans[i].bytes, 0);
    return code;
}
