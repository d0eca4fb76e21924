/*
 * test_ptx_checkers.c — racecheck's records and initcheck's, the bits that a result may depend on,
 * and the fields of findings. (Kernels with known findings are in checkers.ptx.)
 */
#define _GNU_SOURCE
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/watch/check.h"
#include "common/tools/emu/watch/race.h"
#include "tests/cases/ptx/ptx_run.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- racecheck ------------------------------------------------------------------------------- */

/* Pairs of lines with a hazard each, which are reported in the order in which they were found. */
Test(racecheck, many_hazards_are_told_in_order)
{
    enum { PAIRS = 150 };
    char *body, place[40];
    size_t size;
    FILE *out = open_memstream(&body, &size);
    fputs("sub.u64 %out, %out, %offset;\nsetp.eq.u32 %p0, %id, 0;\nsetp.eq.u32 %p1, %id, 40;\n",
          out);
    for (unsigned i = 0; i < PAIRS; i++)
        fprintf(out,
                ".loc 1 %u 0\n@%%p0 st.global.u32 [%%out+%u], 1;\n"
                ".loc 1 %u 0\n@%%p1 st.global.u32 [%%out+%u], 2;\n",
                2 * i + 1, 4 * i, 2 * i + 2, 4 * i);
    fputs("ret;", out);
    fclose(out);
    struct emu *emu = open_emu_with(&(struct emu_config){
        .memory = 64 << 20, .checks = EMU_CHECK_RACE, .finding_limit = 2 * PAIRS});
    char *kernel = ptx_kernel("%s", body), *text;
    cr_assert(asprintf(&text, "%s.file 1 \"pairs.cu\"\n", kernel) > 0);
    emu_addr to = device_copy(emu, NULL, 4 * PAIRS);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 64, 0, 2, (uint64_t[]){to, to}), "%s",
              emu_message(emu));
    cr_assert_eq(emu_findings(emu), PAIRS, "%zu findings", emu_findings(emu));
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(place, sizeof place, "pairs.cu:%u ", 2 * i + 2);
        cr_expect(strstr(emu_finding(emu, i)->head, place), "%u: %s", i, emu_finding(emu, i)->head);
    }
    emu_close(emu);
    free(body), free(kernel), free(text);
}

/* ---- records --------------------------------------------------------------------------------- */

static void expect_kept(const struct record_layout *l, struct record_parts parts)
{
    record v = record_of(l, parts);
    cr_expect_eq(record_block(l, v), parts.block);
    cr_expect_eq(record_thread(v), parts.thread);
    cr_expect_eq(record_time(l, v), parts.time);
    cr_expect_eq(record_place(l, v), parts.place);
    cr_expect_eq(record_kind(v), parts.kind);
    cr_expect_eq(record_bytes(v), parts.bytes);
}

/* The least and the most of each part, whatever the launch leaves to the time. */
Test(racecheck, a_record_keeps_all_its_parts)
{
    static const uint64_t blocks[] = {1, 2, 3, 2048, 1 << 20, 1 << 29};
    static const uint64_t places[] = {0, 1, 100, 4095, UINT16_MAX};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            struct record_layout l = record_layout(blocks[b], places[p]);
            cr_expect_geq(l.last_time, UINT16_MAX);
            cr_expect(l.last_place >= places[p] || l.last_time == UINT16_MAX);
            expect_kept(&l, (struct record_parts){.bytes = 1});
            expect_kept(&l, (struct record_parts){.block = blocks[b] - 1,
                                                  .thread = MAX_THREADS - 1,
                                                  .time = l.last_time,
                                                  .place = l.last_place,
                                                  .kind = (1u << KIND_BITS) - 1,
                                                  .bytes = (1u << GRANULE) - 1});
        }
}

Test(racecheck, a_later_record_is_the_greater_number)
{
    struct record_layout l = record_layout(2048, 100);
    struct record_parts early = {.block = 2047,
                                 .thread = 1023,
                                 .time = 6,
                                 .place = 100,
                                 .bytes = 1},
                        late = {.time = 7, .bytes = 1};
    cr_expect_lt(record_of(&l, early), record_of(&l, late));
}

/* ---- short records --------------------------------------------------------------------------- */

