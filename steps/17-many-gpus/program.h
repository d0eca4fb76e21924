/*
 * program.h — the program ./step17 between MPI_Init and MPI_Finalize: its ranks, their runs, and
 * what is printed.
 */
#ifndef STEP17_PROGRAM_H
#define STEP17_PROGRAM_H

#include "common/files/fault.h"
#include "common/harness/input/input.h"
#include "common/harness/run/device.h"
#include "common/step/options.h"
#include "request.h"
#include "scan.h"
#ifndef __cplusplus
#include "common/harness/run/runs.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ranks ----------------------------------------------------------------------------------- */

/* Which ranks there are, and which GPU each of them has. */

struct ranks {
    MPI_Comm comm;
    int rank, count;
    MPI_Comm here; /* those on this rank's machine */
    int local, locals;
    int machines;
    int gpus;      /* different ones, on all machines; emulated: one each */
    int sharers;   /* ranks that have this rank's GPU */
    bool alike;    /* all GPUs are of one model */
    bool emulated; /* on every rank */
    bool peers;    /* each has a GPU of its own, on one machine, and they reach each other (emulated
                    * ones: if they are of one model), and there are MANY_PEERS at most */
};

/* Selects the GPU before MPI is there, as far as Open MPI's environment names the rank's number on
 * its machine; so no other GPU gets a context. */
void ranks_select_early(void);

/* All ranks call it after MPI_Init: finds out everything above, and selects the GPU. */
int ranks_open(struct ranks *, const struct device *, struct fault *);
void ranks_close(struct ranks *);

/* The exchange that the user chose or, if none was chosen, the best one that is possible. Returns
 * 0, or EXIT_USAGE if the choice is impossible here; the same on all ranks. */
int ranks_exchange(const struct ranks *, enum exchange_choice, enum many_exchange *,
                   struct fault *);

#ifndef __cplusplus /* the experiment needs no more */

/* ---- the watch ------------------------------------------------------------------------------- */

/*
 * Ends the program if the other ranks do not come to a call of MPI, or of NCCL, in time.
 *
 * A rank that has been stopped, or hangs, would leave the others waiting for ever. mpirun ends all
 * ranks when one of them has ended with an error.
 */

/* From here on a rank waits this many seconds at most in a call of MPI; 0: without a limit. */
void watch_begin(int rank, double seconds);

/* What is done in between waits for the other ranks as well, outside of MPI. */
void watch_begin_wait(void);
void watch_end_wait(void);

/* This rank has failed, and is about to tell the others. If they do not come soon, this is what the
 * rank says when it ends. */
void watch_reason(const struct fault *);

/* Ends the program at once, as if the wait were over. */
_Noreturn void watch_give_up(const struct fault *);

/* ---- runs ------------------------------------------------------------------------------------ */

/*
 * The runs of a rank's part, and what they leave: checked, timed, with a checksum.
 *
 * All ranks call these functions, and get the same code from them.
 */

#define DAMAGE_TEXT 200

/* One rank's part, in host and in device memory. */
struct part_runs {
    const struct ranks *ranks;
    const struct request *request;
    const struct options *options;
    enum many_exchange exchange;
    size_t n; /* of the whole */
    struct many_part part;
    struct input in, second; /* on the host; second.data is NULL without a second input */
    struct buffer device_in, device_second, out;
    struct many_scan *scan;
    struct timer timer;
    struct fingerprinter fingerprinter;

    int code; /* of the last many_run, with its sentence */
    struct fault fault;
};

/* What the ranks have found; whole on rank 0. */
struct outcome17 {
    struct verdict verdict;   /* of all parts */
    bool right;               /* on every rank */
    int wrong_rank;           /* the first that is wrong */
    char damage[DAMAGE_TEXT]; /* what is wrong there apart from results; "" if nothing is */
    uint64_t checksum;        /* of all bits of the result */
    struct timing timing;     /* of the slowest rank in each run */
};

/* Device and host memory that a rank needs, in bytes. False: 64 bits cannot count them. */
bool part_runs_memory(const struct ranks *, enum many_op, enum many_exchange, size_t n,
                      size_t flush, size_t *device, size_t *host);

/* Allocates, uploads, and creates the scan. The inputs stay the caller's. If it fails, nothing is
 * to be closed. */
int part_runs_open(struct part_runs *, struct fault *);
void part_runs_close(struct part_runs *);

/* The first run, compared element by element unless --verify none, and the timed runs, which have
 * to give the same bits. */
int part_runs_do(struct part_runs *, struct outcome17 *, struct fault *);

/* Copies `count` results of the part to the host, from element `start` of the part on. */
int part_runs_result(const struct part_runs *, size_t start, size_t count, void *to,
                     struct fault *);

/* ---- the result as a file -------------------------------------------------------------------- */

/* All ranks call it. The file is written under another name beside its place, and replaces the old
 * file when all parts are complete; if a rank fails, nothing of it is left. Returns the same on all
 * ranks. */
int output_parts(const struct part_runs *, const char *path, struct fault *);

/* Can the file be written by parts? To be asked before the runs. */
int output_parts_check(const char *path, struct fault *);

/* ---- the report ------------------------------------------------------------------------------ */

/*
 * What rank 0 prints: the screen, or a record of --json and --csv.
 *
 * The keys of the record that the other steps have mean the same (common/harness/report/report.h).
 * These are step 17's own:
 *   op, second               sum or affine; the file of b
 *   ranks, machines, gpus    numbers of ranks, of machines, and of different GPUs
 *   exchange                 mpi, nccl, peer or exscan
 *   part_least, part_most    elements of the smallest and of the largest part
 *   nodes, node_elements     nodes of the tree; elements of each, but for the last one
 *   wrong_rank               the first rank whose results are wrong
 *   words_per_element        words that a GPU reads and writes per element
 *   checksum                 of all bits of the result, as 16 hexadecimal digits
 *   checksum_of_ranks        true if other numbers of ranks may have other bits
 */

void report17(FILE *, const struct step *, const struct device *, const struct part_runs *,
              const struct outcome17 *);

/* ---- the program ----------------------------------------------------------------------------- */

/* A rank's options and device, which are read before MPI_Init. */
struct start {
    struct subject subject;
    struct options options;
    struct device device;
    int code; /* of reading the options and choosing the device, with its sentence */
    struct fault fault;
};

/* Does everything; returns the exit code, which is the same on all ranks. */
int program_run(struct start *);

#endif

#ifdef __cplusplus
}
#endif

#endif
