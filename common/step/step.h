/*
 * step.h — what a step is, for the harness, the bench and the tests.
 *
 * A step is a folder under steps/. scan.cu holds the kernels and the host function that launches
 * them. driver.c holds one `struct step`. It says what the folder teaches, which limits the step
 * has, and which function to call. The harness (harness.c) knows a step only through this struct,
 * so a new step needs no change there. A step that is no plain scan, such as a sort, also has
 * verbs: what the harness does with a scan, this step does in its own way (notes/own-step.md). All
 * steps are linked into ./bench, so the names of their functions differ.
 *
 * This header is read by C11 (driver.c, common/) and by CUDA C++ (scan.cu).
 */
#ifndef STEP_H
#define STEP_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct options; /* options.h: what the user asked for */
struct subject; /* below: an open step */

/* The type of one element of the input. Sums are of the same type, except that 8- and 16-bit
 * integers are summed in 32 bits. */
enum element {
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENT_I32,
    ELEMENT_I64,
    ELEMENT_I16,
    ELEMENT_I8,
    ELEMENT_U32,
    ELEMENT_U64
};

/*
 * A scan: out[i] = in[0] + … + in[i-1] (exclusive, out[0] = 0), for 0 <= i < n.
 *
 * out, in:    device pointers to n elements each (host pointers if the step is `on_host`). They may
 *             be the same pointer (in place); otherwise the arrays do not overlap. Pointers are
 *             multiples of the element's size, and not necessarily of more.
 * variant:    an index into step.variants; 0 where the step has none.
 * workspace:  step.workspace(n, variant) bytes of device memory, aligned to 256 bytes; NULL if that
 *             is 0. Its content is arbitrary unless step.clear_workspace. A scan allocates nothing
 *             itself, because allocation must not be timed.
 * stream:     every launch goes there; the call does not wait.
 * Returns cudaSuccess, or the error of the launch that failed. n = 0 succeeds and launches nothing.
 * If n is beyond the step's limits, it returns cudaErrorInvalidValue. (The harness refuses such an
 * n before that, with an explanation.)
 *
 * Checked after every run, also the timed ones (runs.h):
 * - Each element of the output is right.
 * - The input has not changed.
 * - Nothing was written around the three arrays. On a GPU 1 MiB around each array is checked. On
 *   the emulator and the host it is as much as the array has, but from 64 KiB to 1 MiB.
 * - No CUDA call in the scan has failed without the scan returning an error.
 * Before each run the output holds poison, and so does the workspace unless step.clear_workspace.
 *
 * The very first call is captured into a graph that never runs: the report names the kernels in it
 * (runs.h). The call after the first run is captured, too, and the graph is run on poison and
 * verified. So a scan is found wrong if, in this call, it allocates memory, waits, copies from or
 * to the host, or computes on the host. It is also found wrong if its work does not begin and end
 * with the given stream.
 *
 * Not guaranteed: with --reps 0 there is one run, which is not captured. What another call than the
 * captured one allocates, waits for or does in other streams is part of the time. No trace is left
 * by a write of the value that is there already, by one that is undone, by one beyond the guards
 * that hits nothing of the harness's, and by a load beyond an array; the emulator's memcheck
 * reports those outside of the array. A scan that polls memory for its own kernels waits for ever
 * when it is captured. A scan made to deceive can do so, because it runs in the harness's process;
 * the grader judges what others have written (notes/instructor/).
 */
typedef cudaError_t scan_fn(void *out, const void *in, size_t n, int variant, void *workspace,
                            cudaStream_t stream);

/* What the value of a step's own option is, and what *self has for it. */
enum step_value {
    VALUE_TEXT,  /* const char *; of an option without a value: a bool that becomes true */
    VALUE_FILE,  /* const char *, which is not empty */
    VALUE_COUNT, /* size_t, from 1 on */
    VALUE_SIZES, /* size_t[2], both from 1 on: "640x480" */
    VALUE_TYPE,  /* struct type_asked */
};
struct type_asked {
    bool given;
    enum element element;
};

