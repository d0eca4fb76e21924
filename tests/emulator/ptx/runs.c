/*
 * runs.c — accesses of a warp in runs, pairs and pools.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "pairs.h"
#include "ptx_run.h"
#include "common/emu/machine/device.h"
#include "common/emu/ptx/binary.h"
#include "tests/support/command.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the line of a pair ---------------------------------------------------------------------- */

/* Reads an argument and moves behind its comma; false if it is of another kind. */
static bool read_argument(struct pair *pair, char **at)
{
    unsigned n = pair->arguments++;
    cr_assert(n < PAIR_ARGUMENTS, "%s has too many arguments", pair->name);
    *at += strspn(*at, " \n");
    pair->argument[n].has_numbers = strncmp(*at, "numbers<", strlen("numbers<")) == 0;
    pair->argument[n].is_memory =
        pair->argument[n].has_numbers || strncmp(*at, "zeros<", strlen("zeros<")) == 0;
    if (pair->argument[n].is_memory)
        *at = strchr(*at, ')') + 1;
    else
        pair->argument[n].value = (int)strtol(*at, at, 10);
    if (**at == ',') ++*at;
    return **at == ' ' || **at == '\n' || **at == ')';
}

bool pair_read(struct pair *pair, const char *name)
{
    char text[1 << 14], *line;
    *pair = (struct pair){.name = name, .text = find_pair(name)};
    FILE *file = open_pair(&pair->text);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if ((line = strstr(text, "\n\n"))) *line = '\0';
    if (!(line = strstr(text, "\nPAIR(")) && !(line = strstr(text, "\nCOOPERATIVE("))) return false;
    int begin = 0;
    sscanf(line, "\n%*[A-Z](%59[a-z_]<right>, %u, %u,%n", pair->kernel, &pair->blocks,
           &pair->threads, &begin);
    for (line += begin; begin && *line && *line != ')';)
        if (!read_argument(pair, &line)) return false;
    return begin > 0;
}

/* ---- its kernel ------------------------------------------------------------------------------ */

/* The text of the container in a program that has PTX; nvcc puts empty ones before it. */
static char *ptx_of(const char *catalogue)
{
    struct elf elf;
    struct fatbin_ptx ptx;
    char path[200], message[300];
    size_t left;
    snprintf(path, sizeof path, "%s/pairs/%s", ORDINARY_BUILD, catalogue);
    cr_assert(elf_open(path, &elf) == RUNTIME_NONE);
    const char *at = elf_section(&elf, ".nv_fatbin", &left);
    while (at && fatbin_extract(at, left, 90, &ptx, message, sizeof message)) {
        size_t bytes = (fatbin_size(at, left) + 7) / 8 * 8;
        cr_assert(bytes > 0 && bytes < left, "%s", message);
        at += bytes;
        left -= bytes;
    }
    elf_close(&elf);
    return ptx.text;
}

/* It is kept for the next pair: to decompress it takes longer than to run a pair. */
static const char *ptx_of_all(const char *catalogue)
{
    static char kept[30], *text;
    if (strcmp(kept, catalogue) == 0) return text;
    free(text);
    snprintf(kept, sizeof kept, "%s", catalogue);
    return text = ptx_of(catalogue);
}

/* The mangled name, up to the template's argument. */
static void name_of(const struct pair *pair, bool right, char *name, size_t size)
{
    snprintf(name, size, ".entry _Z%zu%sILb%dE", strlen(pair->kernel), pair->kernel, right);
}

/* The brace that ends the first body in a text. */
static const char *end_of_body(const char *text)
{
    const char *at = strchr(text, '{');
    for (int depth = 1; depth > 0; depth += *at == '{' ? 1 : -1) at = strpbrk(at + 1, "{}");
    return at;
}

/* Copies a text without the kernels, but for the one whose line has this beginning, and writes that
 * kernel's name. To parse one kernel is much quicker. */
static void copy_one(char *to, const char *ptx, const char *beginning, char *kernel, size_t size)
{
    const char *entry = strstr(ptx, ".entry "), *end;
    kernel[0] = '\0';
    for (const char *from = ptx; *from; from = end) {
        end = strchr(from, '\n') + 1;
        if (entry && entry < end) {
            bool wanted = strncmp(entry, beginning, strlen(beginning)) == 0;
            end = strchr(end_of_body(entry), '\n') + 1;
            entry += strlen(".entry ");
            if (wanted) snprintf(kernel, size, "%.*s", (int)strcspn(entry, "("), entry);
            entry = strstr(end, ".entry ");
            if (!wanted) continue;
        }
        memcpy(to, from, (size_t)(end - from));
        to += end - from;
    }
    *to = '\0';
}

