/*
 * wrong_many.c — build/tests/wrong-ranks: ./step17 with a scan that is wrong on purpose, in the
 * last rank. WRONG says how: element, first (element), before (the output), input, timed (a run
 * after the first), fail (many_run returns a fault), die (the process is killed), stop (SIGSTOP),
 * stop-first (in rank 0) or late (by LATE_SECONDS). die-writing: rank 0 is killed when the output
 * is written and has no name yet.
 */
#define _GNU_SOURCE
#include "common/harness/print/print.h"
#include "steps/17-many-gpus/request.h"
#include "steps/17-many-gpus/scan.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_SECONDS 2

int __real_many_run(struct many_scan *, void *, const void *, const void *, bool, cudaStream_t,
                    struct fault *);
int __wrap_many_run(struct many_scan *, void *, const void *, const void *, bool, cudaStream_t,
                    struct fault *);

int __wrap_many_run(struct many_scan *scan, void *out, const void *in, const void *in2,
                    bool inclusive, cudaStream_t stream, struct fault *fault)
{
    static int runs;
    int rank, ranks;
    const char *wrong = getenv("WRONG");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bool is = rank == ranks - 1 && wrong;
    if (is && strcmp(wrong, "die") == 0) raise(SIGKILL);
    if (is && strcmp(wrong, "late") == 0) sleep(LATE_SECONDS);
    if (is && strcmp(wrong, "stop") == 0) raise(SIGSTOP);
    if (rank == 0 && wrong && strcmp(wrong, "stop-first") == 0) raise(SIGSTOP);
    int code = __real_many_run(scan, out, in, in2, inclusive, stream, fault);
    runs++;
    char *at = NULL;
    if (is && strcmp(wrong, "fail") == 0) return fail(fault, EXIT_DEVICE, "it fails on purpose.");
    if (is && strcmp(wrong, "element") == 0) at = (char *)out + 40;
    if (is && strcmp(wrong, "first") == 0) at = out;
    if (is && strcmp(wrong, "before") == 0) at = (char *)out - 3;
    if (is && strcmp(wrong, "input") == 0) at = (char *)(uintptr_t)in + 80;
    if (is && strcmp(wrong, "timed") == 0 && runs > 1) at = (char *)out + 40;
    if (at) cudaMemsetAsync(at, 1, 1, stream);
    return code;
}

int __real_output_end(struct output *, struct fault *);
int __wrap_output_end(struct output *, struct fault *);

int __wrap_output_end(struct output *output, struct fault *fault)
{
    const char *wrong = getenv("WRONG");
    if (wrong && strcmp(wrong, "die-writing") == 0) raise(SIGKILL);
    return __real_output_end(output, fault);
}

int __real_choose_exchange(const struct surroundings *, enum exchange_choice,
                           enum exchange_choice *, struct fault *);
int __wrap_choose_exchange(const struct surroundings *, enum exchange_choice,
                           enum exchange_choice *, struct fault *);

/* The stand-in of NCCL (nccl/nccl.h) is for emulated GPUs. */
int __wrap_choose_exchange(const struct surroundings *s, enum exchange_choice asked,
                           enum exchange_choice *chosen, struct fault *fault)
{
    if (asked != CHOOSE_NCCL) return __real_choose_exchange(s, asked, chosen, fault);
    *chosen = CHOOSE_NCCL;
    return 0;
}
