/*
 * test_library_calls.c — what all functions of the library have in common: what they refuse,
 * without writing; workspaces that are cleared once; graphs; and that a call moves what the step's
 * own moves.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "common/tools/library/upsweep/upsweep.h"
#include "common/harness/run/runs.h"
#include "steps/12-pipeline/scan.h"
#include "steps/13-compaction/compact.h"
#include "steps/14-summed-area-table/sat.h"
#include "steps/15-radix-sort/sort.h"
#include "tests/unit/library/calls.h"
#include "tests/support/cudart_check.h"

#include <stdlib.h>

TestSuite(library, .timeout = 300);

Test(library, version_slow) { cr_assert(upsweep_version() == UPSWEEP_VERSION); }

/* ---- what is refused ------------------------------------------------------------------------- */

static const size_t N = 1000;
static _Alignas(16) unsigned char zeros[16000];

/* Is all of this device memory `byte`? */
static bool is_full_of(const void *memory, size_t bytes, unsigned char byte)
{
    unsigned char *host = malloc(bytes + 1);
    bool same = true;
    ok(cudaMemcpy(host, memory, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes; i++) same &= host[i] == byte;
    free(host);
    return same;
}

static struct arguments usual(const struct function *f, struct upsweep_predicate *p)
{
    *p = some_predicate(f->in);
    return (struct arguments){.n = N, .value_bytes = 4, .predicate = p};
}

/* The call returns this error, launches nothing and writes nothing. */
static void expect_refused(const struct function *f, const struct memory *m,
                           const struct arguments *a, cudaError_t expected, const char *why)
{
    emu_forget(counters_emulator());
    emu_count(counters_emulator(), true);
    cudaError_t error = f->call(a);
    cr_assert(error == expected, "%s: %s: %s", f->name, why, cudaGetErrorName(error));
    ok(cudaDeviceSynchronize());
    emu_count(counters_emulator(), false);
    cr_assert(emu_records(counters_emulator()) == 0, "%s: %s: launches", f->name, why);
    cr_assert(is_full_of(m->a.workspace, m->bytes, 0xff) &&
                  is_full_of(m->a.out, m->out_bytes, 0xab),
              "%s: %s: writes", f->name, why);
    if (m->a.more_out) cr_assert(is_full_of(m->a.more_out, m->more_out_bytes, 0xab), "%s", f->name);
}

Test(library, each_function_refuses_slow)
{
    struct upsweep_predicate p;
    for (size_t k = 0; k < function_count; k++) {
        const struct function *f = &functions[k];
        struct arguments wanted = usual(f, &p), a;
        struct memory m;
        size_t less;
        memory_open(&m, f, &wanted, zeros, zeros, sizeof zeros);
        less = m.bytes - 1;
#define REFUSED(expected, change)                                                                  \
    do {                                                                                           \
        a = m.a;                                                                                   \
        change;                                                                                    \
        expect_refused(f, &m, &a, expected, #change);                                              \
    } while (0)
        REFUSED(cudaErrorInvalidValue, a.bytes = &less);
        REFUSED(cudaErrorInvalidValue, a.bytes = NULL);
        REFUSED(cudaErrorInvalidValue, (a.bytes = NULL, a.workspace = NULL));
        REFUSED(cudaErrorInvalidValue, a.workspace = (char *)a.workspace + 16);
        REFUSED(cudaErrorInvalidValue, a.out = NULL);
        REFUSED(cudaErrorInvalidValue, a.in = NULL);
        if (type_bytes[f->out] > 1) REFUSED(cudaErrorInvalidValue, a.out = (char *)a.out + 1);
        if (type_bytes[f->in] > 1)
            REFUSED(cudaErrorInvalidValue, a.in = (char *)a.in + type_bytes[f->in] / 2);

        struct upsweep_scan_options both = {.row = 10, .columns = 10}, uneven = {.row = 7},
                                    columns = {.columns = 7}, heads = {.kind = UPSWEEP_HEADS_BITS},
                                    odd = {.kind = UPSWEEP_HEADS_OFFSETS,
                                           .heads = zeros + 4,
                                           .count = 1},
                                    unknown = {.kind = (enum upsweep_heads)9, .heads = zeros};
        bool is_short = f->in == I8 || f->in == I16;
        if (f->operation <= ARGMIN && !is_short) {
            REFUSED(cudaErrorInvalidValue, a.scan = &both);
            REFUSED(cudaErrorInvalidValue, a.scan = &uneven);
            REFUSED(cudaErrorInvalidValue, a.scan = &columns);
            REFUSED(cudaErrorInvalidValue, a.scan = &heads);
            REFUSED(cudaErrorInvalidValue, a.scan = &odd);
            REFUSED(cudaErrorInvalidValue, a.scan = &unknown);
        }
        if (f->operation == AFFINE) REFUSED(cudaErrorInvalidValue, a.more_in = NULL);

        struct upsweep_scan_options initial = {.initial = zeros},
                                    keys = {.kind = UPSWEEP_HEADS_KEYS, .heads = zeros};
        if (f->operation == ARGMAX || f->operation == ARGMIN) {
            REFUSED(cudaErrorInvalidValue, a.more_out = NULL);
            REFUSED(cudaErrorInvalidValue, a.more_out = (char *)a.more_out + 4);
            REFUSED(cudaErrorNotSupported, a.scan = &initial);
            REFUSED(cudaErrorNotSupported, a.scan = &keys);
            if (type_bytes[f->in] == 4)
                REFUSED(cudaErrorInvalidValue, (a.n = (size_t)1 << 32, a.workspace = NULL));
        }

        struct upsweep_select_options inverse = {.inverse = true};
        struct upsweep_predicate many = {.count = UPSWEEP_INTERVALS_MOST + 1};
        if (f->operation == FLAGGED || f->operation == PARTITION)
            REFUSED(cudaErrorInvalidValue, a.more_in = NULL);
        if (f->operation >= SELECT && f->operation <= NONZERO) {
            REFUSED(cudaErrorInvalidValue, a.more_out = NULL);
            REFUSED(cudaErrorInvalidValue, (a.more_out = NULL, a.n = 0));
            REFUSED(cudaErrorInvalidValue, a.more_out = (char *)a.more_out + 4);
        }
        if (f->operation == SELECT) {
            REFUSED(cudaErrorInvalidValue, a.predicate = NULL);
            REFUSED(cudaErrorInvalidValue, a.predicate = &many);
            REFUSED(cudaErrorInvalidValue, (a.predicate = &many, a.n = 0));
            REFUSED(cudaErrorNotSupported, a.select = &inverse);
        }

        unsigned width = (unsigned)(8 * type_bytes[f->in]);
        struct upsweep_sort_options beyond = {.end_bit = width + 1},
                                    empty = {.begin_bit = 3, .end_bit = 3},
                                    no_bit = {.begin_bit = width};
        if (f->operation == KEYS || f->operation == PAIRS) {
            REFUSED(cudaErrorInvalidValue, a.sort = &beyond);
            REFUSED(cudaErrorInvalidValue, a.sort = &empty);
            REFUSED(cudaErrorInvalidValue, a.sort = &no_bit);
            REFUSED(cudaErrorInvalidValue, (a.sort = &empty, a.n = 0));
            REFUSED(cudaErrorInvalidValue, (a.sort = &empty, a.workspace = NULL));
            REFUSED(cudaErrorInvalidValue, (a.n = (size_t)1 << 56, a.workspace = NULL));
            REFUSED(cudaErrorInvalidValue, a.in = a.out);
            REFUSED(cudaErrorInvalidValue, a.in = (char *)a.out + type_bytes[f->in]);
        }
        if (f->operation == PAIRS) {
            REFUSED(cudaErrorInvalidValue, a.more_out = NULL);
            REFUSED(cudaErrorInvalidValue, a.more_in = a.more_out);
            REFUSED(cudaErrorInvalidValue, a.more_in = (char *)a.more_in + 2);
            REFUSED(cudaErrorInvalidValue, a.more_out = (char *)a.more_out + 2);
            REFUSED(cudaErrorInvalidValue, a.value_bytes = 3);
            REFUSED(cudaErrorInvalidValue, (a.value_bytes = 0, a.workspace = NULL));
            REFUSED(cudaErrorInvalidValue, (a.value_bytes = 2, a.more_in = NULL));
            REFUSED(cudaErrorInvalidValue, (a.n = (size_t)1 << 32, a.workspace = NULL));
        }
        if (f->out == U32 && f->operation == NONZERO)
            REFUSED(cudaErrorInvalidValue, (a.n = ((size_t)1 << 32) + 1, a.workspace = NULL));
        if (f->operation != TABLE && f->operation < KEYS)
            REFUSED(cudaErrorInvalidValue, a.n = (size_t)1 << 56);
#undef REFUSED
        memory_close(&m);
    }
}

/* Without elements no array is needed, and an error from before stays. */
Test(library, no_elements_slow)
{
    struct upsweep_predicate p;
    for (size_t k = 0; k < function_count; k++) {
        struct arguments a = usual(&functions[k], &p);
        size_t bytes = 0;
        uint64_t *kept = device_memory(sizeof *kept), count = 7;
        ok(cudaMemset(kept, 0xff, sizeof *kept));
        a.n = 0, a.bytes = &bytes;
        bool selects = functions[k].operation >= SELECT && functions[k].operation <= NONZERO;
        if (selects) a.more_out = kept;
        ok(functions[k].call(&a));
        a.workspace = device_memory(bytes + 1);
        is(cudaMemset(NULL, 0, 5), cudaErrorInvalidValue);
        ok(functions[k].call(&a));
        is(cudaGetLastError(), cudaErrorInvalidValue);
        ok(cudaMemcpy(&count, kept, sizeof count, cudaMemcpyDeviceToHost));
        cr_assert(count == (selects ? 0 : UINT64_MAX), "%s", functions[k].name);
        ok(cudaFree(a.workspace)), ok(cudaFree(kept));
    }
}

Test(library, pictures_and_windows_that_are_refused_slow)
{
    size_t bytes = 0;
    is(upsweep_table_u8(NULL, &bytes, NULL, NULL, 4, 4, 2, NULL), cudaErrorInvalidValue);
    is(upsweep_table_f32(NULL, &bytes, NULL, NULL, (size_t)1 << 40, (size_t)1 << 40, 1, NULL),
       cudaErrorInvalidValue);
    uint8_t *out = device_memory(16);
    uint32_t *table = device_memory(64);
    is(upsweep_box_u8(out, table, 4, 4, 1, 0, NULL), cudaErrorInvalidValue);
    is(upsweep_box_u8(NULL, table, 4, 4, 1, 1, NULL), cudaErrorInvalidValue);
    is(upsweep_box_u8(out, NULL, 4, 4, 1, 1, NULL), cudaErrorInvalidValue);
    is(upsweep_box_u16((uint16_t *)out, table, 5000, 5000, 1, 300, NULL), cudaErrorInvalidValue);
    ok(upsweep_box_u8(NULL, NULL, 0, 4, 1, 1, NULL));
    ok(cudaFree(out)), ok(cudaFree(table));
}

/* ---- workspaces ------------------------------------------------------------------------------ */

/* Scans and selections of all kinds share a workspace that is cleared once, and sorts another one:
 * each result is that of a call that clears. */
static void share_workspace(bool sorts)
{
    struct upsweep_scan_options scan = {.cleared = true};
    struct upsweep_select_options select = {.cleared = true};
    struct upsweep_sort_options sort = {.cleared = true};
    const size_t bytes = (size_t)4 << 20, n = 5000;
    void *workspace = device_memory(bytes);
    unsigned char *in = malloc(16 * n), *first = malloc(16 * n), *again = malloc(16 * n);
    ok(cudaMemset(workspace, 0xff, bytes));
    ok(upsweep_clear(workspace, bytes, NULL));
    for (size_t i = 0; i < 16 * n; i++) in[i] = (unsigned char)(i * 37 % 3);
    for (int round = 0; round < 2; round++)
        for (size_t k = 0; k < function_count; k++) {
            const struct function *f = &functions[k];
            if (f->operation == TABLE || (f->operation >= KEYS) != sorts) continue;
            struct upsweep_predicate p = some_predicate(f->in);
            struct arguments a = {.n = n - k, .value_bytes = 8, .predicate = &p};
            struct memory m;
            call_once(f, &a, in, in, 8 * n, first, NULL);
            a.scan = &scan, a.select = &select, a.sort = &sort;
            memory_open(&m, f, &a, in, in, 8 * n);
            size_t given = bytes;
            struct arguments shared = m.a;
            shared.workspace = workspace, shared.bytes = &given;
            ok(f->call(&shared));
            ok(cudaMemcpy(again, m.a.out, m.out_bytes, cudaMemcpyDeviceToHost));
            cr_assert(memcmp(first, again, m.out_bytes) == 0, "%s, round %d", f->name, round);
            memory_close(&m);
        }
    free(in), free(first), free(again);
    ok(cudaFree(workspace));
}

Test(library, scans_and_selections_share_a_workspace_slow) { share_workspace(false); }
Test(library, sorts_share_a_workspace_slow) { share_workspace(true); }

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Each function in a graph that is launched twice, with a workspace that is full of ones. */
Test(library, graphs_slow)
{
    const size_t n = 3000;
    unsigned char *in = malloc(16 * n), *first = malloc(16 * n), *again = malloc(16 * n);
    for (size_t i = 0; i < 16 * n; i++) in[i] = (unsigned char)(i * 31 % 3);
    for (size_t k = 0; k < function_count; k++) {
        const struct function *f = &functions[k];
        struct upsweep_predicate p = some_predicate(f->in);
        struct arguments a = {.n = n, .value_bytes = 8, .predicate = &p};
        cudaGraph_t graph;
        cudaGraphExec_t program;
        struct memory m;
        call_once(f, &a, in, in, 8 * n, first, NULL);
        memory_open(&m, f, &a, in, in, 8 * n);
        ok(cudaStreamCreate(&m.a.stream));
        ok(cudaStreamBeginCapture(m.a.stream, cudaStreamCaptureModeThreadLocal));
        ok(f->call(&m.a));
        ok(cudaStreamEndCapture(m.a.stream, &graph));
        ok(cudaGraphInstantiate(&program, graph, 0));
        for (int launch = 0; launch < 2; launch++) {
            ok(cudaMemset(m.a.out, 0xab, m.out_bytes));
            ok(cudaGraphLaunch(program, m.a.stream));
            ok(cudaStreamSynchronize(m.a.stream));
            ok(cudaMemcpy(again, m.a.out, m.out_bytes, cudaMemcpyDeviceToHost));
            cr_assert(memcmp(first, again, m.out_bytes) == 0, "%s, launch %d", f->name, launch);
        }
        ok(cudaGraphExecDestroy(program)), ok(cudaGraphDestroy(graph));
        ok(cudaStreamDestroy(m.a.stream));
        memory_close(&m);
    }
    free(in), free(first), free(again);
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* What a call moves. */
struct traffic {
    size_t launches;
    uint64_t loads, stores, instructions;
};

static struct traffic counted(cudaError_t error)
{
    struct traffic t = {0, 0, 0, 0};
    struct emu *emu = counters_emulator();
    ok(error);
    ok(cudaDeviceSynchronize());
    t.launches = emu_records(emu);
    for (size_t i = 0; i < t.launches; i++) {
        const struct emu_counts *c = &emu_record(emu, i)->total;
        t.loads += c->global_ld.sectors, t.stores += c->global_st.sectors;
        t.instructions += c->instructions;
    }
    emu_count(emu, false);
    return t;
}

static void *clear_memory(size_t bytes)
{
    void *memory = device_memory(bytes);
    ok(cudaMemset(memory, 0, bytes));
    emu_forget(counters_emulator());
    emu_count(counters_emulator(), true);
    return memory;
}

#define SAME(library, own)                                                                         \
    do {                                                                                           \
        void *workspace = clear_memory(bytes);                                                     \
        struct traffic got = counted(library);                                                     \
        ok(cudaFree(workspace));                                                                   \
        workspace = clear_memory(bytes);                                                           \
        struct traffic want = counted(own);                                                        \
        ok(cudaFree(workspace));                                                                   \
        cr_assert(got.launches == want.launches && got.stores == want.stores, #own);               \
        cr_assert(got.loads == want.loads && got.instructions == want.instructions, #own);         \
    } while (0)

Test(library, a_call_moves_what_the_step_moves_slow)
{
    setenv("EMU_THREADS", "1", 1); // so that blocks wait for each other equally long in each run
    const size_t sizes[] = {500, 100003};
    struct upsweep_scan_options plain = {.cleared = true};
    struct upsweep_select_options select = {.cleared = true};
    struct upsweep_sort_options sort = {.cleared = true};
    struct upsweep_predicate p = some_predicate(F32);
    struct predicate own = predicate_between(key_of_f32(-1), key_of_f32(2));
    for (size_t s = 0; s < LENGTH(sizes); s++) {
        size_t n = sizes[s], bytes = (size_t)8 << 20;
        float *in = device_memory(n * 4), *out = device_memory(n * 4);
        uint64_t *kept = device_memory(8);
        uint32_t *values = device_memory(n * 4);
        ok(cudaMemset(in, 0, n * 4));
        SAME(upsweep_scan_sum_f32(workspace, &bytes, out, in, n, &plain, NULL),
             scan_exclusive_f32(workspace, &bytes, out, in, n, NULL));
        SAME(upsweep_select_f32(workspace, &bytes, out, kept, in, &p, n, &select, NULL),
             compact_f32(workspace, &bytes, out, kept, in, n, &own, NULL));
        SAME(upsweep_sort_keys_f32(workspace, &bytes, out, in, n, &sort, NULL),
             sort_keys_f32(workspace, &bytes, out, in, n, SORT_ASCENDING, NULL));
        SAME(upsweep_sort_pairs_f32(workspace, &bytes, out, values, in, NULL, 4, n, &sort, NULL),
             sort_pairs_f32(workspace, &bytes, out, values, in, NULL, n, SORT_ASCENDING, NULL));
        struct sat_size size = {n, 1, 1};
        SAME(upsweep_table_f32(workspace, &bytes, out, in, n, 1, 1, NULL),
             sat_f32(workspace, &bytes, out, in, size, NULL));
        ok(cudaFree(in)), ok(cudaFree(out)), ok(cudaFree(kept)), ok(cudaFree(values));
    }
}
