#include "init.h"
#include "check.h"
#include "checkers.h"
#include "common/emu/machine/device.h"
#include "common/emu/machine/events.h"
#include "written.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct init {
    struct written written;
    bool *reported;  /* by instruction of the kernel that runs: it has a finding with text */
    uint32_t *first; /* by instruction: the first instruction of its line */
};

struct init_block {
    struct written shared;
};

struct init *init_open(void)
{
    struct init *init = calloc(1, sizeof *init);
    if (init) written_open(&init->written);
    return init;
}

void init_close(struct init *init)
{
    if (!init) return;
    written_close(&init->written);
    free(init->reported);
    free(init->first);
    free(init);
}

/* ---- what the host does ---------------------------------------------------------------------- */

void init_forget(struct init *init, uint64_t address, uint64_t bytes)
{
    written_forget(&init->written, address, bytes);
}

void init_write(struct init *init, uint64_t address, uint64_t bytes)
{
    written_set(&init->written, address, bytes);
}

void init_copy(struct init *to, uint64_t to_address, struct init *from, uint64_t from_address,
               uint64_t bytes)
{
    written_copy(&to->written, to_address, &from->written, from_address, bytes);
}

/* Memory has run out, and some writes are not recorded: nothing is reported from then on. */
static bool is_blind(const struct init *init) { return init->written.out_of_memory; }

/* The unwritten bytes of rows. *first_row: the row of the first of them, counted through all
 * slices. */
static struct unwritten look_at_rows(struct init *init, uint64_t address,
                                     const struct emu_rows *rows, uint64_t *first_row)
{
    struct unwritten all = {0};
    for (uint64_t k = 0; k < rows->rows * rows->slices; k++) {
        uint64_t from =
            address + k / rows->rows * rows->from_slice + k % rows->rows * rows->from_row;
        struct unwritten row = written_look(&init->written, from, rows->bytes);
        if (row.bytes && !all.bytes) {
            all.first = row.first;
            *first_row = k;
        }
        all.bytes += row.bytes;
    }
    return all;
}

/* Appends where the first unwritten byte is: its offset from the beginning, or from the
 * beginning of its row if there are several; and its element, if all stores nearby had elements
 * of one size. */
static void append_first(struct emu *emu, const struct emu_rows *rows, uint64_t address,
                         uint64_t first, uint64_t row, char *text, size_t size)
{
    uint64_t from =
        address + row / rows->rows * rows->from_slice + row % rows->rows * rows->from_row;
    unsigned width = written_width(&emu->checkers->init->written, first);
    char nearest[300];
    if (!width && first > from) width = written_width(&emu->checkers->init->written, first - 1);
    device_append(text, size, "\n    The first is at offset %" PRIu64, first - from);
    if (rows->rows * rows->slices > 1) device_append(text, size, " of row %" PRIu64, row);
    if (width)
        device_append(text, size, ", in element %" PRIu64 " of %u bytes", (first - from) / width,
                      width);
    device_describe_address(emu, first, nearest, sizeof nearest);
    device_append(text, size, ": address 0x%" PRIx64 ", %s", first, nearest);
}

void init_read(struct emu *emu, uint64_t address, const struct emu_rows *rows, const char *reader)
{
    char title[CHECK_TEXT], detail[CHECK_TEXT] = "", by[100] = "A copy to the host";
    uint64_t row = 0, bytes = rows->bytes * rows->rows * rows->slices;
    struct emu_host_place place;
    if (is_blind(emu->checkers->init)) return;
    struct unwritten unwritten = look_at_rows(emu->checkers->init, address, rows, &row);
    if (!unwritten.bytes) return;
    if (reader) snprintf(by, sizeof by, "%s reads", reader);
    snprintf(title, sizeof title,
             "Host API uninitialized memory access of size %" PRIu64 "\n    %s from 0x%" PRIx64
             ": %" PRIu64 " of its %" PRIu64 " bytes have not been written",
             bytes, by, address, unwritten.bytes, bytes);
    append_first(emu, rows, address, unwritten.first, row, title, sizeof title);
    check_host_place(emu, &place);
    check_append_host_place(emu, &place, reader ? "It was called at" : "The copy was made at",
                            detail, sizeof detail);
    check_report(
        emu, NULL,
        &(struct check_report){.tool = EMU_CHECK_INIT,
                               .severity = EMU_FINDING_ERROR,
                               .kind = reader ? "uninitialized-read" : "uninitialized-copy",
                               .title = title,
                               .has_address = true,
                               .space = PTX_GLOBAL,
                               .address = unwritten.first,
                               .detail = *detail ? detail + 1 : NULL});
}

/* ---- what a kernel reads --------------------------------------------------------------------- */

/* "Address 0x… (…) has not been written", or how many of the bytes read there have not. */
static void describe(const struct launch *launch, enum ptx_space space, uint64_t address,
                     unsigned bytes, const struct unwritten *unwritten, char *text, size_t size)
{
    char nearest[300];
    struct range range;
    snprintf(text, size, "    Address 0x%" PRIx64, address);
    if (space == PTX_GLOBAL) {
        device_describe_address(launch->emu, address, nearest, sizeof nearest);
        device_append(text, size, " (%s)", nearest);
        if (device_range(launch->emu, address, &range))
            device_append(text, size, ", element %" PRIu64 " of %u bytes",
                          (address - range.base) / bytes, bytes);
    }
    if (unwritten->bytes == bytes)
        device_append(text, size, "%s has not been written", space == PTX_GLOBAL ? "," : "");
    else
        device_append(text, size,
                      ": %" PRIu64 " of its %u bytes have not been written, the first at offset"
                      " %" PRIu64,
                      unwritten->bytes, bytes, unwritten->first - address);
}

