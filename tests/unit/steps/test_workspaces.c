/*
 * test_workspaces.c — what the headers of steps 12 to 16 promise a caller who makes many calls: one
 * workspace serves all scans that may share it, in any order; a graph may be launched between other
 * calls; an error that was there before stays the caller's; and arguments beyond all limits are
 * refused. The calls' results are integers, so that they are equal in any order of additions.
 */
#define _GNU_SOURCE
#include "steps/12-pipeline/scan.h"
#include "steps/13-compaction/compact.h"
#include "steps/14-summed-area-table/sat.h"
#include "steps/15-radix-sort/sort.h"
#include "common/tools/library/scan/scan.h"
#include "tests/support/cudart_check.h"

#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

TestSuite(workspaces, .timeout = 240);

/* Elements of one call: a multiple of WIDE, and enough for several tiles of each kernel, and for
 * step 15's launches of many blocks. */
#define MOST ((size_t)67200)
#define WIDE ((size_t)40) /* columns, and the width of a picture */

/* Device memory that all calls read and write, and a copy of the input on the host. */
static struct {
    int32_t in[MOST];
    int64_t in64[MOST];
    double ones[MOST], real[MOST];
    char text[MOST];
} host;
static int32_t *in;
static int64_t *in64;
static double *ones, *real;
static uint8_t *text;
static int64_t *offsets;
static void *out;
static uint64_t *kept;
static const int64_t first_ones[] = {0, 7, 2048, 2049, 20000, 41111};

static void *device_copy(const void *of, size_t bytes)
{
    void *copy = device_memory(bytes);
    ok(cudaMemcpy(copy, of, bytes, cudaMemcpyHostToDevice));
    return copy;
}

static void open_memory(void)
{
    for (size_t i = 0; i < MOST; i++) {
        host.in[i] = (int32_t)(random_bits() % 1000);
        host.in64[i] = host.real[i] = host.in[i];
        host.ones[i] = 1;
        host.text[i] = "(()ab"[random_bits() % 5];
    }
    in = device_copy(host.in, sizeof host.in);
    in64 = device_copy(host.in64, sizeof host.in64);
    ones = device_copy(host.ones, sizeof host.ones);
    real = device_copy(host.real, sizeof host.real);
    text = device_copy(host.text, sizeof host.text);
    offsets = device_copy(first_ones, sizeof first_ones);
    out = device_memory(MOST * sizeof(double));
    kept = device_memory(sizeof *kept);
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Whose workspace a call may use: calls of one kind may share it. */
enum kind { SCANS, PICTURES, SORTS, NONE };

/* A call of a library. `want` writes the results for n elements and returns how many bytes they
 * are. */
struct call {
    const char *name;
    enum kind kind;
    cudaError_t (*run)(void *workspace, size_t *bytes, size_t n, cudaStream_t);
    size_t (*want)(void *, size_t n);
};

static const struct upsweep_scan_options inclusive = {.inclusive = true};

static cudaError_t sums_12(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return scan_inclusive_i32(w, bytes, out, in, n, stream);
}

static cudaError_t wide_sums_12(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return scan_inclusive_u64(w, bytes, out, (const uint64_t *)in64, n, stream);
}

static cudaError_t odd_sums_12(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return n ? scan_inclusive_i32(w, bytes, out, in + 1, n - 1, stream) : cudaSuccess;
}

static cudaError_t kept_13(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    struct predicate p = predicate_between(key_of_i32(0), key_of_i32(499));
    return compact_i32(w, bytes, out, kept, in, n, &p, stream);
}

static cudaError_t sums_16(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return scan_sum_i32(w, bytes, out, in, n, &inclusive, stream);
}

static cudaError_t wide_sums_16(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return scan_sum_i64(w, bytes, out, in64, n, &inclusive, stream);
}

/* States of 16 bytes. */
static cudaError_t affine_16(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return scan_affine_f64(w, bytes, out, ones, real, n, &inclusive, stream);
}

static cudaError_t columns_16(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    struct upsweep_scan_options o = {.inclusive = true, .columns = WIDE};
    return scan_sum_i32(w, bytes, out, in, n, &o, stream);
}

static cudaError_t offsets_16(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    struct upsweep_scan_options o = {.inclusive = true,
                             .kind = UPSWEEP_HEADS_OFFSETS,
                             .heads = offsets,
                             .count = LENGTH(first_ones)};
    return scan_sum_i32(w, bytes, out, in, n, &o, stream);
}

static struct sat_size size_of(size_t n) { return (struct sat_size){WIDE, n / WIDE, 1}; }

static cudaError_t table_14(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return sat_u8(w, bytes, out, text, size_of(n), stream);
}

/* A window of one pixel is as large as the table's pixels are. */
static cudaError_t filter_14(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    (void)w, *bytes = 1;
    return w ? sat_box_u8(out, (const uint32_t *)ones, size_of(n), 1, stream) : cudaSuccess;
}

static cudaError_t sorted_15(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return sort_keys_i32(w, bytes, out, in, n, SORT_ASCENDING, stream);
}

static cudaError_t partners_16(void *w, size_t *bytes, size_t n, cudaStream_t stream)
{
    return scan_bracket_partners(w, bytes, out, text, n, stream);
}

/* Sums of type T of host.`from` from element `first` on. */
#define WANT_SUMS(name, T, from, first)                                                            \
    static size_t name(void *to, size_t n)                                                         \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (size_t i = first; i < n; i++) ((T *)to)[i - first] = sum += host.from[i];             \
        return n > first ? (n - first) * sizeof(T) : 0;                                            \
    }