static record numbered(const struct record_layout *l, uint64_t block)
{
    return record_of(l, (struct record_parts){.block = block,
                                              .thread = (unsigned)(block * 7 % MAX_THREADS),
                                              .time = 5,
                                              .place = 3,
                                              .bytes = 1 + (unsigned)(block % 15)});
}

Test(racecheck, a_short_record_keeps_all_parts)
{
    struct record_rows rows = {0};
    struct record_layout l = record_layout(1 << 20, 100);
    short_record s[1000];
    for (unsigned i = 0; i < 1000; i++) cr_assert(short_record_of(&rows, numbered(&l, i), &s[i]));
    for (unsigned i = 0; i < 1000; i++) cr_expect_eq(record_of_short(&rows, s[i]), numbered(&l, i));
    cr_expect_eq(rows.count, 1000);
    cr_expect_eq(short_record_without(s[2], 3), 0);
    cr_expect_eq(record_of_short(&rows, short_record_without(s[6], 3)),
                 record_without(numbered(&l, 6), 3));
    cr_assert(short_record_of(&rows, 0, &s[0]));
    cr_expect_eq(s[0], 0);
    record_rows_clear(&rows);
    cr_assert(short_record_of(&rows, numbered(&l, 7), &s[0]));
    cr_expect_eq(rows.count, 1);
    record_rows_free(&rows);
}

/* Beyond the most rows, a page's second reads get their long form, and none is lost. */
Test(racecheck, more_records_than_short_ones)
{
    enum { GRANULES = 64, RECORDS_PUT = MOST_ROWS + 100 };
    struct record_rows rows = {0};
    struct planes planes = {.granules = GRANULES, .rows = &rows};
    struct shadow_page page = {0};
    struct record_layout l = record_layout(1 << 20, 100);
    for (unsigned i = 0; i < RECORDS_PUT; i++) {
        shadow_put_other(&planes, &page, i % GRANULES, numbered(&l, i));
        if (i == GRANULES) cr_expect(page.short_reads && !page.plane[OTHER_READ]);
    }
    cr_expect(!page.short_reads && page.plane[OTHER_READ]);
    for (unsigned i = RECORDS_PUT - GRANULES; i < RECORDS_PUT; i++)
        cr_expect_eq(shadow_other(&planes, &page, i % GRANULES), numbered(&l, i));
    shadow_page_clear(&planes, &page);
    cr_expect_eq(shadow_other(&planes, &page, 5), 0);
    planes_free(&planes);
    record_rows_free(&rows);
}

/* ---- bytes of shadow ------------------------------------------------------------------------- */

enum { WORDS = 1 << 18, BLOCK = 256, GRID = WORDS / BLOCK };

/* The bytes of shadow for each byte of two arrays, after a kernel of one thread a word. */
static double shadow_per_byte(const char *body)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("%s", body);
    emu_addr out = device_copy(emu, NULL, WORDS * 4), in = device_copy(emu, NULL, WORDS * 4);
    for (int launches = 0; launches < 3; launches++)
        cr_assert(
            !launch(emu, load_kernel(emu, text, "k"), GRID, BLOCK, 0, 2, (uint64_t[]){out, in}),
            "%s", emu_message(emu));
    double bytes = (double)shadow_bytes(&emu->checkers->race->shadow) / (2 * WORDS * 4);
    free(text);
    emu_close(emu);
    return bytes;
}

static void expect_at_most(double most, const char *body)
{
    double bytes = shadow_per_byte(body);
    cr_expect_gt(bytes, 1, "%s", body);
    cr_expect_leq(bytes, most, "%.2f bytes of shadow a byte, at most %.2f wanted:\n%s", bytes, most,
                  body);
}

#define LOAD(from) "ld.global.u32 %r1, [%" from "];\n"
/* Two threads of different warps, which nothing orders, load the same word. */
#define LOAD_OF_ANOTHER(from)                                                                      \
    "xor.b32 %r3, %id, 32;\nsub.u32 %r3, %r3, %id;\nmul.wide.s32 %l1, %r3, 4;\n"                   \
    "add.u64 %l1, %l1, %" from ";\nld.global.u32 %r2, [%l1];\n"
#define STORE(to) "st.global.u32 [%" to "], %r1;\n"

