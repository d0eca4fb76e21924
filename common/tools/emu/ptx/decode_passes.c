/* decode_passes.c — passes over decoded code: sums of products as fma, loops that wait for a
 * clock. */
#include "decode.h"
#include <string.h>

/* ---- which products and sums become one fma, as ptxas chooses them --------------------------- */

/*
 * PTX leaves it open how often a * b - c is rounded if neither mul nor sub has a rounding, and nvcc
 * leaves it to ptxas. These are the rules of ptxas 13.0, the same for f32, f64, f16, bf16 and their
 * pairs, for sm_75 to sm_120 and for -O1 to -O3. An H200 agrees (profiles/h200/contraction.csv).
 *
 *   - Product and sum (add, sub) have no rounding, the same type, and both or neither have .ftz.
 *     The product has neither .sat nor a guard; the sum may have both.
 *   - Both are in one block. Any jump, call or label ends it, and so does what ptxas makes a call,
 *     a loop or a branch of (ends_block). Copies by mov and neg may lie between.
 *   - Every use of the product is such a sum, and no sum is p + p or p - p.
 *   - First each sum takes a product that has no other use, preferably its first operand (but sums
 *     of pairs do not). Then, in their order, the other sums take a product that no sum adds to
 *     another one: of two products the one with fewer uses, or else the first operand.
 *
 * -G fuses nothing, nor does -fmad=false, after which nvcc writes roundings, nor ptxas with -O0 or
 * --fmad=false, which it notes in the machine code. The product remains an instruction, and the sum
 * an addition, for all counters.
 *
 * Not imitated: ptxas fuses across iterations of loops that it unrolls, leaves out a * 1 and dead
 * code first, and rounds a * b * 2^n of floats once, for n from -3 to 3.
 */

enum { NONE = -1 };

struct product {
    size_t at, block;
    unsigned uses;   /* by sums */
    bool unfit;      /* there are other uses, or a sum adds it to another product */
    unsigned leaves; /* registers in which it may leave the block */
};

/* What a register holds. */
struct held {
    int product; /* NONE: no product */
    bool negated;
};

struct sum {
    size_t at;
    struct held of[2]; /* the operands */
    int taken;         /* one of them; NONE: the sum stays as it is */
};

struct fuser {
    struct decoder *d;
    struct insn *code; /* of the function */
    size_t length;
    bool *starts;      /* by instruction: a block starts */
    bool *crosses;     /* by register: a block reads a value that another one may have left */
    size_t *written;   /* by register: the last block that wrote it; 0: none */
    size_t block;      /* from 1 on */
    struct held *held; /* by register */
    struct product *products;
    struct sum *sums; /* of the block */
    size_t product_count, sum_count;
};

/* ---- registers ------------------------------------------------------------------------------- */

typedef void register_fn(struct fuser *, size_t at, unsigned index, bool is_written);

static void visit(struct fuser *f, size_t at, const struct ptx_operand *operand, bool may_be_result,
                  register_fn *fn)
{
    if (operand->kind == PTX_REGISTER)
        fn(f, at, operand->index,
           may_be_result && insn_writes(&f->code[at], f->d->registers[operand->index]));
    if (operand->kind == PTX_ADDRESS) visit(f, at, operand->base, false, fn);
    for (unsigned k = 0; operand->kind == PTX_VECTOR && k < operand->count; k++)
        visit(f, at, operand->items[k], may_be_result, fn);
    if (operand->other) visit(f, at, operand->other, may_be_result, fn);
}

/* The sources come first. */
static void visit_all(struct fuser *f, size_t at, register_fn *fn)
{
    const struct ptx_instruction *source = f->code[at].source;
    for (unsigned k = source->operand_count; k-- > 0;)
        visit(f, at, &source->operands[k], k == 0, fn);
}

static void note_block(struct fuser *f, size_t at, unsigned index, bool is_written)
{
    if (!is_written)
        f->crosses[index] |= f->written[index] != f->block;
    else if (f->code[at].source->guard < 0)
        f->written[index] = f->block;
}

/* ---- products, sums and blocks --------------------------------------------------------------- */

static bool is_opcode(const struct insn *i, const char *opcode)
{
    return !strcmp(i->source->words[0], opcode);
}

static bool has_rounding(const struct insn *i)
{
    return i->rules.rounding || has_word(i->source, "rn");
}

static bool is_float(const struct insn *i)
{
    return i->family == FAMILY_ARITHMETIC && ptx_type_is_float(i->rules.type);
}

/* ptxas multiplies two constants itself. */
static bool is_product(const struct insn *i)
{
    return is_float(i) && is_opcode(i, "mul") && !has_rounding(i) && i->source->guard < 0 &&
           i->rules.clamp == CLAMP_NONE && !(i->a & i->b & SLOT_CONSTANT);
}

