/*
 * absent.c — what the page's emulator does without, in place of the files that page.mk leaves out:
 * a progress bar, copies of the process for --tool order, launches in kernels, tensor cores, and
 * bulk copies of tensors.
 */
#include "common/tools/emu/ptx/decode.h"

#include <stdbool.h>
#include <stddef.h>

struct access;
struct check_report;
struct launch;
struct op_comparison;
struct order_check;
struct race;
struct tensor_box;

/* ---- progress -------------------------------------------------------------------------------- */

void progress_begin(const char *label, size_t total) { (void)label, (void)total; }
void progress_at(size_t done) { (void)done; }
void progress_end(void) {}

/* ---- which barriers are needed --------------------------------------------------------------- */

struct order_check *order_open(void) { return NULL; }
void order_close(struct order_check *o) { (void)o; }
void order_begin(struct launch *launch) { (void)launch; }
void order_end(struct launch *launch) { (void)launch; }
bool order_skips(const struct launch *launch, const struct insn *i)
{
    return (void)launch, (void)i, false;
}
void emu_report_order(struct emu *emu, struct emu *to, enum emu_order_answer answer, size_t *count)
{
    (void)emu, (void)to, (void)answer, (void)count;
}
void order_hazard(const struct launch *launch, const struct check_report *r)
{
    (void)launch, (void)r;
}

/* ---- launches in kernels --------------------------------------------------------------------- */

void (*runtime_find(const char *name))(struct warp *, const struct insn *, uint32_t)
{
    return (void)name, NULL;
}
int children_open(struct emu *emu, struct launch *launch) { return (void)emu, (void)launch, 0; }
int children_take(struct emu *emu, struct launch *launch) { return (void)emu, (void)launch, 0; }
struct launch *children_next(struct emu *emu, int *error) { return (void)emu, *error = 0, NULL; }
void children_drop(struct emu *emu) { (void)emu; }
void children_free(struct launch *launch) { (void)launch; }
void descendants_close(struct emu *emu) { (void)emu; }
void race_families_compare(struct op_comparison *c, struct race *race) { (void)c, (void)race; }
void race_families_forget(struct race *race, uint64_t address, uint64_t bytes)
{
    (void)race, (void)address, (void)bytes;
}

/* ---- tensor cores ---------------------------------------------------------------------------- */

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

/* ---- tensors --------------------------------------------------------------------------------- */

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
