/*
 * test_cooperative.c — cooperative launches, clusters, asynchronous copies.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "common/tools/emu/emu.h"
#include "common/harness/run/runs.h"
#include "tests/support/cudart_check.h"
#include <stdlib.h>
#include <string.h>

/* The model decides which PTX of the fat binary runs: compute_75, compute_90 or compute_100. */
#define ON(suite, arch, model, name, check)                                                        \
    Test(suite, name##_compute_##arch, .timeout = 60) { setenv("EMU_GPU", model, 1), check; }
#define ON_HOPPER(suite, name, check)                                                              \
    ON(suite, 90, "h200", name, check) ON(suite, 100_slow, "b200", name, check)
#define ON_ALL(suite, name, check)                                                                 \
    ON(suite, 75_slow, "t4", name, check) ON_HOPPER(suite, name, check)

static void *device_copy(const void *host, size_t bytes)
{
    void *memory = device_memory(bytes);
    ok(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static void read_back(void *host, const void *memory, size_t bytes)
{
    ok(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost));
}

/* ---- asynchronous copies and barriers of CUDA C++, from the PTX of three architectures ------- */

/* For compute_75 the same sources become plain loads and stores. */

enum { THREADS = 128, TILES = 7, ALL = THREADS * TILES };

typedef cudaError_t launch_fn(int *out, const int *in, int threads, int tiles);

static void run(launch_fn *launch, int *got)
{
    int in[ALL], *out = device_memory(sizeof in);
    for (int i = 0; i < ALL; i++) in[i] = 3 * i + 1;
    ok(launch(out, device_copy(in, sizeof in), THREADS, TILES));
    read_back(got, out, sizeof in);
}

static void reverses(launch_fn *launch)
{
    int got[ALL];
    run(launch, got);
    for (int i = 0; i < ALL; i++) {
        int tile = i / THREADS, want = 3 * (tile * THREADS + THREADS - 1 - i % THREADS) + 1;
        cr_assert(got[i] == want, "element %d: %d, want %d", i, got[i], want);
    }
}

ON_ALL(async, pipeline_primitives, reverses(launch_pipeline_primitives))
ON_ALL(async, group_memcpy, reverses(launch_group_memcpy))
ON_ALL(async, barrier_memcpy, reverses(launch_barrier_memcpy))
ON_ALL(async, pipeline, reverses(launch_pipeline))
ON_ALL(async, producer_warp, reverses(launch_producer_warp))
ON_HOPPER(async, bulk, reverses(launch_bulk))
ON_HOPPER(async, bulk_ring, reverses(launch_bulk_ring))

static void drops(void)
{
    int got[ALL];
    run(launch_drop, got);
    for (int t = 0; t < THREADS; t++) cr_expect(got[t] == t % TILES + 1, "%d: %d", t, got[t]);
}
ON_ALL(async, threads_leave_a_barrier, drops())

/* On a GPU the result may be right. */
static void reads_old_bytes(void)
{
    int got[ALL];
    run(launch_forgotten_wait, got);
    for (int t = 0; t < THREADS; t++) cr_expect(got[t] == -1, "%d: %d", t, got[t]);
}
ON_HOPPER(async, a_forgotten_wait_is_seen, reads_old_bytes())

Test(async, a_barrier_that_lacks_a_thread_is_found, .timeout = 60)
{
    int *out;
    setenv("EMU_GPU", "h200", 1);
    setenv("EMU_TIMEOUT", "1", 1);
    ok(cudaMalloc((void **)&out, 1000));
    ok(launch_barrier_that_lacks_one(out, NULL, 64, 0));
    cudaError_t error = cudaDeviceSynchronize();
    const char *message = emu_message(emu_runtime());
    cr_expect(error == cudaErrorLaunchFailure || error == cudaErrorLaunchTimeout, "%d", error);
    cr_expect(strstr(message, "lacks 1 of 65 arrivals"), "%s", message);
}

/* ---- thread block clusters ------------------------------------------------------------------- */

/* Answers of an H200 are marked as such. */

enum {
    CLUSTER_THREADS = 64,
    BLOCKS = 12,
    CLUSTER_ALL = BLOCKS * CLUSTER_THREADS,
    CLUSTER = 4,
    BINS = 64
};

/* Runs a kernel on 0, 7, 14 …; want(i) is what thread i must have written. */
static void run_clusters(cudaError_t (*launch)(int *, const int *, int), int (*want)(int))
{
    int in[CLUSTER_ALL], got[CLUSTER_ALL], *out = device_memory(sizeof in);
    for (int i = 0; i < CLUSTER_ALL; i++) in[i] = 7 * i;
    ok(launch(out, device_copy(in, sizeof in), BLOCKS));
    read_back(got, out, sizeof got);
    for (int i = 0; i < CLUSTER_ALL; i++)
        cr_assert(got[i] == want(i), "thread %d: %d, want %d", i, got[i], want(i));
}

/* The element of thread t in the block that is `distance` on in the cluster of thread i. */
static int element(int i, int distance)
{
    int block = i / CLUSTER_THREADS, first = block / CLUSTER * CLUSTER;
    return 7 * ((first + (block - first + distance + CLUSTER) % CLUSTER) * CLUSTER_THREADS +
                i % CLUSTER_THREADS);
}
static int from_neighbours(int i)
{
    if (i / CLUSTER_THREADS % CLUSTER) return element(i, 1);
    int sum = element(i, 0);
    for (int k = 0; k < CLUSTER; k++) sum += element(i, k);
    return sum;
}
static int from_before(int i) { return element(i, -1); }

ON_HOPPER(cluster, blocks_read_and_add_in_each_others_memory,
          run_clusters(launch_neighbours, from_neighbours))
ON_HOPPER(cluster, bulk_copies_go_to_other_blocks, run_clusters(launch_push, from_before))

static void histograms(int cluster)
{
    enum { N = 5000 };
    int in[N], got[BINS], want[BINS] = {0}, *out = device_memory(sizeof got);
    for (int i = 0; i < N; i++) want[in[i] = i * i % 61]++;
    ok(cudaMemset(out, 0, sizeof got));
    ok(launch_histogram(out, device_copy(in, sizeof in), N, 16, cluster));
    read_back(got, out, sizeof got);
    cr_expect_arr_eq(got, want, sizeof want);
}
ON_HOPPER(cluster, a_histogram_over_two, histograms(2))
ON_HOPPER(cluster, a_histogram_over_eight, histograms(8))

static void check_addresses(void)
{
    int got[4], *out = device_memory(sizeof got);
    ok(launch_addresses(out));
    read_back(got, out, sizeof got);
    for (int k = 0; k < 4; k++) cr_expect(got[k] == 1, "rank %d", k);
}
ON_HOPPER(cluster, addresses_mean_the_same_in_every_block, check_addresses())

static void check_view(dim3 blocks, dim3 cluster, unsigned is_explicit)
{
    struct cluster_view got[64], *out = device_memory(sizeof got);
    dim3 asked = is_explicit ? cluster : (dim3){99, 1, 1};
    ok(launch_cluster_view(out, blocks, asked));
    read_back(got, out, sizeof got);
    for (unsigned b = 0; b < blocks.x * blocks.y * blocks.z; b++) {
        unsigned at[3] = {b % blocks.x, b / blocks.x % blocks.y, b / blocks.x / blocks.y};
        unsigned size[3] = {cluster.x, cluster.y, cluster.z},
                 grid[3] = {blocks.x, blocks.y, blocks.z};
        unsigned rank = at[0] % size[0] + size[0] * (at[1] % size[1] + size[1] * (at[2] % size[2]));
        cr_expect(got[b].rank == rank && got[b].blocks == size[0] * size[1] * size[2] &&
                      got[b].is_explicit == is_explicit,
                  "block %u", b);
        for (int k = 0; k < 3; k++)
            cr_expect(got[b].id[k] == at[k] / size[k] && got[b].index[k] == at[k] % size[k] &&
                          got[b].size[k] == size[k] && got[b].grid[k] == grid[k] / size[k],
                      "block %u, direction %d", b, k);
    }
}
static void check_views(void)
{
    check_view((dim3){6, 1, 1}, (dim3){3, 1, 1}, 1);
    check_view((dim3){4, 4, 4}, (dim3){2, 2, 2}, 1);
    check_view((dim3){6, 2, 1}, (dim3){3, 1, 1}, 1);
    check_view((dim3){5, 1, 1}, (dim3){1, 1, 1}, 1);
    check_view((dim3){5, 1, 1}, (dim3){1, 1, 1}, 0);
}
ON_HOPPER(cluster, blocks_know_their_cluster, check_views())

/* ---- limits ---------------------------------------------------------------------------------- */

Test(cluster, wrong_sizes_are_refused_as_an_h200_does)
{
    struct cluster_view *out = device_memory(64 * sizeof *out);
    static const struct {
        unsigned blocks, cluster;
        cudaError_t want;
    } sizes[] = {{16, 8, cudaSuccess},
                 {16, 16, cudaErrorInvalidClusterSize},
                 {10, 4, cudaErrorInvalidClusterSize},
                 {2, 4, cudaErrorInvalidClusterSize},
                 {4, 0, cudaErrorInvalidClusterSize}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        cudaError_t error =
            launch_cluster_view(out, (dim3){sizes[k].blocks, 1, 1}, (dim3){sizes[k].cluster, 1, 1});
        cr_expect(error == sizes[k].want, "%u blocks in clusters of %u: %d", sizes[k].blocks,
                  sizes[k].cluster, error);
        cr_expect(cudaDeviceSynchronize() == cudaSuccess, "it is no fault");
    }
    int *ints = (int *)out;
    cr_expect(launch_neighbours(ints, ints, 6) == cudaErrorInvalidClusterSize);
    ok(allow_large_clusters());
    cr_expect(launch_cluster_view(out, (dim3){16, 1, 1}, (dim3){16, 1, 1}) == cudaSuccess);
    cr_expect(launch_cluster_view(out, (dim3){32, 1, 1}, (dim3){32, 1, 1}) ==
              cudaErrorInvalidClusterSize);
}

Test(cluster, gpus_before_hopper_have_none_slow)
{
    setenv("EMU_GPU", "t4", 1);
    struct cluster_view *out = device_memory(64 * sizeof *out);
    cr_expect(launch_cluster_view(out, (dim3){2, 1, 1}, (dim3){2, 1, 1}) ==
              cudaErrorInvalidClusterSize);
    const char *message = emu_message(emu_runtime());
    cr_expect(strstr(message, "compute capability 7.5"), "%s", message);
}

/* Blocks of 1024 threads: a multiprocessor holds two of them, or one if their shared memory is
 * large. */
Test(cluster, occupancy_is_an_h200s)
{
    static const struct {
        int cluster, twice, once;
    } want[] = {{1, 264, 132}, {2, 132, 66}, {8, 30, 15}, {16, 14, 7}};
    int clusters, largest;
    ok(allow_large_clusters());
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        ok(active_clusters(&clusters, &largest, want[k].cluster, 1024, 0));
        cr_expect(clusters == want[k].twice && largest == 16, "of %d: %d, at most %d",
                  want[k].cluster, clusters, largest);
        cr_assert(active_clusters(&clusters, &largest, want[k].cluster, 1024, 232448) ==
                  cudaSuccess);
        cr_expect(clusters == want[k].once, "of %d: %d", want[k].cluster, clusters);
    }
    struct cudaFuncAttributes fixed = given(struct cudaFuncAttributes, fixed_attributes);
    cr_expect(fixed.clusterDimMustBeSet == 1 && fixed.requiredClusterWidth == 4 &&
              fixed.requiredClusterHeight == 1 && !fixed.nonPortableClusterSizeAllowed);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void expect_fault(cudaError_t (*launch)(int *), const char *says)
{
    int *out = device_memory(sizeof *out);
    ok(launch(out));
    cudaError_t error = cudaDeviceSynchronize();
    const char *message = emu_message(emu_runtime());
    cr_expect(error == cudaErrorLaunchFailure, "error %d", error);
    cr_expect(strstr(message, says), "%s", message);
}

/* An H200 gives the same error. */
Test(cluster, the_memory_of_a_block_that_has_exited_is_gone)
{
    expect_fault(launch_gone, "the block of rank 1 has exited");
}
Test(cluster, a_cluster_that_waits_for_ever_is_found, .timeout = 60)
{
    setenv("EMU_TIMEOUT", "50", 1); /* under the sanitizers it takes seconds to find */
    expect_fault(launch_half_waits, "lacks 1 of 1 arrivals");
}

/* ---- grids, blocks and tiles of cooperative groups ------------------------------------------- */

static void check_grid_scan(int blocks, int threads)
{
    enum { N = 3000 };
    static int in[N], got[N];
    int *out = device_memory(sizeof in), *scratch = device_memory(sizeof in);
    for (int i = 0; i < N; i++) in[i] = i * 7 % 11;
    ok(launch_grid_scan(out, scratch, device_copy(in, sizeof in), N, blocks, threads));
    read_back(got, out, sizeof got);
    for (int i = 0, sum = 0; i < N; i++) {
        sum += in[i];
        cr_assert(got[i] == sum, "%d blocks: sum %d is %d, want %d", blocks, i, got[i], sum);
    }
}

static void grid_scans(void)
{
    check_grid_scan(1, 64);
    check_grid_scan(7, 32);
    check_grid_scan(40, 100);
}
ON_ALL(cooperative, a_grid_sync_separates_sweeps, grid_scans())

static void rounds(void)
{
    enum { BLOCKS = 30, ROUNDS = 5 };
    int got[3 * BLOCKS], *out = device_memory(sizeof got);
    ok(launch_grid_sync(out, BLOCKS, 64, ROUNDS, 1));
    read_back(got, out, sizeof got);
    for (int b = 0; b < BLOCKS; b++)
        cr_expect(got[2 * BLOCKS + b] == (b + BLOCKS - ROUNDS) % BLOCKS, "block %d: %d", b,
                  got[2 * BLOCKS + b]);
}
ON_ALL(cooperative, arrive_and_wait, rounds())

static void tiles(void)
{
    enum { THREADS = 256, TILE = 64 };
    int in[THREADS], got[THREADS], *out = device_memory(sizeof got);
    for (int i = 0; i < THREADS; i++) in[i] = i * i % 101;
    ok(launch_large_tiles(out, device_copy(in, sizeof in), THREADS));
    read_back(got, out, sizeof got);
    for (int i = 0; i < THREADS; i++) {
        int sum = 0;
        for (int k = 0; k < TILE; k++) sum += in[i / TILE * TILE + k];
        cr_expect(got[i] == sum, "thread %d: %d, want %d", i, got[i], sum);
    }
}
ON_ALL(cooperative, tiles_of_two_warps, tiles())

static void halves(void)
{
    enum { THREADS = 100 };
    int got[THREADS], *out = device_memory(sizeof got);
    ok(launch_split_barrier(out, THREADS));
    read_back(got, out, sizeof got);
    for (int t = 0; t < THREADS; t++) cr_expect(got[t] == 3 * (THREADS - 1 - t) + t);
}
ON_ALL(cooperative, a_barrier_in_two_halves, halves())

Test(cooperative, the_grid_knows_itself)
{
    enum { BLOCKS = 6, THREADS = 32, ALL = BLOCKS * THREADS };
    struct grid_view got[ALL], *out = device_memory(sizeof got);
    dim3 blocks = {3, 2, 1}, threads = {8, 4, 1};
    for (int is_cooperative = 0; is_cooperative < 2; is_cooperative++) {
        ok(launch_grid_view(out, blocks, threads, is_cooperative));
        read_back(got, out, sizeof got);
        for (unsigned i = 0; i < ALL; i++)
            cr_expect(got[i].size == ALL && got[i].thread_rank == i &&
                          got[i].block_rank == i / THREADS && got[i].blocks == BLOCKS &&
                          got[i].is_valid == (unsigned)is_cooperative,
                      "thread %u, cooperative %d", i, is_cooperative);
    }
}

/* As on a GPU, the kernel stops itself: without a cooperative launch grid.sync() has no counter. */
Test(cooperative, a_grid_sync_in_an_ordinary_launch_is_a_fault)
{
    int *out = device_memory(1000);
    ok(launch_grid_sync(out, 4, 32, 1, 0));
    cr_expect(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    cr_expect(strstr(emu_message(emu_runtime()), "trap"), "%s", emu_message(emu_runtime()));
}

/* With _CG_DEBUG it stops even without a sync: this_grid() waits for all blocks. If it cannot, an
 * assertion fails in place of a trap. */
Test(cooperative, cg_debug_checks_this_grid)
{
    struct counters counters;
    cr_assert(counters_begin());
    cr_expect(launch_checked_this_grid(4, 1) == cudaSuccess);
    cr_expect(cudaDeviceSynchronize() == cudaSuccess);
    counters_end(&counters);
    cr_expect(counters.total.global_atom.requests == 4, "each block counts itself");
    counters_free(&counters);
    cr_expect(launch_checked_this_grid(4, 0) == cudaSuccess);
    cr_expect(cudaDeviceSynchronize() == cudaErrorAssert);
}

Test(cooperative, a_grid_that_is_not_resident_at_once_is_refused)
{
    int *out = device_memory(1000);
    cr_expect(launch_grid_sync(out, 100000, 64, 1, 1) == cudaErrorCooperativeLaunchTooLarge);
}

/* The memory that the launch needs is not part of the program's, and is freed. */
Test(cooperative, the_workspace_is_given_back)
{
    size_t before, after, total;
    int *out = device_memory(1000);
    ok(launch_grid_sync(out, 4, 32, 1, 1)); /* loads the module, too */
    cudaMemGetInfo(&before, &total);
    ok(launch_grid_sync(out, 4, 32, 1, 1));
    cudaMemGetInfo(&after, &total);
    cr_expect(before == after);
}

Test(cooperative, clocks_count_instructions_and_nanoseconds)
{
    enum { FEW = 100, MANY = 10100 };
    unsigned long long few[3], many[3], again[3], *out = device_memory(sizeof few);
    ok(launch_clocks(out, FEW));
    read_back(few, out, sizeof few);
    ok(launch_clocks(out, MANY));
    read_back(many, out, sizeof many);
    ok(launch_clocks(out, MANY));
    read_back(again, out, sizeof again);
    /* A round of the loop has a few instructions. */
    unsigned long long more = many[0] - few[0], rounds_more = MANY - FEW;
    cr_expect(more >= 3 * rounds_more && more < 20 * rounds_more, "%llu, %llu", few[0], many[0]);
    cr_expect(again[0] == many[0], "it repeats exactly");
    cr_expect(few[1] > 0 && few[1] < 10000000000, "%llu ns", few[1]);
    cr_expect(many[2] >= many[0] && many[2] < many[0] + 20, "clock() and clock64() agree");
}