static bool is_sum(const struct insn *i)
{
    return is_float(i) && (is_opcode(i, "add") || is_opcode(i, "sub")) && !has_rounding(i);
}

/* Can a sum take the product, or mov or neg copy it? */
static bool goes_with(const struct insn *product, const struct insn *i)
{
    bool same = is_float(i) && product->rules.type == i->rules.type;
    if (is_sum(i)) return same && product->rules.flush == i->rules.flush;
    if (i->family != FAMILY_ARITHMETIC || i->source->guard >= 0) return false;
    return is_opcode(i, "mov") ||
           (is_opcode(i, "neg") && same && product->rules.flush >= i->rules.flush &&
            i->rules.type != PTX_BF16X2);
}

/* Division and the like that ptxas calls a function for, or does so for some operands. */
static bool is_called(const struct insn *i)
{
    bool divides = is_opcode(i, "div") || is_opcode(i, "rem");
    if (i->family != FAMILY_ARITHMETIC) return false;
    if (divides && !is_float(i)) return i->rules.type != PTX_U32;
    if (is_opcode(i, "rsqrt")) return i->rules.type == PTX_F64 && !i->rules.flush;
    return (divides || is_opcode(i, "rcp") || is_opcode(i, "sqrt")) &&
           !has_word(i->source, "approx") && !has_word(i->source, "full");
}

/* Does it only compute registers from registers? ptxas lets such instructions keep their guard. It
 * replaces others by a jump over them. */
static bool is_plain(const struct insn *i)
{
    return (i->family >= FAMILY_ARITHMETIC && i->family <= FAMILY_CVTA) ||
           (i->family == FAMILY_OTHER && is_opcode(i, "mov")) ||
           (i->family == FAMILY_MEMORY && i->address.space == PTX_PARAM);
}

static bool ends_block(const struct insn *i)
{
    bool adds_float = i->atomic.operation == ATOMIC_ADD && i->atomic.type == PTX_F32 &&
                      i->tally == TALLY_ATOMIC && i->elements == 1;
    if (i->control == CONTROL_CALL || i->control == CONTROL_EXIT || i->control == CONTROL_RETURN ||
        insn_target_count(i) || is_opcode(i, "trap") || is_opcode(i, "brkpt"))
        return true;
    if (is_opcode(i, "membar") || is_opcode(i, "fence"))
        return !has_word(i->source, "proxy") && !has_word(i->source, "mbarrier_init");
    if (adds_float && i->address.space != PTX_GLOBAL) return true; /* a loop in shared memory */
    return is_called(i) || (i->source->guard >= 0 && !is_plain(i));
}

/* ---- a block --------------------------------------------------------------------------------- */

static struct held held_by(const struct fuser *f, const struct ptx_operand *operand)
{
    struct held none = {.product = NONE};
    struct held held = operand->kind == PTX_REGISTER ? f->held[operand->index] : none;
    return held.product != NONE && f->products[held.product].block == f->block ? held : none;
}

static void note(struct fuser *f, size_t at, unsigned index, bool is_written)
{
    const struct insn *i = &f->code[at];
    int product = held_by(f, &(struct ptx_operand){.index = index}).product;
    if (product == NONE) return;
    struct product *p = &f->products[product];
    if (!is_written) {
        p->unfit |= !goes_with(&f->code[p->at], i);
    } else {
        p->unfit |= i->source->guard >= 0; /* the register still holds it in some lanes */
        p->leaves -= f->crosses[index];
        f->held[index].product = NONE;
    }
}

static void note_sum(struct fuser *f, struct sum sum)
{
    if (sum.of[0].product == NONE && sum.of[1].product == NONE) return;
    for (int k = 0; k < 2; k++) {
        if (sum.of[k].product == NONE) continue;
        f->products[sum.of[k].product].uses++;
        f->products[sum.of[k].product].unfit |= sum.of[0].product == sum.of[1].product;
    }
    f->sums[f->sum_count++] = sum;
}

static void note_instruction(struct fuser *f, size_t at)
{
    const struct insn *i = &f->code[at];
    const struct ptx_operand *operands = i->source->operands;
    struct held result = {.product = NONE};
    if (is_sum(i))
        note_sum(f, (struct sum){at, {held_by(f, operands + 1), held_by(f, operands + 2)}, NONE});
    else if (i->source->operand_count == 2)
        result = held_by(f, operands + 1);
    if (result.product != NONE && !goes_with(&f->code[f->products[result.product].at], i))
        result.product = NONE;
    result.negated ^= is_opcode(i, "neg");
    visit_all(f, at, note);
    if (is_product(i)) {
        f->products[f->product_count] = (struct product){.at = at, .block = f->block};
        result = (struct held){.product = (int)f->product_count++};
    }
    if (result.product == NONE) return;
    f->held[operands[0].index] = result;
    f->products[result.product].leaves += f->crosses[operands[0].index];
}