/* An option that only this step has, such as step 13's --keep. */
struct step_option {
    const char *name;     /* without the dashes */
    const char *argument; /* what to call its value in --help; NULL: a flag without a value */
    const char *help;     /* one line */
    enum step_value value;
    size_t member;     /* the offset in *self of what the value becomes */
    const char *wrong; /* the sentence for another value than that */
    unsigned types;    /* VALUE_TYPE: of each type that is taken, bit 1 << element */
    /* Takes a value of another kind (NULL for a flag). Returns NULL, or one sentence that says what
     * is wrong. */
    const char *(*set)(void *self, const char *value);
    char letter; /* "-i" beside the name; 0: none */
};

struct step {
    int number;
    const char *program;   /* NULL: ./stepN. A baseline, such as CUB, has another name */
    const char *name;      /* as in the folder's name: "work-efficient" */
    const char *title;     /* a few words for headings: "Work-efficient scan (Blelloch)" */
    const char *teaches;   /* one line */
    const char *still_bad; /* one line, which names the step that fixes it; NULL: nothing */

    /* Limits, checked by the harness; for a step with verbs only that of --n, as its
     * `input` knows what a file holds. max_n = 0: any n that fits into memory. */
    size_t max_n;
    bool power_of_two;
    const char *limit_lifted_by; /* "step 5 takes any n": ends the sentence that refuses n */
    size_t default_n;

    enum element element;
    const enum element *elements; /* one for each variant; NULL: `element` for all */
    bool inclusive;               /* the scan itself is inclusive (steps so far: all exclusive) */
    bool on_host;                 /* plain C on the CPU: host pointers, no stream, no roof */

    const char *const *variants; /* NULL-terminated; the first is the default; NULL: none */

    scan_fn *scan;
    size_t (*workspace)(size_t n, int variant); /* bytes; NULL: none needed */
    bool clear_workspace; /* the harness fills it with zeros once, before the first scan */

    /* The largest number of additions on the way from an input to an output of a scan of n elements
     * (its depth), or more: it bounds the error. NULL: n. step_tree_depth: that of a tree. */
    double (*depth)(size_t n, int variant);

    /* Elements that are no neighbours are added up, too. So numbers from a file are compared for
     * equality only if no order of additions rounds. */
    bool any_order;

    const struct step_option *options; /* ends with .name = NULL; NULL: none */

    /* A run of the step's own. It replaces the harness's run-verify-time-report, after the options
     * have been read and the device chosen. Returns the exit code (fault.h). NULL: the harness's
     * run. */
    int (*run)(const struct subject *);

    /* The step's own reference in place of the running sum: fills want[0..n) with what scan must
     * give for `in` (n elements of the step's type, on the host). NULL: the running sum. */
    void (*reference)(double *want, const void *in, size_t n, int variant);

    /* The step is no plain scan: then scan, workspace, depth and reference are not set. NULL: it is
     * one. */
    const struct verbs *verbs;
};

/* ---- a step that is no plain scan: for C only, as kernels need none of this ------------------ */
#ifndef __cplusplus

struct device;  /* device.h: where it runs */
struct fault;   /* fault.h: an exit code and a sentence */
struct input;   /* input.h: the numbers of one run, in host memory */
struct problem; /* verify.h: what is to be computed */
struct launches; /* runs.h: the kernels that a call launches */
struct ranks;   /* runs.h: the processes that run one step together */
struct record;  /* print.h: what --json prints */
struct verdict; /* verify.h: is it right? */

/* An open step: what the harness runs. */
struct subject {
    const struct step *step;
    const struct options *options;
    const struct verbs *verbs; /* the step's, or those of a plain scan (runs.h) */
    enum element element;      /* of the input; `plan` and `input` may say another than the step */
    void *self;                /* what `open` has made */
    const struct ranks *ranks; /* what `join` has found; NULL: this process is alone */
};

/* One call. Pointers and stream are as in a scan; `out` has room for needs.result bytes. */
struct call {
    void *out;
    const void *in;
    size_t n;
    void *workspace;
    cudaStream_t stream;
};

/* What runs on n elements need besides the input, in bytes. */
struct needs {
    size_t result;         /* the whole of it is passed to `judge` and to `write` */
    size_t result_element; /* to multiples of it --offset displaces the result */
    size_t workspace;
    size_t own; /* arrays that `input` makes: in device memory, and as many bytes on the host */
};

