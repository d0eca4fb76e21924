/* runs.h — runs of a subject: counters, launches, the contract, times, results. */
#ifndef RUNS_H
#define RUNS_H

#include "device.h"
#include "common/files/fault.h"
#include "common/tools/emu/emu.h"
#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "common/step/options.h"
#include "common/step/step.h"

/* ---- what the emulator counted, summed over the launches of one run -------------------------- */

/*
 * On a GPU a program cannot read these counters: counters_begin returns false, and ncu has to
 * count.
 *
 *     bool counting = counters_begin();
 *     …launch, synchronize…
 *     struct counters counters;
 *     if (counting) counters_end(&counters);
 *     … counters.total.global_ld.sectors …
 *     counters_free(&counters);
 */

struct counter_line {
    char *file; /* as the compiler was given it */
    unsigned line;
    struct emu_counts counts;
};

struct counters {
    struct emu_counts total;
    unsigned launches;
    double seconds; /* the emulator's own time */
    size_t line_count;
    struct counter_line *lines; /* in order of file and line */
};

/* The emulator that runs this program's CUDA calls. NULL: they go to a real runtime. */
struct emu *counters_emulator(void);
/* The checkers that watch it (enum emu_check); 0 without an emulator. */
unsigned counters_checks(void);

/* Counts the launches from here on. False: no emulator. */
bool counters_begin(void);
/* Stops counting, and returns the sum over the launches since counters_begin. The caller frees
 * it. */
void counters_end(struct counters *);
void counters_free(struct counters *);

/* Bank conflicts: the wavefronts beyond the ideal. */
uint64_t counters_conflicts(const struct emu_shared *);
/* 32-byte sectors per request; 0 without requests. */
double counters_sectors_per_request(const struct emu_global *);
/* The line with the most bank conflicts of loads and stores, or NULL if there are none. */
const struct counter_line *counters_worst_line(const struct counters *);

/* ---- the kernels that one call launches ------------------------------------------------------ */

/* The call is captured into a graph, so its host code runs and its kernels do not. */

#define LAUNCHES_NAME  60
#define LAUNCHES_KINDS 12

/* A kernel of the call, by its name: instances of a template count as one. If its launches differ
 * in size, the figures are those of the one with the most blocks. */
struct launch {
    char kernel[LAUNCHES_NAME]; /* without its arguments: "scan_block" */
    unsigned times; /* launches */
    size_t grid;
    unsigned block;
    size_t shared_bytes; /* of a block, static and dynamic */
    int blocks_per_sm;   /* that fit on a multiprocessor; the emulator estimates registers */
};

struct launches {
    unsigned kinds; /* kernels in `of`: at most LAUNCHES_KINDS of them are listed */
    unsigned all;   /* launches, also of others. Both 0: there are none, or none is known */
    struct launch of[LAUNCHES_KINDS]; /* in the order of their first launches */
};

/* Captures call(context) in a stream of its own. A call that cannot be captured has no launches. */
struct launches launches_of(run_fn *call, void *context);

bool launches_have(const struct launches *, const char *kernel);
/* The kernel with the most blocks; NULL: there is none. */
const struct launch *launches_largest(const struct launches *);

/* ---- contract -------------------------------------------------------------------------------- */

/* Does a scan keep to its stream? A stream capture records what a call puts into the
 * stream, and runs none of it. A scan that does something that cannot be recorded breaks the
 * contract of step.h. */

#define CONTRACT_TEXT 200

/* Captures work(context) in the stream. If that succeeds and the work does nothing that a scan
 * must not do, `breach` is "" and *graph is the recorded graph, which the caller destroys.
 * Otherwise *graph is NULL and `breach`[CONTRACT_TEXT] says what the work did. Returns 0 or
 * EXIT_DEVICE. */
int contract_capture(run_fn *work, void *context, cudaStream_t stream, cudaGraphExec_t *graph,
                     char *breach, struct fault *);

/* ---- opens a step: a plain scan gets its verbs here ------------------------------------------ */

/* The verbs of every step without verbs of its own. It has no `judge`: its sums are compared piece
 * by piece (runs.c). */
extern const struct verbs scan_verbs;

/* Opens a step, before its options are read into *options. */
void subject_open(struct subject *, const struct step *, const struct options *);
void subject_close(struct subject *);