Test(racecheck, takes_two_bytes_for_a_byte_that_is_loaded_or_stored)
{
    expect_at_most(2.05, LOAD("in") STORE("out") "ret;");
}

Test(racecheck, takes_at_most_five_bytes_for_a_byte_that_is_loaded_and_stored)
{
    expect_at_most(4.05, LOAD("in") LOAD("out") STORE("in") STORE("out") "ret;");
    expect_at_most(3.1, LOAD("in") LOAD_OF_ANOTHER("in") LOAD("out") LOAD_OF_ANOTHER("out") "ret;");
    expect_at_most(3.1, LOAD("in") LOAD_OF_ANOTHER("in") STORE("out") "ret;");
    expect_at_most(5.1, STORE("in") STORE("out") "bar.sync 0;\n" LOAD("in") LOAD_OF_ANOTHER("in")
                            LOAD("out") LOAD_OF_ANOTHER("out") "ret;");
}

/* ---- initcheck: reads of memory that was never written --------------------------------------- */

/* Copies of all kinds, rows, and memory that counts as written: programs/unwritten.cu. */

enum { N = 64 };

static struct emu *open_checking(void)
{
    return open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_INIT});
}

/* Runs a kernel "k" of N threads; returns the number of findings afterwards. */
static size_t findings_of(struct emu *emu, const char *text, emu_addr out, emu_addr in)
{
    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    cr_assert(!launch(emu, kernel, 1, N, 0, 2, (uint64_t[]){out, in}), "%s", emu_message(emu));
    return emu_findings(emu);
}

static emu_addr new_memory(struct emu *emu, size_t bytes)
{
    emu_addr address;
    cr_assert(!emu_alloc(emu, bytes, &address));
    return address;
}

static const char copies[] =
    PTX_KERNEL("k", "ld.global.u32 %r0, [%in];\nst.global.u32 [%out], %r0;\nret;");

Test(initcheck, memory_that_was_freed_is_new_again)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 1 << 20, .checks = EMU_CHECK_INIT});
    emu_addr out = new_memory(emu, N * 4), first = device_copy(emu, NULL, 700 << 10), again;
    cr_assert(!emu_free(emu, first));
    for (int i = 0; i < 100; i++) { /* until the addresses are used again */
        again = new_memory(emu, 700 << 10);
        if (again == first) break;
        cr_assert(!emu_free(emu, again));
    }
    cr_expect_eq(findings_of(emu, copies, out, again), 1);
    emu_close(emu);
}

Test(initcheck, a_copy_to_the_host_is_a_read)
{
    struct emu *emu = open_checking();
    emu_addr a = new_memory(emu, N * 4);
    char host[N * 4];
    cr_assert(!emu_read(emu, host, a, sizeof host));
    cr_assert_eq(emu_findings(emu), 1);
    cr_expect(strstr(emu_finding(emu, 0)->head, "Host API uninitialized memory access"), "%s",
              emu_finding(emu, 0)->head);
    cr_assert(!emu_fill(emu, a, 0, N * 4 - 3)); /* all but three bytes, */
    cr_assert(!emu_fill(emu, a + 17, 0, 100));
    cr_assert(!emu_read(emu, host, a, sizeof host));
    cr_assert_eq(emu_findings(emu), 2);
    const char *text = emu_finding(emu, 1)->head;
    cr_expect(strstr(text, "3 of its 256 bytes have not been written"), "%s", text);
    cr_expect(strstr(text, "The first is at offset 253: address"), "%s", text);
    cr_assert(!emu_read(emu, host, a, N * 4 - 3));
    cr_expect_eq(emu_findings(emu), 2, "what is not read does not matter");
    emu_close(emu);
}