/* What the report says besides. Lines may be "". JSON has `variant` and least_bytes only. */
#define DESCRIPTION_TEXT 200
struct description {
    size_t n;                       /* elements of all ranks; 0: those of the input */
    char input[DESCRIPTION_TEXT];   /* "512 x 512 pixels of RGB, from a.png" */
    char variant[DESCRIPTION_TEXT]; /* which kernel runs, and why, where the input decides that */
    char result[DESCRIPTION_TEXT];  /* "300 elements kept" */
    double least_bytes;             /* that any method has to read and write for this input */
    double moved_bytes;             /* that this variant does; 0: `result` is not printed */
    const struct launches *launches; /* given: what the call launches (runs.h) */
};

/* A file that an option of the step's own names. */
#define OWN_FILES 2
struct own_file {
    const char *option, *path; /* path: NULL: not given; "-": stdin or stdout */
    bool written;
};

/* The verbs in the order in which the harness calls them. An int is 0, or an exit code, with a
 * sentence in the fault; then there is nothing to be freed. */
struct verbs {
    /* Makes subject.self, with what holds before the command line is read. NULL: nothing. */
    void *(*open)(void);
    void (*close)(void *self);

    /* The files of the step's own options, given or not; returns how many. The harness checks that
     * those that are written can be. NULL: none. */
    size_t (*files)(const void *self, struct own_file files[OWN_FILES]);

    /* Finds the ranks that run this step together, when the options have been read and the device
     * was chosen, or with the code of what has failed. NULL: a step of one process. */
    int (*join)(struct subject *, struct device *, int code, struct fault *);

    /* Checks the options together, and says of an input that will be generated its element and n.
     * It makes nothing: an input larger than memory is refused before that. */
    int (*plan)(const struct subject *, struct input *, struct fault *);

    /* Reads the file options->input, or generates options->n elements, after the same checks. */
    int (*input)(const struct subject *, struct input *, struct fault *);

    struct needs (*needs)(const struct subject *, size_t n);
    /* As scan_fn says. */
    cudaError_t (*launch)(const struct subject *, const struct call *);
    /* The work of a call has ended, with this code. Returns that of all ranks. NULL: the code. */
    int (*ended)(const struct subject *, int code, struct fault *);

    /* Judges a result, needs.result bytes on the host. The verdict is right, exact, of n elements,
     * until verdict_note and others say less. Bytes that the step does not define must still be
     * poison. */
    void (*judge)(const struct subject *, const struct problem *, const void *result,
                  struct verdict *);

    /* Writes options->output and the files of the step's own options (print.h), or none of them.
     * Called once, for a right result of the input as given, if there is a file. */
    int (*write)(const struct subject *, const struct input *, const void *result, struct fault *);

    /* After a first run. NULL: there is nothing to say. */
    void (*describe)(const struct subject *, size_t n, struct description *);
    /* More rows of the screen or, if there is a record, more of its keys. NULL: none. */
    void (*report)(const struct subject *, FILE *, struct record *);

    /* The result is the sum of all elements before each one, so that the harness knows more: how
     * large errors may be, how many additions are needed, how
     * to make it inclusive, and that a part of it can be judged by itself. */
    bool sums;

    const char *experiment; /* ./bench runs build/experiments/NAME; NULL: none */
    /* Options that would have no effect, and so are refused: "real", "offset",
     * "counters", "trace", "inclusive", "in-place"; ends with NULL. */
    const char *const *unused;
    /* What --help says of files, of --input and of --output. NULL: as for numbers. */
    const char *files_help, *input_help, *output_help;
};

#endif

/* "step3", or what step.program says: how the program is called, without "./". (step.c) */
struct program_name {
    char name[40];
};
struct program_name step_program(const struct step *);

/* Depths of a scan of n elements: that of a tree, and of blocks' trees whose sums are scanned by
 * trees; and what the step states, otherwise n. (step.c) */
double step_tree_depth(size_t n, int variant);
double step_depth(const struct step *, size_t n, int variant);

/* The type of the elements of a variant. (step.c) */
enum element step_element(const struct step *, int variant);

#ifdef __cplusplus
}
#endif

#endif
