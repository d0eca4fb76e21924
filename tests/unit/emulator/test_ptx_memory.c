/*
 * test_ptx_memory.c — the memory calls of emu.h; many allocations; atomics, and random programs of
 * jumps, against a model; grids on several host threads. (Kernels with known results are in
 * cases/ptx.)
 */
#define _GNU_SOURCE
#include "common/tools/emu/machine/device.h"
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64 };

static const char variables[] = PTX_HEADER
    ".const .align 4 .u32 words[4] = {0x11111111, 22, 33};\n"
    ".global .align 4 .s32 numbers[3] = {-1, -2, -3};\n.visible .entry k() { ret; }\n";

Test(emu_memory, symbols_are_found_by_name)
{
    struct emu *emu = open_emu();
    struct emu_module *module;
    cr_assert(!emu_load(emu, variables, strlen(variables), "variables.ptx", &module), "%s",
              emu_message(emu));
    emu_addr address = 0;
    size_t bytes = 0;
    cr_assert(!emu_symbol(emu, module, "numbers", &address, &bytes), "%s", emu_message(emu));
    cr_expect(bytes == 12);
    int32_t numbers[3] = {0};
    cr_assert(!emu_read(emu, numbers, address, sizeof numbers), "%s", emu_message(emu));
    cr_expect(numbers[0] == -1 && numbers[1] == -2 && numbers[2] == -3);
    cr_expect(!emu_write(emu, address, &(int32_t){9}, 4), "%s", emu_message(emu));

    cr_assert(!emu_symbol(emu, module, "words", &address, &bytes), "%s", emu_message(emu));
    uint32_t word = 0;
    cr_expect(bytes == 16 && !emu_read(emu, &word, address, 4) && word == 0x11111111);

    cr_expect(emu_symbol(emu, module, "nothing", &address, &bytes) == EMU_SYMBOL_NOT_FOUND);
    cr_expect(strstr(emu_message(emu), "nothing"), "%s", emu_message(emu));
    struct emu_kernel *kernel;
    cr_expect(emu_kernel(emu, module, "nobody", &kernel) == EMU_INVALID_DEVICE_FUNCTION);
    cr_expect(strstr(emu_message(emu), "nobody"), "%s", emu_message(emu));
    emu_close(emu);
}

/* ---- the memory calls ------------------------------------------------------------------------ */