/* Every part of a copy, with edges in every place of a word. */
Test(initcheck, a_copy_on_the_device_copies_every_byte)
{
    enum { BYTES = 3 * 4096 };
    uint64_t state = 7;
    char host;
    for (int round = 0; round < 60; round++) {
        struct emu *emu = open_checking();
        emu_addr a = new_memory(emu, BYTES), b = device_copy(emu, NULL, BYTES);
        bool is_set[BYTES] = {0};
        bool overlaps = round % 3 == 0;
        for (int k = 0; k < 20; k++) {
            size_t at = next_random(&state) % BYTES, length = next_random(&state) % (BYTES - at);
            length >>= next_random(&state) % 12;
            cr_assert(!emu_fill(emu, a + at, 1, length));
            memset(is_set + at, 1, length);
        }
        size_t from = next_random(&state) % 300, to = next_random(&state) % 300,
               bytes = BYTES - 300;
        if (overlaps) b = a;
        cr_assert(!emu_copy(emu, b + to, a + from, bytes));
        size_t findings = 0;
        for (int k = 0; k < 400; k++) {
            size_t at = k < 4 ? (size_t)k * (bytes - 1) / 3 : next_random(&state) % bytes;
            findings += !is_set[from + at];
            cr_assert(!emu_read(emu, &host, b + to + at, 1));
            cr_assert(emu_finding_count(emu, EMU_FINDING_ERROR) == findings,
                      "round %d: byte %zu of a copy from %zu to %zu", round, at, from, to);
        }
        emu_close(emu);
    }
}

/* The last element of an array is not written. The others were stored in vectors, except the last
 * of them. */
Test(initcheck, the_last_element_behind_vectors_is_no_padding)
{
    static const char stores[] =
        PTX_KERNEL("k", "and.b32 %r0, %id, 1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 ret;\n"
                        "setp.eq.u32 %p1, %id, 62;\n@!%p1 st.global.v2.u32 [%out], {%id, %id};\n"
                        "@%p1 st.global.u32 [%out], %id;\nret;");
    char host[N * 4];
    struct emu *emu = open_checking();
    emu_addr out = new_memory(emu, N * 4);
    cr_assert_eq(findings_of(emu, stores, out, out), 0);
    cr_assert(!emu_read(emu, host, out, sizeof host));
    cr_assert_eq(emu_findings(emu), 1);
    const char *text = emu_finding(emu, 0)->head;
    cr_expect(strstr(text, "4 of its 256 bytes") && strstr(text, "offset 252: "), "%s", text);
    emu_close(emu);
}

/* ---- which bits of a result may depend on bits of the operands ------------------------------- */

enum { MOST = 5, PAIRS = 300 };
#define LOW  UINT64_C(0x00000000ffffffff)
#define HIGH UINT64_C(0xffffffff00000000)
#define ALL  UINT64_MAX