/* The text of one kernel, which is kept until another one is asked for, and the kernel's name. */
static const char *text_of(const struct pair *pair, bool right, const char **kernel)
{
    static char kept[200], name[300], *text;
    char beginning[sizeof kept];
    name_of(pair, right, beginning, sizeof beginning);
    *kernel = name;
    if (strcmp(kept, beginning) == 0) return text;
    const char *all = ptx_of_all(pair->text.catalogue);
    free(text);
    text = malloc(strlen(all) + 1);
    cr_assert(text);
    copy_one(text, all, beginning, name, sizeof name);
    cr_assert(name[0], "build/pairs/%s has no %s", pair->text.catalogue, beginning);
    memcpy(kept, beginning, sizeof kept);
    return text;
}

/* ---- its launch ------------------------------------------------------------------------------ */

int pair_result(struct emu *emu, const struct pair *pair, bool right,
                int memory[PAIR_ARGUMENTS][PAIR_WORDS])
{
    const char *name, *text = text_of(pair, right, &name);
    static int numbers[PAIR_WORDS];
    for (int i = 0; i < PAIR_WORDS; i++) numbers[i] = i;
    uint64_t values[PAIR_ARGUMENTS];
    void *pointers[PAIR_ARGUMENTS];
    struct emu_kernel *kernel = load_kernel(emu, text, name);
    for (unsigned i = 0; i < pair->arguments; i++) {
        values[i] = (uint64_t)pair->argument[i].value;
        if (pair->argument[i].is_memory)
            values[i] =
                device_copy(emu, pair->argument[i].has_numbers ? numbers : NULL, sizeof numbers);
        pointers[i] = &values[i];
    }
    int e = emu_launch(emu, kernel, (struct emu_dim){pair->blocks, 1, 1},
                       (struct emu_dim){pair->threads, 1, 1}, 0, pointers, true);
    for (unsigned i = 0; i < pair->arguments && !e && memory; i++)
        if (pair->argument[i].is_memory)
            cr_assert(!emu_read(emu, memory[i], values[i], sizeof numbers));
    return e;
}

int pair_run(struct emu *emu, const struct pair *pair, bool right)
{
    return pair_result(emu, pair, right, NULL);
}

/* ---- grids on several host threads ----------------------------------------------------------- */

/*
 * Grids on several host threads, which wait for the next launch and do not exist after
 * fork() in the child.
 */

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

/* ---- loads and stores by the addresses of the lanes ------------------------------------------ */

/*
 * Loads and stores by the addresses of the lanes: runs (all lanes at one address, or at
 * consecutive ones), which the emulator executes with vector instructions, and patterns that look
 * like runs but are not. A model moves the bytes lane by lane.
 */

enum { LANES = 32, SIZE = 4096 };
#define ALL UINT32_MAX /* lanes */

/* ---- addresses, in elements from the beginning ---------------------------------------------- */

static unsigned broadcast(unsigned lane) { return lane < LANES ? 7 : 0; }
static unsigned consecutive(unsigned lane) { return 5 + lane; }
static unsigned at_the_end(unsigned lane) { return 1000 - LANES + lane; } /* see place() */
static unsigned backwards(unsigned lane) { return 40 - lane; }
static unsigned strided(unsigned lane) { return 3 * lane; }
static unsigned scattered(unsigned lane) { return lane * 37 % 64; }
static unsigned in_halves(unsigned lane) { return lane % 16; }
static unsigned one_astray(unsigned lane) { return lane == 13 ? 50 : lane; }
static unsigned one_apart(unsigned lane) { return lane == 13 ? 50 : 2; }
static unsigned last_astray(unsigned lane) { return lane == 31 ? 2 : lane; }
static unsigned two_places(unsigned lane) { return lane < 2 ? 9 : 10; }

static const struct shape {
    const char *name;
    unsigned (*element)(unsigned lane);
} shapes[] = {
    {"broadcast", broadcast},     {"consecutive", consecutive}, {"at the end", at_the_end},
    {"backwards", backwards},     {"strided", strided},         {"scattered", scattered},
    {"in halves", in_halves},     {"one astray", one_astray},   {"one apart", one_apart},
    {"last astray", last_astray}, {"two places", two_places},
};

