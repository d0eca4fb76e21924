/*
 * wrong_many.c — build/tests/wrong-ranks: ./step17 with a scan that is wrong on purpose, in the
 * last rank. WRONG says how: element, first (element), before (the output), input, timed (a call
 * after the first three), fail (many_run returns a fault), die (the process is killed), stop
 * (SIGSTOP), stop-first (in rank 0) or late (by LATE_SECONDS).
 */
#define _GNU_SOURCE
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
    if (is && strcmp(wrong, "timed") == 0 && runs > 3) at = (char *)out + 40;
    if (at) cudaMemsetAsync(at, 1, 1, stream);
    return code;
}

int __real_choose_exchange(const struct surroundings *, enum many_exchange,
                           enum many_exchange *, struct fault *);
int __wrap_choose_exchange(const struct surroundings *, enum many_exchange,
                           enum many_exchange *, struct fault *);

/* The stand-in of NCCL (nccl/nccl.h) is for emulated GPUs. */
int __wrap_choose_exchange(const struct surroundings *s, enum many_exchange asked,
                           enum many_exchange *chosen, struct fault *fault)
{
    if (asked != EXCHANGE_NCCL) return __real_choose_exchange(s, asked, chosen, fault);
    *chosen = EXCHANGE_NCCL;
    return 0;
}
