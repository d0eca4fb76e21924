/*
 * test_errata.c — proves every error in notes/errata.md.
 *
 * The documents' code runs as printed, and the tests assert its wrong results and the right results
 * of the corrected code. Code that no longer compiles is given to nvcc.
 */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "listings.h"

#include "common/tools/emu/emu.h"
#include "tests/cases/ptx/ptx_run.h"
#include "tests/support/catalogue.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARP = 32 };

/* ---- the documents' pseudo-code, as printed and corrected ------------------------------------ */

/* Every function works on an array of n elements, n a power of two, and executes `in parallel` as
 * it is meant: all reads of a step come before its writes. An access outside the array is not
 * carried out but noted in `outside`. */
enum { MOST_ELEMENTS = 1024 };

struct array {
    long x[MOST_ELEMENTS];
    size_t n;
    bool outside; /* an index below 0 or from n on was named */
    size_t adds;  /* additions carried out */
};

static int log2_of(size_t n)
{
    int d = 0;
    while ((size_t)1 << d < n) d++;
    return d;
}

/* Element k, or 0 beyond the array. */
static long at(struct array *a, long k)
{
    if (k < 0 || (size_t)k >= a->n) {
        a->outside = true;
        return 0;
    }
    return a->x[k];
}

static void put(struct array *a, long k, long value)
{
    if (k < 0 || (size_t)k >= a->n)
        a->outside = true;
    else
        a->x[k] = value;
}

/* Figure 1 (Harris), Table 39-1 and 39.1.1 (Gems): a loop `from 1 to n`, where n-1 is the last. */
static void sequential(struct array *out, const struct array *in, bool as_printed)
{
    struct array from = *in;
    *out = (struct array){.n = in->n};
    size_t last = as_printed ? in->n : in->n - 1;
    for (size_t k = 1; k <= last; k++) {
        put(out, (long)k, at(&from, (long)k - 1) + at(out, (long)k - 1));
        out->adds++;
    }
}

/* One step of Algorithms 1 and 2: from one array to another. */
static void naive_step(const struct array *in, struct array *out, int d, bool as_printed)
{
    size_t reach = (size_t)1 << (d - 1), first = as_printed ? 2 * reach : reach;
    for (size_t k = 0; k < in->n; k++) {
        out->x[k] = k >= first ? in->x[k - reach] + in->x[k] : in->x[k];
        out->adds += k >= first;
    }
}

/* Algorithm 1: inclusive, in place. As printed a step adds from k >= 2^d on, which is twice the
 * right bound. */
static void naive(struct array *a, bool as_printed)
{
    for (int d = 1; d <= log2_of(a->n); d++) {
        struct array before = *a;
        naive_step(&before, a, d, as_printed);
    }
}

/* Algorithm 2: the same in two buffers. Gems' has no swap of the two. */
static void naive_buffered(struct array *a, bool as_printed, bool swaps)
{
    struct array buffer[2] = {*a, {.n = a->n}};
    int in = 0, out = 1;
    for (int d = 1; d <= log2_of(a->n); d++) {
        naive_step(&buffer[in], &buffer[out], d, as_printed);
        if (swaps) in = 1 - in, out = 1 - out;
    }
    size_t adds = buffer[0].adds + buffer[1].adds;
    *a = buffer[swaps ? in : out]; /* what was written last */
    a->adds = adds;
}

enum tree_as { TREE_RIGHT, TREE_GEMS_STRIDE, TREE_GEMS_INDEX, TREE_HARRIS_TOP };
/* Algorithms 3 and 4: up-sweep, a zero at the root, down-sweep. TREE_GEMS_STRIDE has the stride
 * 2^d + 1 and TREE_GEMS_INDEX the index 2^d + 1 - 1, both for 2^(d+1); TREE_HARRIS_TOP begins the
 * down-sweep at log2 n, not one lower. */