static const uint32_t masks[] = {0xffffffff, 0x7fffffff, 0xfffffffe, 0x0000ffff,
                                 0xaaaaaaaa, 0x80000001, 0x00002000, 0xffffdfff};

static const struct run_access {
    const char *type;
    char letter; /* of the registers, as in ptx_run.h */
    unsigned bytes, elements;
    bool is_signed;
} accesses[] = {
    {"u8", 'r', 1, 1, false},  {"s8", 'r', 1, 1, true},   {"s16", 'r', 2, 1, true},
    {"u16", 'l', 2, 1, false}, {"u32", 'r', 4, 1, false}, {"s32", 'l', 4, 1, true},
    {"u64", 'l', 8, 1, false}, {"s8", 'l', 1, 1, true},   {"u32", 'r', 4, 2, false},
    {"u32", 'r', 4, 4, false}, {"u64", 'l', 8, 2, false}, {"u16", 'r', 2, 4, false},
    {"u32", 'l', 4, 2, false},
};

/* The PTX that loads the address of byte `%o` of the memory into a register, and the suffix of the
 * instruction. */
static const struct space {
    const char *suffix, *address, *name;
    bool is_shared;
} spaces[] = {
    {".global", "add.s64 %a, %data, %o;\n", "[%a]", false},
    {"", "add.s64 %a, %data, %o;\n", "[%a]", false},
    {".shared", "mov.u64 %a, buf;\nadd.s64 %a, %a, %o;\ncvt.u32.u64 %b, %a;\n", "[%b]", true},
    {".shared", "mov.u64 %a, buf;\nadd.s64 %a, %a, %o;\n", "[%a]", true},
    {"", "mov.u64 %a, buf;\ncvta.shared.u64 %a, %a;\nadd.s64 %a, %a, %o;\n", "[%a]", true},
};

/* ---- the kernel ------------------------------------------------------------------------------ */

static void print_copy(FILE *f, const char *label, const char *from, const char *to)
{
    fprintf(f,
            "mov.u32 %%i, 0;\n%s:\nmad.lo.u32 %%r0, %%i, 4, %%tx4;\ncvt.u64.u32 %%l0, %%r0;\n"
            "add.s64 %%l1, %%data, %%l0;\nmov.u64 %%l2, buf;\nadd.s64 %%l2, %%l2, %%l0;\n"
            "ld.%s.u32 %%r1, [%s];\nst.%s.u32 [%s], %%r1;\nadd.s32 %%i, %%i, %d;\n"
            "setp.lt.u32 %%q, %%i, %d;\n@%%q bra %s;\n",
            label, from, !strcmp(from, "global") ? "%l1" : "%l2", to,
            !strcmp(to, "global") ? "%l1" : "%l2", LANES, SIZE / 4, label);
}

/* Each lane of the mask loads into registers that held its value, or stores from them; the loaded
 * or stored content becomes its value. */
static char *kernel_text(const struct run_access *a, const struct space *space, bool store)
{
    char *text, list[64] = "";
    size_t size, length = 0;
    FILE *f = open_memstream(&text, &size);
    for (unsigned k = 0; k < a->elements; k++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%%%c%u", k ? ", " : "",
                                   a->letter, k + 4);
    unsigned lane_bytes = a->letter == 'l' ? 8 : 4;
    fputs(PTX_HEADER ".visible .entry k(.param .u64 p_data, .param .u64 p_offsets,\n"
                     ".param .u64 p_values, .param .u32 p_mask) {\n"
                     ".reg .b32 %r<9>, %i, %b, %tx4;\n.reg .b64 %l<9>, %a, %o, %data, %v;\n"
                     ".reg .pred %p, %q;\n",
          f);
    fprintf(f, ".shared .align 16 .b8 buf[%d];\n", SIZE);
    fputs(
        "ld.param.u64 %data, [p_data];\nmov.u32 %r0, %tid.x;\nshl.b32 %tx4, %r0, 2;\n"
        "ld.param.u64 %l0, [p_offsets];\nmad.wide.u32 %l0, %r0, 8, %l0;\nld.global.u64 %o, [%l0];\n"
        "ld.param.u64 %v, [p_values];\nmad.wide.u32 %v, %r0, 32, %v;\n"
        "ld.param.u32 %r1, [p_mask];\nshr.u32 %r1, %r1, %r0;\nand.b32 %r1, %r1, 1;\n"
        "setp.ne.u32 %p, %r1, 0;\n",
        f);
    if (space->is_shared) print_copy(f, "in", "global", "shared");
    for (unsigned k = 0; k < a->elements; k++)
        fprintf(f, "ld.global.b%u %%%c%u, [%%v+%u];\n", 8 * lane_bytes, a->letter, k + 4,
                k * lane_bytes);
    fputs(space->address, f);
    const char *vector = a->elements == 1 ? "" : a->elements == 2 ? ".v2" : ".v4";
    const char *open = a->elements == 1 ? "" : "{", *close = a->elements == 1 ? "" : "}";
    if (store)
        fprintf(f, "@%%p st%s%s.%s %s, %s%s%s;\n", space->suffix, vector, a->type, space->name,
                open, list, close);
    else
        fprintf(f, "@%%p ld%s%s.%s %s%s%s, %s;\n", space->suffix, vector, a->type, open, list,
                close, space->name);
    for (unsigned k = 0; k < a->elements; k++)
        fprintf(f, "st.global.b%u [%%v+%u], %%%c%u;\n", 8 * lane_bytes, k * lane_bytes, a->letter,
                k + 4);
    if (space->is_shared) print_copy(f, "out", "shared", "global");
    fputs("ret;\n}\n", f);
    fclose(f);
    return text;
}