static void choose(struct fuser *f, struct sum *sum, bool of_one_use)
{
    enum ptx_type type = f->code[sum->at].rules.type;
    unsigned fewest = of_one_use ? 2 : UINT_MAX;
    if (sum->taken != NONE || (of_one_use && (type == PTX_F16X2 || type == PTX_BF16X2))) return;
    for (int k = 0; k < 2; k++) {
        int product = sum->of[k].product;
        const struct product *p = product == NONE ? NULL : &f->products[product];
        if (!p || p->unfit || p->leaves || p->uses >= fewest) continue;
        fewest = p->uses;
        sum->taken = k;
    }
    if (sum->taken == NONE) return;
    int added = sum->of[1 - sum->taken].product;
    if (added != NONE) f->products[added].unfit = true;
}

/* ---- fusing ---------------------------------------------------------------------------------- */

/* Before the instruction runs, `from` is copied to a register of its own, which is returned; with
 * other signs if `negated`. */
static slot copy_before(struct decoder *d, struct insn *i, slot from, bool negated)
{
    static const uint64_t signs[PTX_TYPES] = {
        [PTX_F16] = 0x8000,        [PTX_BF16] = 0x8000,    [PTX_F16X2] = 0x80008000,
        [PTX_BF16X2] = 0x80008000, [PTX_F32] = 0x80000000, [PTX_F64] = UINT64_C(1) << 63};
    struct operand_copies *copies = i->arithmetic.copies;
    if (!copies) {
        copies = i->arithmetic.copies = decode_take(d, sizeof *copies);
        *copies = (struct operand_copies){.then = i->fn};
        i->fn = op_find("copies")->fn;
    }
    slot to = register_take(d, i->rules.type == PTX_F64 ? 8 : 4);
    copies->of[copies->count++] =
        (struct operand_copy){from, to, negated ? signs[i->rules.type] : 0};
    return to;
}

/* Do the operands of a product change before instruction `until`? */
static bool changes(const struct fuser *f, size_t product, size_t until)
{
    const struct insn *mul = &f->code[product];
    for (size_t n = product; n < until; n++)
        if (insn_writes(&f->code[n], mul->a) || insn_writes(&f->code[n], mul->b)) return true;
    return false;
}

static void fuse(struct fuser *f, const struct sum *s)
{
    size_t product = f->products[s->of[s->taken].product].at;
    struct insn *sum = &f->code[s->at], *mul = &f->code[product];
    bool subtracts = is_opcode(sum, "sub");
    if (!mul->arithmetic.copies && changes(f, product, s->at)) {
        copy_before(f->d, mul, mul->a, false);
        copy_before(f->d, mul, mul->b, false);
    }
    const struct operand_copies *kept = mul->arithmetic.copies;
    slot a = kept ? kept->of[0].to : mul->a, b = kept ? kept->of[1].to : mul->b;
    decode_as_fma(f->d, sum, a, b, s->taken == 0 ? sum->b : sum->a);
    if (s->of[s->taken].negated ^ (subtracts && s->taken == 1))
        sum->a = copy_before(f->d, sum, sum->a, true);
    if (subtracts && s->taken == 0) sum->c = copy_before(f->d, sum, sum->c, true);
}

static void fuse_block(struct fuser *f)
{
    for (size_t k = 0; k < f->sum_count; k++) choose(f, &f->sums[k], true);
    for (size_t k = 0; k < f->sum_count; k++) choose(f, &f->sums[k], false);
    for (size_t k = 0; k < f->sum_count; k++)
        if (f->sums[k].taken != NONE) fuse(f, &f->sums[k]);
    f->sum_count = 0;
}