static void tree(struct array *a, enum tree_as as)
{
    int levels = log2_of(a->n);
    for (int d = 0; d < levels; d++) {
        long half = 1L << d, whole = 2 * half, right = as == TREE_GEMS_INDEX ? half + 1 : whole;
        long stride = as == TREE_GEMS_STRIDE ? half + 1 : whole;
        struct array before = *a;
        for (long k = 0; k < (long)a->n; k += stride, a->adds++)
            put(a, k + whole - 1, at(&before, k + half - 1) + at(&before, k + right - 1));
        a->outside = a->outside || before.outside;
    }
    a->x[a->n - 1] = 0;
    for (int d = as == TREE_HARRIS_TOP ? levels : levels - 1; d >= 0; d--) {
        long half = 1L << d, whole = 2 * half, right = as == TREE_GEMS_INDEX ? half + 1 : whole;
        long stride = as == TREE_GEMS_STRIDE ? half + 1 : whole;
        struct array before = *a;
        for (long k = 0; k < (long)a->n; k += stride, a->adds++) {
            long t = at(&before, k + half - 1), parent = at(&before, k + right - 1);
            put(a, k + half - 1, parent);
            put(a, k + right - 1, t + parent);
        }
        a->outside = a->outside || before.outside;
    }
}

enum hybrid_as { HYBRID_RIGHT, HYBRID_FROM_1, HYBRID_PRINTED_DOWN, HYBRID_PRINTED_TOP };
/* Algorithms 5 and 6 (Gems), inclusive: sums of pairs, `steps` levels of them (at most log2 n),
 * Algorithm 2, and back. HYBRID_FROM_1 reduces from k = 1; HYBRID_PRINTED_DOWN has line 7 and the
 * else of the printed down-sweep; HYBRID_PRINTED_TOP begins it at log2 n - 1, as printed. */
static void hybrid(struct array *a, enum hybrid_as as, int steps)
{
    enum { LEVELS = 11 };
    static _Thread_local struct array level[LEVELS];
    int levels = log2_of(a->n);
    level[0] = *a;
    for (int d = 1; d <= levels; d++) {
        level[d] = (struct array){.n = a->n >> d};
        for (size_t k = as == HYBRID_FROM_1; d <= steps && k < level[d].n; k++, a->adds++)
            level[d].x[k] = level[d - 1].x[2 * k] + level[d - 1].x[2 * k + 1];
    }
    naive_buffered(&level[steps], false, true);
    a->adds += level[steps].adds;
    for (int d = (as == HYBRID_PRINTED_TOP ? levels : steps) - 1; d >= 0; d--)
        for (size_t k = 0; k < level[d].n; k++) {
            if (as == HYBRID_PRINTED_DOWN) { /* the else belongs to k > 0 there */
                if (k > 0 && k % 2 != 0) level[d].x[k] = level[d + 1].x[k / 2];
                if (k == 0) level[d].x[0] = at(&level[d + 1], -1);
            } else if (k > 0 && k % 2 != 0) {
                level[d].x[k] = level[d + 1].x[k / 2];
            } else if (k > 0) {
                level[d].x[k] += level[d + 1].x[k / 2 - 1];
                a->adds++;
            }
        }
    memcpy(a->x, level[0].x, a->n * sizeof *a->x);
    for (int d = 0; d <= levels; d++) a->outside = a->outside || level[d].outside;
}

/* Splits keys by a bit, zeros first, and keeps the order otherwise (39.3.3): where each key goes.
 * As printed the number of zeros is the last element of an exclusive scan, which leaves out the
 * last key. */
static void split_places(const unsigned *keys, size_t n, unsigned bit, size_t *place,
                         bool as_printed)
{
    size_t zeros_before[MOST_ELEMENTS], zeros = 0;
    for (size_t i = 0; i < n; i++) {
        zeros_before[i] = zeros;
        zeros += !(keys[i] >> bit & 1);
    }
    size_t total = as_printed ? zeros_before[n - 1] : zeros;
    for (size_t i = 0; i < n; i++)
        place[i] = keys[i] >> bit & 1 ? i - zeros_before[i] + total : zeros_before[i];
}