/* ---- the model ------------------------------------------------------------------------------- */

struct state {
    uint8_t data[SIZE];
    uint8_t values[LANES][32];
};

/* A lane's first byte. The memory's end is where element 1000 would be. */
static uint64_t place(const struct run_access *a, const struct shape *shape, unsigned lane)
{
    unsigned bytes = a->bytes * a->elements, element = shape->element(lane);
    if (shape->element == at_the_end) return SIZE - (1000 - element) * bytes;
    return element * bytes;
}

static void model(struct state *s, const struct run_access *a, const struct shape *shape,
                  uint32_t mask, bool store)
{
    unsigned lane_bytes = a->letter == 'l' ? 8 : 4;
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned k = 0; mask >> l & 1 && k < a->elements; k++) {
            uint8_t *memory = s->data + place(a, shape, l) + k * a->bytes;
            uint8_t *value = s->values[l] + k * lane_bytes;
            if (store) {
                memcpy(memory, value, a->bytes);
                continue;
            }
            memcpy(value, memory, a->bytes);
            bool negative = a->is_signed && memory[a->bytes - 1] & 0x80;
            memset(value + a->bytes, negative ? 0xff : 0, lane_bytes - a->bytes);
        }
}

static void fill(struct state *s)
{
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof *s; i++) {
        random = random * 1664525 + 1013904223;
        ((uint8_t *)s)[i] = (uint8_t)(random >> 24);
    }
}

/* ---- all accesses ---------------------------------------------------------------------------- */

struct device {
    struct emu *emu;
    emu_addr data, offsets, values; /* data is an allocation of SIZE bytes */
};

static struct device open_device(const struct emu_config *config)
{
    struct device d = {.emu = open_emu_with(config)};
    cr_assert(!emu_alloc(d.emu, SIZE, &d.data));
    cr_assert(!emu_alloc(d.emu, LANES * sizeof(uint64_t), &d.offsets));
    cr_assert(!emu_alloc(d.emu, sizeof(((struct state *)NULL)->values), &d.values));
    return d;
}

static int run_lanes(const struct device *d, struct emu_kernel *kernel, const uint64_t *offsets,
                     uint32_t mask)
{
    void *args[] = {(void *)&d->data, (void *)&d->offsets, (void *)&d->values, &mask};
    cr_assert(!emu_write(d->emu, d->offsets, offsets, LANES * sizeof *offsets));
    return emu_launch(d->emu, kernel, (struct emu_dim){1, 1, 1}, (struct emu_dim){LANES, 1, 1}, 0,
                      args, false);
}

static void check(const struct device *d, struct emu_kernel *kernel, const struct run_access *a,
                  const struct space *space, const struct shape *shape, uint32_t mask, bool store)
{
    struct state want, got;
    uint64_t offsets[LANES];
    fill(&want);
    for (unsigned l = 0; l < LANES; l++) offsets[l] = place(a, shape, l);
    cr_assert(!emu_write(d->emu, d->data, want.data, sizeof want.data));
    cr_assert(!emu_write(d->emu, d->values, want.values, sizeof want.values));
    cr_assert(!run_lanes(d, kernel, offsets, mask), "%s", emu_message(d->emu));
    cr_assert(!emu_read(d->emu, got.data, d->data, sizeof got.data));
    cr_assert(!emu_read(d->emu, got.values, d->values, sizeof got.values));
    model(&want, a, shape, mask, store);
    cr_assert(!memcmp(&want, &got, sizeof want), "%s%s.%s of %u, address %s: %s, mask 0x%08x",
              store ? "st" : "ld", space->suffix, a->type, a->elements, space->name, shape->name,
              mask);
}

