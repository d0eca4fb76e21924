/*
 * test_many_gpus.c — step 17 without MPI. For several numbers of ranks, one device scans the parts
 * one after the other, and the bits are those of one rank, which the judge finds right. In the
 * exchange by peer memory, the host makes the other ranks' stores beforehand. tests/cli/ranks has
 * ranks that are processes.
 */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"
#include "common/step/cuda_check.h"
#include "steps/17-many-gpus/parts/part.h"
#include "steps/17-many-gpus/request.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

TestSuite(many_gpus, .init = command_init, .fini = command_fini, .timeout = 300);

static const char *const names[MANY_OPS] = {"sum f32", "sum f64", "sum i32", "sum i64",
                                            "affine f32"};
static const int all_ranks[] = {2, 3, 4, 7};

/* ---- numbers --------------------------------------------------------------------------------- */

/* Numbers that round when they are added: from -1 to 1, with 24 or 53 bits. */
static double random_real(void) { return (double)(int64_t)random_bits() * 0x1p-63; }

static void put(enum many_op op, void *to, size_t i, double x)
{
    switch (op) {
    case MANY_SUM_F64: ((double *)to)[i] = x; break;
    case MANY_SUM_I32: ((int32_t *)to)[i] = (int32_t)x; break;
    case MANY_SUM_I64: ((int64_t *)to)[i] = (int64_t)x; break;
    default: ((float *)to)[i] = (float)x;
    }
}

/* A real number. */
static double get(enum many_op op, const void *from, size_t i)
{
    return op == MANY_SUM_F64 ? ((const double *)from)[i] : (double)((const float *)from)[i];
}

static bool is_real(enum many_op op) { return op != MANY_SUM_I32 && op != MANY_SUM_I64; }

/* Integers of random bits; factors a that keep products in range and have both signs. */
static void *random_input(enum many_op op, size_t n, bool factors)
{
    size_t bytes = many_element_bytes(op);
    char *data = malloc(n * bytes + 8);
    cr_assert(data != NULL);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = random_bits();
        if (!is_real(op))
            memcpy(data + i * bytes, &bits, bytes);
        else
            put(op, data, i, factors ? copysign(1, random_real()) : random_real());
    }
    return data;
}

/* ---- a scan by ranks that follow each other -------------------------------------------------- */