/* ---- examples -------------------------------------------------------------------------------- */

/* The example of all three documents. */
static const struct array example = {.x = {3, 1, 7, 0, 4, 1, 6, 3}, .n = 8};

static struct array ones(size_t n)
{
    struct array a = {.n = n};
    for (size_t k = 0; k < n; k++) a.x[k] = 1;
    return a;
}

/* The scan of `in`, computed in the plainest way. */
static bool is_scan(const struct array *out, const struct array *in, bool inclusive)
{
    long sum = 0;
    for (size_t k = 0; k < in->n; k++) {
        if (inclusive) sum += in->x[k];
        if (out->x[k] != sum) return false;
        if (!inclusive) sum += in->x[k];
    }
    return true;
}

/* ---- the algorithms ------------------------------------------------------------------------- */

Test(errata, harris_example_is_added_wrongly)
{
    static const struct array exclusive = {.x = {0, 3, 4, 11, 11, 14, 16, 22}, .n = 8},
                              inclusive = {.x = {3, 4, 11, 11, 14, 16, 22, 25}, .n = 8},
                              right = {.x = {0, 3, 4, 11, 11, 15, 16, 22}, .n = 8};
    cr_expect(!is_scan(&exclusive, &example, false));
    cr_expect(!is_scan(&inclusive, &example, true));
    cr_expect(is_scan(&right, &example, false));
}

Test(errata, sequential_loop_writes_beyond_the_end)
{
    struct array out;
    sequential(&out, &example, true);
    cr_expect(out.outside && out.adds == example.n);
    sequential(&out, &example, false);
    cr_expect(!out.outside && is_scan(&out, &example, false));
}

Test(errata, n_adds_are_n_minus_1)
{
    struct array in = ones(MOST_ELEMENTS), out;
    sequential(&out, &in, false);
    cr_expect(out.adds == in.n - 1);
}

Test(errata, algorithms_1_and_2_begin_too_late)
{
    struct array printed = example, right = example;
    naive(&printed, true);
    naive(&right, false);
    cr_expect(!is_scan(&printed, &example, true));
    cr_expect(is_scan(&right, &example, true));
    printed = right = example;
    naive_buffered(&printed, true, true);
    naive_buffered(&right, false, true);
    cr_expect(!is_scan(&printed, &example, true));
    cr_expect(is_scan(&right, &example, true));
}

/* Harris' own sum, of n - 2^(d-1) for d = 1 … log2 n, holds for the right bound only. */
Test(errata, algorithm_1_adds_as_harris_sums_them_up)
{
    struct array printed = ones(MOST_ELEMENTS), right = ones(MOST_ELEMENTS);
    size_t sum = 0;
    for (size_t reach = 1; reach < MOST_ELEMENTS; reach *= 2) sum += MOST_ELEMENTS - reach;
    naive(&printed, true);
    naive(&right, false);
    cr_expect(right.adds == sum);
    cr_expect(printed.adds != sum);
}

Test(errata, gems_algorithm_2_does_not_swap)
{
    struct array printed = example, right = example;
    naive_buffered(&printed, false, false);
    naive_buffered(&right, false, true);
    cr_expect(!is_scan(&printed, &example, true));
    cr_expect(is_scan(&right, &example, true));
}

Test(errata, gems_algorithms_3_and_4_stride_and_index)
{
    struct array right = example, stride = example, index = example;
    tree(&right, TREE_RIGHT);
    tree(&stride, TREE_GEMS_STRIDE);
    tree(&index, TREE_GEMS_INDEX);
    cr_expect(is_scan(&right, &example, false) && !right.outside);
    cr_expect(!is_scan(&stride, &example, false));
    cr_expect(!is_scan(&index, &example, false));
    cr_expect(right.adds == 2 * (example.n - 1)); /* as both documents say */
}