Test(emu_memory, allocation)
{
    struct emu *emu = open_emu();
    size_t before, total, now;
    emu_memory_info(emu, &before, &total);
    cr_expect(before <= total && total >= 1 << 20);

    emu_addr a = 0, b = 0, base = 0;
    size_t bytes = 0;
    cr_assert(!emu_alloc(emu, 1000, &a) && !emu_alloc(emu, 1, &b));
    cr_expect(a && b && a % 256 == 0 && b % 256 == 0);
    cr_expect(b >= a + 1000 || a >= b + 1);
    emu_memory_info(emu, &now, &total);
    cr_expect(now < before, "%zu bytes were free, now %zu", before, now);

    uint8_t fresh[1000];
    cr_expect(!emu_read(emu, fresh, a, sizeof fresh));
    for (size_t i = 0; i < sizeof fresh; i++)
        cr_assert(fresh[i] == 0xCD, "byte %zu: %u", i, fresh[i]);

    cr_expect(emu_find(emu, a + 999, &base, &bytes) && base == a && bytes == 1000);
    cr_expect(!emu_find(emu, a + 1000, &base, &bytes));
    cr_expect(emu_is_device(emu, a) && emu_is_device(emu, a + 5000));
    cr_expect(!emu_is_device(emu, 0) && !emu_is_device(emu, (uintptr_t)fresh));

    cr_expect(emu_free(emu, a + 256) == EMU_INVALID_VALUE, "freed from the middle");
    cr_expect(!emu_free(emu, a));
    cr_expect(emu_free(emu, a) == EMU_INVALID_VALUE, "freed twice");
    cr_expect(emu_free(emu, (uintptr_t)fresh) == EMU_INVALID_VALUE, "freed host memory");
    cr_expect(!emu_find(emu, a, &base, &bytes));
    cr_expect(!emu_free(emu, b));
    emu_memory_info(emu, &now, &total);
    cr_expect(now == before, "%zu bytes were free, after freeing all %zu", before, now);

    cr_expect(emu_alloc(emu, total + 1, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(strlen(emu_message(emu)) > 0);
    cr_expect(emu_alloc(emu, SIZE_MAX, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(emu_alloc(emu, SIZE_MAX - 255, &a) == EMU_OUT_OF_MEMORY);
    cr_expect(!emu_alloc(emu, total / 2, &a), "%s", emu_message(emu));
    emu_close(emu);
}

Test(emu_memory, copies_stay_inside_an_allocation)
{
    struct emu *emu = open_emu();
    uint8_t host[512], back[512];
    for (int i = 0; i < 512; i++) host[i] = (uint8_t)(i * 3);
    emu_addr a = device_copy(emu, host, 256), b = device_copy(emu, NULL, 256);

    cr_expect(emu_write(emu, a, host, 257) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a - 1, host, 4) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a + 255, host, 2) == EMU_INVALID_VALUE);
    cr_expect(emu_write(emu, a, host, SIZE_MAX) == EMU_INVALID_VALUE);
    cr_expect(emu_read(emu, back, a + 1, 256) == EMU_INVALID_VALUE);
    cr_expect(emu_read(emu, back, 0, 1) == EMU_INVALID_VALUE);
    cr_expect(emu_fill(emu, a + 200, 1, 100) == EMU_INVALID_VALUE);
    cr_expect(emu_copy(emu, b, a, 257) == EMU_INVALID_VALUE);
    cr_expect(emu_copy(emu, b + 1, a, 256) == EMU_INVALID_VALUE);
    cr_expect(!emu_read(emu, back, a, 256) && !memcmp(back, host, 256),
              "a refused copy changed it");

    cr_expect(!emu_copy(emu, b + 6, a + 3, 100));
    cr_expect(!emu_read(emu, back, b + 6, 100) && !memcmp(back, host + 3, 100));
    cr_expect(!emu_copy(emu, a + 10, a, 200), "overlapping");
    cr_expect(!emu_read(emu, back, a + 10, 200) && !memcmp(back, host, 200));
    cr_expect(!emu_fill(emu, b, 0xAB, 256) && !emu_read(emu, back, b, 256));
    cr_expect(back[0] == 0xAB && back[255] == 0xAB);
    emu_close(emu);
}

/* Kernels access mapped host memory by its own address, until it is unmapped. */
Test(emu_memory, mapped_host_memory)
{
    struct emu *emu = open_emu();
    uint32_t host[THREADS];
    struct emu_kernel *kernel =
        load_kernel(emu,
                    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nadd.u32 %r0, %r0, 5;\n"
                                    "st.global.u32 [%out], %r0;\nret;\n"),
                    "k");
    for (unsigned t = 0; t < THREADS; t++) host[t] = t;
    uint64_t args[] = {(uintptr_t)host, (uintptr_t)host};
    cr_assert(!emu_map_host(emu, host, sizeof host), "%s", emu_message(emu));
    cr_expect(!launch(emu, kernel, 1, THREADS, 0, 2, args), "%s", emu_message(emu));
    for (unsigned t = 0; t < THREADS; t++) cr_expect(host[t] == t + 5);
    cr_expect(!emu_unmap_host(emu, host));
    cr_expect(emu_unmap_host(emu, host) == EMU_INVALID_VALUE);
    cr_expect(launch(emu, kernel, 1, THREADS, 0, 2, args) == EMU_ILLEGAL_ADDRESS);
    cr_expect(host[0] == 5);
    emu_close(emu);
}

/* ---- many allocations ------------------------------------------------------------------------ */

enum { GAP = 4096, ALIGNMENT = 256 };

struct piece {
    emu_addr base; /* 0: not allocated */
    size_t bytes;
};

static struct emu *open_small(void)
{
    return open_emu_with(&(struct emu_config){.memory = 1 << 20});
}

/* The addresses around an allocation that belong to it or to no allocation. */
static void expect_found(struct emu *emu, const struct piece *piece)
{
    const emu_addr inside[] = {piece->base, piece->base + piece->bytes - 1},
                   outside[] = {piece->base - 1, piece->base + piece->bytes, piece->base - GAP,
                                piece->base + piece->bytes + GAP - 1};
    emu_addr base;
    size_t bytes;
    for (int i = 0; i < 2; i++)
        cr_assert(emu_find(emu, inside[i], &base, &bytes) && base == piece->base &&
                  bytes == piece->bytes);
    for (int i = 0; i < 4; i++) cr_assert(!emu_find(emu, outside[i], &base, &bytes));
    cr_assert(piece->base % ALIGNMENT == 0);
}

/* Nearly all addresses are used again and again. */
Test(emu_allocations, by_chance, .timeout = 60)
{
    enum { PIECES = 150, STEPS = 20000 };
    struct piece pieces[PIECES] = {0};
    struct emu *emu = open_small();
    uint64_t state = 1;
    size_t free_bytes, total, failed = 0;
    for (int step = 0; step < STEPS; step++) {
        struct piece *p = &pieces[next_random(&state) % PIECES];
        if (p->base) {
            cr_assert(!emu_free(emu, p->base));
            cr_assert(!emu_find(emu, p->base, &(emu_addr){0}, &(size_t){0}), "step %d", step);
            p->base = 0;
            continue;
        }
        p->bytes = 1 + next_random(&state) % (step % 64 ? 8192 : 200000);
        if (emu_alloc(emu, p->bytes, &p->base)) {
            failed++;
            p->base = 0;
            continue;
        }
        for (int i = 0; i < PIECES && step % 16 == 0; i++)
            if (pieces[i].base) expect_found(emu, &pieces[i]);
    }
    cr_expect_lt(failed, STEPS / 20, "%zu allocations failed", failed);
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].base) cr_assert(!emu_free(emu, pieces[i].base));
    emu_memory_info(emu, &free_bytes, &total);
    cr_expect_eq(free_bytes, total);
    cr_expect_eq(emu_alloc(emu, total, &pieces[0].base), EMU_OK);
    emu_close(emu);
}

