/*
 * decode_words.h — the parts of an opcode, which the decoder takes one by one.
 *
 * "ld.global.v4.f32" consists of the words ld, global, v4 and f32. A decoder takes the words that
 * it knows. The rest is either part of the operation's key or refused by name.
 */
#ifndef EMU_DECODE_WORDS_H
#define EMU_DECODE_WORDS_H

#include "decode.h"

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
/* Decodes the registers of i->elements elements, to be written (`load`) or read; value[k] becomes
 * NO_SLOT for a sink. Sets i->lane_bytes. (decode_memory.c) */
void decode_values(struct decoder *, const struct ptx_operand *, bool load, struct insn *,
                   slot *value);
/* The error of an instruction that the decoder does not know: PTX that the emulator does not
 * support, or else no PTX. */
int unknown_error(const struct decoder *);
/* Fails with this error and a sentence. */
_Noreturn void unknown_operation(struct decoder *);
/* Fails if the text's .target is older than the instruction, or than this. (decode_target.c) */
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
/* decode_nothing.c */
decode_fn decode_nothing;
/* decode_logic.c */
decode_fn decode_lop3;
/* decode_stack.c */
decode_fn decode_alloca, decode_stack_save, decode_stack_restore, decode_policy;
/* decode_cluster.c, decode_mbarrier.c */
decode_fn decode_cluster_barrier, decode_cluster_address, decode_mbarrier;
/* decode_copy.c */
decode_fn decode_copy;
/* decode_tensor.c: takes what bulk copies of tensors have besides: the words .tensor, .2d and
 * .tile, and the coordinates after the address of the tensor map. */
void take_tensor(struct decoder *, struct words *, struct insn *);
decode_fn decode_prefetch, decode_tensor_prefetch;
/* decode_texture.c */
decode_fn decode_texture, decode_gather, decode_surface;
/* decode_matrix.c */
decode_fn decode_matrix;
/* decode_collective.c */
/* The member mask of an instruction of FAMILY_WARP. */
void take_members(struct decoder *, const struct ptx_operand *, struct insn *);
decode_fn decode_collective;

#endif
