/* bench.h — ./bench: options, data, contenders, all of them side by side, and what it prints. */
#ifndef BENCH_H
#define BENCH_H

#include "common/files/fault.h"
#include "common/harness/run/device.h"
#include "common/step/element.h"
#include "common/step/options.h"
#include "common/step/step.h"
#include <stdio.h>

/* ---- what the user asked for on the command line of ./bench ---------------------------------- */

#define BENCH_SIZES 200

struct bench_options {
    size_t sizes[BENCH_SIZES];
    size_t size_count;          /* 0: the default, which depends on the device */
    bool near;                  /* n - 1 and n + 1, too */
    const char *steps;          /* for contenders_find */
    enum element types[6];      /* in the order given */
    size_t type_count;
    int reps; /* rounds; REPS_DEFAULT */
    enum flush flush;
    enum report_format format;
    enum device_choice device;
    const char *for_scans; /* an option that only scans have, as it was given; NULL: none */
    bool help, version;
};

/* Reads the command line. Returns 0, or EXIT_USAGE with a sentence in fault. */
int bench_options_parse(struct bench_options *, int argc, char *const *argv, struct fault *);
void bench_options_help(FILE *);

/* ---- the numbers to be scanned and the expected results, both on the device ------------------ */

/*
 * One set of random numbers serves every size and type.
 *
 * The numbers are small (8 bits), and every sum of neighbours is below 2^24. So each type of
 * sum holds them exactly. The scan of the first n numbers is the beginning of the scan of all. So
 * one sequential sum on the host is the reference of every size. A cast on the device converts
 * numbers and sums to each type.
 *
 * An output is compared on the device, element by element, for equality. ./stepN names the cause of
 * a difference.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct data {
    size_t n;     /* count of all numbers */
    int8_t *host; /* the numbers, and the sums of those before each */
    int32_t *host_sums;
    int8_t *small; /* the same on the device */
    int32_t *small_sums;
    enum element element; /* type of these: */
    void *in, *sums;      /* on the device; sums are of element_of_sum */
    float *host_in;       /* floats for steps on the CPU; NULL until data_on_host */
    void *found;          /* on the device: result of a comparison */
};

/* Makes n random numbers and their sums. Returns 0, EXIT_USAGE (memory) or EXIT_DEVICE. */
int data_open(struct data *, size_t n, struct fault *);
/* Gives `in` and `sums` another type. */
int data_convert(struct data *, enum element, struct fault *);
void data_on_host(struct data *);
void data_close(struct data *);

/* The result of a comparison: how many elements differ, and the first of them. */
struct difference {
    unsigned long long count, first;
};

/* Compares n elements at `out` (of a sum's type) with the scan of the numbers from `start` on; if
 * `copied`, with those sums of all numbers that stand from `start` on. Waits. */
cudaError_t data_compare(const struct data *, const void *out, size_t start, size_t n, bool copied,
                         struct difference *);
/* Compares n elements at `out` with the numbers from `start` on. */
cudaError_t data_compare_input(const struct data *, const void *out, size_t start, size_t n,
                               struct difference *);
/* Makes d->in and d->host_in again what they were, after a scan has written there. Waits. */
cudaError_t data_restore_input(const struct data *);
/* data.cu: the kernels behind these; `found` is on the device. */
cudaError_t cast_numbers(enum element, void *to, const int8_t *from, size_t n);
cudaError_t cast_sums(enum element, void *to, const int32_t *from, size_t n);
cudaError_t compare_sums(enum element, const void *got, const void *want, const void *minus,
                         size_t n, struct difference *found);
cudaError_t compare_numbers(enum element, const void *got, const int8_t *want, size_t n,
                            struct difference *found);

#ifdef __cplusplus
}
#endif

/* ---- the contenders of ./bench --------------------------------------------------------------- */

/* The contenders of ./bench: the steps that take any n, CUB's scan, and the ways to
 * copy that make the roof. Each of these that is linked into the program takes part. */

#define CONTENDERS 64 /* at most, of one element type */

struct contender {
    const struct step *step; /* NULL: a way to copy */
    int variant;
    const struct roof_way *way;
};

/* Its name, such as "step 7", "CUB" or "cudaMemcpyAsync", and the name of its variant ("" without
 * variants). */
struct contender_name {
    char name[24];
};
struct contender_name contender_name(const struct contender *);
const char *contender_variant(const struct contender *);

/* The version of CUB that is linked in, such as "3.0.1", or "". */
struct contender_name contender_cub_version(void);
bool contender_is_cub(const struct contender *);
/* Is its output a copy of its input? This is so for step 0 and for the ways of the roof. */
bool contender_copies(const struct contender *);

/* Fills in the contenders of `list` that scan `element`. The list is "all", or items with commas
 * between: a number ("7": its first variant of this type), a number and a variant ("5:naive" or
 * "5:all"), a range ("5-9"), "cub", "roof". Each contender is there once, in the order of "all".
 * Returns 0, or EXIT_USAGE if an item is unknown. */
