/*
 * ptx_run.h — what the tests of PTX have in common: pieces of PTX that are run, whole kernels,
 * and number types.
 */
#ifndef PTX_RUN_H
#define PTX_RUN_H

#include "common/tools/emu/emu.h"

/*
 * ptx_run() wraps a few instructions in a kernel that loads their inputs from global memory and
 * stores their outputs there, one thread per set of inputs.
 */

/* The content of a register, seen as any type. Bits beyond the register's width are zero. */
union value {
    uint64_t u64;
    int64_t s64;
    uint32_t u32;
    int32_t s32;
    uint16_t u16;
    int16_t s16;
    uint8_t u8;
    int8_t s8;
    float f32;
    double f64;
};

#define PTX_HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

enum { PTX_RUN_OPERANDS = 10 };

/*
 * The meaning of a letter for an operand, as in nvcc's inline assembly:
 *   h .b16   r .b32   l .b64   f .f32   d .f64   p .pred (a value of 0 or 1)
 * "r=rr" is one 32-bit output, which the text calls $0, and two inputs, $1 and $2.
 */
unsigned ptx_outputs(const char *operands);
unsigned ptx_inputs(const char *operands);

/* Writes the whole PTX text around `body` into a malloc'd string. A body that begins with NEWER is
 * for .target sm_100. */
#define NEWER "newer: "
char *ptx_text(const char *body, const char *operands);

/*
 * Runs body once per set of inputs: `in` holds count × inputs values, `out` receives
 * count × outputs. Returns 0 or an enum emu_error, with emu_message() set.
 */
int ptx_run(struct emu *, const char *body, const char *operands, size_t count,
            const union value *in, union value *out);

/* ---- whole kernels --------------------------------------------------------------------------- */

/* Opens a device with a little memory and one host thread. Aborts the test if that fails. */
struct emu *open_emu(void);
struct emu *open_emu_with(const struct emu_config *);

/* The kernel `name` of a PTX text; if it can't be had, aborts with the emulator's message. */
struct emu_kernel *load_kernel(struct emu *, const char *ptx, const char *name);

/* Device memory that holds a copy of host[bytes] (zeros if host is NULL). */
emu_addr device_copy(struct emu *, const void *host, size_t bytes);

/* Launches with up to eight 64-bit arguments, the first `count` of `args`; returns emu_launch's. */
int launch(struct emu *, struct emu_kernel *, unsigned grid, unsigned block, size_t shared,
           unsigned count, const uint64_t *args);

/*
 * A kernel called `name` with the parameters out and in (u64), the thread's number in %id, and
 * %out and %in pointing to this thread's own 4-byte element; the test supplies the rest.
 */
#define PTX_KERNEL(name, body) PTX_PROLOGUE(name) body "\n}\n"

#define PTX_PROLOGUE(name)                                                                         \
    PTX_HEADER ".visible .entry " name "(.param .u64 p_out, .param .u64 p_in) {\n"                 \
               ".reg .pred %p<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<32>;\n.reg .f32 %f<16>;\n"     \
               ".reg .b64 %l<32>;\n.reg .b32 %id, %size, %cta;\n.reg .b64 %out, %in, %offset;\n"   \
               "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\n"                          \
               "mov.u32 %id, %tid.x;\nmov.u32 %size, %ntid.x;\nmov.u32 %cta, %ctaid.x;\n"          \
               "mad.lo.u32 %id, %cta, %size, %id;\nmul.wide.u32 %offset, %id, 4;\n"                \
               "add.u64 %out, %out, %offset;\nadd.u64 %in, %in, %offset;\n"

/* The text of PTX_KERNEL("k", …) with a body from printf's arguments, malloc'd. */
char *ptx_kernel(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs a PTX_KERNEL called "k" with threads in blocks of `block`; out and in have one uint32_t per
 * thread. Aborts the test on any error. */
void run_kernel(struct emu *, const char *ptx, unsigned threads, unsigned block, uint32_t *out,
                const uint32_t *in);

/* A repeatable sequence of random numbers (splitmix64). */
uint64_t next_random(uint64_t *state);

/* ---- PTX's number types ---------------------------------------------------------------------- */

/*
 * For references: reading and writing numbers as integers or as real numbers, rounding, and edge
 * values. It is written from the definitions (IEEE 754, PTX ISA "Fundamental Types"), not from the
 * emulator, so that the two check each other.
 */

enum kind { UNSIGNED, SIGNED, BITS, FLOAT, PREDICATE };

struct type {
    const char *name; /* "s32" */
    enum kind kind;
    unsigned bits;
    char letter;  /* the register that holds it, see ptx_run.h */
    int mantissa; /* floating point: bits of precision, with the hidden one … */
    int exponent; /* … and the greatest exponent */
};

/* The type with this name; aborts the test if the name is unknown. */
const struct type *find_type(const char *name);

typedef unsigned __int128 wide; /* integers modulo 2^128 */

/* The value as an integer, sign-extended to 128 bits if the type is signed. */
wide get_integer(const struct type *, union value);
/* The low bits of an integer; the rest of the union becomes zero. */
union value put_integer(const struct type *, wide);
/* The smallest and the greatest value of an integer type. */
__int128 least(const struct type *);
__int128 greatest(const struct type *);

/* The value as a real number: long double holds every f64, and s64 and u64, exactly. */
long double get_real(const struct type *, union value);
/* The number rounded to the type, to nearest. NaN becomes the type's canonical NaN: all bits set
 * except the sign's. */
union value put_real(const struct type *, long double);

bool is_nan(const struct type *, union value);
bool is_subnormal(const struct type *, union value);
/* The value, or zero of the same sign if it is subnormal. */
union value flush(const struct type *, union value);

/* Values worth trying for a type: limits, powers of two and their neighbours, shift amounts, NaNs,
 * infinities, subnormals … Returns their number; `few`: only about a dozen of the most important
 * ones. */
enum { MAX_EDGES = 64 };
size_t edge_values(const struct type *, bool few, union value edges[MAX_EDGES]);

/* The words of a list separated by blanks, in turn: `list` moves on. Returns false at its end. */
bool next_word(const char **list, char *word, size_t size);

#endif