/* Device memory that ends where its last element ends. */
static void *on_device(const void *from, size_t bytes)
{
    if (bytes == 0) return NULL;
    void *memory = device_memory(bytes);
    if (from) ok(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    return memory;
}

struct rank {
    struct part part;
    struct many_part elements;
    void *in, *in2, *out;
};

struct scan {
    enum many_op op;
    size_t n;
    int ranks;
    bool inclusive, in_place;
    const void *in, *in2;
    struct rank rank[7];
    void *all_nodes;
};

static size_t slots_bytes(const struct scan *s)
{
    return many_slots(many_shape_of(s->n).nodes, s->ranks) * many_state_bytes(s->op);
}

static void open_rank(struct scan *s, int r)
{
    struct many_shape shape = many_shape_of(s->n);
    size_t tiles = many_tiles_of(shape, s->ranks, r).count;
    size_t e = many_element_bytes(s->op), state = many_state_bytes(s->op);
    struct rank *k = &s->rank[r];
    k->elements = many_part_of(s->n, s->ranks, r);
    size_t begin = k->elements.begin * e, bytes = k->elements.count * e;
    k->in = on_device((const char *)s->in + begin, bytes);
    k->in2 = s->op == MANY_AFFINE_F32 ? on_device((const char *)s->in2 + begin, bytes) : NULL;
    k->out = s->in_place ? k->in : on_device(NULL, bytes);
    k->part = (struct part){s->op, shape, s->ranks, r, NULL, NULL, NULL};
    k->part.tile_sums = on_device(NULL, tiles * state);
    k->part.node_sums = on_device(NULL, slots_bytes(s));
    k->part.node_prefix = on_device(NULL, slots_bytes(s));
}

static void close_rank(struct rank *k)
{
    void *const memory[] = {k->in,
                            k->in2,
                            k->in == k->out ? NULL : k->out,
                            k->part.tile_sums,
                            k->part.node_sums,
                            k->part.node_prefix};
    for (size_t i = 0; i < LENGTH(memory); i++) ok(cudaFree(memory[i]));
}

/* Each rank's sums, and, in place of an exchange, a copy of them to all_nodes. */
static void reduce_all(struct scan *s)
{
    size_t bytes = slots_bytes(s);
    s->all_nodes = on_device(NULL, (size_t)s->ranks * bytes);
    for (int r = 0; r < s->ranks; r++) {
        struct rank *k = &s->rank[r];
        size_t own = many_nodes_of(k->part.shape, s->ranks, r).count;
        ok(part_reduce(&k->part, k->in, k->in2, NULL));
        ok(part_scan_tile_sums(&k->part, NULL));
        if (own)
            ok(cudaMemcpy((char *)s->all_nodes + (size_t)r * bytes, k->part.node_sums,
                          own * many_state_bytes(s->op), cudaMemcpyDeviceToDevice));
    }
}

static void take_result(const struct scan *s, int r, void *got)
{
    const struct rank *k = &s->rank[r];
    size_t e = many_element_bytes(s->op), bytes = k->elements.count * e;
    if (bytes)
        ok(cudaMemcpy((char *)got + k->elements.begin * e, k->out, bytes, cudaMemcpyDeviceToHost));
}

static void finish_all(struct scan *s, void *got)
{
    for (int r = 0; r < s->ranks; r++) {
        const struct rank *k = &s->rank[r];
        ok(part_scan(&k->part, k->out, k->in, k->in2, s->inclusive, NULL));
        take_result(s, r, got);
    }
}

/* Equal in every bit; a NaN is as good as another one. */
static void compare(const struct scan *s, const void *got, const void *want)
{
    size_t e = many_element_bytes(s->op);
    for (size_t i = 0; i < s->n; i++) {
        uint64_t g = 0, w = 0;
        memcpy(&g, (const char *)got + i * e, e);
        memcpy(&w, (const char *)want + i * e, e);
        bool nan = is_real(s->op) && isnan(get(s->op, got, i)) && isnan(get(s->op, want, i));
        cr_assert(g == w || nan,
                  "%s, n = %zu, %d ranks, inclusive %d: element %zu is %llx, not %llx",
                  names[s->op], s->n, s->ranks, s->inclusive, i, (unsigned long long)g,
                  (unsigned long long)w);
    }
}

static void scan_by_ranks(struct scan s, void *got)
{
    for (int r = 0; r < s.ranks; r++) open_rank(&s, r);
    reduce_all(&s);
    for (int r = 0; r < s.ranks; r++) ok(part_scan_nodes(&s.rank[r].part, s.all_nodes, NULL));
    finish_all(&s, got);
    ok(cudaDeviceSynchronize());
    for (int r = 0; r < s.ranks; r++) close_rank(&s.rank[r]);
    ok(cudaFree(s.all_nodes));
}

/* The results of one rank, which have to be right. */
static void *scan_alone(struct scan s)
{
    struct request r = {.op = s.op, .n = s.n, .part = {0, s.n}, .before = reference_begin()};
    struct verdict v = {.right = true};
    void *got = malloc(s.n * 8 + 8);
    cr_assert(got != NULL);
    s.ranks = 1, s.in_place = false;
    r.more.data = (void *)(uintptr_t)s.in2;
    scan_by_ranks(s, got);
    judge_part(&r, s.inclusive, s.in, got, &v);
    cr_assert(v.right, "%s, n = %zu, inclusive %d: element %zu is %s, not %s", names[s.op], s.n,
              s.inclusive, v.first[0].index, v.first[0].got, v.first[0].want);
    return got;
}

/* Some numbers of ranks give the bits of one. */
static void expect_for(enum many_op op, size_t n, bool inclusive, const void *in, const void *in2,
                       const int *ranks, size_t count)
{
    struct scan s = {.op = op, .n = n, .inclusive = inclusive, .in = in, .in2 = in2};
    void *want = scan_alone(s), *got = malloc(n * 8 + 8);
    cr_assert(got != NULL);
    for (size_t i = 0; i < count; i++) {
        s.ranks = ranks[i], s.in_place = i % 2 == 1;
        scan_by_ranks(s, got);
        compare(&s, got, want);
    }
    free(want);
    free(got);
}

static void expect_random(enum many_op op, size_t n, bool inclusive, const int *ranks, size_t count)
{
    void *in = random_input(op, n, op == MANY_AFFINE_F32), *in2 = random_input(op, n, false);
    expect_for(op, n, inclusive, in, in2, ranks, count);
    free(in);
    free(in2);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* The tree of part.h: other orders of combinations would give other bits. */
Test(many_gpus, bits_of_the_tree)
{
    enum { N = 3 * 4096 + 17 };
    static const struct {
        enum many_op op;
        uint64_t digest; /* FNV-1a */
    } rows[] = {{MANY_SUM_F32, 0xa901fac902d925ad},
                {MANY_SUM_F64, 0x3355b39d1f8e29a},
                {MANY_AFFINE_F32, 0x28999f599bdc9801}};
    static double in[N], in2[N];
    for (size_t k = 0; k < LENGTH(rows); k++) {
        enum many_op op = rows[k].op;
        for (size_t i = 0; i < N; i++) {
            put(op, in, i, (double)(i * 7919 % 10007) / 5003 - 1);
            put(op, in2, i, (double)(i * 104729 % 30011) / 15013 - 1);
        }
        unsigned char *got = scan_alone((struct scan){.op = op, .n = N, .in = in, .in2 = in2});
        uint64_t digest = 0xCBF29CE484222325u;
        for (size_t i = 0; i < N * many_element_bytes(op); i++)
            digest = (digest ^ got[i]) * 0x100000001B3u;
        cr_expect_eq(digest, rows[k].digest, "%s: 0x%llx", names[op], (unsigned long long)digest);
        free(got);
    }
}

Test(many_gpus, small_parts)
{
    static const size_t sizes[] = {1,    2,    31,   511,   512,   513,   4095,
                                   4096, 4097, 8192, 12289, 28671, 28673, 100000};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int op = 0; op < MANY_OPS; op++)
            expect_random((enum many_op)op, sizes[i], (i + (size_t)op) % 2, all_ranks,
                          LENGTH(all_ranks));
}

/* Both kinds of scan of the same elements. */
Test(many_gpus, exclusive_and_inclusive_slow)
{
    for (int op = 0; op < MANY_OPS; op++)
        for (int inclusive = 0; inclusive < 2; inclusive++)
            expect_random((enum many_op)op, 20011, inclusive, all_ranks, LENGTH(all_ranks));
}

/* Nodes of two tiles, and a last one of one tile. */
Test(many_gpus, nodes_of_several_tiles_slow)
{
    static const int few[] = {3, 7};
    size_t n = MANY_NODES * MANY_TILE + 5;
    cr_assert_eq(many_shape_of(n).node_tiles, 2);
    cr_assert_eq(many_shape_of(n).nodes, MANY_NODES / 2 + 1);
    expect_random(MANY_SUM_F32, n, false, few, LENGTH(few));
    expect_random(MANY_AFFINE_F32, n, true, few, 1);
}

/* -0, infinities, NaN and the least number, each among others. */
Test(many_gpus, special_values)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 0x1p-149};
    static const enum many_op ops[] = {MANY_SUM_F32, MANY_SUM_F64};
    enum { N = 3 * 4096 + 17 };
    for (size_t o = 0; o < LENGTH(ops); o++)
        for (size_t v = 0; v < LENGTH(special); v++)
            for (int inclusive = 0; inclusive < 2; inclusive++) {
                void *in = malloc(N * sizeof(double));
                cr_assert(in != NULL);
                for (size_t i = 0; i < N; i++) put(ops[o], in, i, v < 2 ? -0.0 : 0.5);
                put(ops[o], in, 4096 + 100, special[v]);
                expect_for(ops[o], N, inclusive, in, NULL, all_ranks + 1, 2);
                free(in);
            }
}