int contenders_find(struct contender found[CONTENDERS], size_t *count, const char *list,
                    enum element, struct fault *);

/* Steps that apply scan are not contenders: each is timed by an experiment of its own. *found
 * becomes the one that `list` asks for, or NULL if it asks for contenders only. Returns 0, or
 * EXIT_USAGE if an item is unknown, or if the list asks for more beside such a step. */
int contenders_application(const struct step **found, const char *list, struct fault *);

/* The one after `last`, or the first one if `last` is NULL. NULL: there are no more. */
const struct step *contenders_next_application(const struct step *last);

/* Prints a line for each of them: what to ask for, and what runs then. */
void contenders_print_applications(FILE *);

/* ---- all contenders at one size -------------------------------------------------------------- */

/*
 * Each is verified, timed in turns with the others, and checked after each timed run. There are
 * two ways of timing.
 *
 * Cold: every round runs each contender once, in an order that rotates. The L2 cache is emptied
 * before each run, and two CUDA events enclose the run. A disturbance of the machine affects all
 * contenders.
 *
 * Graph: events have a coarse resolution, and the time between two events contains more than the
 * kernel. So short runs are also timed in a CUDA graph that holds many of them. Each run has
 * numbers and an output of its own, which nothing has accessed since the L2 was emptied. Events
 * inside the graph enclose all runs, and the time is divided by their number. It includes the time
 * that the GPU takes from one kernel to the next.
 *
 * Neither time includes what the host takes to launch. The host's time is measured first. Before
 * the timed launch the GPU then empties the L2 again and again for at least as long.
 *
 * Verified: the first run is compared element by element, on the device. Before each timed run the
 * outputs are filled with poison, and then the L2 is emptied. After each timed run, and after the
 * second event, it is verified like the first one.
 */

#define GRAPH_BELOW 20e-6 /* seconds: if the fastest takes less, all are timed in graphs, too */

struct entry {
    struct contender contender;
    struct buffer workspace, host_out; /* base = NULL: none */
    struct timing cold, graph;         /* graph.reps = 0: not timed so */
    bool right;
    char wrong[400]; /* what was wrong, or why there is no graph; "" */
};

struct side_by_side {
    const struct data *data;
    size_t n;
    int rounds; /* at most; slow contenders take part in fewer */
    struct timer timer;
    struct buffer out;
    size_t runs;   /* in a graph */
    size_t stride; /* elements from one run's numbers to the next one's */
    size_t count;
    struct entry entries[CONTENDERS];
};

/* The number of runs in a graph for n elements: enough to fill the L2 twice, but at most a few
 * dozen. And the numbers that all of them need, which is n or more. */
size_t side_by_side_graph_runs(size_t n, enum element, size_t l2);
size_t side_by_side_numbers(size_t n, enum element, size_t l2);

/* Times contenders of the data's type side by side. The result is in the entries; everything else
 * is freed. Returns 0 (see right), EXIT_USAGE or EXIT_DEVICE. */
int side_by_side_time(struct side_by_side *, const struct data *, const struct contender *,
                      size_t count, size_t n, size_t l2, enum flush, int rounds, struct fault *);

/* The bytes that a contender has to read and to write for n elements; and its median time in
 * seconds, in graphs if it was timed so. */
double side_by_side_bytes(const struct side_by_side *);
double entry_seconds(const struct entry *);
/* The fastest way to copy, and CUB's scan. NULL if it does not take part. */
const struct entry *side_by_side_roof(const struct side_by_side *);
const struct entry *side_by_side_cub(const struct side_by_side *);

/* ---- prints what was timed: as a table for people, or as records ----------------------------- */

/*
 * These are the keys of --csv and --json. A row is one contender at one size, timed in one mode:
 *
 *   contender, step, variant   "step 7", 7, ""; step is empty for CUB and the ways to copy
 *   element, n                 the type (f32 …), and the number of elements
 *   mode, flush, launches      cold or graph; how the L2 was emptied: read or memset; runs in one
 *                              timed launch: 1 (cold), or the number in the graph
 *   reps                       number of runs, or graphs, that were timed
 *   seconds, seconds_lower, seconds_upper, seconds_least
 *                              of one run: median, quartiles, least
 *   bytes_moved, gb_per_s      bytes that a scan has to read and to write, once; GB per second
 *   roof_fraction              time of the fastest copy / time of this contender
 *   times_cub                  time of CUB / time of this contender
 *   right, wrong               true or false; what was wrong, or why there is no graph
 *   device, cub                the GPU's name, and CUB's version
 */

void show_head(FILE *, const struct bench_options *, const struct device *);
void show_side_by_side(FILE *, const struct bench_options *, const struct device *,
                       const struct side_by_side *, size_t *records);
void show_end(FILE *, const struct bench_options *);

#endif