static const struct row {
    const char *body, *operands; /* as for ptx_run() */
    uint64_t in[MOST], out[2];   /* bits of the inputs that may differ; those of the outputs */
} rows[] = {
    {"mov.b64 $0, $1;", "l=l", {LOW}, {LOW}},
    {"mov.b64 $0, {$1, $2};", "l=rr", {0, ALL}, {HIGH}},
    {"mov.b64 {$0, $1}, $2;", "rr=l", {HIGH}, {0, LOW}},
    {"mov.b64 {$0, $1}, $2;", "rr=l", {LOW}, {LOW, 0}},
    {"mov.b32 $0, {$1, $2};", "r=hh", {0xff, 0}, {0xff}},
    {"or.b64 $0, $1, $2;", "l=ll", {LOW, HIGH << 8}, {LOW | HIGH << 8}},
    {"xor.b32 $0, $1, $2;", "r=rr", {0xf0, 0x0f}, {0xff}},
    {"and.b64 $0, $1, -4294967296;", "l=l", {LOW}, {0}},
    {"and.b64 $0, $1, 4294967295;", "l=l", {ALL}, {LOW}},
    {"and.b64 $0, $1, $2;", "l=ll", {LOW, 0}, {LOW}},
    {"shl.b64 $0, $1, 32;", "l=l", {LOW}, {HIGH}},
    {"shl.b64 $0, $1, $2;", "l=lr", {1, 0}, {ALL}},
    {"shl.b32 $0, $1, 24;", "r=r", {0xffff}, {0xff000000}},
    {"shr.u64 $0, $1, 32;", "l=l", {LOW}, {0}},
    {"shr.u64 $0, $1, 32;", "l=l", {HIGH}, {LOW}},
    {"shr.s64 $0, $1, 32;", "l=l", {HIGH}, {ALL}},
    {"shr.u32 $0, $1, 31;", "r=r", {0x7fffffff}, {0}},
    {"bfi.b64 $0, $1, $2, 32, 32;", "l=ll", {LOW, 0}, {HIGH}},
    {"bfi.b64 $0, $1, $2, 32, 32;", "l=ll", {0, LOW}, {LOW}},
    {"bfi.b64 $0, $1, $2, 32, 8;", "l=ll", {0, ALL}, {~UINT64_C(0xff00000000)}},
    {"bfi.b32 $0, $1, $2, $3, 8;", "r=rrr", {1, 0, 0}, {LOW}},
    {"add.s64 $0, $1, $2;", "l=ll", {HIGH, 0}, {HIGH}},
    {"add.s64 $0, $1, $2;", "l=ll", {0x100, 0}, {~UINT64_C(0xff)}},
    {"sub.s32 $0, $1, $2;", "r=rr", {0, 0x10000}, {0xffff0000}},
    {"add.f32 $0, $1, $2;", "f=ff", {0x10000, 0}, {LOW}},
    {"add.f16x2 $0, $1, $2;", "r=rr", {0x1000, 0}, {LOW}},
    {"cvt.u32.u64 $0, $1;", "r=l", {HIGH}, {0}},
    {"cvt.u64.u32 $0, $1;", "l=r", {ALL}, {LOW}},
    {"cvt.s64.s32 $0, $1;", "l=r", {1}, {ALL}},
    {"cvt.rn.f32.u32 $0, $1;", "f=r", {1}, {LOW}},
    {"selp.b64 $0, $1, $2, $3;", "l=llp", {LOW, 0xff, 0}, {LOW}},
    {"selp.b64 $0, $1, $2, $3;", "l=llp", {0, 0, 1}, {ALL}},
    {"shfl.sync.idx.b32 $0, $1, $2, 31, -1;", "r=rr", {0xff, 0}, {0xff}},
    {"shfl.sync.idx.b32 $0, $1, $2, 31, -1;", "r=rr", {0, 1}, {LOW}},
    {"setp.lt.u64 $0, $1, 4294967296;", "p=l", {LOW}, {0}},
    {"setp.ge.u64 $0, $1, 8589934592;", "p=l", {2 * LOW + 1}, {0}},
    {"setp.gt.u64 $0, $1, 4294967295;", "p=l", {LOW}, {0}},
    {"setp.le.s64 $0, $1, 4294967294;", "p=l", {LOW}, {ALL}},
    {"setp.lt.u64 $0, $1, 4294967297;", "p=l", {LOW}, {ALL}},
    {"setp.eq.u64 $0, $1, 4294967296;", "p=l", {LOW}, {ALL}},
    {"setp.lt.s64 $0, $1, 0;", "p=l", {ALL / 2}, {0}},
    {"setp.lt.s64 $0, $1, 0;", "p=l", {ALL}, {ALL}},
    {"setp.gt.s32 $0, $1, -1;", "p=r", {0x80000000}, {ALL}},
    {"setp.lt.u64 $0, $1, $2;", "p=ll", {LOW, 0}, {ALL}},
    {"mul.lo.s32 $0, $1, 2;", "r=r", {0x80}, {LOW}},
    {"@$2 mov.b64 $0, $1;", "l=lp", {LOW, 0}, {LOW}},
    {"@$2 mov.b64 $0, 1;", "l=lp", {0, 1}, {ALL}},
};

/* A kernel of one instruction, whose operand $0 is the register %v0, and so on. */
static const struct ptx_function *parse(struct emu *emu, const char *body, const char *operands)
{
    static const char *const types[] = {['f'] = "f32",  ['h'] = "b16",  ['l'] = "b64",
                                        ['p'] = "pred", ['q'] = "b128", ['r'] = "b32"};
    char *text;
    size_t size;
    unsigned number = 0;
    FILE *f = open_memstream(&text, &size);
    fputs(PTX_HEADER ".visible .entry k() {\n", f);
    for (; *operands; operands++)
        if (*operands != '=')
            fprintf(f, ".reg .%s %%v%u;\n", types[(unsigned char)*operands], number++);
    for (; *body; body++) fputs(*body == '$' ? "%v" : (char[]){*body, '\0'}, f);
    fputs("\n}\n", f);
    fclose(f);
    const struct ptx_function *function = load_kernel(emu, text, "k")->function;
    free(text);
    return function;
}

