/*
 * step.h — what a step is, to everything that is not a step.
 *
 * A step is one folder under steps/ with two files: scan.cu holds the kernels and the host
 * function that launches them; driver.c holds one `struct step` that says what the folder
 * teaches, where its limits are and which function to call. The harness (harness.c) knows
 * steps only through this struct, so a new step needs no change here nor in the Makefile.
 *
 * This header is read by C11 (driver.c, common/) and by CUDA C++ (scan.cu).
 */
#ifndef STEP_H
#define STEP_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The type of one element of the input. Sums are of the same type, except that 8- and 16-bit
 * integers are summed in 32 bits. */
enum element { ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_I64, ELEMENT_I16, ELEMENT_I8 };

/*
 * A scan: out[i] = in[0] + … + in[i-1] (exclusive, out[0] = 0), for 0 <= i < n.
 *
 * out, in:    n elements each, device pointers (host pointers if the step is `on_host`). They may
 *             be the same pointer (in place); otherwise they do not overlap. They are aligned to
 *             one element, no more.
 * variant:    an index into step.variants; 0 where the step has none.
 * workspace:  step.workspace(n, variant) bytes of device memory, aligned to 256 bytes, of any
 *             content unless step.clear_workspace; NULL where that is 0. A scan allocates nothing
 *             itself: allocation must not be timed.
 * stream:     every launch goes there; the call does not wait.
 * Returns cudaSuccess, or the error of the launch that failed. n = 0 succeeds and launches nothing.
 * n beyond the step's limits returns cudaErrorInvalidValue (the harness has explained it before).
 *
 * What is checked of every run, the timed ones too (bench.h): that each element of the output is
 * right (of the first run with --verify sample: some of them), that the input is what it was, that
 * nothing was written around the three arrays, and that no call in the scan has failed without the
 * scan having said so. Around an array 1 MiB is watched on a GPU; on the emulator and the host as
 * much as the array has, but from 64 KiB to 1 MiB. The output, and the workspace unless
 * step.clear_workspace, hold poison before each run. Timed runs take turns between the input and
 * the reversed input, and in each of them two other elements have changed places, so that what an
 * earlier call has left is of no use.
 * What is checked twice (contract.h): the call after the first one is captured into a graph, which
 * is run on poison and verified; the call after the timed ones is captured and not run. A scan that
 * in these two calls allocates memory, waits, copies from or to the host, or has the host compute,
 * is found wrong, and so is one with work that does not begin and end with the given stream. A scan
 * that calls exit, quick_exit, abort or pthread_exit is named, and the exit code is not 0.
 *
 * What is not promised:
 * - With --reps 0 there is one run, so nothing is captured and nothing reversed; with --verify none
 *   nothing but errors is looked at.
 * - What the first call or a timed one allocates, waits for or puts into other streams is not
 *   noticed, as only the two captured calls are tried; it is part of the time.
 * - Memory is compared before and after a run. A write of the value that is there already, one that
 *   is undone, and a load beyond an array leave no trace; the emulator's memcheck reports them where
 *   they lie outside of the array.
 * - A write beyond the guards is noticed where it hits the input, the output or a guard, or memory
 *   that is not mapped.
 * - An error that the scan takes back by cudaGetLastError is gone; what it kept from being written
 *   is noticed.
 * - Results kept from earlier calls are noticed as far as the inputs differ. An input that reads
 *   the same backwards is not reversed. No elements change places where sums are rounded (--real),
 *   where all elements are equal, and where the step has a reference of its own: there a scan that
 *   keeps the results of both orders passes.
 * - _exit, a system call and a signal end the process at once, with whatever exit code: a program
 *   that judges also has to ask for the report.
 * - A scan that waits by polling memory for its own kernels waits for ever where it is captured.
 * - A scan made to deceive can: it runs in the harness's process, reaches all of its memory and can
 *   ask whether its stream is captured.
 */
typedef cudaError_t scan_fn(void *out, const void *in, size_t n, int variant, void *workspace,
                            cudaStream_t stream);

/* How the step's main kernel is launched for n elements: what the report prints. Units: blocks,
 * threads a block, bytes of shared memory a block (static and dynamic together), and how many
 * kernels one scan launches. All zero for a step on the host. */
struct launch_shape {
    size_t grid;
    unsigned block;
    size_t shared_bytes;
    unsigned launches;
};

struct options; /* options.h: what the user asked for */
struct tree;    /* tree.h: which sums a scan makes on its way */

/* An option that only this step has, such as step 0's --pattern. */
struct step_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what to call its value in --help; NULL: a flag without a value */
    const char *help;     /* one line */
    /* Takes the value (NULL for a flag). Returns NULL, or one sentence that says what is wrong. */
    const char *(*set)(const char *value);
};

struct step {
    int number;
    const char *program;   /* NULL: ./stepN. A baseline that is no step of ours has another name */
    const char *name;      /* as in the folder's name: "work-efficient" */
    const char *title;     /* a few words for headings: "Work-efficient scan (Blelloch)" */
    const char *teaches;   /* one line */
    const char *still_bad; /* one line, which names the step that mends it; NULL: nothing */

    /* Limits, checked by the harness. max_n = 0: any n that fits into memory. */
    size_t max_n;
    bool power_of_two;
    const char *limit_lifted_by; /* "step 5 takes any n": ends the sentence that refuses n */
    size_t default_n;

    enum element element;
    const enum element *elements; /* one a variant, if they differ in it; NULL: `element` for all */
    bool inclusive;               /* the scan itself is inclusive (steps so far: all exclusive) */
    bool on_host;                 /* plain C on the CPU: host pointers, no stream, no roof */

    const char *const *variants; /* NULL-terminated; the first is the default; NULL: none */

    scan_fn *scan;
    struct launch_shape (*shape)(size_t n, int variant); /* NULL only with on_host */
    size_t (*workspace)(size_t n, int variant);          /* bytes; NULL: none needed */
    bool clear_workspace; /* it is to be filled with zeros once, before the first scan */

    /* The additions one scan of n elements does (its work), and the most additions on the way from
     * an input to an output (its depth), which bounds the error, if not as well as the tree. */
    double (*adds)(size_t n, int variant);
    double (*depth)(size_t n, int variant);

    /* Appends the levels of its tree of additions, and counts what joins them, so that the bound is
     * that of the tree. NULL: only the depth is known, and the bound is wide. */
    void (*tree)(struct tree *, size_t n, int variant);

    /* Elements that one scan of n reads from memory and writes to it, but for terms that are small
     * beside n, such as block sums: 2n at least. NULL: not stated. */
    double (*words)(size_t n, int variant);

    const struct step_option *options; /* ends with .name = NULL; NULL: none */

    /* The step's own experiment in place of the harness's run-verify-time-report, after options
     * have been read and the device chosen: returns the exit code (see harness.h). NULL: the usual
     * run. */
    int (*run)(const struct step *, const struct options *);

    /* The step's own reference in place of the running sum: fills want[0..n) with what scan must
     * give for `in` (n elements of the step's type, on the host). NULL: the running sum. */
    void (*reference)(double *want, const void *in, size_t n, int variant);
};

/* The step as it is for one variant: with the type of that. (step_program.c) */
struct step step_for(const struct step *, int variant);

/* "step3", or what step.program says: how the program is called, without "./". (step_program.c) */
struct program_name {
    char name[40];
};
struct program_name step_program(const struct step *);

#ifdef __cplusplus
}
#endif

#endif
