/* device.h — where a step runs, and memory there: guards, fingerprints, the roof. */
#ifndef DEVICE_H
#define DEVICE_H

#include "common/files/fault.h"
#include "common/step/options.h"
#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- where a step runs ----------------------------------------------------------------------- */

/* Where a step runs: on a GPU through NVIDIA's CUDA runtime, or on the CPU through
 * the emulator. The emulator takes the runtime's place when the program is started again. */

#define DEVICE_NAME 256

struct device {
    bool emulated;
    char name[DEVICE_NAME]; /* the GPU's, or the model's */
    char why[DEVICE_NAME];  /* emulated: because … (for the report); "" if it was asked for */
    int major, minor;       /* compute capability */
    int sms, threads_per_sm, warp_size;
    size_t l2;              /* bytes */
    size_t memory_free;     /* bytes, now */
};

/* Chooses the device as options say; by default a GPU if there is a usable one. If the emulator is
 * needed and is not the runtime yet, this does not return: the program starts again with build/emu/
 * first in LD_LIBRARY_PATH. Returns 0, or EXIT_DEVICE and what is missing. */
int device_choose(const struct options *, struct device *, struct fault *);

/* The reason why CUDA cannot run, as a part of a sentence, or "" if it can. Its arguments are the
 * results of cudaGetDeviceCount (error and count), cudaDriverGetVersion (0: there is no driver) and
 * cudaRuntimeGetVersion. */
void device_problem(cudaError_t error, int count, int driver, int runtime, char *text, size_t size);

/* The processor's name, for steps that run on it. */
void device_cpu_name(char *name, size_t size);

/* ---- memory that shows writes to the wrong place --------------------------------------------- */

/*
 * It has guards before and behind the data, and is filled with a poison that no correct scan
 * leaves in place. It lies on the device, or on the host for steps on the CPU.
 *
 * A guard shows a write only if the written value is still there and differs from the poison.
 * Under the emulator's memcheck there are no guards. There the allocation ends where the data
 * ends, and memcheck reports any access beyond it.
 */

/* A guard is as long as the data, within these limits (in bytes). On a GPU it is always as long as
 * possible: the memory around a small array is mapped there, so that a write to it would be no
 * error. A guard keeps the data's alignment. */
#define BUFFER_GUARD_LEAST ((size_t)64 << 10)
#define BUFFER_GUARD_MOST  ((size_t)1 << 20)

/* Every byte of a poisoned buffer and of the guards: a NaN in float and double (so a value read
 * from beyond the end shows in the sums), -1 in integers. */
#define BUFFER_POISON 0xFF /* VERIFY_POISON of verify.h */

struct buffer {
    unsigned char *base; /* the allocation: guard, displacement, data, guard */
    void *data;          /* what a scan is given */
    size_t bytes;        /* of data */
    size_t front;        /* bytes before data: the guard and the displacement */
    size_t whole;        /* of the allocation; a multiple of 4 where there are guards */
    bool on_host;
};

/* Allocates `bytes` displaced by `offset` bytes from a 256-byte boundary; data and guards are
 * poisoned. `what` names it in the sentence. Returns 0, EXIT_USAGE if it does not fit, or
 * EXIT_DEVICE. */
int buffer_make(struct buffer *, size_t bytes, size_t offset, bool on_host, const char *what,
                struct fault *);
void buffer_free(struct buffer *);

/* The most bytes that are allocated for data of `bytes` bytes that begins `offset` bytes late. */
size_t buffer_room(size_t bytes, size_t offset);

/* Fills the whole allocation with the poison, as it was made. Waits. */
cudaError_t buffer_renew(const struct buffer *);

/* Fills the data with the poison; on the stream where the buffer is on the device. */
cudaError_t buffer_poison(const struct buffer *, cudaStream_t);

/* Copies between the buffer, from byte `at` on, and host memory; waits. */
cudaError_t buffer_upload(const struct buffer *, size_t at, const void *from, size_t bytes);
cudaError_t buffer_download(const struct buffer *, size_t at, void *to, size_t bytes);

/* Looks at the guards. Returns 0 if they are untouched; otherwise how far from the data the nearest
 * damaged byte is: -1 is the byte before the first, +1 the byte behind the last. */
long buffer_damage(const struct buffer *, cudaError_t *error);

/* The same as text, such as "the output was written 3 elements past its end". Leaves a text that is
 * not "" as it is, and takes a buffer that has not been made. Returns 0 or EXIT_DEVICE. */