/* When no other addresses are left, the first hole that is wide enough is used, and no other. */
Test(emu_allocations, holes_are_used_again)
{
    enum { MANY = 1000, BYTES = 300 };
    static emu_addr all[MANY];
    struct emu *emu = open_small();
    emu_addr again;
    int count = 0;
    while (!emu_alloc(emu, BYTES, &all[count])) cr_assert_lt(++count, MANY);
    cr_expect(strstr(emu_message(emu), "but not in one piece"), "%s", emu_message(emu));
    const int freed[] = {count / 2, count / 3, 0, count - 1};
    for (int i = 0; i < 4; i++) cr_assert(!emu_free(emu, all[freed[i]]));
    const int expected[] = {0, count / 3, count / 2, count - 1};
    for (int i = 0; i < 4; i++) {
        cr_assert(!emu_alloc(emu, BYTES, &again));
        cr_expect_eq(again, all[expected[i]], "hole %d", i);
    }
    cr_expect_eq(emu_alloc(emu, BYTES, &again), EMU_OUT_OF_MEMORY);
    for (int i = 0; i < 3; i++) cr_assert(!emu_free(emu, all[10 + i]));
    cr_assert(!emu_alloc(emu, BYTES + 2 * GAP, &again), "three holes side by side are one");
    cr_expect_eq(again, all[10]);
    emu_close(emu);
}

Test(emu_allocations, freed_addresses_come_back_last)
{
    struct emu *emu = open_small();
    emu_addr first, next;
    cr_assert(!emu_alloc(emu, 4, &first));
    cr_assert(!emu_free(emu, first));
    for (int i = 0; i < 400; i++) {
        cr_assert(!emu_alloc(emu, 4, &next));
        cr_assert_neq(next, first, "after %d", i);
        cr_assert(!emu_free(emu, next));
    }
    emu_close(emu);
}

static size_t resident_pages(void)
{
    unsigned long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%lu %lu", &size, &resident) == 2);
    fclose(file);
    return resident;
}