static void check_access(const struct device *d, const struct run_access *a,
                         const struct space *space, bool store)
{
    char *text = kernel_text(a, space, store);
    struct emu_kernel *kernel = load_kernel(d->emu, text, "k");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t m = 0; m < sizeof masks / sizeof *masks; m++)
            check(d, kernel, a, space, &shapes[s], masks[m], store);
    free(text);
}

static void check_all(const struct emu_config *config)
{
    struct device d = open_device(config);
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
            check_access(&d, &accesses[i], &spaces[k], false);
            check_access(&d, &accesses[i], &spaces[k], true);
        }
    emu_close(d.emu);
}

Test(emu_runs, every_shape_moves_the_same_bytes) { check_all(&(struct emu_config){.threads = 1}); }

Test(emu_runs, every_shape_moves_the_same_bytes_when_observed_slow)
{
    check_all(&(struct emu_config){
        .threads = 1, .counters = true, .checks = EMU_CHECK_RACE | EMU_CHECK_INIT});
}

/* ---- the edges ------------------------------------------------------------------------------- */

/* Loads from `first` on, with `stride` bytes from one lane to the next. */
static int run_at(const struct device *d, const struct run_access *a, const struct space *space,
                  uint64_t first, unsigned stride, uint32_t mask)
{
    char *text = kernel_text(a, space, false);
    uint64_t offsets[LANES];
    for (unsigned l = 0; l < LANES; l++) offsets[l] = first + (uint64_t)l * stride;
    int error = run_lanes(d, load_kernel(d->emu, text, "k"), offsets, mask);
    free(text);
    return error;
}

static void check_edge(const struct run_access *a, const struct space *space, uint64_t first,
                       unsigned stride, uint32_t mask, int error, const char *thread)
{
    struct device d = open_device(&(struct emu_config){.threads = 1});
    cr_expect_eq(run_at(&d, a, space, first, stride, mask), error, "%s at %llu, %u apart: %s",
                 a->type, (unsigned long long)first, stride, emu_message(d.emu));
    if (error) cr_expect(strstr(emu_message(d.emu), thread), "%s: %s", thread, emu_message(d.emu));
    emu_close(d.emu);
}

Test(emu_runs, a_run_that_leaves_its_memory_is_a_fault_of_the_lane_that_does)
{
    static const struct run_access word = {"u32", 'r', 4, 1, false},
                                   four = {"u32", 'r', 4, 4, false};
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        const struct space *s = &spaces[k];
        check_edge(&word, s, SIZE - 128, 4, ALL, 0, "");
        check_edge(&word, s, SIZE - 124, 4, ALL, EMU_ILLEGAL_ADDRESS, "thread (31,0,0)");
        check_edge(&word, s, SIZE - 124, 4, ALL >> 1, 0, ""); /* lane 31 does not load */
        check_edge(&word, s, SIZE - 4, 0, ALL, 0, "");
        check_edge(&word, s, SIZE, 0, ALL, EMU_ILLEGAL_ADDRESS, "thread (0,0,0)");
        check_edge(&four, s, SIZE - 512, 16, ALL, 0, "");
        check_edge(&four, s, SIZE - 496, 16, ALL, EMU_ILLEGAL_ADDRESS, "thread (31,0,0)");
    }
}

Test(emu_runs, a_misaligned_run_is_a_fault)
{
    static const struct run_access word = {"u32", 'r', 4, 1, false},
                                   pair = {"u32", 'r', 4, 2, false};
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        check_edge(&word, &spaces[k], 2, 4, ALL, EMU_MISALIGNED_ADDRESS, "thread (0,0,0)");
        check_edge(&word, &spaces[k], 1, 0, ALL, EMU_MISALIGNED_ADDRESS, "thread (0,0,0)");
        check_edge(&pair, &spaces[k], 4, 8, ALL, EMU_MISALIGNED_ADDRESS, "thread (0,0,0)");
    }
}