int buffer_check(const struct buffer *, const char *name, size_t element_bytes, char *damage,
                 size_t size, struct fault *);

/* ---- 64 bits that tell whether memory holds what it held before, without a copy of it -------- */

/* A fingerprint is the sum of a hash over all words of 4 bytes. The hash is made of the word's
 * index and its bits. So it depends on each word and its place, but not on the order in which
 * threads add. Two different contents have the same fingerprint with a probability of about 2^-64.
 * Contents can be constructed that have the same one. */

/* Memory on the host or the device, of any alignment and number of bytes (> 0). A last word that is
 * not whole is filled up with zeros. */
struct span {
    const void *memory;
    size_t bytes;
    bool on_host;
};

#define FINGERPRINT_SPANS 12 /* at most, taken together */

/* Where fingerprints are taken. On the emulator the host does it, after a copy: that takes a
 * hundredth of the time. */
struct fingerprinter {
    uint64_t *sums; /* on a GPU: FINGERPRINT_SPANS; NULL: the host does it */
    void *piece;    /* on the host: room for a copy of a part of device memory */
};

/* Returns 0, EXIT_USAGE (memory) or EXIT_DEVICE. `on_host`: no span will be on a device. */
int fingerprinter_open(struct fingerprinter *, bool on_host, struct fault *);
void fingerprinter_close(struct fingerprinter *);

/* Fills result[0..count) with the fingerprints of `count` spans, after what the stream has before;
 * waits. Returns 0 or EXIT_DEVICE. A span of 0 bytes has 0. */
int fingerprints(struct fingerprinter *, const struct span *, size_t count, cudaStream_t,
                 uint64_t *result, struct fault *);

/* The sum over host memory whose first word has the index `first`. */
uint64_t fingerprint_on_host(const void *memory, size_t bytes, uint64_t first);
/* device_memory.cu: adds the sum over device memory to *sum, which is on the device. */
cudaError_t fingerprint_on_device(const void *memory, size_t bytes, uint64_t *sum, cudaStream_t);

#ifdef __CUDACC__
#define FINGERPRINT_INLINE static __host__ __device__ inline
#else
#define FINGERPRINT_INLINE static inline
#endif