static void expect_row(struct emu *emu, const struct row *row)
{
    unsigned outputs = ptx_outputs(row->operands), inputs = ptx_inputs(row->operands);
    uint64_t bits[MOST + 2] = {0}, *of[MOST + 2];
    struct value_bits v = {bits, parse(emu, row->body, row->operands)};
    const struct ptx_instruction *i = v.function->instructions;
    for (size_t k = 0; k < v.function->register_count; k++)
        of[v.function->registers[k].name[strlen("%v")] - '0'] = &bits[k];
    for (unsigned k = 0; k < inputs; k++) *of[outputs + k] = row->in[k];
    uint64_t result = value_bits_result(&v, i);
    bool any = row->out[0] || (outputs > 1 && row->out[1]);
    cr_expect_eq(value_bits_add(&v, i->operands, result, false), any, "%s", row->body);
    for (unsigned k = 0; k < outputs; k++)
        cr_expect_eq(*of[k], row->out[k], "%s: output %u: %llx", row->body, k,
                     (unsigned long long)*of[k]);
    cr_expect(!value_bits_add(&v, i->operands, result, false), "%s: a second time", row->body);
}

Test(value_bits, of_results)
{
    struct emu *emu = open_emu();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_row(emu, &rows[i]);
    emu_close(emu);
}

/* Two sets of inputs that differ only in the bits of the row give outputs that differ only there,
 * too. */
static void expect_run(struct emu *emu, const struct row *row, uint64_t *seed)
{
    static union value in[2][PAIRS * MOST], out[2][PAIRS * MOST];
    unsigned inputs = ptx_inputs(row->operands), outputs = ptx_outputs(row->operands);
    for (size_t k = 0; k < (size_t)PAIRS * inputs; k++) {
        bool is_predicate = row->operands[outputs + 1 + k % inputs] == 'p';
        uint64_t x =
            is_predicate ? next_random(seed) & 1 : next_random(seed) >> (next_random(seed) % 64);
        in[0][k].u64 = x;
        in[1][k].u64 = x ^ (next_random(seed) & row->in[k % inputs]);
    }
    for (int k = 0; k < 2; k++) {
        int e = ptx_run(emu, row->body, row->operands, PAIRS, in[k], out[k]);
        cr_assert(!e, "%s: %s", row->body, emu_message(emu));
    }
    for (size_t k = 0; k < (size_t)PAIRS * outputs; k++)
        cr_expect(!((out[0][k].u64 ^ out[1][k].u64) & ~row->out[k % outputs]), "%s: %llx, %llx",
                  row->body, (unsigned long long)out[0][k].u64, (unsigned long long)out[1][k].u64);
}

Test(value_bits, of_results_that_are_computed)
{
    struct emu *emu = open_emu();
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strstr(rows[i].body, "shfl")) expect_run(emu, &rows[i], &seed);
    emu_close(emu);
}

/* A type says how many bits. The register may be wider, and a sign fills it. */
Test(value_bits, of_what_loads_fill)
{
    static const struct {
        const char *body, *operands;
        uint64_t bits;
    } loads[] = {{"ld.volatile.global.u32 $0, [$1];", "r=l", LOW},
                 {"ld.global.u8 $0, [$1];", "r=l", 0xff},
                 {"ld.global.s32 $0, [$1];", "r=l", ALL},
                 {"ld.relaxed.gpu.b64 $0, [$1];", "l=l", ALL},
                 {"atom.global.add.u32 $0, [$1], 1;", "r=l", LOW},
                 {"ld.global.b128 $0, [$1];", "q=l", ALL}};
    struct emu *emu = open_emu();
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++)
        cr_expect_eq(value_bits_loaded(parse(emu, loads[k].body, loads[k].operands)->instructions),
                     loads[k].bits, "%s", loads[k].body);
    emu_close(emu);
}

/* ---- the fields of findings, which must equal those in the text ------------------------------ */

#define FILES ".file 1 \"one.cu\"\n.file 2 \"two.cu\"\n"