Test(errata, harris_algorithm_4_begins_above_the_root)
{
    struct array printed = example;
    tree(&printed, TREE_HARRIS_TOP);
    cr_expect(printed.outside);
}

/* Levels 0 … log2 n - 1 with 2^d nodes each make n - 1 nodes; n levels would make 2^n - 1. */
Test(errata, a_tree_has_log_n_levels)
{
    size_t n = 8, nodes = 0, printed = 0;
    for (int d = 0; d < 3; d++) nodes += (size_t)1 << d;
    for (size_t d = 0; d < n; d++) printed += (size_t)1 << d;
    cr_expect(nodes == n - 1);
    cr_expect(printed == 255);
}

Test(errata, gems_algorithms_5_and_6)
{
    struct array right = example, from_1 = example, down = example;
    hybrid(&right, HYBRID_RIGHT, 3);
    hybrid(&from_1, HYBRID_FROM_1, 3);
    hybrid(&down, HYBRID_PRINTED_DOWN, 3);
    cr_expect(is_scan(&right, &example, true) && !right.outside);
    cr_expect(!is_scan(&from_1, &example, true));
    cr_expect(!is_scan(&down, &example, true) && down.outside);
}

/* By the text, Algorithm 2 scans what a configurable number of reduce steps leaves. But both
 * printed loops run to log2 n, where one element is left and nothing to scan. After fewer steps the
 * printed down-sweep would begin at a level above them, in arrays that were never written. */
Test(errata, gems_algorithms_5_and_6_leave_nothing_to_scan)
{
    for (int steps = 0; steps <= 3; steps++) {
        struct array right = example, printed = example;
        hybrid(&right, HYBRID_RIGHT, steps);
        hybrid(&printed, HYBRID_PRINTED_TOP, steps);
        cr_expect(is_scan(&right, &example, true) && !right.outside, "%d steps", steps);
        cr_expect(is_scan(&printed, &example, true) == (steps == 3), "%d steps", steps);
    }
}

/* "Almost a factor of 20" for a million elements: it is 19 times the sequential adds, or 9.5 times
 * those of the work-efficient scan. */
Test(errata, a_factor_of_20_is_19_or_9_5)
{
    double n = 1 << 20, naive_adds = n * 20 - (n - 1), sequential_adds = n - 1,
           tree_adds = 2 * (n - 1);
    cr_expect(naive_adds / sequential_adds > 18.99 && naive_adds / sequential_adds < 19.01);
    cr_expect(naive_adds / tree_adds > 9.49 && naive_adds / tree_adds < 9.51);
}

/* Figure 5 adds sum i to block i + 1, which needs an inclusive scan of SUMS. The text adds INCR(j)
 * to block j, which needs an exclusive one. Mixed, the result is wrong. */
Test(errata, harris_figure_5_and_text_differ)
{
    enum { BLOCKS = 4, B = 2 };
    for (int inclusive = 0; inclusive < 2; inclusive++)
        for (int to_next = 0; to_next < 2; to_next++) {
            struct array out = {.n = BLOCKS * B};
            long incr[BLOCKS + 1] = {0}, sum = 0;
            for (int j = 0; j < BLOCKS; j++) {
                long whole = example.x[j * B] + example.x[j * B + 1];
                incr[j + to_next] = inclusive ? sum + whole : sum;
                sum += whole;
            }
            for (int j = 0; j < BLOCKS; j++) {
                out.x[j * B] = incr[j];
                out.x[j * B + 1] = incr[j] + example.x[j * B];
            }
            cr_expect(is_scan(&out, &example, false) == (inclusive == to_next),
                      "inclusive %d, to the next block %d", inclusive, to_next);
        }
}