/* A node of more tiles than a block has threads takes more than 2^32 elements. Its sums alone can
 * be scanned here: of 2 nodes, 2048 tiles and 952. */
Test(many_gpus, nodes_of_more_tiles_than_threads)
{
    enum { TILES = 3000, NODE = 2048 };
    struct many_shape shape = {TILES * MANY_TILE, TILES, NODE, 2};
    int64_t tiles[TILES], got[TILES], nodes[2], sum[2] = {0};
    for (int i = 0; i < TILES; i++) tiles[i] = (int64_t)random_bits();
    struct part part = {.op = MANY_SUM_I64, .shape = shape, .ranks = 1};
    part.tile_sums = on_device(tiles, sizeof tiles);
    part.node_sums = on_device(NULL, sizeof nodes);
    ok(part_scan_tile_sums(&part, NULL));
    ok(cudaMemcpy(got, part.tile_sums, sizeof got, cudaMemcpyDeviceToHost));
    ok(cudaMemcpy(nodes, part.node_sums, sizeof nodes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < TILES; i++) {
        cr_assert_eq(got[i], sum[i / NODE], "tile %d", i);
        sum[i / NODE] = (int64_t)((uint64_t)sum[i / NODE] + (uint64_t)tiles[i]);
    }
    cr_assert(nodes[0] == sum[0] && nodes[1] == sum[1]);
    ok(cudaFree(part.tile_sums));
    ok(cudaFree(part.node_sums));
}

/* ---- the shape ------------------------------------------------------------------------------- */

static void expect_parts(size_t n, int ranks)
{
    struct many_shape shape = many_shape_of(n);
    size_t next = 0;
    cr_assert(shape.nodes <= MANY_NODES && shape.nodes * shape.node_tiles >= shape.tiles);
    for (int r = 0; r < ranks; r++) {
        struct many_part part = many_part_of(n, ranks, r), nodes = many_nodes_of(shape, ranks, r);
        cr_assert(part.begin == next, "n = %zu: rank %d of %d", n, r, ranks);
        cr_assert(nodes.count <= many_slots(shape.nodes, ranks));
        next += part.count;
    }
    cr_assert_eq(next, n);
}

Test(many_gpus, parts_are_all_elements)
{
    static const size_t sizes[] = {0, 1, 4096, 4097, 100000, 4194304, 4194305, (size_t)1 << 40};
    for (size_t i = 0; i < LENGTH(sizes); i++)
        for (int ranks = 1; ranks <= MANY_RANKS; ranks++) expect_parts(sizes[i], ranks);
    cr_assert_eq(many_shape_of((size_t)1 << 22).node_tiles, 1);
    cr_assert_eq(many_shape_of(((size_t)1 << 22) + 1).node_tiles, 2);
}

Test(many_gpus, no_elements)
{
    struct part part = {.op = MANY_SUM_F32, .shape = many_shape_of(0), .ranks = 3, .rank = 1};
    ok(part_reduce(&part, NULL, NULL, NULL));
    ok(part_scan_tile_sums(&part, NULL));
    ok(part_scan_nodes(&part, NULL, NULL));
    ok(part_scan(&part, NULL, NULL, NULL, true, NULL));
}

/* ---- the exchange by peer memory ------------------------------------------------------------- */

#define WAIT_NS 1000000

static struct mailbox *mailboxes[7];

static struct peers peers_of(int ranks, int rank, uint64_t wait_ns)
{
    struct peers peers = {.wait_ns = wait_ns};
    for (int r = 0; r < ranks; r++) peers.mailbox[r] = mailboxes[(rank + r) % ranks];
    return peers;
}

/* Where a rank's words begin in the mailbox of another one. */
static uint64_t *place_of(const struct rank *from, int to, uint32_t epoch)
{
    const struct part *p = &from->part;
    size_t words = many_state_bytes(p->op) / sizeof(uint32_t);
    return &mailboxes[to]
                ->half[epoch % 2][peer_entries_of(p->shape, p->ranks, p->rank).begin * words];
}

/* The host does here what another rank's kernel does: it sends words of 32 bits and the epoch. A
 * rank without nodes sends some state. */
static void deliver(const struct rank *from, int to, uint32_t epoch)
{
    uint32_t half[2 * MANY_NODES] = {0};
    uint64_t words[2 * MANY_NODES];
    const struct part *p = &from->part;
    size_t state = many_state_bytes(p->op), own = many_nodes_of(p->shape, p->ranks, p->rank).count;
    size_t count = peer_entries_of(p->shape, p->ranks, p->rank).count * state / sizeof *half;
    if (own) ok(cudaMemcpy(half, p->node_sums, own * state, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count; i++) words[i] = (uint64_t)epoch << 32 | half[i];
    ok(cudaMemcpy(place_of(from, to, epoch), words, count * sizeof *words, cudaMemcpyHostToDevice));
}

static struct progress progress_of(int rank)
{
    struct progress progress;
    ok(cudaMemcpy(&progress, &mailboxes[rank]->progress, sizeof progress, cudaMemcpyDeviceToHost));
    return progress;
}

static void open_mailbox(int rank)
{
    mailboxes[rank] = device_memory(sizeof *mailboxes[rank]);
    ok(cudaMemset(mailboxes[rank], 0, sizeof *mailboxes[rank]));
}

Test(many_gpus, each_entry_has_one_sender)
{
    static const unsigned nodes[] = {1, 2, 6, 7, 8, 31, 1000, MANY_NODES};
    for (size_t i = 0; i < LENGTH(nodes); i++)
        for (int ranks = 1; ranks <= MANY_PEERS; ranks++) {
            struct many_shape shape = many_shape_of(nodes[i] * MANY_TILE);
            unsigned sent[MANY_NODES] = {0}, all = peer_entries(shape, ranks);
            cr_assert_leq(all, MANY_NODES);
            for (int r = 0; r < ranks; r++) {
                struct many_part own = peer_entries_of(shape, ranks, r);
                cr_assert(own.count > 0 && own.begin + own.count <= all);
                for (size_t k = own.begin; k < own.begin + own.count; k++) {
                    sent[k]++;
                    cr_assert_eq(peer_sender_of(shape, ranks, k), r);
                }
            }
            for (unsigned k = 0; k < all; k++) cr_assert_eq(sent[k], 1);
        }
}

/* ---- sums that do not come ------------------------------------------------------------------- */

/* Three ranks with `nodes` nodes, of which rank 0 runs. */
static struct scan three_ranks(enum many_op op, size_t nodes)
{
    struct scan s = {.op = op, .n = nodes * MANY_TILE, .ranks = 3};
    s.in = random_input(op, s.n, op == MANY_AFFINE_F32);
    s.in2 = random_input(op, s.n, false);
    for (int r = 0; r < s.ranks; r++) open_rank(&s, r);
    reduce_all(&s);
    for (int r = 0; r < s.ranks; r++) open_mailbox(r);
    return s;
}

static void close_ranks(struct scan *s)
{
    for (int r = 0; r < s->ranks; r++) {
        ok(cudaFree(mailboxes[r]));
        close_rank(&s->rank[r]);
    }
    ok(cudaFree(s->all_nodes));
    free((void *)(uintptr_t)s->in);
    free((void *)(uintptr_t)s->in2);
}

/* Runs rank 0. Returns the rank that it has waited for in vain, or -1. */
static int missing(const struct scan *s)
{
    struct peers peers = peers_of(s->ranks, 0, WAIT_NS);
    ok(peer_exchange(&s->rank[0].part, &peers, NULL));
    ok(cudaDeviceSynchronize());
    uint32_t failed = progress_of(0).failed;
    return failed ? peer_sender_of(s->rank[0].part.shape, s->ranks, failed - 1) : -1;
}

/* Rank 0 of three ranks, in some scans: in each of them the sums of other ranks come or not. */
Test(many_gpus, a_peer_that_does_not_come)
{
    enum { ROWS = 3, SCANS = 3 };
    static const struct {
        enum many_op op;
        size_t nodes, scans;
        struct {
            bool come[3];
            int missing;
        } scan[SCANS];
    } rows[ROWS] = {
        /* It ends all later waits: the epochs may differ then. */
        {MANY_SUM_F32, 7, 2, {{{[1] = true}, 2}, {{[1] = true, [2] = true}, 2}}},
        /* With one node ranks 0 and 1 have none. Rank 0 waits for rank 1 all the same. */
        {MANY_SUM_F64, 1, 2, {{{[1] = true, [2] = true}, -1}, {{[2] = true}, 1}}},
        /* Sums of the scan before the last lie where those of this scan should come. */
        {MANY_SUM_I32,
         7,
         3,
         {{{[1] = true, [2] = true}, -1}, {{[1] = true, [2] = true}, -1}, {{[2] = true}, 1}}}};
    for (int i = 0; i < ROWS; i++) {
        struct scan s = three_ranks(rows[i].op, rows[i].nodes);
        for (uint32_t k = 0; k < rows[i].scans; k++) {
            for (int r = 1; r < 3; r++)
                if (rows[i].scan[k].come[r]) deliver(&s.rank[r], 0, k + 1);
            cr_assert_eq(missing(&s), rows[i].scan[k].missing, "row %d, scan %u", i, k);
            cr_assert_eq(progress_of(0).epoch, k + 1);
        }
        close_ranks(&s);
    }
}

/* Of a state of two words, one alone has come; first the one, then the other. */
Test(many_gpus, half_a_state_does_not_count)
{
    for (int late = 0; late < 2; late++) {
        struct scan s = three_ranks(MANY_SUM_F64, 3);
        deliver(&s.rank[1], 0, 1), deliver(&s.rank[2], 0, 1);
        ok(cudaMemset(place_of(&s.rank[2], 0, 1) + late, 0, sizeof(uint64_t)));
        cr_assert_eq(missing(&s), 2);
        close_ranks(&s);
    }
}

/* ---- two devices at once --------------------------------------------------------------------- */

#define LONG_NS 10000000000 /* on a busy machine a device may be slow */

static void have_two_devices(void)
{
    setenv("EMU_DEVICES", "2", 1);
    command_init();
}

TestSuite(two_gpus, .init = have_two_devices, .fini = command_fini, .timeout = 300);

/* Three scans by a rank on a device of its own. Nothing but their exchange keeps the ranks in step.
 * Returns an error of CUDA. */
static void *scan_three_times(void *rank)
{
    const struct rank *k = rank;
    struct peers peers = peers_of(k->part.ranks, k->part.rank, LONG_NS);
    cudaError_t error = cudaSetDevice(k->part.rank);
    for (int i = 0; i < 3; i++) {
        if (!error) error = part_reduce(&k->part, k->in, k->in2, NULL);
        if (!error) error = part_scan_tile_sums(&k->part, NULL);
        if (!error) error = peer_exchange(&k->part, &peers, NULL);
        if (!error) error = part_scan(&k->part, k->out, k->in, k->in2, false, NULL);
    }
    if (!error) error = cudaDeviceSynchronize();
    return (void *)(uintptr_t)error;
}

static void expect_on_two_devices(enum many_op op, size_t n)
{
    struct scan s = {.op = op, .n = n, .ranks = 2, .in = random_input(op, n, true)};
    pthread_t thread[2];
    s.in2 = random_input(op, n, false);
    void *error[2], *want = scan_alone(s), *got = malloc(n * 8 + 8);
    cr_assert(got != NULL);
    for (int r = 0; r < s.ranks; r++) {
        ok(cudaSetDevice(r));
        open_rank(&s, r);
        open_mailbox(r);
        ok(cudaDeviceSynchronize()); // before the other device stores there
    }
    for (int r = 0; r < s.ranks; r++)
        pthread_create(&thread[r], NULL, scan_three_times, &s.rank[r]);
    for (int r = 0; r < s.ranks; r++) pthread_join(thread[r], &error[r]);
    for (int r = 0; r < s.ranks; r++) {
        ok((cudaError_t)(uintptr_t)error[r]);
        ok(cudaSetDevice(r));
        cr_assert_eq(progress_of(r).failed, 0);
        take_result(&s, r, got);
        close_rank(&s.rank[r]);
        ok(cudaFree(mailboxes[r]));
    }
    compare(&s, got, want);
    void *const memory[] = {(void *)(uintptr_t)s.in, (void *)(uintptr_t)s.in2, want, got};
    for (size_t i = 0; i < LENGTH(memory); i++) free(memory[i]);
}

/* Of states of one word and of two. With one node, rank 0 has none. */
Test(two_gpus, exchange_by_peer_memory)
{
    for (int device = 0; device < 2; device++) {
        ok(cudaSetDevice(device));
        ok(cudaDeviceEnablePeerAccess(1 - device, 0));
    }
    expect_on_two_devices(MANY_SUM_F32, 3 * MANY_TILE + 5);
    expect_on_two_devices(MANY_AFFINE_F32, 3 * MANY_TILE + 5);
    expect_on_two_devices(MANY_SUM_I64, 1000);
}

/* ---- hazards --------------------------------------------------------------------------------- */

/* Tests of this file in a process of its own, with checkers, find nothing. */
static void expect_no_hazards(const char *checkers, const char *tests)
{
    expect_status(0,
                  "env -u BXFI_MAP %s /proc/%d/exe --filter '%s' >$t/found 2>&1 &&"
                  " grep 'Passing: 1 ' $t/found && grep 'SUMMARY: 0 ' $t/found &&"
                  " ! grep 'SUMMARY: [1-9]' $t/found",
                  checkers, (int)getpid(), tests);
}

Test(many_gpus, no_hazards_slow)
{
    expect_no_hazards("EMU_TOOL=all", "many_gpus/exclusive_and_inclusive*");
}

/* The same for readers that need a fence or an acquire, in 20 orders of threads. */
Test(two_gpus, no_hazards_for_strict_readers_slow)
{
    enum { SEEDS = 20 };
    for (int seed = 1; seed <= SEEDS; seed++) {
        char checkers[100];
        snprintf(checkers, sizeof checkers,
                 "EMU_TOOL=racecheck EMU_STRICT_READERS=yes EMU_SCHEDULE=%d", seed);
        expect_no_hazards(checkers, "two_gpus/exchange*");
    }
}

/* ---- the judge ------------------------------------------------------------------------------- */

enum { N = 20000, RANKS = 3 };

/* Compares results in three parts. Returns the verdict on all. */
static struct verdict judge(enum many_op op, bool inclusive, const char *in, char *in2,
                            const char *out)
{
    struct verdict all = {.right = true, .exact = true, .least = INFINITY};
    struct request r = {.op = op, .n = N, .before = reference_begin()};
    for (int rank = 0; rank < RANKS; rank++) {
        r.part = many_part_of(N, RANKS, rank);
        size_t begin = r.part.begin * many_element_bytes(op);
        struct verdict v = {.right = true, .exact = true, .checked = r.part.count};
        r.more.data = in2 + begin;
        judge_part(&r, inclusive, in + begin, out + begin, &v);
        judge_add(&all, &v);
        reference_pass(&r.before, op, in + begin, r.more.data, r.part.count);
    }
    cr_expect_eq(all.checked, N);
    return all;
}

static double wraps_i32(int i) { return (void)i, 0x1p30; }
static double wraps_i64(int i) { return (void)i, 0x1p62; }
static double whole(int i) { return i % 7 - 3; }
static double rounds(int i) { return 1 / (1.0 + i); }
static double infinite(int i) { return i == 10 ? INFINITY : i == 12000 ? -INFINITY : 0; }
static double factor(int i) { return (i % 11 - 5) / 6.0; }
static double addend(int i) { return (i % 13 - 6) / 7.0; }

/* The results of a scan are right, and one element that becomes scale x + shift is found. */
Test(many_judge, finds_one_wrong_element)
{
    static const struct {
        enum many_op op;
        bool inclusive, exact;
        double (*in)(int i), (*in2)(int i);
        int at;
        double scale, shift; /* scale 0: it becomes `shift` */
    } rows[] = {
        {MANY_SUM_I32, false, true, wraps_i32, NULL, 15000, 0, 1},
        {MANY_SUM_I64, true, true, wraps_i64, NULL, N - 1, 0, 0x1p62},
        /* A float holds all sums, so that a difference of 1 shows. */
        {MANY_SUM_F32, false, true, whole, NULL, 9000, 1, 1},
        /* One element too many is outside of the bound. */
        {MANY_SUM_F64, true, false, rounds, NULL, N - 1, 1, 1.0 / N},
        {MANY_SUM_F64, true, false, rounds, NULL, N - 1, 0, NAN},
        {MANY_SUM_F32, true, true, infinite, NULL, 11000, 0, -INFINITY},
        {MANY_SUM_F32, true, true, infinite, NULL, 13000, 0, 0}, /* of a NaN */
        {MANY_AFFINE_F32, false, false, factor, addend, 17000, 1.001, 0.001}};
    static double in[N], in2[N]; /* of any type */
    for (size_t k = 0; k < LENGTH(rows); k++) {
        enum many_op op = rows[k].op;
        bool inclusive = rows[k].inclusive;
        for (int i = 0; i < N; i++) put(op, in, (size_t)i, rows[k].in(i));
        for (int i = 0; i < N && rows[k].in2; i++) put(op, in2, (size_t)i, rows[k].in2(i));
        void *out = scan_alone((struct scan){.op = op, .n = N, .inclusive = inclusive, .in = in,
                                             .in2 = in2});
        struct verdict v = judge(op, inclusive, (char *)in, (char *)in2, out);
        cr_expect(v.right && v.worst < 1, "row %zu: %g", k, v.worst);
        cr_expect_eq(v.exact, rows[k].exact, "row %zu", k);
        double x = rows[k].scale ? rows[k].scale * get(op, out, (size_t)rows[k].at) : 0;
        put(op, out, (size_t)rows[k].at, x + rows[k].shift);
        v = judge(op, inclusive, (char *)in, (char *)in2, out);
        cr_expect(!v.right && v.wrong == 1, "row %zu: %zu are wrong", k, v.wrong);
        cr_expect_eq(v.first[0].index, (size_t)rows[k].at, "row %zu", k);
        free(out);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(enum many_op op, const float *a, const float *b, const char *text)
{
    struct reference r = reference_begin();
    struct fault fault = {0};
    reference_pass(&r, op, a, b, 3);
    cr_expect_eq(reference_check(&r, op, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, text), "expected \"%s\" in: %s", text, fault.text);
}

Test(many_judge, what_overflows_in_some_order_is_refused)
{
    const float large[] = {3e38f, -3e38f, 1}, one[] = {1, 1, 1}, grows[] = {1e30f, 0, 1e20f};
    const float infinite[] = {1, INFINITY, 1}, none[] = {1, NAN, 1};
    struct reference r = reference_begin();
    struct fault fault;
    reference_pass(&r, MANY_AFFINE_F32, one, one, 3);
    cr_expect_eq(reference_check(&r, MANY_AFFINE_F32, &fault), 0);
    expect_refused(MANY_SUM_F32, large, NULL, "beyond the largest float");
    expect_refused(MANY_AFFINE_F32, grows, one, "products of neighbours of a reach 1e+50");
    expect_refused(MANY_AFFINE_F32, one, large, "|b| sum to 6e+38");
    expect_refused(MANY_AFFINE_F32, infinite, one, "products of neighbours of a reach inf");
    expect_refused(MANY_AFFINE_F32, none, one, "|b| sum to nan");
}