/* A kernel whose first line is 3 and whose last is 9, and what a checker finds in it. */
static const struct kernel {
    const char *name, *body;
    unsigned check;
    const char *kind, *title, *space;
    unsigned bytes, line, other_line;
    struct emu_dim thread;
    const char *access, *other_access;
} kernels[] = {
    {"outside", ".loc 1 3 1\nmov.u64 %l1, 64;\n.loc 2 4 1\nst.global.u32 [%l1], %r1;\n",
     EMU_CHECK_MEMORY, "out-of-bounds", "Invalid __global__ write of size 4 bytes", "global", 4, 4,
     0, {0, 0, 0}, NULL, NULL},
    {"misaligned", ".loc 2 5 1\nld.global.u64 %l1, [%out+4];\n", EMU_CHECK_MEMORY, "misaligned",
     "Invalid __global__ read of size 8 bytes", "global", 8, 5, 0, {0, 0, 0}, NULL, NULL},
    {"shared_end",
     ".shared .align 4 .b8 s[8];\nmov.u64 %l1, s;\n.loc 2 6 1\nst.shared.u32 [%l1+64], 1;\n",
     EMU_CHECK_MEMORY, "out-of-bounds", "Invalid __shared__ write of size 4 bytes", "shared", 4, 6,
     0, {0, 0, 0}, NULL, NULL},
    {"hazard",
     ".shared .align 4 .b8 s[4];\nmov.u64 %l1, s;\nmov.u32 %r0, %tid.x;\n"
     "setp.eq.u32 %p0, %r0, 0;\nsetp.eq.u32 %p1, %r0, 33;\n.loc 2 7 1\n"
     "@%p0 st.shared.u32 [%l1], 1;\n.loc 2 8 1\n@%p1 ld.shared.u32 %r1, [%l1];\n",
     EMU_CHECK_RACE, "read-after-write", "RAW hazard at __shared__ address", "shared", 0, 8, 7,
     {33, 0, 0}, "Read access", "Write access"},
    {"unwritten",
     ".shared .align 4 .b8 s[8];\nmov.u64 %l1, s;\n.loc 2 9 1\nld.shared.u32 %r1, [%l1];\n",
     EMU_CHECK_INIT, "uninitialized-read", "Uninitialized __shared__ memory read of size 4 bytes",
     "shared", 4, 9, 0, {0, 0, 0}, NULL, NULL},
    {"divergent", "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 7;\n.loc 2 9 1\n@%p0 bar.sync 0;\n",
     EMU_CHECK_SYNC, "divergent-in-block", "Barrier error detected. Divergent thread(s) in block.",
     NULL, 0, 9, 0, {0, 0, 0}, NULL, NULL},
    {"_Z4trapPi", ".loc 2 4 1\ntrap;\n", EMU_CHECK_MEMORY, "fault", NULL, NULL, 0, 4, 0, {0, 0, 0},
     NULL, NULL},
};

static const char before_name[] = PTX_HEADER ".visible .entry ";
static const char behind_name[] = "(.param .u64 p_out, .param .u64 p_in) {\n.reg .pred %p<4>;\n"
                                  ".reg .b32 %r<4>;\n.reg .b64 %l<4>;\n.reg .b64 %out;\n"
                                  "ld.param.u64 %out, [p_out];\n";

static void expect_place(const struct kernel *k, const struct emu_finding *f,
                         const struct emu_place *place, unsigned line)
{
    char text[300];
    cr_assert(place->is_known && place->file, "%s", k->name);
    cr_expect(!strcmp(place->file, "two.cu") && place->line == line, "%s: %s:%u", k->name,
              place->file, place->line);
    cr_expect(place->ptx_line > 0);
    snprintf(text, sizeof text, " in two.cu:%u (PTX line %u)", place->line, place->ptx_line);
    cr_expect(strstr(f->head, text), "%s is not in %s", text, f->head);
}

