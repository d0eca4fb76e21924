/* decode.h — what the files of the decoder share. */
#ifndef EMU_DECODE_H
#define EMU_DECODE_H

#include "insn.h"
#include <setjmp.h>

/* ---- what the files of the decoder share ----------------------------------------------------- */

/*   decode.c          a kernel as a whole: layout of registers, memory, parameters; what it calls
 *   decode_insn.c     one instruction, by the family its opcode belongs to: decode_arithmetic.c,
 *                     decode_memory.c, decode_control.c, …
 *   insn.h, insn.c    the decoded instruction: a union, with a member for each family
 *   decode_operand.c  one operand, and an opcode's modifiers
 *   decode_forms.c    the types and modifiers that go together, and their least .target
 *   decode_passes.c   loops that only wait for a clock; products and sums that become one fma
 *
 * An error is a longjmp to decode_kernel, as in the parser. */

struct constant {
    uint64_t value;
    uint8_t bytes;
    slot slot;
};

/* A function whose instructions are part of the kernel's code: the kernel itself, or a function
 * that it may call. The kernel is the first body. */
struct body {
    const struct ptx_function *function;
    struct callee *callee;   /* NULL: the kernel itself */
    size_t *variable_offset; /* by index in function->variables, in the variable's space */
    uint32_t base;           /* index of the first instruction */
};

struct decoder {
    struct emu_module *module;
    unsigned capability; /* of the GPU: 90 for 9.0 */
    const struct ptx_function *function;
    struct emu_kernel *kernel;
    struct callee *callee;   /* the function being decoded; NULL: the kernel itself */
    struct callee **callees; /* by index in the module, like kernel->callees */
    struct body *bodies;
    size_t body_count;
    uint32_t base; /* of the function being decoded */
    bool has_calls;
    const struct ptx_instruction *at; /* the instruction being decoded */

    slot *registers;     /* by PTX register index */
    uint8_t *lane_bytes; /* of each register: 4 or 8; 0 for a predicate */
    size_t register_bytes;

    struct constant *constants;
    size_t constant_count, constant_room, constant_bytes;
    struct special *specials;
    size_t special_count, special_room, special_bytes;

    size_t *shared_offset; /* by index in text.variables; SIZE_MAX: not used by the kernel */
    const size_t *variable_offset; /* by index in function->variables */

    jmp_buf failed;
    int error;
    char *message;
    size_t size;
};