/* ---- ranks: processes that run one subject together ------------------------------------------ */

/* Each rank has a part of the input and a device, and makes the same calls. What one of them finds
 * counts for all: before they may differ in what they do next, they meet. */

/* What a rank says to all. */
struct word {
    struct fault fault; /* without a code it has not failed, and the text is another one */
    double number;
};

struct ranks {
    int rank, count;
    int here;      /* of them on this machine */
    bool captured; /* a call waits for nothing on the host, so that it can be captured */
    /* All ranks call it. Afterwards each has the word of the first one with a code or, without a
     * code, of the first one with a text; and the largest number. When one has failed, later calls
     * return this word at once. */
    void (*meet)(const struct ranks *, struct word *);
};

/* These return their argument if the process is alone. */

/* The code of the first rank that has failed, whose sentence gets into the fault. */
int ranks_agree(const struct ranks *, int code, struct fault *);
double ranks_largest(const struct ranks *, double number);

/* Is the result shifted, because --inclusive asks for it? Other subjects obey by themselves. */
bool subject_shifts(const struct subject *);

/* ---- runs one subject on one input ----------------------------------------------------------- */

/* Guarded buffers, a verified run, a run that tests the contract of step.h, and timed runs. The
 * first run is verified element by element. The second one is captured into a graph, which is run,
 * so only work in the given stream counts. After each run but the first, a fingerprint of the
 * output, the input and all guards is compared with that of the first run. If they differ, the run
 * is verified element by element, since sums of floats may be rounded differently from run to run.
 * */

/* The result. Its fields are in the order in which they are filled in. */
struct outcome {
    size_t n;
    struct launches launches;
    bool verified;              /* false: --verify none */
    struct verdict verdict;     /* of all verified runs together, or of the one that is wrong */
    char damage[CONTRACT_TEXT]; /* a buffer that was written where it should not be, or another
                                   breach of the contract; "" */
    char run[80];               /* which run is wrong: "timed run 3 of 12"; "": the first */
    bool right;                 /* verdict.right and no damage; true if not verified */
    bool counted;
    struct counters counters; /* of the first run */
    struct timing timing;
    bool roofed;
    struct roof roof;
    struct description description; /* traffic and result only of a right first run */
};

/* The state of memory after a run, as fingerprints: of the output and the input with their guards,
 * and of the workspace's two guards. */
enum mark { MARK_OUT, MARK_IN, MARK_BEFORE_WORKSPACE, MARK_BEHIND_WORKSPACE, MARKS };

struct runs {
    const struct subject *subject;
    const struct input *input;
    bool emulated;
    struct problem problem;
    struct facts facts;
    double *reference;    /* step.reference's and one more for --inclusive, or NULL */
    void *piece;          /* host memory for a part of an array */
    const struct buffer *result; /* what is judged and written */
    void *whole;                 /* host memory for all of it; NULL: not needed yet */
    struct buffer in, out;      /* in place: out is where the scan happens, in keeps the input */
    struct buffer workspace, shifted; /* shifted: --inclusive's result; base = NULL: none */
    struct timer timer;
    struct fingerprinter fingerprinter;
    uint64_t marks[MARKS]; /* of the first run */
};

/* The device and host memory that runs_open and the harness need for n elements, in bytes. False:
 * a size_t cannot hold it. */
bool runs_memory(const struct subject *, size_t n, bool emulated, size_t *device, size_t *host);

/* Allocates buffers and uploads the input, which has to stay until runs_close. After a failure
 * there is nothing to close. */
int runs_open(struct runs *, const struct subject *, const struct input *, bool emulated,
              struct fault *);
/* Runs, judges, times. Returns 0 (see outcome->right) or EXIT_DEVICE. */
int runs_do(struct runs *, struct outcome *, struct fault *);
/* Writes the result into the files that were asked for. */
int runs_write(struct runs *, struct fault *);
void runs_close(struct runs *);

void outcome_free(struct outcome *);

/* ---- the program: options → device → input → buffers → run → verify → time → report ---------- */

/* Does everything that ./stepN does (harness.c) and returns its exit code, one of fault.h. */
int harness_main(const struct step *step, int argc, char **argv);

#endif
