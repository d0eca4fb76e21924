/*
 * trace.c — lines of the source, and the trace of accesses.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "ptx_run.h"
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the source lines that counts belong to, in modules with several functions --------------- */

#define STORE "ld.param.u64 %l, [p];\ncvta.to.global.u64 %l, %l;\nst.global.u32 [%l], 1;\n"
#define FUNCTION(name, body)                                                                       \
    ".visible .entry " name "(.param .u64 p) {\n.reg .b64 %l;\n" body "ret;\n}\n"
#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* Launches a kernel of one thread, and returns its record. */
static const struct emu_launch_record *record_of(struct emu *emu, const char *text,
                                                 const char *name)
{
    emu_addr out = device_copy(emu, NULL, 4);
    emu_forget(emu);
    cr_assert(!launch(emu, load_kernel(emu, text, name), 1, 1, 0, 1, (uint64_t[]){out}), "%s",
              emu_message(emu));
    return emu_record(emu, 0);
}

/* nvcc writes bytes that are not ASCII as octal numbers, and others as C does. */
Test(emu_lines, names_of_files_have_escapes)
{
    static const char *const cases[][2] = {{"/d\\303\\251/\\303\\261.cu", "/d\303\251/\303\261.cu"},
                                           {"a\\\\b.cu", "a\\b.cu"},
                                           {"a\\\"b.cu", "a\"b.cu"},
                                           {"a\\tb\\n\\0011.cu", "a\tb\n\0011.cu"},
                                           {"a\\", NULL}};
    char text[500];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct emu *emu = open_emu();
        struct emu_module *module;
        emu_count(emu, true);
        snprintf(text, sizeof text, PTX_HEADER "%s.file 1 \"%s\"\n",
                 FUNCTION("k", ".loc 1 7 3\n" STORE), cases[i][0]);
        if (cases[i][1])
            cr_expect_str_eq(record_of(emu, text, "k")->lines[0].file, cases[i][1]);
        else
            cr_expect_eq(emu_load(emu, text, strlen(text), "k", &module), EMU_INVALID_PTX);
        emu_close(emu);
    }
}

/* ---- the trace has a line for every access to shared and global memory (trace.h) ------------- */

static const char header[] = "launch\tkernel\tblock\twarp\tepoch\tline\toperation\tspace\tbytes\t"
                             "mask\twavefronts\tideal\tsectors\taddresses\tvalues";

enum { COLUMNS = 15, MAX_ROWS = 64, LANES = 32, FIRST_VALUE = 1000 };

struct row {
    char *column[COLUMNS];
};

/* Cuts a trace, in place, into rows without the header; returns their number. */
static size_t parse(char *text, struct row rows[MAX_ROWS])
{
    size_t count = 0;
    char *line = strtok(text, "\n");
    cr_assert(line && !strcmp(line, header), "the header is: %s", line ? line : "(nothing)");
    while ((line = strtok(NULL, "\n"))) {
        cr_assert(count < MAX_ROWS);
        char *at = line;
        for (int i = 0; i < COLUMNS; i++) {
            cr_assert(at, "row %zu has only %d columns", count, i);
            rows[count].column[i] = at;
            if ((at = strchr(at, '\t'))) *at++ = '\0';
        }
        cr_assert(!at, "row %zu has too many columns", count);
        count++;
    }
    return count;
}

/* All lanes of warp 0 make every access; in the other warps only odd lanes do. Every access has its
 * own line. */