void decode_fuse(struct decoder *d, struct insn *code, size_t base, size_t length)
{
    size_t registers = d->function->register_count;
    struct fuser f = {.d = d, .code = code + base, .length = length};
    bool any = false;
    for (size_t n = 0; n < length && !any; n++) any = is_product(&f.code[n]);
    if (!any || d->function->is_debug || d->module->never_fuses) return;
    f.starts = decode_take(d, (length + 1) * sizeof *f.starts);
    f.products = decode_take(d, length * sizeof *f.products);
    f.sums = decode_take(d, length * sizeof *f.sums);
    f.written = decode_take(d, registers * sizeof *f.written);
    f.crosses = decode_take(d, registers * sizeof *f.crosses);
    f.held = decode_take(d, registers * sizeof *f.held);
    for (size_t k = 0; k < registers; k++) f.held[k].product = NONE;
    f.starts[0] = true;
    for (size_t n = 0; n < length; n++) {
        f.starts[n + 1] |= n + 1 == length || ends_block(&f.code[n]);
        for (uint32_t k = 0; k < insn_target_count(&f.code[n]); k++)
            f.starts[insn_target(&f.code[n], k) - base] = true;
    }
    for (size_t n = 0; n < length; n++) {
        f.block += f.starts[n];
        visit_all(&f, n, note_block);
    }
    f.block = 0;
    for (size_t n = 0; n < length; n++) {
        f.block += f.starts[n];
        note_instruction(&f, n);
        if (f.starts[n + 1]) fuse_block(&f);
    }
}

/* ---- finds loops that only wait for a clock -------------------------------------------------- */

/* Finds loops that only wait for a clock, as `while (clock64() - start < n);`: time
 * leaps over them (machine/schedule.h).
 *
 * Such a loop is a row of at most 32 instructions that touch no memory, and ends with its only
 * jump. The jump's condition depends on the clock that is read in the loop, and on nothing else
 * that the loop changes: with a limit on its passes, too, a loop works as long as time allows. */

enum { LONGEST = 32 };

struct tainted {
    unsigned registers[4 * LONGEST];
    unsigned count;
};

static bool is_tainted(const struct tainted *t, unsigned index)
{
    for (unsigned k = 0; k < t->count; k++)
        if (t->registers[k] == index) return true;
    return false;
}

static bool reads_tainted(const struct tainted *t, const struct ptx_instruction *source)
{
    for (unsigned k = 1; k < source->operand_count; k++)
        if (source->operands[k].kind == PTX_REGISTER && is_tainted(t, source->operands[k].index))
            return true;
    return source->guard >= 0 && is_tainted(t, (unsigned)source->guard);
}

static void taint_result(struct tainted *t, const struct ptx_instruction *source)
{
    const struct ptx_operand *to = &source->operands[0];
    if (to->kind == PTX_REGISTER) t->registers[t->count++] = to->index;
    if (to->other) t->registers[t->count++] = to->other->index;
}

/* Does it only compute registers, and read no clock? */
static bool can_be_left_out(const struct insn *i)
{
    static const bool plain[FAMILY_GROUP + 1] = {
        [FAMILY_ARITHMETIC] = true, [FAMILY_LOGIC] = true, [FAMILY_COMPARE] = true,
        [FAMILY_CONVERT] = true,    [FAMILY_PACK] = true,
    };
    if (i->control != CONTROL_NONE || !i->source) return false;
    return plain[i->family] || (i->family == FAMILY_OTHER && !strcmp(i->source->words[0], "mov"));
}

/* Does the jump's condition depend on registers that a pass of the loop leaves to the next one, and
 * that are not made from the clock, such as a counter? */
static bool is_counted(const struct insn *code, size_t first, size_t jump,
                       const struct tainted *clock)
{
    struct tainted counted = {0};
    for (size_t n = first; n < jump; n++) {
        struct tainted later = counted;
        for (size_t m = n; m < jump; m++)
            if (!reads_tainted(clock, code[m].source)) taint_result(&later, code[m].source);
        if (reads_tainted(&later, code[n].source)) taint_result(&counted, code[n].source);
    }
    return reads_tainted(&counted, code[jump].source);
}

/* The length of the loop around code[read]; 0: none that only waits. */
static size_t length_of_spin(const struct insn *code, size_t from, size_t read, size_t end)
{
    struct tainted tainted = {0};
    size_t jump = read + 1, first;
    taint_result(&tainted, code[read].source);
    for (; jump < end && jump - read < LONGEST && can_be_left_out(&code[jump]); jump++)
        if (reads_tainted(&tainted, code[jump].source)) taint_result(&tainted, code[jump].source);
    first = jump < end && code[jump].control == CONTROL_BRANCH ? code[jump].target : end;
    if (first < from || first > read || jump - first >= LONGEST ||
        !reads_tainted(&tainted, code[jump].source))
        return 0;
    for (size_t n = first; n < read; n++)
        if (!can_be_left_out(&code[n])) return 0;
    return is_counted(code, first, jump, &tainted) ? 0 : jump + 1 - first;
}

void decode_spins(struct insn *code, size_t from, size_t end)
{
    for (size_t n = from; n < end; n++)
        if (code[n].family == FAMILY_CLOCK)
            code[n].clock.loop = (uint8_t)length_of_spin(code, from, n, end);
}