/* Each allocation gets new addresses, but the memory behind freed ones goes back to the host. */
Test(emu_allocations, freed_memory_goes_back_to_the_host, .timeout = 60)
{
    enum { TIMES = 50000 };
    struct emu *emu = open_emu_with(&(struct emu_config){.memory = 512 << 20});
    emu_addr address;
    size_t before = resident_pages();
    for (int i = 0; i < TIMES; i++) {
        cr_assert(!emu_alloc(emu, 100, &address));
        cr_assert(!emu_free(emu, address));
    }
    cr_expect_lt(resident_pages() - before, TIMES / 10);
    emu_close(emu);
}

/* ---- when the host has few addresses --------------------------------------------------------- */

Test(emu_allocations, what_was_asked_for_in_bytes_is_given_or_refused)
{
    char message[200] = "";
    struct emu_config config = {.memory = (size_t)1 << 50};
    cr_assert(!emu_open(&config, message, sizeof message));
    cr_expect(strstr(message, "no addresses for 1125899906842624 bytes") &&
                  strstr(message, "EMU_MEMORY"),
              "%s", message);
}

/* ---- atomics: the value that each returns, and the one it stores ----------------------------- */

enum { LANES = 32, PLACES = 8 };

/* The new content of a word, from the old one and one or two operands. */
static union value apply(const char *op, const struct type *t, union value old, union value b,
                         union value c)
{
    __int128 x = (__int128)get_integer(t, old), y = (__int128)get_integer(t, b);
    if (!strcmp(op, "exch")) return b;
    if (!strcmp(op, "cas")) return old.u64 == b.u64 ? c : old;
    if (!strcmp(op, "and")) return put_integer(t, (wide)x & (wide)y);
    if (!strcmp(op, "or")) return put_integer(t, (wide)x | (wide)y);
    if (!strcmp(op, "xor")) return put_integer(t, (wide)x ^ (wide)y);
    if (!strcmp(op, "min")) return x < y ? old : b;
    if (!strcmp(op, "max")) return x > y ? old : b;
    /* inc counts up and wraps to 0 after b; dec counts down and wraps to b, also from beyond b. */
    if (!strcmp(op, "inc")) return put_integer(t, x >= y ? 0 : (wide)(x + 1));
    if (!strcmp(op, "dec")) return put_integer(t, x == 0 || x > y ? (wide)y : (wide)(x - 1));
    if (!strcmp(op, "add") && t->kind == FLOAT) /* whole numbers below: exact */
        return put_real(t, get_real(t, old) + get_real(t, b));
    if (!strcmp(op, "add")) return put_integer(t, (wide)(x + y));
    cr_assert_fail("no operation '%s'", op);
    return old;
}

static const struct {
    const char *op, *types;
} atomics[] = {
    {"add", "u32 s32 u64 f32 f64"},
    {"exch", "b32 b64"},
    {"cas", "b32 b64"},
    {"min", "u32 s32 u64 s64"},
    {"max", "u32 s32 u64 s64"},
    {"and", "b32 b64"},
    {"or", "b32 b64"},
    {"xor", "b32 b64"},
    {"inc", "u32"},
    {"dec", "u32"},
};

/* A value for an operand: edges for integers, small whole numbers for floating point. */
static union value operand(const struct type *t, uint64_t random)
{
    union value edges[MAX_EDGES];
    if (t->kind == FLOAT) return put_real(t, (int)(random % 201) - 100);
    if (random % 4 == 0) return put_integer(t, random >> 8 & 3); /* so that cas often succeeds */
    return edges[(random >> 8) % edge_values(t, false, edges)];
}

/*
 * A warp's lanes hit PLACES words, each many lanes. Their order is open, so the test follows the
 * results: of the lanes of one word, exactly one loaded its first content, the next one the value
 * that this lane stored, and so on. The word must hold the value that the last lane stored.
 */