static void report(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                   uint64_t address, unsigned bytes, const struct unwritten *unwritten)
{
    const struct launch *launch = w->block->launch;
    const struct init *init = launch->emu->checkers->init;
    uint32_t first = init->first[i - launch->kernel->code];
    char title[100] = "", detail[CHECK_TEXT] = "";
    struct check_report report = {.tool = EMU_CHECK_INIT,
                                  .severity =
                                      space == PTX_SHARED ? EMU_FINDING_WARNING : EMU_FINDING_ERROR,
                                  .kind = "uninitialized-read",
                                  .title = title,
                                  .same = space == PTX_SHARED ? "shared" : "global",
                                  .has_address = true,
                                  .space = space,
                                  .address = address,
                                  .bytes = bytes,
                                  .unit = "reads",
                                  .detail = detail,
                                  .place = check_place(w, &launch->kernel->code[first], lane)};
    if (!init->reported[first]) {
        snprintf(title, sizeof title, "Uninitialized __%s__ memory read of size %u bytes",
                 report.same, bytes);
        describe(launch, space, address, bytes, unwritten, detail, sizeof detail);
    }
    init->reported[first] = true;
    check_report(launch->emu, launch, &report);
}

/* ---- a kernel's accesses --------------------------------------------------------------------- */

bool init_begin(struct launch *launch)
{
    struct init *init = launch->emu->checkers->init;
    free(init->reported);
    free(init->first);
    init->reported = calloc(launch->kernel->code_count, sizeof *init->reported);
    init->first = check_first_of_lines(launch->kernel);
    return init->reported && init->first;
}

struct init_block *init_block_new(const struct block *block)
{
    struct init_block *init = calloc(1, sizeof *init);
    if (init && written_open_piece(&init->shared, block->shared_bytes)) return init;
    free(init);
    return NULL;
}

/* The system's shared memory counts as written. */
void init_block_start(struct block *block)
{
    struct written *shared = &block->initcheck->shared;
    size_t reserved = block->shared_bytes - block->reserved_offset;
    written_forget_all(shared);
    if (reserved) written_set(shared, block->reserved_offset, reserved);
}

void init_block_free(struct init_block *init)
{
    if (!init) return;
    written_close(&init->shared);
    free(init);
}

/* The state of the device that the memory belongs to; NULL: it is host memory. */
static struct init *owner_of(const struct emu *emu, uint64_t address)
{
    if (emu_is_device(emu, address)) return emu->checkers->init;
    for (unsigned i = 0; i < emu->peer_count; i++)
        if (emu_is_device(emu->peers[i].emu, address)) return emu->peers[i].emu->checkers->init;
    return NULL;
}

/* The end of the allocation that holds a global address; 0: none does (emu --lenient). Shared
 * memory has no end here. */
static uint64_t end_of(const struct emu *emu, enum ptx_space space, uint64_t address)
{
    struct range range;
    if (space == PTX_SHARED) return UINT64_MAX;
    return device_range(emu, address, &range) ? range.base + range.bytes : 0;
}

/* Checks each element that a lane reads. An access that is not a plain load reads `bytes` at once.
 * Elements are aligned, so each lies between two multiples of 64. */
static void read_lane(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                      struct written *written, uint64_t address, unsigned bytes)
{
    uint32_t used = check_used_bytes(i);
    unsigned step = i->tally == TALLY_LOAD ? i->element_bytes : bytes;
    if (used == UINT32_MAX && written_near(written, address, bytes)) return;
    for (unsigned k = 0; k < bytes; k += step, address += step) {
        if (!(used >> k & 1) || written_near(written, address, step)) continue;
        uint64_t end = end_of(w->block->launch->emu, space, address);
        if (!end) continue;
        struct unwritten unwritten = written_look_around(written, address, step, end);
        if (unwritten.bytes) report(w, i, lane, space, address, step, &unwritten);
    }
}

/* Only a store of registers shows how wide the elements are. */
static void write_lane(const struct insn *i, struct written *written, uint64_t address,
                       unsigned bytes)
{
    if (i->tally == TALLY_STORE)
        written_store(written, address, bytes, i->element_bytes);
    else
        written_set(written, address, bytes);
}

void init_access(struct warp *w, const struct insn *i, const struct access *access)
{
    const struct emu *emu = w->block->launch->emu;
    enum ptx_space space = access->space;
    const uint64_t *address = access->address;
    struct init *init =
        space == PTX_SHARED ? NULL : owner_of(emu, address[__builtin_ctz(access->mask)]);
    if (is_blind(emu->checkers->init) || (space != PTX_SHARED && !init)) return;
    struct written *written = init ? &init->written : &access->owner->initcheck->shared;
    for (uint32_t left = access_reads(access) ? access->mask : 0; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        read_lane(w, i, lane, space, written, address[lane], access->bytes);
    }
    for (uint32_t left = access_writes(access) ? access->mask : 0; left; left &= left - 1)
        write_lane(i, written, address[__builtin_ctz(left)], access->bytes);
}