static const char traced[] = PTX_KERNEL(
    "traced",
    ".shared .align 16 .b8 s[1024];\n.local .align 4 .b8 v[8];\n.loc 1 1 0\n"
    "mov.u32 %r0, %tid.x;\nmov.u64 %l0, s;\nmad.wide.u32 %l1, %r0, 4, %l0;\nand.b32 %r1, %r0, 1;\n"
    "setp.ne.u32 %p0, %r1, 0;\nsetp.lt.u32 %p1, %r0, 32;\nor.pred %p0, %p0, %p1;\n"
    "mov.u64 %l2, v;\nst.local.u32 [%l2], %r0;\n"
    ".loc 1 10 0\n@%p0 ld.global.u32 %r2, [%in];\n"
    ".loc 1 11 0\n@%p0 st.shared.u32 [%l1], %r2;\n.loc 1 1 0\nbar.sync 0;\n"
    ".loc 1 12 0\n@%p0 ld.shared.v2.u32 {%r3, %r4}, [%l0+8];\n"
    ".loc 1 13 0\n@%p0 atom.shared.add.u32 %r5, [%l0], 1;\n.loc 1 1 0\nbar.sync 0;\n"
    "cvta.shared.u64 %l3, %l1;\n.loc 1 14 0\n@%p0 ld.u32 %r6, [%l3];\n"
    ".loc 1 15 0\n@%p0 st.global.u32 [%out], %r6;\n.loc 1 1 0\nret;\n") ".file 1 "
                                                                        "\"/some/where/"
                                                                        "traced.cu\"\n";

/* The expected rows of one warp, in order. */
static const struct want {
    const char *line, *operation, *space, *bytes, *epoch, *wavefronts, *ideal, *sectors;
} wants[] = {
    {"traced.cu:10", "ld", "global", "4", "0", "-", "-", "4"},
    {"traced.cu:11", "st", "shared", "4", "0", "1", "1", "-"},
    {"traced.cu:12", "ld", "shared", "8", "1", "1", "1", "-"},
    {"traced.cu:13", "atom", "shared", "4", "1", NULL, "1", "-"}, /* one for each lane */
    {"traced.cu:14", "ld", "shared", "4", "2", "1", "1", "-"},
    {"traced.cu:15", "st", "global", "4", "2", "-", "-", "4"},
};

enum { WANTS = sizeof wants / sizeof *wants };

/* The address that lane n uses in the access i of a warp. */
static uint64_t address_of(size_t i, unsigned block, unsigned warp, unsigned n, emu_addr out,
                           emu_addr in)
{
    unsigned thread = warp * LANES + n;
    uint64_t offset = (block * 64 + thread) * 4;
    switch (i) {
    case 0: return in + offset;
    case 1:
    case 4: return thread * 4;
    case 2: return 8;
    case 3: return 0;
    default: return out + offset;
    }
}

/* Lane n reads or writes its thread's own input. The vector's two elements are those of threads 2
 * and 3. Word 0 has another value after atomics have changed it. */
static void expect_value(size_t i, unsigned block, unsigned warp, unsigned n, const char *value)
{
    char want[40];
    unsigned first = FIRST_VALUE + block * 64, thread = warp * LANES + n;
    if (i >= 3 && (i == 3 || thread == 0)) return;
    if (i == 2)
        snprintf(want, sizeof want, "%08x,%08x", first + 2, first + 3);
    else
        snprintf(want, sizeof want, "%08x", first + thread);
    cr_expect(!strncmp(value, want, strlen(want)) && strchr(" ", value[strlen(want)]),
              "access %zu, block %u, thread %u: %.20s, not %s", i, block, thread, value, want);
}