static bool is_a_sequence(const char *op, const struct type *t, union value first, union value last,
                          const union value *b, const union value *c, const union value *seen,
                          unsigned lanes)
{
    bool used[LANES] = {false};
    union value now = first;
    for (unsigned step = 0; step < lanes; step++) {
        unsigned best = lanes;
        for (unsigned n = 0; n < lanes && best == lanes; n++)
            if (!used[n] && seen[n].u64 == now.u64) best = n;
        if (best == lanes) return false;
        /* Several lanes may have loaded the same value: those that do not change it come first. */
        for (unsigned n = 0; n < lanes; n++)
            if (!used[n] && seen[n].u64 == now.u64 && apply(op, t, now, b[n], c[n]).u64 == now.u64)
                best = n;
        used[best] = true;
        now = apply(op, t, now, b[best], c[best]);
    }
    return now.u64 == last.u64;
}

static const char *const spaces[] = {".global", "", ".shared"};

/* [scope and order, before the operation] Each is legal for each operation. */
static const char *const orders[] = {"", ".relaxed.gpu", ".acquire.cta", ".release.sys",
                                     ".acq_rel.gpu"};

/* Shared memory is filled from, and copied back to, the words. */
static const char atomic_kernel[] = PTX_HEADER
    ".visible .entry k(.param .u64 p_words) {\n.shared .align 8 .b8 s[64];\n.reg .pred %%p<2>;\n"
    ".reg .b32 %%r<4>, %%t<4>;\n.reg .b64 %%l<12>;\n.reg .f32 %%f<4>;\n.reg .f64 %%d<4>;\n"
    "ld.param.u64 %%l5, [p_words];\nmov.u32 %%t0, %%tid.x;\nmad.wide.u32 %%l6, %%t0, 32, %%l5;\n"
    "mad.wide.u32 %%l9, %%t0, 8, %%l5;\nmov.u64 %%l10, s;\nmad.wide.u32 %%l11, %%t0, 8, %%l10;\n"
    "setp.lt.u32 %%p0, %%t0, 8;\n@%%p0 ld.global.b64 %%l3, [%%l9];\n"
    "@%%p0 st.shared.b64 [%%l11], %%l3;\nbar.sync 0;\nld.global.u32 %%t1, [%%l6+64];\n"
    "mad.wide.u32 %%l4, %%t1, 8, %s;\nld.global.b%u %%%c1, [%%l6+72];\n"
    "ld.global.b%u %%%c2, [%%l6+80];\n%s\nst.global.b%u [%%l6+88], %%%c0;\nbar.sync 0;\n"
    "%sret;\n}\n";

static void check_atomic(struct emu *emu, const char *op, const struct type *t, const char *space,
                         const char *order, bool one_place, uint64_t *seed)
{
    struct {
        union value words[PLACES];
        struct {
            union value place, b, c, seen;
        } lane[LANES];
    } in, out;
    for (unsigned n = 0; n < LANES; n++) {
        in.lane[n].place.u64 = one_place ? 0 : next_random(seed) % PLACES;
        in.lane[n].b = operand(t, next_random(seed));
        in.lane[n].c = operand(t, next_random(seed));
        in.lane[n].seen.u64 = 0;
    }
    for (unsigned p = 0; p < PLACES; p++) in.words[p] = operand(t, next_random(seed));

    bool shared = !strcmp(space, ".shared");
    char last[8] = "", instruction[128], *text;
    if (!strcmp(op, "cas")) snprintf(last, sizeof last, ", %%%c2", t->letter);
    snprintf(instruction, sizeof instruction, "atom%s%s.%s.%s %%%c0, [%%l4], %%%c1%s;", order,
             space, op, t->name, t->letter, t->letter, last);
    cr_assert_gt(asprintf(&text, atomic_kernel, shared ? "%l10" : "%l5", t->bits, t->letter,
                          t->bits, t->letter, instruction, t->bits, t->letter,
                          shared ? "@%p0 ld.shared.b64 %l3, [%l11];\n"
                                   "@%p0 st.global.b64 [%l9], %l3;\n"
                                 : ""),
                 0);
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr memory = device_copy(emu, &in, sizeof in);
    cr_assert(!launch(emu, kernel, 1, LANES, 0, 1, &memory), "%s: %s", instruction,
              emu_message(emu));
    cr_assert(!emu_read(emu, &out, memory, sizeof out));

    for (unsigned p = 0; p < PLACES; p++) {
        union value b[LANES], c[LANES], seen[LANES];
        unsigned lanes = 0;
        for (unsigned n = 0; n < LANES; n++)
            if (in.lane[n].place.u64 == p) {
                b[lanes] = in.lane[n].b, c[lanes] = in.lane[n].c;
                seen[lanes++] = out.lane[n].seen;
            }
        cr_expect(is_a_sequence(op, t, in.words[p], out.words[p], b, c, seen, lanes),
                  "%s: %u lanes on 0x%llx, in the end 0x%llx", instruction, lanes,
                  (unsigned long long)in.words[p].u64, (unsigned long long)out.words[p].u64);
    }
    emu_free(emu, memory);
    free(text);
}

