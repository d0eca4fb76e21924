/* no_matrix.c — in place of decode_matrix.c and watch/race_children.c: the page's emulator has no
 * tensor cores. */
#include "common/emu/ptx/decode.h"

struct access;

void decode_matrix(struct decoder *d, const struct ptx_instruction *source, struct insn *i)
{
    (void)source, (void)i;
    decode_fail(d, EMU_UNSUPPORTED_PTX,
                "the emulator on this page has no tensor cores; compute the product by plain "
                "multiplications instead");
}

void race_matrix_access(struct warp *w, const struct insn *i, const struct access *rows)
{
    (void)w, (void)i, (void)rows;
}