static void expect_hazard(const struct kernel *k, const struct emu_finding *f)
{
    char both[200];
    cr_expect(!strcmp(f->place.access, k->access) && !strcmp(f->other.access, k->other_access));
    cr_expect(!f->place.is_copy && !f->other.is_copy && f->other.has_thread);
    expect_place(k, f, &f->other, k->other_line);
    snprintf(both, sizeof both, "between %s at ", k->other_access);
    cr_expect(strstr(f->head, both), "%s", f->head);
    snprintf(both, sizeof both, "and %s at ", k->access);
    cr_expect(strstr(f->head, both), "%s", f->head);
    snprintf(both, sizeof both, "thread (%u,0,0) in block (0,0,0) reads it", f->place.thread.x);
    cr_expect(strstr(f->detail, both), "%s", f->detail);
}

static void expect_fields(const struct kernel *k, const struct emu_finding *f)
{
    char text[300];
    cr_expect(f->tool == k->check && !strcmp(f->kind, k->kind), "%s: %s", k->name, f->kind);
    cr_expect(!k->title || !strcmp(f->title, k->title), "%s: %s", k->name, f->title);
    cr_expect(!strcmp(f->kernel, k->name) && f->launch == 1);
    cr_expect(k->space ? f->space && !strcmp(f->space, k->space) : !f->space, "%s", k->name);
    cr_expect(f->bytes == k->bytes, "%s: %u bytes", k->name, f->bytes);
    cr_expect(f->place.thread.x == k->thread.x && f->place.has_thread && !f->place.block.x);
    expect_place(k, f, &f->place, k->line);
    if (k->other_line) {
        expect_hazard(k, f);
        return;
    }
    cr_expect(!f->other.is_known && !f->place.access);
    cr_expect(!strncmp(f->head, f->title, strlen(f->title)));
    snprintf(text, sizeof text, "    by thread (%u,0,0) in block (0,0,0)", f->place.thread.x);
    cr_expect(strstr(f->head, text), "%s", f->head);
}

/* The second launch of the device has the finding. The module is gone when its fields are read. */
Test(emu_findings, fields_are_what_the_text_says)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const struct kernel *k = &kernels[i];
        struct emu_config config = {.memory = 64 << 20, .threads = 1, .checks = k->check};
        struct emu *emu = open_emu_with(&config);
        char *text;
        if (asprintf(&text, "%s%s%s%sret;\n}\n" FILES, before_name, k->name, behind_name, k->body) <
            0)
            abort();
        emu_addr out = device_copy(emu, NULL, 4096);
        uint64_t args[] = {out, out};
        struct emu_kernel *right = load_kernel(emu, PTX_KERNEL("right", "ret;\n"), "right");
        cr_assert(!launch(emu, right, 1, 32, 0, 2, args));
        struct emu_module *module;
        struct emu_kernel *kernel;
        cr_assert(!emu_load(emu, text, strlen(text), "text", &module), "%s", emu_message(emu));
        cr_assert(!emu_kernel(emu, module, k->name, &kernel), "%s", emu_message(emu));
        launch(emu, kernel, 1, 64, 0, 2, args);
        emu_unload(emu, module);
        cr_assert(emu_findings(emu) >= 1, "%s: nothing was found", k->name);
        expect_fields(k, emu_finding(emu, 0));
        emu_close(emu);
        free(text);
    }
}

/* A finding on the host has no kernel and no source line. */
Test(emu_findings, of_the_host)
{
    struct emu_config config = {.memory = 64 << 20, .checks = EMU_CHECK_MEMORY | EMU_CHECK_INIT};
    struct emu *emu = open_emu_with(&config);
    emu_addr address;
    uint64_t bytes;
    char host[64];
    cr_assert(!emu_alloc(emu, sizeof host, &address));
    cr_assert(!emu_read(emu, host, address, sizeof host));
    cr_assert(emu_report_leaks(emu, &bytes) == 1);
    cr_assert(emu_findings(emu) == 2);
    static const char *const kinds[] = {"uninitialized-copy", "leak"};
    for (size_t i = 0; i < 2; i++) {
        const struct emu_finding *f = emu_finding(emu, i);
        cr_expect(!strcmp(f->kind, kinds[i]), "%s", f->kind);
        cr_expect(!f->kernel && !f->place.is_known && !f->other.is_known);
        cr_expect(f->launch == EMU_NO_LAUNCH && !strcmp(f->head, f->title));
    }
    cr_expect(emu_finding(emu, 0)->address == address && emu_finding(emu, 0)->space);
    emu_close(emu);
}