WANT_SUMS(want_sums, int32_t, in, 0)
WANT_SUMS(want_odd_sums, int32_t, in, 1)
WANT_SUMS(want_wide_sums, int64_t, in64, 0)
WANT_SUMS(want_affine, double, real, 0)

static size_t want_kept(void *to, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (host.in[i] < 500) ((int32_t *)to)[count++] = host.in[i];
    uint64_t got;
    ok(cudaMemcpy(&got, kept, sizeof got, cudaMemcpyDeviceToHost));
    cr_assert_eq(got, count, "n = %zu: %zu elements kept, not %zu", n, (size_t)got, count);
    return count * sizeof(int32_t);
}

static size_t want_columns(void *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((int32_t *)to)[i] = host.in[i] + (i < WIDE ? 0 : ((int32_t *)to)[i - WIDE]);
    return n * sizeof(int32_t);
}

static size_t want_offsets(void *to, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0, next = 0; i < n; i++) {
        bool begins = next < LENGTH(first_ones) && (size_t)first_ones[next] == i;
        if (begins) next++;
        ((int32_t *)to)[i] = sum = host.in[i] + (begins ? 0 : sum);
    }
    return n * sizeof(int32_t);
}

static size_t want_table(void *to, size_t n)
{
    uint32_t *table = to, row = 0;
    for (size_t i = 0; i < n; i++) {
        row = (uint8_t)host.text[i] + (i % WIDE ? row : 0);
        table[i] = row + (i < WIDE ? 0 : table[i - WIDE]);
    }
    return n * sizeof *table;
}