Test(errata, gems_split_forgets_the_last_key)
{
    const unsigned keys[] = {1, 0, 1, 0}; /* the last one is false */
    size_t printed[4], right[4], taken[2][5] = {{0}};
    split_places(keys, 4, 0, printed, true);
    split_places(keys, 4, 0, right, false);
    for (int i = 0; i < 4; i++) taken[0][printed[i]]++, taken[1][right[i]]++;
    cr_expect(taken[0][1] == 2, "two keys go to one place as printed");
    for (int i = 0; i < 4; i++) cr_expect(taken[1][i] == 1);
}

Test(errata, harris_table_2_prints_a_wrong_size) { cr_expect((1 << 23) == 8388608); }

/* ---- the kernels ----------------------------------------------------------------------------- */

enum { MOST = 2048 };

/* Scans n floats 1, 2, 3, 1, 2, 3 …; true: every element is right. */
static bool scans(cudaError_t (*launch)(float *, const float *, int, int), int n, int as)
{
    static float host[MOST], got[MOST];
    float *in, *out;
    for (int k = 0; k < n; k++) host[k] = (float)(k % 3 + 1);
    cr_assert(!cudaMalloc((void **)&in, sizeof host) && !cudaMalloc((void **)&out, sizeof host));
    cr_assert(!cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    cudaError_t error = launch(out, in, n, as);
    if (!error) error = cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    bool right = !error;
    float sum = 0;
    for (int k = 0; k < n; sum += host[k++]) right = right && got[k] == sum;
    if (!error) cudaFree(in), cudaFree(out);
    return right;
}

static cudaError_t listing_1(float *out, const float *in, int n, int as_printed)
{
    return launch_listing_1(out, in, n, as_printed);
}
static cudaError_t padded(float *out, const float *in, int n, int as)
{
    return launch_padded(out, in, n, (enum padded_as)as);
}

Test(errata, harris_listing_1_adds_to_a_stale_buffer)
{
    cr_expect(!scans(listing_1, 8, true));
    cr_expect(scans(listing_1, 8, false));
    cr_expect(scans(listing_1, 512, false));
}

Test(errata, harris_bank_offset_b_is_that_of_a)
{
    cr_expect(!scans(padded, 64, PADDED_OFFSET_B));
    cr_expect(scans(padded, 64, PADDED_RIGHT));
}

/* Bank conflicts of one launch: loads and stores. */
static uint64_t conflicts(int n, enum padded_as as)
{
    struct emu *emu = emu_runtime();
    emu_forget(emu);
    emu_count(emu, true);
    cr_assert(scans(padded, n, as));
    emu_count(emu, false);
    const struct emu_counts *c = &emu_record(emu, 0)->total;
    return c->shared_ld.wavefronts - c->shared_ld.ideal + c->shared_st.wavefronts -
           c->shared_st.ideal;
}

Test(errata, zero_bank_conflicts_removes_none)
{
    uint64_t zero = conflicts(512, PADDED_ZERO), none = conflicts(512, PADDED_NOT);
    cr_expect(zero == none && zero > 0, "%llu and %llu", (unsigned long long)zero,
              (unsigned long long)none);
    cr_expect(conflicts(512, PADDED_RIGHT) == 0);
}

/* Runs a launch whose fault the runtime prints on stderr; returns the error. */
static cudaError_t quietly(cudaError_t (*run)(void))
{
    FILE *nowhere = fopen("/dev/null", "w"), *before = stderr;
    stderr = nowhere;
    cudaError_t error = run();
    if (!error) error = cudaDeviceSynchronize();
    stderr = before;
    fclose(nowhere);
    return error;
}

static cudaError_t run_ungrown(void)
{
    float *data;
    cr_assert(!cudaMalloc((void **)&data, 512 * sizeof *data));
    return launch_padded(data, data, 512, PADDED_UNALLOWED);
}

Test(errata, padding_needs_a_larger_array)
{
    cr_expect(quietly(run_ungrown) == cudaErrorIllegalAddress);
    cr_expect(strstr(emu_message(emu_runtime()), "2048 bytes of shared memory a block") != NULL,
              "%s", emu_message(emu_runtime()));
}

/* ---- the lecture's copies -------------------------------------------------------------------- */

/* The number of n ints that a copy leaves out; -1: the launch has failed. */
static int left_out(cudaError_t (*launch)(int *, const int *, int, bool), int n, bool as_printed)
{
    static int host[MOST], got[MOST];
    int *in, *out, missing = 0;
    for (int k = 0; k < n; k++) host[k] = k + 1;
    cr_assert(!cudaMalloc((void **)&in, sizeof host) && !cudaMalloc((void **)&out, sizeof host));
    cr_assert(!cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    cr_assert(!cudaMemset(out, 0, sizeof host));
    cudaError_t error = launch(out, in, n, as_printed);
    cr_assert(!cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (int k = 0; k < n; k++) missing += got[k] != host[k];
    cudaFree(in);
    cudaFree(out);
    return error ? -1 : missing;
}

Test(errata, lecture_int4_index_is_a_product)
{
    cr_expect(left_out(launch_copy_int4, 1024, true) == 4 * (256 - 2), "%d are left out",
              left_out(launch_copy_int4, 1024, true));
    cr_expect(left_out(launch_copy_int4, 1024, false) == 0);
}

/* Tails are lost where no thread has the number of the first element after the vectors. */
Test(errata, lecture_tails_are_lost)
{
    cr_expect(left_out(launch_copy_int2, 255, true) == 0); /* 127 vectors: thread 127 exists */
    cr_expect(left_out(launch_copy_int2, 257, true) == 1); /* 128 vectors: thread 128 does not */
    for (int n = 513; n <= 515; n++)
        cr_expect(left_out(launch_copy_int4_tail, n, true) == n - 512, "n = %d", n);
    for (int n = 255; n <= 515; n++) {
        cr_expect(left_out(launch_copy_int2, n, false) == 0, "n = %d", n);
        cr_expect(left_out(launch_copy_int4, n, false) == 0, "n = %d", n);
    }
    /* and beyond the cap on blocks */
    cr_expect(left_out(launch_copy_int2, 2047, true) == 1);
}

Test(errata, lecture_copies_of_less_than_a_vector_do_not_start)
{
    cr_expect(left_out(launch_copy_int2, 1, true) == -1);
    cr_expect(left_out(launch_copy_int4_tail, 3, true) == -1);
    cr_expect(left_out(launch_copy_int2, 1, false) == 0);
    cr_expect(left_out(launch_copy_int4, 3, false) == 0);
}

/* ---- the lecture's warps --------------------------------------------------------------------- */

static int warp_sum(enum warp_sum_as as)
{
    int host[WARP], *in, *out, sum;
    for (int k = 0; k < WARP; k++) host[k] = k + 1;
    cr_assert(!cudaMalloc((void **)&in, sizeof host) && !cudaMalloc((void **)&out, sizeof sum));
    cr_assert(!cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    cr_assert(!launch_warp_sum(out, in, as));
    cr_assert(!cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost));
    return sum;
}

Test(errata, lecture_example_3_solution_leaves_a_step_out)
{
    cr_expect(warp_sum(WARP_SUM_RIGHT) == WARP * (WARP + 1) / 2);
    cr_expect(warp_sum(WARP_SUM_SOLUTION) != WARP * (WARP + 1) / 2);
}

/* Whether racecheck finds a hazard in a version of a pair of tests/cases/checks. */
static bool has_hazard(const char *name, const char *version)
{
    enum { FOUND = 9 };
    struct checked pair = find_pair(name);
    int status = run("$emu --tool racecheck --error-exitcode %d $pairs/%s %s %s 2>&1", FOUND,
                     pair.catalogue, name, version);
    cr_assert(status == FOUND || status == 0, "%s", output);
    return status == FOUND;
}

/* "We time different variants": all of them pass a check of their result. A variant without any
 * work would pass, too, since 4096 rotations of a warp by one lane change nothing. */
Test(errata, lecture_neighbour_rounds_are_the_identity)
{
    int lanes[WARP], next[WARP];
    for (int l = 0; l < WARP; l++) lanes[l] = l;
    for (int round = 0; round < 4096; round++) {
        for (int l = 0; l < WARP; l++) next[l] = lanes[(l + 1) % WARP];
        memcpy(lanes, next, sizeof lanes);
    }
    for (int l = 0; l < WARP; l++) cr_expect(lanes[l] == l);
}

Test(errata, lecture_safe_neighbour_exchange_is_a_race)
{
    cr_expect(has_hazard("race-loop-warp", "wrong"));
    cr_expect(!has_hazard("race-loop-warp", "right"));
}

/* As printed, and the other printed form, with `+=`, which only volatile kept working. */
Test(errata, warp_synchronous_code_is_a_race)
{
    cr_expect(has_hazard("race-warp-values", "wrong"));
    cr_expect(has_hazard("race-warp", "wrong"));
    cr_expect(!has_hazard("race-warp-values", "right"));
}

/* "Returns true when all threads in 'mask' have the same predicate value": not when all are 0. */
Test(errata, all_sync_is_not_the_same_value)
{
    int *out, got[WARP];
    cr_assert(!cudaMalloc((void **)&out, sizeof got));
    for (int predicate = 0; predicate < 2; predicate++) {
        cr_assert(!launch_all(out, predicate));
        cr_assert(!cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
        for (int l = 0; l < WARP; l++) cr_expect(got[l] == predicate);
    }
}

/* ---- code that does not compile -------------------------------------------------------------- */

static int compile(const char *arguments, char *output, size_t size)
{
    char command[512];
    snprintf(command, sizeof command, "\"$(common/build/toolkit.sh)/bin/nvcc\" %s 2>&1", arguments);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    output[fread(output, 1, size - 1, pipe)] = '\0';
    return pclose(pipe);
}

static void expect_rejected(const char *name, const char *says)
{
    char arguments[256], output[4096];
    snprintf(arguments, sizeof arguments,
             "-arch=sm_90 -DPART_%s -cubin -o /dev/null tests/unit/errata/rejected.cu", name);
    cr_expect(compile(arguments, output, sizeof output) != 0, "%s compiles", name);
    cr_expect(strstr(output, says) != NULL, "%s: %s", name, output);
}

#define REJECTED(test, part, says)                                                                 \
    Test(errata, test) { expect_rejected(part, says); }
REJECTED(harris_thid1_is_undeclared, "listing_1_thid1", "\"thid1\" is undefined")
REJECTED(gems_macro_uses_lack_semicolons, "macro_semicolon", "expected a \";\"")
REJECTED(lecture_host_code_mixes_n_and_N, "host_n", "\"N\" is undefined")
REJECTED(lecture_bfind_has_no_types, "bfind", "explicit type is missing")
REJECTED(lecture_memorycopy_lacks_a_parenthesis, "memorycopy", "expected a \")\"")
REJECTED(lanemask_lt_is_no_function, "lanemask_lt", "\"__lanemask_lt\" is undefined")
REJECTED(arrays_are_not_qualified_with_global, "global_array", "undefined in device code")
Test(errata, lecture_64_bit_shuffle_is_rejected)
{
    expect_rejected("shuffle_64", "Arguments mismatch for instruction 'mov'");
    expect_rejected("shuffle_64_end", "expected a \"(\"");
}
Test(errata, shuffles_without_sync_are_gone)
{
    expect_rejected("shuffle_without_sync", "\"__shfl\" is undefined");
    expect_rejected("shuffle_ptx", "without '.sync' is not supported");
}

Test(errata, kepler_guide_spells_xptxas_small)
{
    char output[4096];
    cr_expect(
        compile("-xptxas -dlcm=ca -DPART_global_array -cubin -o /dev/null "
                "tests/unit/errata/rejected.cu",
                output, sizeof output) != 0);
    cr_expect(strstr(output, "-xptxas") != NULL, "%s", output);
}