/* A word's hash: that of SplitMix64 (Steele, Lea, Flood 2014). */
FINGERPRINT_INLINE uint64_t fingerprint_hash(uint64_t index, uint32_t word)
{
    uint64_t z = (index + 1) * 0x9E3779B97F4A7C15u + word;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* ---- measures how long a launch takes -------------------------------------------------------- */

/*
 * Measures how long a launch takes: with a warm-up, CUDA events, an L2 cache that is
 * emptied before each run, median and quartiles. Steps with experiments of their own (step 0) use
 * it as the harness does:
 *
 *     struct timer timer;
 *     if (timer_open(&timer, false, fault)) …
 *     if (timer_run(&timer, NULL, my_launch, &my_arguments, reps, &timing, fault)) …
 *     timer_close(&timer);
 */

/* What empties the L2 before a timed run: the lines of another array, twice as large, replace its
 * lines. Writing that array leaves the L2 full of lines that are not in memory yet, and the timed
 * run includes the time to write them back. Reading the array leaves no such lines. The harness
 * writes, as it did for the recorded times. The bench that compares steps side by side reads
 * (common/bench). */
enum flush { FLUSH_WRITE, FLUSH_READ };

/* Of `reps` runs, in seconds. reps = 0: nothing was timed, and the rest is 0. */
struct timing {
    int reps;
    double median, lower, upper; /* second, first and third quartile */
    double least;
};

struct timer {
    bool on_host; /* times plain C with the clock: no stream, no events, caches as they are */
    cudaStream_t stream;
    cudaEvent_t start, stop;
    enum flush how; /* FLUSH_WRITE after timer_open */
    void *flush;    /* the array that empties the L2; NULL if flush_bytes is 0 */
    size_t flush_bytes;
    double lead; /* seconds that the host takes to launch the timed work. The L2 is emptied again
                    and again, so that the GPU is busy until all is launched. 0 at first */
};

/* One run. Launches on the stream and does not wait; returns the launch's error. */
typedef cudaError_t run_fn(void *context, cudaStream_t stream);

/* Checks the result of a timed run before the next one. It is not timed. Returns 0, or a code that
 * ends the runs. */
typedef int check_fn(void *context, struct fault *);

/* Makes a stream, two events and the buffer that empties the L2. Returns 0 or EXIT_DEVICE. */
int timer_open(struct timer *, bool on_host, struct fault *);
void timer_close(struct timer *);

/* Runs work(context) once to warm up and then `reps` times, each after prepare(context) (may be
 * NULL) and after the L2 was emptied; only `work` is timed. Returns 0 or EXIT_DEVICE. */
int timer_run(struct timer *, run_fn *prepare, run_fn *work, void *context, int reps,
              struct timing *, struct fault *);

/* Times work that has just run, so without a warm-up, and calls check(context) after each run (may
 * be NULL). Returns also what check returned if that is not 0; then nothing is timed. */
int timer_run_warm(struct timer *, run_fn *prepare, run_fn *work, check_fn *check, void *context,
                   int reps, struct timing *, struct fault *);

#define LEAD_MOST 5e-3 /* seconds: the GPU is kept busy no longer before a run */

/* Work that is timed in turns with other work. */
struct turn {
    run_fn *prepare, *work; /* prepare and check may be NULL */
    check_fn *check;
    void *context;
    bool on_host;    /* as in the timer */
    double lead;     /* as in the timer */
    int reps;        /* timed runs; `check` may set it to 0, and no run follows */
    int done;        /* runs that have been timed, when `check` is called, too */
    double *seconds; /* of each of them */
};

/* Times all of them: each round runs each once, as long as it has runs left. Round r begins with
 * turn r, so that a disturbance affects all. No warm-up. `label` shows the progress; NULL: it is
 * not shown. Returns 0, EXIT_DEVICE, or what a check has returned. */
int timer_turns(struct timer *, struct turn *, size_t count, const char *label, struct fault *);

/* Fills timing from `reps` durations in seconds, which it sorts. */
void timing_summarize(struct timing *, double *seconds, int reps);

/* The number of timed runs if the user has not chosen one (options.reps is REPS_DEFAULT): many on a
 * GPU, few on the emulator. It is smaller the longer one run takes (once_seconds: time of the first
 * run), but at least 5, or 1 on the emulator. */
int timing_default_reps(bool emulated, double once_seconds);

/* Bytes of device memory that timer_open takes to empty an L2 of `l2` bytes: twice that size, or 0
 * on the emulator, which models no L2. */
size_t timing_flush_bytes(bool emulated, size_t l2);

/* device_memory.cu: loads an array of zeros, aligned to 16 bytes, and drops the values. */
cudaError_t flush_read(void *array, size_t bytes, cudaStream_t);

/* Seconds on a clock that only goes forward. */
double clock_seconds(void);

/* ---- measures the roof: how fast this device copies ------------------------------------------ */

/* A scan reads and writes at least as much as a copy, so no scan can be faster. Three ways to copy
 * are timed, and the fastest one counts. Which one that is depends on the GPU and on its driver. */

#define ROOF_ALIGNMENT 16 /* of both pointers, in bytes: a float4 */

/* Copies between device pointers that do not overlap and are aligned to ROOF_ALIGNMENT. */
typedef cudaError_t copy_fn(void *to, const void *from, size_t bytes, cudaStream_t);

struct roof_way {
    const char *name;
    copy_fn *copy;
};
#define ROOF_WAYS 3
extern const struct roof_way roof_ways[ROOF_WAYS];

/* The ways to copy are cudaMemcpyAsync and these two: one float4 per thread (step 0 uses it, too),
 * and bulk copies through shared memory (roof_bulk.cu). Below compute capability 9.0 the second is
 * the same as the first. */
copy_fn roof_copy_kernel, roof_copy_bulk;

/* For these ways: copies bytes `done` to `bytes`, the rest that does not fill a float4. */
cudaError_t roof_copy_rest(void *to, const void *from, size_t done, size_t bytes, cudaStream_t);

struct roof {
    size_t bytes;         /* bytes copied; each is moved twice: read and written */
    struct timing timing; /* of the fastest way */
    const char *how;      /* its name */
};

/* Times copies of `bytes` from `from` to `to` in every way. Returns 0 or EXIT_DEVICE. */
int roof_measure(struct timer *, void *to, const void *from, size_t bytes, int reps, struct roof *,
                 struct fault *);

#ifdef __cplusplus
}
#endif

#endif