static int by_value(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static size_t want_sorted(void *to, size_t n)
{
    memcpy(to, host.in, n * sizeof(int32_t));
    qsort(to, n, sizeof(int32_t), by_value);
    return n * sizeof(int32_t);
}

static size_t want_partners(void *to, size_t n)
{
    static int32_t stack[MOST];
    size_t open = 0;
    int32_t *partner = memset(to, 0xFF, n * sizeof *partner); /* -1 */
    for (size_t i = 0; i < n && (host.text[i] != ')' || open); i++)
        if (host.text[i] == '(')
            stack[open++] = (int32_t)i;
        else if (host.text[i] == ')')
            partner[i] = stack[--open], partner[partner[i]] = (int32_t)i;
    return n * sizeof *partner;
}

/* Only that the call runs. */
static size_t want_nothing(void *to, size_t n)
{
    (void)to, (void)n;
    return 0;
}

static const struct call calls[] = {{"step 12, i32", SCANS, sums_12, want_sums},
                                    {"step 12, u64", SCANS, wide_sums_12, want_wide_sums},
                                    {"step 12, not aligned", SCANS, odd_sums_12, want_odd_sums},
                                    {"step 13", SCANS, kept_13, want_kept},
                                    {"step 16, i32", SCANS, sums_16, want_sums},
                                    {"step 16, i64", SCANS, wide_sums_16, want_wide_sums},
                                    {"step 16, affine", SCANS, affine_16, want_affine},
                                    {"step 16, columns", SCANS, columns_16, want_columns},
                                    {"step 16, offsets", SCANS, offsets_16, want_offsets},
                                    {"step 14", PICTURES, table_14, want_table},
                                    {"step 14, filter", NONE, filter_14, want_nothing},
                                    {"step 15", SORTS, sorted_15, want_sorted},
                                    {"step 16, partners", PICTURES, partners_16, want_partners}};
enum { CALLS = LENGTH(calls), SCAN_CALLS = 9 };

/* A workspace for MOST elements of any of these calls, cleared once. */
struct workspace {
    void *memory;
    size_t bytes;
};

static struct workspace workspace_for(enum kind kind)
{
    struct workspace w = {NULL, 0};
    for (size_t i = 0; i < CALLS; i++) {
        size_t bytes = 0;
        if (calls[i].kind != kind) continue;
        ok(calls[i].run(NULL, &bytes, MOST, NULL));
        if (bytes > w.bytes) w.bytes = bytes;
    }
    w.memory = device_memory(w.bytes + 1);
    ok(cudaMemset(w.memory, 0xA5, w.bytes));
    if (kind == SCANS) ok(scan_workspace_init(w.memory, w.bytes, NULL));
    if (kind == SORTS) ok(sort_workspace_init(w.memory, w.bytes, NULL));
    return w;
}

/* The results of the last call. */
static void expect_results(const struct call *c, size_t n, const char *when)
{
    static int32_t want[2 * MOST], got[2 * MOST];
    size_t bytes = c->want(want, n), wrong = 0;
    ok(cudaMemcpy(got, out, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes / sizeof *got; i++) wrong += got[i] != want[i];
    cr_assert_eq(wrong, 0, "%s, n = %zu, %s: %zu of %zu words are wrong", c->name, n, when, wrong,
                 bytes / sizeof *got);
}

static void expect_call(const struct call *c, struct workspace w, size_t n, const char *when)
{
    ok(cudaMemset(out, 0xFF, MOST * sizeof(double)));
    ok(c->run(w.memory, &w.bytes, n, NULL));
    expect_results(c, n, when);
}

/* ---- one workspace --------------------------------------------------------------------------- */

/* Another order of lanes, warps and blocks in each launch. */
static void use_schedule(const char *seed, const char *blocks)
{
    cr_redirect_stderr(); /* the emulator says how to repeat it */
    setenv("EMU_SCHEDULE", seed, 1);
    setenv("EMU_BLOCKS", blocks, 1);
}

static size_t random_n(void)
{
    static const size_t most[] = {2000, 40000, 40000, MOST};
    return random_bits() % (most[random_bits() % LENGTH(most)] / WIDE + 1) * WIDE;
}

/* Scans of steps 12, 13 and 16, of any type and n, and in any order. */
static void expect_one_for_all(const char *seed, const char *blocks)
{
    use_schedule(seed, blocks);
    open_memory();
    struct workspace w = workspace_for(SCANS);
    for (int i = 0; i < 80; i++) {
        if (i % 8 == 0) ok(scan_workspace_init(w.memory, w.bytes, NULL));
        expect_call(&calls[random_bits() % SCAN_CALLS], w, random_n(), "after other scans");
    }
}
Test(workspaces, one_for_all_scans_slow) { expect_one_for_all("1", "ascending"); }
Test(workspaces, one_for_all_scans_in_descending_order_slow)
{
    expect_one_for_all("2", "descending");
}

/* Each scan after each other one, which is the first of a new workspace. */
Test(workspaces, each_scan_after_each_slow)
{
    use_schedule("3", "descending");
    open_memory();
    struct workspace w = workspace_for(SCANS);
    for (int first = 0; first < SCAN_CALLS; first++)
        for (int second = 0; second < SCAN_CALLS; second++) {
            ok(scan_operators_init(w.memory, w.bytes, NULL));
            expect_call(&calls[first], w, 40000, "first");
            expect_call(&calls[second], w, 40000, calls[first].name);
        }
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static cudaGraphExec_t captured(const struct call *c, struct workspace w, size_t n,
                                cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    ok(c->run(w.memory, &w.bytes, n, stream));
    ok(cudaStreamEndCapture(stream, &graph));
    ok(cudaGraphInstantiate(&exec, graph, 0));
    ok(cudaGraphDestroy(graph));
    return exec;
}

/* Graphs that were captured once, and calls between them, in the same workspaces. Of up to three
 * that run one after the other, the last one is checked. */
static void expect_graphs(const char *seed, const char *blocks)
{
    use_schedule(seed, blocks);
    open_memory();
    struct workspace w[NONE + 1];
    cudaStream_t stream;
    cudaGraphExec_t graph[CALLS];
    size_t n[CALLS];
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int kind = 0; kind <= NONE; kind++) w[kind] = workspace_for((enum kind)kind);
    ok(cudaDeviceSynchronize());
    for (size_t i = 0; i < CALLS; i++) {
        n[i] = calls[i].kind == SORTS ? MOST : 40000;
        graph[i] = captured(&calls[i], w[calls[i].kind], n[i], stream);
    }
    for (int i = 0; i < 80; i++) {
        size_t c = random_bits() % CALLS, own = random_bits() % 2 ? n[c] : random_n();
        struct workspace *of = &w[calls[c].kind];
        ok(cudaMemsetAsync(out, 0xFF, MOST * sizeof(double), stream));
        if (own == n[c])
            ok(cudaGraphLaunch(graph[c], stream));
        else
            ok(calls[c].run(of->memory, &of->bytes, own, stream));
        if (random_bits() % 3) continue;
        ok(cudaStreamSynchronize(stream));
        expect_results(&calls[c], own, own == n[c] ? "by a graph" : "between graphs");
    }
    ok(cudaStreamSynchronize(stream));
}
Test(workspaces, graphs_and_calls_slow) { expect_graphs("4", "ascending"); }
Test(workspaces, graphs_and_calls_in_descending_order_slow) { expect_graphs("5", "descending"); }

/* ---- devices --------------------------------------------------------------------------------- */

/* The libraries keep what the runtime has answered, for each device. A reset forgets what has been
 * set for a kernel. */
Test(workspaces, on_each_device_and_after_a_reset_slow)
{
    setenv("EMU_DEVICES", "2", 1);
    for (int turn = 0; turn < 4; turn++) {
        ok(cudaSetDevice(turn % 2));
        open_memory();
        for (size_t i = 0; i < CALLS; i++)
            expect_call(&calls[i], workspace_for(calls[i].kind), MOST,
                        turn < 2 ? "on a new device" : "after a reset");
        ok(cudaDeviceReset());
    }
}

/* ---- the last scans of a workspace ----------------------------------------------------------- */

/* A workspace serves 2^31 - 1 scans. The number of those that it has served stands at its begin, in
 * the upper half of a word, times 2. */
#define SERVES ((uint64_t)INT32_MAX)

static void set_served(struct workspace w, uint64_t scans)
{
    uint64_t word = scans << 33;
    ok(cudaMemcpy(w.memory, &word, sizeof word, cudaMemcpyHostToDevice));
}

/* The states in the workspace are those of its first scans, and the number is the last ones'. Then
 * it is cleared, and begins anew. */
static void expect_last_scans(const char *seed, const char *blocks)
{
    static const uint64_t served[] = {SERVES / 2 - 3, SERVES - SCAN_CALLS};
    use_schedule(seed, blocks);
    open_memory();
    struct workspace w = workspace_for(SCANS);
    for (size_t s = 0; s < LENGTH(served); s++) {
        ok(scan_workspace_init(w.memory, w.bytes, NULL));
        for (int i = 0; i < SCAN_CALLS; i++) expect_call(&calls[i], w, 20000, "in a new workspace");
        set_served(w, served[s]);
        for (int i = SCAN_CALLS; i-- > 0;) expect_call(&calls[i], w, 40000, "after 2^30 scans");
    }
}
Test(workspaces, last_scans_slow) { expect_last_scans("6", "ascending"); }
Test(workspaces, last_scans_in_descending_order_slow) { expect_last_scans("7", "descending"); }

/* What sorts, tables and scans leave in the same memory, each clears in its own way. */
Test(workspaces, cleared_for_another_use_slow)
{
    use_schedule("8", "descending");
    open_memory();
    struct workspace w = workspace_for(SCANS);
    for (int kind = PICTURES; kind < NONE; kind++) {
        struct workspace other = workspace_for((enum kind)kind);
        if (other.bytes > w.bytes) w = other;
    }
    for (int i = 0; i < 20; i++) {
        size_t c = random_bits() % CALLS;
        if (calls[c].kind == NONE) continue;
        if (calls[c].kind == SCANS) ok(scan_workspace_init(w.memory, w.bytes, NULL));
        if (calls[c].kind == SORTS) ok(sort_workspace_init(w.memory, w.bytes, NULL));
        expect_call(&calls[c], w, calls[c].kind == SORTS ? MOST : 40000, "after another use");
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* A call does all of its work whatever error was there before. It neither returns nor clears it. */
Test(workspaces, an_error_before_stays_the_callers_slow)
{
    open_memory();
    for (size_t c = 0; c < CALLS; c++) {
        struct workspace w = workspace_for(calls[c].kind);
        for (size_t n = 2000; n <= MOST; n += MOST - 2000) {
            ok(cudaMemset(out, 0xFF, MOST * sizeof(double)));
            is(cudaSetDevice(-1), cudaErrorInvalidDevice);
            cudaError_t error = calls[c].run(w.memory, &w.bytes, n, NULL);
            cr_expect_eq(error, cudaSuccess, "%s, n = %zu: %s", calls[c].name, n,
                         cudaGetErrorName(error));
            error = cudaGetLastError();
            cr_expect_eq(error, cudaErrorInvalidDevice, "%s, n = %zu leaves %s", calls[c].name, n,
                         cudaGetErrorName(error));
            expect_results(&calls[c], n, "after an error");
        }
        ok(cudaFree(w.memory));
    }
}

static cudaError_t large_12(void *w, size_t *bytes, int32_t *x, size_t n)
{
    return scan_inclusive_i32(w, bytes, x, x, n, NULL);
}
static cudaError_t large_16(void *w, size_t *bytes, int32_t *x, size_t n)
{
    return scan_sum_i32(w, bytes, x, x, n, &inclusive, NULL);
}

/* Such an error must not be taken for that of a kernel which cannot be launched: in place a second
 * kernel would scan the sums. */
Test(workspaces, scans_once_after_an_invalid_value_slow)
{
    enum { N = 10000000 };
    cudaError_t (*const scans[])(void *, size_t *, int32_t *, size_t) = {large_12, large_16};
    int32_t *x = device_memory(N * sizeof *x);
    for (size_t i = 0; i < LENGTH(scans); i++) {
        size_t bytes = 0;
        ok(scans[i](NULL, &bytes, NULL, N));
        void *workspace = device_memory(bytes);
        ok(scan_workspace_init(workspace, bytes, NULL));
        ok(cudaMemset(x, 1, N * sizeof *x)); /* 0x01010101 each */
        is(cudaFree((char *)x + 4), cudaErrorInvalidValue);
        ok(scans[i](workspace, &bytes, x, N));
        is(cudaGetLastError(), cudaErrorInvalidValue);
        cr_expect_eq(value_at(x + N - 1), (int)(N * 0x01010101u));
        ok(cudaFree(workspace));
    }
}

/* ---- arguments beyond all limits ------------------------------------------------------------- */

#define REFUSED(call) is(call, cudaErrorInvalidValue)

/* They are refused before anything is launched, and when the call asks for the workspace's size. */
Test(workspaces, refuses_what_no_memory_holds_slow)
{
    open_memory();
    struct workspace w = workspace_for(SCANS);
    size_t bytes = 1, all = SIZE_MAX;
    ok(cudaMemset(w.memory, 0, w.bytes));
    const struct upsweep_scan_options hostile[] = {
        {.columns = SIZE_MAX},
        {.columns = SIZE_MAX / 3},
        {.columns = SIZE_MAX / 255},
        {.kind = UPSWEEP_HEADS_OFFSETS, .heads = offsets, .count = SIZE_MAX},
        {.kind = UPSWEEP_HEADS_OFFSETS, .heads = offsets, .count = SIZE_MAX - 254},
        {.row = SIZE_MAX},
    };
    for (size_t i = 0; i < LENGTH(hostile); i++) {
        bool offsets_only = hostile[i].count > 0;
        REFUSED(scan_sum_i32(w.memory, &all, out, in, offsets_only ? MOST : SIZE_MAX, &hostile[i],
                             NULL));
        if (!offsets_only)
            REFUSED(scan_sum_i32(NULL, &bytes, NULL, NULL, SIZE_MAX, &hostile[i], NULL));
    }
    static const struct sat_size large[] = {{SIZE_MAX, SIZE_MAX, 1},
                                            {(size_t)1 << 63, 2, 4},
                                            {(size_t)1 << 32, (size_t)1 << 32, 1},
                                            {1, SIZE_MAX, 3},
                                            {SIZE_MAX, 1, 1}};
    struct sat_focus focus = {0, 1, 3};
    for (size_t i = 0; i < LENGTH(large); i++) {
        REFUSED(sat_u8(NULL, &bytes, NULL, NULL, large[i], NULL));
        REFUSED(sat_u8(w.memory, &all, out, text, large[i], NULL));
        REFUSED(sat_box_u8(out, out, large[i], 3, NULL));
        REFUSED(sat_blur_u8(out, out, text, large[i], focus, NULL));
    }
    static const size_t many[] = {SIZE_MAX, (size_t)1 << 62, (size_t)1 << 61, (size_t)1 << 45};
    for (size_t i = 0; i < LENGTH(many); i++) {
        REFUSED(sort_keys_i32(NULL, &bytes, NULL, NULL, many[i], SORT_ASCENDING, NULL));
        REFUSED(sort_keys_i32(w.memory, &all, out, in, many[i], SORT_ASCENDING, NULL));
    }
    cr_expect_eq(bytes, 1);
    ok(cudaGetLastError());
    ok(cudaDeviceSynchronize());
    unsigned char *now = malloc(w.bytes);
    ok(cudaMemcpy(now, w.memory, w.bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < w.bytes; i++) cr_assert_eq(now[i], 0);
    free(now);
}
