/* no_tensor.c — in place of decode_matrix.c and tensor.c: the page's emulator has no bulk copies of
 * tensors. */
#include "common/emu/ptx/decode.h"

struct access;
struct tensor_box;

void take_tensor(struct decoder *d, struct words *words, struct insn *i)
{
    (void)words, (void)i;
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "the emulator on this page has no tensor maps; copy rows instead");
}

void decode_tensor_prefetch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    (void)source;
    take_tensor(d, NULL, i);
}

void decode_prefetch(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    decode_nothing(d, source, i);
}

/* As no copy of a tensor is decoded, the functions of tensor.c are never called. */
bool tensor_box_read(struct warp *w, const struct insn *i, int lane, struct tensor_box *box)
{
    return (void)w, (void)i, (void)lane, (void)box, false;
}
bool tensor_find(struct warp *w, const struct insn *i, int lane, const struct tensor_box *box,
                 int64_t *delta)
{
    return (void)w, (void)i, (void)lane, (void)box, (void)delta, false;
}
void tensor_announce(struct warp *w, const struct insn *i, const struct tensor_box *box,
                     struct access *access)
{
    (void)w, (void)i, (void)box, (void)access;
}
bool tensor_carry_out(const struct insn *i, const struct tensor_box *box, uint8_t *shared,
                      uint8_t *tensor)
{
    return (void)i, (void)box, (void)shared, (void)tensor, false;
}
