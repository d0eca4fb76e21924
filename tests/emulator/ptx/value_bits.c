/*
 * value_bits.c — which bits of a result may depend on some bits of the operands: exactly those that
 * a table says, and no others when the emulator executes the instruction.
 */
#include "common/emu/watch/check.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- a row's text as a structure: $0 is register 0, and so on -------------------------------- */

enum { TEXT = 100 };
struct parsed {
    struct ptx_instruction instruction;
    struct ptx_operand operands[MOST], parts[MOST], *items[MOST];
    char text[TEXT];
};

static struct ptx_operand operand_of(const char *text)
{
    if (*text == '$') return (struct ptx_operand){.kind = PTX_REGISTER, .index = text[1] - '0'};
    return (struct ptx_operand){.kind = PTX_INTEGER, .bits = (uint64_t)strtoll(text, NULL, 10)};
}

/* A vector's parts; returns what is behind it. */
static char *parse_vector(struct parsed *p, struct ptx_operand *operand, char *text)
{
    *operand = (struct ptx_operand){.kind = PTX_VECTOR, .items = p->items};
    for (; *text != '}'; text++) {
        if (*text != '$') continue;
        p->parts[operand->count] = operand_of(text);
        p->items[operand->count] = &p->parts[operand->count];
        operand->count++;
    }
    return text + 1;
}

static void parse(struct parsed *p, const char *body)
{
    struct ptx_instruction *i = &p->instruction;
    *p = (struct parsed){.instruction = {.guard = -1, .operands = p->operands}};
    snprintf(p->text, sizeof p->text, "%s", body);
    char *at = p->text;
    if (*at == '@') {
        i->guard = at[2] - '0';
        at += strlen("@$2 ");
    }
    char *operands = strchr(at, ' ');
    *operands++ = '\0';
    for (char *word = strtok(at, "."); word; word = strtok(NULL, "."))
        i->words[i->word_count++] = word;
    while (*operands && i->operand_count < MOST) {
        struct ptx_operand *operand = &p->operands[i->operand_count++];
        operands += strspn(operands, " ,;");
        if (*operands == '{')
            operands = parse_vector(p, operand, operands);
        else
            *operand = operand_of(operands);
        operands += strcspn(operands, ",;");
        operands += strspn(operands, " ,;");
    }
}

static enum ptx_type type_of(char letter)
{
    static const char letters[] = "hrlfp";
    static const enum ptx_type types[] = {PTX_B16, PTX_B32, PTX_B64, PTX_F32, PTX_PRED};
    return types[strchr(letters, letter) - letters];
}

static void expect_row(const struct row *row)
{
    unsigned outputs = ptx_outputs(row->operands), inputs = ptx_inputs(row->operands);
    struct ptx_register registers[MOST + 2];
    uint64_t bits[MOST + 2] = {0};
    struct value_bits v = {bits, &(struct ptx_function){.registers = registers}};
    struct parsed p;
    parse(&p, row->body);
    for (unsigned k = 0; k < outputs + inputs; k++) {
        registers[k].type = type_of(row->operands[k < outputs ? k : k + 1]);
        if (k >= outputs) bits[k] = row->in[k - outputs];
    }
    uint64_t result = value_bits_result(&v, &p.instruction);
    bool any = row->out[0] || (outputs > 1 && row->out[1]);
    cr_expect_eq(value_bits_add(&v, p.operands, result, false), any, "%s", row->body);
    for (unsigned k = 0; k < outputs; k++)
        cr_expect_eq(bits[k], row->out[k], "%s: output %u: %llx", row->body, k,
                     (unsigned long long)bits[k]);
    cr_expect(!value_bits_add(&v, p.operands, result, false), "%s: a second time", row->body);
}

Test(value_bits, of_results)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_row(&rows[i]);
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
        const char *words[4];
        uint64_t bits;
    } loads[] = {{{"ld", "volatile", "global", "u32"}, LOW},
                 {{"ld", "global", "u8"}, 0xff},
                 {{"ld", "global", "s32"}, ALL},
                 {{"ld", "relaxed", "b64"}, ALL},
                 {{"atom", "global", "add", "u32"}, LOW},
                 {{"ld", "global", "b128"}, ALL}};
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
        struct ptx_instruction i = {0};
        while (i.word_count < 4 && loads[k].words[i.word_count]) {
            i.words[i.word_count] = loads[k].words[i.word_count];
            i.word_count++;
        }
        cr_expect_eq(value_bits_loaded(&i), loads[k].bits, "%s", i.words[i.word_count - 1]);
    }
}
