/* test_cooperative.c — thread block clusters: the numbers and sizes that a block can read, the
 * memory of other blocks, and the launches that are refused. Answers of an H200 are marked as such.
 * */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "tests/fixtures/fixtures.h"

#include "common/emu/emu.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    CLUSTER_THREADS = 64,
    BLOCKS = 12,
    CLUSTER_ALL = BLOCKS * CLUSTER_THREADS,
    CLUSTER = 4,
    BINS = 64
};

static void *device(size_t bytes)
{
    void *memory;
    cr_assert(cudaMalloc(&memory, bytes) == cudaSuccess, "%s", emu_message(emu_runtime()));
    return memory;
}

static void read_back(void *host, const void *memory, size_t bytes)
{
    cr_assert(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
}

#define ON_BOTH(name, check)                                                                       \
    Test(cluster, name##_compute_90, .timeout = 60) { setenv("EMU_GPU", "h200", 1), check; }       \
    Test(cluster, name##_compute_100_slow, .timeout = 60) { setenv("EMU_GPU", "b200", 1), check; }

/* Runs a kernel on 0, 7, 14 …; want(i) is what thread i must have written. */
static void run_clusters(cudaError_t (*launch)(int *, const int *, int), int (*want)(int))
{
    int in[CLUSTER_ALL], got[CLUSTER_ALL], *from = device(sizeof in), *out = device(sizeof in);
    for (int i = 0; i < CLUSTER_ALL; i++) in[i] = 7 * i;
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    cr_assert(launch(out, from, BLOCKS) == cudaSuccess, "%s", emu_message(emu_runtime()));
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

ON_BOTH(blocks_read_and_add_in_each_others_memory, run_clusters(launch_neighbours, from_neighbours))
ON_BOTH(bulk_copies_go_to_other_blocks, run_clusters(launch_push, from_before))

static void histograms(int cluster)
{
    enum { N = 5000 };
    int in[N], got[BINS], want[BINS] = {0}, *from = device(sizeof in), *out = device(sizeof got);
    for (int i = 0; i < N; i++) want[in[i] = i * i % 61]++;
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof got);
    cr_assert(launch_histogram(out, from, N, 16, cluster) == cudaSuccess);
    read_back(got, out, sizeof got);
    cr_expect_arr_eq(got, want, sizeof want);
}
ON_BOTH(a_histogram_over_two, histograms(2))
ON_BOTH(a_histogram_over_eight, histograms(8))

static void check_addresses(void)
{
    int got[4], *out = device(sizeof got);
    cr_assert(launch_addresses(out) == cudaSuccess);
    read_back(got, out, sizeof got);
    for (int k = 0; k < 4; k++) cr_expect(got[k] == 1, "rank %d", k);
}
ON_BOTH(addresses_mean_the_same_in_every_block, check_addresses())

static void check_view(dim3 blocks, dim3 cluster, unsigned is_explicit)
{
    struct cluster_view got[64], *out = device(sizeof got);
    dim3 asked = is_explicit ? cluster : (dim3){99, 1, 1};
    cr_assert(launch_cluster_view(out, blocks, asked) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
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
ON_BOTH(blocks_know_their_cluster, check_views())

/* ---- limits ---------------------------------------------------------------------------------- */

Test(cluster, wrong_sizes_are_refused_as_an_h200_does)
{
    struct cluster_view *out = device(64 * sizeof *out);
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
    cr_assert(allow_large_clusters() == cudaSuccess);
    cr_expect(launch_cluster_view(out, (dim3){16, 1, 1}, (dim3){16, 1, 1}) == cudaSuccess);
    cr_expect(launch_cluster_view(out, (dim3){32, 1, 1}, (dim3){32, 1, 1}) ==
              cudaErrorInvalidClusterSize);
}

Test(cluster, gpus_before_hopper_have_none_slow)
{
    setenv("EMU_GPU", "t4", 1);
    struct cluster_view *out = device(64 * sizeof *out);
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
    cr_assert(allow_large_clusters() == cudaSuccess);
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        cr_assert(active_clusters(&clusters, &largest, want[k].cluster, 1024, 0) == cudaSuccess);
        cr_expect(clusters == want[k].twice && largest == 16, "of %d: %d, at most %d",
                  want[k].cluster, clusters, largest);
        cr_assert(active_clusters(&clusters, &largest, want[k].cluster, 1024, 232448) ==
                  cudaSuccess);
        cr_expect(clusters == want[k].once, "of %d: %d", want[k].cluster, clusters);
    }
    struct cudaFuncAttributes fixed;
    cr_assert(fixed_attributes(&fixed) == cudaSuccess);
    cr_expect(fixed.clusterDimMustBeSet == 1 && fixed.requiredClusterWidth == 4 &&
              fixed.requiredClusterHeight == 1 && !fixed.nonPortableClusterSizeAllowed);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void expect_fault(cudaError_t (*launch)(int *), const char *says)
{
    int *out = device(sizeof *out);
    cr_assert(launch(out) == cudaSuccess);
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
    expect_fault(launch_half_waits, "lacks 1 of 1 arrivals");
}