Test(emu_atomics, every_operation_type_and_space)
{
    struct emu *emu = open_emu();
    uint64_t seed = 21;
    char type[8];
    for (size_t a = 0; a < sizeof atomics / sizeof *atomics; a++)
        for (const char *list = atomics[a].types; next_word(&list, type, sizeof type);)
            for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
                for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
                    for (int one_place = 0; one_place < 2; one_place++)
                        check_atomic(emu, atomics[a].op, find_type(type), spaces[s], orders[o],
                                     one_place, &seed);
    emu_close(emu);
}

/* ---- grids on several host threads ----------------------------------------------------------- */

/* They wait for the next launch, and do not exist after fork() in the child. */

enum { BLOCK = 32, MOST = 64 * BLOCK };

static struct emu *open_with_threads(unsigned threads)
{
    struct emu_config config = {.threads = threads, .memory = 1 << 20};
    return open_emu_with(&config);
}

/* out = 2 in + 1, by this many threads */
static void expect_right(struct emu *emu, unsigned threads)
{
    static uint32_t in[MOST], out[MOST];
    char *ptx = ptx_kernel("ld.global.u32 %%r1, [%%in];\nadd.u32 %%r1, %%r1, %%r1;\n"
                           "add.u32 %%r1, %%r1, 1;\nst.global.u32 [%%out], %%r1;\nret;");
    for (unsigned i = 0; i < threads; i++) in[i] = i ^ threads;
    run_kernel(emu, ptx, threads, BLOCK, out, in);
    for (unsigned i = 0; i < threads; i++)
        cr_assert(out[i] == 2 * in[i] + 1, "thread %u of %u: %u", i, threads, out[i]);
    free(ptx);
}

Test(emu_pool, launch_after_launch, .timeout = 60)
{
    struct emu *emu = open_with_threads(5);
    for (unsigned i = 0; i < 200; i++) expect_right(emu, (1 + i % 64) * BLOCK);
    emu_close(emu);
}

static unsigned threads_of(struct emu_config config)
{
    config.memory = 1 << 20;
    struct emu *emu = open_emu_with(&config);
    unsigned threads = emu->threads;
    emu_close(emu);
    return threads;
}

/* EMU_THREADS and EMU_MEMORY are not divided. */
Test(emu_pool, processes_share_the_cores)
{
    unsigned cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    cr_assert_eq(threads_of((struct emu_config){0}), cores);
    cr_assert_eq(threads_of((struct emu_config){.processes = 1}), cores);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores}), 1);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores + 1}), 1);
    cr_assert_eq(threads_of((struct emu_config){.processes = cores, .threads = 3}), 3);
}

/* Host threads that have never had work, and a device that is closed right after it was opened. */
Test(emu_pool, idle_threads_end, .timeout = 60)
{
    for (unsigned threads = 1; threads < 6; threads++) {
        struct emu *emu = open_with_threads(threads);
        expect_right(emu, threads * BLOCK);
        emu_close(emu);
    }
}

Test(emu_pool, a_child_process_runs_grids_alone, .timeout = 60)
{
    int status;
    struct emu *emu = open_with_threads(4);
    expect_right(emu, MOST);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        expect_right(emu, MOST);
        emu_close(emu);
        _exit(0);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    expect_right(emu, MOST);
    emu_close(emu);
}

/* ---- random programs of jumps, most of which no compiler would write ------------------------- */

/*
 * A program consists of a few basic blocks. Each computes, uses up fuel and jumps to one of two
 * blocks, chosen by what the lane has computed. A C loop runs the program for one lane at a time,
 * the emulator for the whole warp.
 */