_Noreturn void decode_fail(struct decoder *, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void *decode_take(struct decoder *, size_t bytes);

/* ---- functions (decode.c) */

/* ---- operands */

/* Allocates a register of lane_bytes bytes per lane. 0: a predicate; 16: two adjacent 64-bit slots.
 * */
slot register_take(struct decoder *, unsigned lane_bytes);
slot constant_slot(struct decoder *, uint64_t value, unsigned lane_bytes); /* 0: a predicate mask */
/* The slot of a source or destination. Fails unless a register has lane_bytes bytes per lane (0: a
 * predicate). */
slot source_slot(struct decoder *, const struct ptx_operand *, unsigned lane_bytes);
slot destination_slot(struct decoder *, const struct ptx_operand *, unsigned lane_bytes);
/* A predicate as a source; sets the bool if a "!" precedes it. */
slot predicate_slot(struct decoder *, const struct ptx_operand *, bool *negated);
/* The predicate behind the | of a destination; NO_SLOT: the destination has no |. */
slot second_destination_slot(struct decoder *, const struct ptx_operand *);
/* Fails if a register or a constant does not fit an operand of this type. A vector: if one of its
 * parts does not. `wider`: a register may be wider than the type. */
void check_operand(struct decoder *, const struct ptx_operand *, enum ptx_type, bool wider);
/* The bytes per lane of a register; `otherwise` for an operand that is not a register. */
unsigned operand_lane_bytes(struct decoder *, const struct ptx_operand *, unsigned otherwise);
/* [base + offset], in a state space, which must be that of the variable that base names. */
struct address address_operand(struct decoder *, const struct ptx_operand *, enum ptx_space);
/* The same for an instruction that accesses nothing there: any variable or function will do. */
struct address place_operand(struct decoder *, const struct ptx_operand *, enum ptx_space);
/* Fails if an address of global memory, or a generic one, is a register of 32 bits. */
void need_long_address(struct decoder *, const struct address *);
/* Does an operand name a parameter or result in the frame's area? Sets *bytes to its size. */
bool names_area(const struct decoder *, const struct ptx_operand *, size_t *bytes);
/* Fails if an operand names a parameter in the frame's area, because such a parameter has no
 * address. */
void refuse_area(struct decoder *, const struct ptx_operand *);
/* The 64-bit register that holds the address where the next alloca begins. */
slot stack_top(struct decoder *);
int64_t immediate(struct decoder *, const struct ptx_operand *);

/* ---- instructions */

void decode_instruction(struct decoder *, const struct ptx_instruction *, struct insn *);
/* Lets the lanes of a warp join before a loop jumps back, in the function whose instructions are
 * code[from] to code[end - 1]. (decode_control.c) */
void decode_rejoin(struct insn *code, size_t from, size_t end);
/* Marks reads of a clock in loops that only wait for it, in the same instructions. Their clock.loop
 * is the loop's length. (decode_passes.c) */
void decode_spins(struct insn *code, size_t from, size_t end);
/* Makes sums of products an fma where ptxas does, in the function whose instructions begin with
 * code[base]. (decode_passes.c) */
void decode_fuse(struct decoder *, struct insn *code, size_t base, size_t length);
/* Makes an addition of floats compute a * b + c, by its own rules. (decode_arithmetic.c) */
void decode_as_fma(struct decoder *, struct insn *, slot a, slot b, slot c);

/* ---- the parts of an opcode, which the decoder takes one by one ------------------------------ */

/* "ld.global.v4.f32" consists of the words ld, global, v4 and f32. A decoder takes the words that
 * it knows. The rest is either part of the operation's key or refused by name. */

struct words {
    const struct ptx_instruction *source;
    bool used[PTX_MAX_WORDS]; /* words[0], the opcode itself, counts as used */
};

struct words all_words(const struct ptx_instruction *);
/* Takes a word. False: the opcode does not have it. */
bool take_word(struct words *, const char *word);
/* Does the opcode have a word, taken or not? */
bool has_word(const struct ptx_instruction *, const char *word);
/* Takes all words that are in a NULL-terminated list. */
void drop_words(struct words *, const char *const *list);
/* Takes the first word that is a type; PTX_NONE: no word is. */
enum ptx_type take_type(struct words *);
/* Takes the name of a state space; PTX_GENERIC: no word is one. (decode_memory.c) */
enum ptx_space take_space(struct words *);
/* Takes an atomic operation; fails if no word is one. (decode_memory.c) */
void take_atomic_operation(struct decoder *, struct words *, struct insn *);
/* Takes an atomic operation and its type. Fails if any other word is left. (decode_memory.c) */
void take_atomic(struct decoder *, struct words *, struct insn *);
/* The error of an instruction that the decoder does not know: PTX that the emulator does not
 * support, or else no PTX. */
int unknown_error(const struct decoder *);
/* Fails with this error and a sentence. */
_Noreturn void unknown_operation(struct decoder *);
/* Fails if the text's .target is older than the instruction, or than this. (decode_forms.c) */
void check_target(struct decoder *, const struct ptx_instruction *);
void need_target(struct decoder *, unsigned target);
/* Fails unless PTX has an operation on registers with these types, modifiers and operands. An
 * opcode that is not in the table passes. (decode_forms.c) */
void check_form(struct decoder *, const struct ptx_instruction *);
/* The same for a conversion, which cvt's own decoder knows. (decode_forms.c) */
void check_conversion(struct decoder *, const struct ptx_instruction *, enum ptx_type to,
                      enum ptx_type from);
/* Fails if modifiers do not go together. (decode_forms.c) */
void check_pairs(struct decoder *, const struct ptx_instruction *);
/* Fails if an instruction that only has a result throws it away by _. (decode_forms.c) */
void check_sink(struct decoder *, const struct ptx_instruction *);
/* Fails if a word has not been taken. */
void refuse_rest(struct decoder *, struct words *);
/* Fails if an opcode has a modifier that is not in a NULL-terminated list. */
void refuse_words_but(struct decoder *, const struct ptx_instruction *, const char *const *list);
/* Fails unless the number of operands is in this range. */
void need_operands(struct decoder *, const struct ptx_instruction *, unsigned least, unsigned most);

/* The decoders of the families, by file. */
typedef void decode_fn(struct decoder *, const struct ptx_instruction *, struct insn *);
/* decode_arithmetic.c */
decode_fn decode_arithmetic, decode_compare, decode_convert, decode_move;
/* decode_memory.c */
decode_fn decode_access, decode_store, decode_atomic, decode_address_conversion, decode_is_space;
/* decode_control.c */
decode_fn decode_branch, decode_branch_table, decode_exit, decode_call, decode_barrier,
    decode_fence, decode_spin, decode_trap;
/* decode_insn.c */
decode_fn decode_nothing;
/* decode_arithmetic.c */
decode_fn decode_lop3;
/* decode_control.c */
decode_fn decode_alloca, decode_stack_move, decode_policy;
/* decode_control.c, decode_copy.c */
decode_fn decode_cluster_address, decode_mbarrier;
/* decode_copy.c */
decode_fn decode_copy;
/* decode_matrix.c: takes what bulk copies of tensors have besides: the words .tensor, .2d and
 * .tile, and the coordinates after the address of the tensor map. */
void take_tensor(struct decoder *, struct words *, struct insn *);
decode_fn decode_prefetch, decode_tensor_prefetch;
/* decode_memory.c */
decode_fn decode_texture, decode_gather, decode_surface;
/* decode_matrix.c */
decode_fn decode_matrix;
/* decode_control.c */
/* The member mask of an instruction of FAMILY_WARP. */
decode_fn decode_collective;

#endif