Test(emu_trace, every_access_in_order)
{
    char *text = NULL;
    size_t size = 0;
    uint32_t input[128];
    for (unsigned k = 0; k < 128; k++) input[k] = FIRST_VALUE + k;
    FILE *file = open_memstream(&text, &size);
    cr_assert(file);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.threads = 7, .memory = 16 << 20, .trace = file});
    struct emu_kernel *kernel = load_kernel(emu, traced, "traced");
    emu_addr out = device_copy(emu, NULL, 512), in = device_copy(emu, input, 512);
    for (int i = 0; i < 2; i++) /* the header must stand there only once */
        cr_assert(!launch(emu, kernel, 2, 64, 0, 2, (uint64_t[]){out, in}), "%s", emu_message(emu));
    emu_close(emu);
    fclose(file); /* the caller owns the trace; closing the device left it open */

    struct row rows[MAX_ROWS];
    size_t count = parse(text, rows);
    cr_assert(count == 2 * 2 * 2 * WANTS, "%zu rows", count);

    size_t seen[2][2][2] = {{{0}}}; /* [launch][block][warp]: rows so far */
    unsigned first_launch = (unsigned)atoi(rows[0].column[0]);
    for (size_t r = 0; r < count; r++) {
        char **c = rows[r].column;
        unsigned launch = (unsigned)atoi(c[0]) - first_launch, block = (unsigned)atoi(c[2]);
        unsigned warp = (unsigned)atoi(c[3]);
        cr_assert(launch < 2 && block < 2 && warp < 2, "row %zu: %s %s %s", r, c[0], c[2], c[3]);
        size_t i = seen[launch][block][warp]++;
        cr_assert(i < WANTS);
        cr_expect(!strcmp(c[1], "traced"));
        cr_expect(!strcmp(c[4], wants[i].epoch), "row %zu: epoch %s", r, c[4]);
        cr_expect(!strcmp(c[5], wants[i].line), "row %zu: line %s, want %s", r, c[5],
                  wants[i].line);
        cr_expect(!strcmp(c[6], wants[i].operation), "row %zu: operation %s", r, c[6]);
        cr_expect(!strcmp(c[7], wants[i].space), "row %zu: space %s", r, c[7]);
        cr_expect(!strcmp(c[8], wants[i].bytes), "row %zu: %s bytes", r, c[8]);
        const char *mask = warp == 0 ? "ffffffff" : "aaaaaaaa";
        cr_expect(!strcmp(c[9], mask), "row %zu: mask %s, want %s", r, c[9], mask);
        const char *wavefronts = wants[i].wavefronts, *lanes = warp == 0 ? "32" : "16";
        cr_expect(!strcmp(c[10], wavefronts ? wavefronts : lanes), "row %zu: %s wavefronts", r,
                  c[10]);
        cr_expect(!strcmp(c[11], wants[i].ideal), "row %zu: %s would do", r, c[11]);
        cr_expect(!strcmp(c[12], wants[i].sectors), "row %zu: %s sectors", r, c[12]);
        char *at = c[13], *value = c[14];
        for (unsigned n = 0; n < LANES; n++) {
            if (warp && !(n & 1)) continue;
            cr_assert(value && *value, "row %zu: fewer values than lanes", r);
            expect_value(i, block, warp, n, value);
            value = strchr(value, ' ');
            value += value != NULL;
            uint64_t want = address_of(i, block, warp, n, out, in);
            cr_expect(strtoull(at, &at, 16) == want, "row %zu, lane %u: not %" PRIx64, r, n, want);
        }
        cr_expect(*at == '\0', "row %zu: more addresses than lanes", r);
        cr_expect(value == NULL, "row %zu: more values than lanes", r);
    }
    free(text);
}

/* Without any access the trace has no rows. A trace changes no result. */
Test(emu_trace, is_an_observer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    cr_assert(file);
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 16 << 20, .trace = file, .counters = true});
    uint32_t in[64], out[64];
    for (unsigned t = 0; t < 64; t++) in[t] = t;
    run_kernel(emu, PTX_KERNEL("k", "ret;\n"), 64, 64, out, in);
    fflush(file);
    cr_expect(!strchr(text, '\n') || !strchr(strchr(text, '\n') + 1, '\n'), "trace: %s", text);
    run_kernel(emu,
               PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nadd.u32 %r0, %r0, 1;\n"
                               "st.global.u32 [%out], %r0;\nret;\n"),
               64, 64, out, in);
    for (unsigned t = 0; t < 64; t++) cr_expect(out[t] == t + 1);
    cr_expect(emu_records(emu) == 2 && emu_record(emu, 1)->total.global_ld.requests == 2);
    emu_close(emu);
    fclose(file);
    free(text);
}
