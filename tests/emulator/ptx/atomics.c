/* atomics.c — every atomic operation in every space: the value that it returns, and the value that
 * it stores. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "numbers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

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
        return put_real(t, get_real(t, old) + get_real(t, b), 0, NEAREST);
    if (!strcmp(op, "add")) return put_integer(t, (wide)(x + y));
    cr_assert_fail("no operation '%s'", op);
    return old;
}

static const struct atomic {
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
    if (t->kind == FLOAT) return put_real(t, (int)(random % 201) - 100, 0, NEAREST);
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

static void check_atomic(struct emu *emu, const char *op, const struct type *t, const char *space,
                         const char *order, bool one_place, uint64_t *seed)
{
    struct lane {
        union value place, b, c;
    } in[LANES];
    union value words[PLACES], out[LANES + PLACES];
    for (unsigned n = 0; n < LANES; n++)
        in[n] = (struct lane){.place.u64 = one_place ? 0 : next_random(seed) % PLACES,
                              .b = operand(t, next_random(seed)),
                              .c = operand(t, next_random(seed))};
    for (unsigned p = 0; p < PLACES; p++) words[p] = operand(t, next_random(seed));

    bool shared = !strcmp(space, ".shared"), cas = !strcmp(op, "cas");
    char move[8], instruction[128];
    snprintf(move, sizeof move, "b%u", t->bits);
    snprintf(instruction, sizeof instruction, "atom%s%s.%s.%s %%%c0, [%%l4], %%%c1%s%s;", order,
             space, op, t->name, t->letter, t->letter, cas ? ", %" : "",
             !cas               ? ""
             : t->letter == 'r' ? "r2"
                                : "l2");
    /* Shared memory is filled from, and copied back to, the words at p_words. */
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    cr_assert(f);
    fprintf(
        f, "%s%s", PTX_HEADER,
        ".visible .entry k(.param .u64 p_words, .param .u64 p_in, .param .u64 p_out) {\n"
        ".shared .align 8 .b8 s[64];\n.reg .pred %p<2>;\n.reg .b32 %r<4>, %t<4>;\n"
        ".reg .b64 %l<12>;\n.reg .f32 %f<4>;\n.reg .f64 %d<4>;\n"
        "ld.param.u64 %l5, [p_words];\nld.param.u64 %l6, [p_in];\nld.param.u64 %l7, [p_out];\n"
        "mov.u32 %t0, %tid.x;\nmad.wide.u32 %l6, %t0, 24, %l6;\nmad.wide.u32 %l7, %t0, 8, %l7;\n"
        "mul.wide.u32 %l8, %t0, 8;\nadd.u64 %l9, %l5, %l8;\nmov.u64 %l10, s;\n"
        "add.u64 %l11, %l10, %l8;\nsetp.lt.u32 %p0, %t0, 8;\n"
        "@%p0 ld.global.b64 %l3, [%l9];\n@%p0 st.shared.b64 [%l11], %l3;\nbar.sync 0;\n"
        "ld.global.u32 %t1, [%l6];\n");
    fprintf(f, "mad.wide.u32 %%l4, %%t1, 8, %s;\n", shared ? "%l10" : "%l5");
    fprintf(f, "ld.global.%s %%%c1, [%%l6+8];\nld.global.%s %%%c2, [%%l6+16];\n", move, t->letter,
            move, t->letter);
    fprintf(f, "%s\nst.global.%s [%%l7], %%%c0;\nbar.sync 0;\n", instruction, move, t->letter);
    if (shared) fputs("@%p0 ld.shared.b64 %l3, [%l11];\n@%p0 st.global.b64 [%l9], %l3;\n", f);
    fputs("ret;\n}\n", f);
    fclose(f);

    struct emu_kernel *kernel = load_kernel(emu, text, "k");
    emu_addr words_device = device_copy(emu, words, sizeof words);
    emu_addr in_device = device_copy(emu, in, sizeof in);
    emu_addr out_device = device_copy(emu, NULL, sizeof out);
    cr_assert(
        !launch(emu, kernel, 1, LANES, 0, 3, (uint64_t[]){words_device, in_device, out_device}),
        "%s: %s", instruction, emu_message(emu));
    union value after[PLACES];
    cr_assert(!emu_read(emu, after, words_device, sizeof after));
    cr_assert(!emu_read(emu, out, out_device, sizeof out));

    for (unsigned p = 0; p < PLACES; p++) {
        union value b[LANES], c[LANES], seen[LANES];
        unsigned lanes = 0;
        for (unsigned n = 0; n < LANES; n++)
            if (in[n].place.u64 == p) {
                b[lanes] = in[n].b, c[lanes] = in[n].c;
                seen[lanes++] = out[n];
            }
        cr_expect(is_a_sequence(op, t, words[p], after[p], b, c, seen, lanes),
                  "%s: %u lanes on 0x%llx, in the end 0x%llx", instruction, lanes,
                  (unsigned long long)words[p].u64, (unsigned long long)after[p].u64);
    }
    emu_free(emu, words_device);
    emu_free(emu, in_device);
    emu_free(emu, out_device);
    free(text);
}

/* The words of a list separated by blanks. */
static bool next_type(const char **list, char word[8])
{
    *list += strspn(*list, " ");
    size_t length = strcspn(*list, " ");
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length;
    return length > 0;
}

Test(emu_atomics, every_operation_type_and_space)
{
    struct emu *emu = open_emu();
    uint64_t seed = 21;
    char type[8];
    for (size_t a = 0; a < sizeof atomics / sizeof *atomics; a++)
        for (const char *list = atomics[a].types; next_type(&list, type);)
            for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++)
                for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
                    for (int one_place = 0; one_place < 2; one_place++)
                        check_atomic(emu, atomics[a].op, find_type(type), spaces[s], orders[o],
                                     one_place, &seed);
    emu_close(emu);
}