enum { RANDOM_PROGRAMS = 400, MAX_BLOCKS = 10, TWO_WARPS = 64, FUEL = 60 };

struct jump_block {
    uint32_t factor, addend, mask; /* x = x * factor + addend; jump to `then` if !(x & mask) */
    unsigned then, otherwise;      /* block numbers; the program's number of blocks means the end */
};

struct jumps {
    unsigned blocks;
    struct jump_block block[MAX_BLOCKS];
};

static void make_program(struct jumps *p, uint64_t *seed)
{
    p->blocks = 2 + (unsigned)(next_random(seed) % (MAX_BLOCKS - 1));
    for (unsigned b = 0; b < p->blocks; b++) {
        uint64_t random = next_random(seed);
        p->block[b] = (struct jump_block){
            .factor = (uint32_t)random | 1,
            .addend = (uint32_t)(random >> 32),
            .mask = 0x10000u << random % 3 * 4, /* about one half of the lanes each way */
            .then = (unsigned)(next_random(seed) % (p->blocks + 1)),
            .otherwise = (unsigned)(next_random(seed) % (p->blocks + 1)),
        };
    }
}

static uint32_t run_lane(const struct jumps *p, uint32_t x)
{
    unsigned at = 0;
    for (int fuel = FUEL; fuel > 0 && at < p->blocks; fuel--) {
        const struct jump_block *b = &p->block[at];
        x = x * b->factor + b->addend;
        at = x & b->mask ? b->otherwise : b->then;
    }
    return x;
}

/* The blocks in order, so that most jumps go to the next one or over a few. At the end all lanes of
 * the warp must converge: the vote counts them. */
static char *program_text(const struct jumps *p)
{
    char *body;
    size_t size;
    FILE *f = open_memstream(&body, &size);
    cr_assert(f);
    fprintf(f, "ld.global.u32 %%r0, [%%in];\nmov.u32 %%r1, %d;\n", FUEL);
    for (unsigned b = 0; b < p->blocks; b++) {
        const struct jump_block *k = &p->block[b];
        fprintf(f,
                "B%u: setp.eq.u32 %%p0, %%r1, 0;\n@%%p0 bra B%u;\nsub.u32 %%r1, %%r1, 1;\n"
                "mad.lo.u32 %%r0, %%r0, %u, %u;\nand.b32 %%r2, %%r0, %u;\n"
                "setp.eq.u32 %%p1, %%r2, 0;\n@%%p1 bra B%u;\nbra B%u;\n",
                b, p->blocks, k->factor, k->addend, k->mask, k->then, k->otherwise);
    }
    fprintf(f,
            "B%u: setp.eq.u32 %%p2, %%r2, %%r2;\nvote.sync.ballot.b32 %%r3, %%p2, -1;\n"
            "not.b32 %%r3, %%r3;\nadd.u32 %%r0, %%r0, %%r3;\n" /* adds 0 if all lanes vote */
            "st.global.u32 [%%out], %%r0;\nret;\n",
            p->blocks);
    fclose(f);
    char *text = ptx_kernel("%s", body);
    free(body);
    return text;
}

Test(emu_divergence, random_programs, .timeout = 60)
{
    struct emu *emu = open_emu();
    uint64_t seed = 2024;
    for (int n = 0; n < RANDOM_PROGRAMS; n++) {
        struct jumps program;
        make_program(&program, &seed);
        uint32_t in[TWO_WARPS], out[TWO_WARPS];
        for (unsigned t = 0; t < TWO_WARPS; t++) in[t] = (uint32_t)next_random(&seed);
        char *text = program_text(&program);
        run_kernel(emu, text, TWO_WARPS, TWO_WARPS, out, in);
        for (unsigned t = 0; t < TWO_WARPS; t++) {
            uint32_t want = run_lane(&program, in[t]);
            if (out[t] == want) continue;
            cr_expect(false, "program %d, thread %u: got 0x%x, want 0x%x\n%s", n, t, out[t], want,
                      text);
            break;
        }
        free(text);
    }
    emu_close(emu);
}
