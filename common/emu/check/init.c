/* init.c — see init.h. */
#include "init.h"
#include "check.h"
#include "emu/machine/device.h"
#include "emu/machine/pages.h"
#include "watch.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct init {
    struct pages pages; /* a bit for each byte of device memory: it has been written */
    bool *told;         /* by instruction of the kernel that runs: its text is known */
    uint32_t *first;    /* by instruction: the first of its line */
    bool out_of_memory; /* then nothing is reported any more */
};

struct init_block {
    uint64_t *shared; /* the bits of shared memory */
    size_t words;
};

enum { WORD = 64 };

struct init *init_open(void)
{
    struct init *init = calloc(1, sizeof *init);
    if (init) init->pages.bytes = PAGE_BYTES / 8;
    return init;
}

void init_close(struct init *init)
{
    if (!init) return;
    pages_close(&init->pages);
    free(init->told);
    free(init->first);
    free(init);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* The word with the bits of an address in device memory. NULL: nothing is written near it. */
static uint64_t *word_at(struct init *init, uint64_t address)
{
    struct page *page = pages_find(&init->pages, address >> PAGE_BITS);
    return page ? &page->content[address % PAGE_BYTES / WORD] : NULL;
}

static uint64_t *word_for(struct init *init, uint64_t address)
{
    struct page *page = pages_touch(&init->pages, address >> PAGE_BITS);
    if (!page) init->out_of_memory = true;
    return page ? &page->content[address % PAGE_BYTES / WORD] : NULL;
}

/* Of the bytes from `at` on that lie in one word: how many, at most `left`. */
static unsigned in_word(uint64_t at, uint64_t left)
{
    unsigned room = WORD - (unsigned)(at % WORD);
    return left < room ? (unsigned)left : room;
}

static uint64_t bits_from(uint64_t at, unsigned count)
{
    uint64_t ones = count == WORD ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return ones << at % WORD;
}

void init_forget(struct init *init, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        uint64_t *word = word_at(init, at);
        if (word) *word &= ~bits_from(at, count);
        at = word ? at + count : (at / PAGE_BYTES + 1) * PAGE_BYTES;
    }
}

void init_write(struct init *init, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        uint64_t *word = word_for(init, at);
        if (!word) return;
        *word |= bits_from(at, count);
        at += count;
    }
}

static bool is_written(struct init *init, uint64_t address)
{
    const uint64_t *word = word_at(init, address);
    return word && *word >> address % WORD & 1;
}

static bool any_written(struct init *init, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        const uint64_t *word = word_at(init, at);
        if (word && *word & bits_from(at, count)) return true;
        at += count;
    }
    return false;
}

static bool all_written(struct init *init, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        const uint64_t *word = word_at(init, at);
        if (!word || ~*word & bits_from(at, count)) return false;
        at += count;
    }
    return true;
}

void init_copy(struct init *init, uint64_t to, uint64_t from, uint64_t bytes)
{
    if (all_written(init, from, bytes)) {
        init_write(init, to, bytes);
        return;
    }
    bool backwards = to > from; /* they may overlap */
    for (uint64_t k = 0; k < bytes; k++) {
        uint64_t i = backwards ? bytes - 1 - k : k;
        if (is_written(init, from + i))
            init_write(init, to + i, 1);
        else
            init_forget(init, to + i, 1);
    }
}

/* ---- what is told ---------------------------------------------------------------------------- */

void init_read(struct emu *emu, uint64_t address, uint64_t bytes)
{
    char head[CHECK_TEXT], nearest[300];
    if (emu->init->out_of_memory || any_written(emu->init, address, bytes)) return;
    device_describe_address(emu, address, nearest, sizeof nearest);
    snprintf(head, sizeof head,
             "Host API uninitialized memory access of size %" PRIu64
             "\n    A copy to the host from 0x%" PRIx64
             ", %s: no copy, fill or kernel has written any of it",
             bytes, address, nearest);
    check_report(emu, NULL,
                 &(struct check_report){.tool = EMU_CHECK_INIT,
                                        .severity = EMU_FINDING_ERROR,
                                        .kind = "host read",
                                        .head = head});
}

static void report(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                   uint64_t address, unsigned bytes)
{
    const struct launch *launch = w->block->launch;
    const struct init *init = launch->emu->init;
    uint32_t first = init->first[i - launch->kernel->code];
    char title[100], head[CHECK_TEXT] = "", detail[CHECK_TEXT], nearest[300] = "";
    struct check_report report = {.tool = EMU_CHECK_INIT,
                                  .severity =
                                      space == PTX_SHARED ? EMU_FINDING_WARNING : EMU_FINDING_ERROR,
                                  .kind = space == PTX_SHARED ? "shared" : "global",
                                  .unit = "reads",
                                  .head = head,
                                  .detail = detail,
                                  .place = check_place(w, &launch->kernel->code[first], lane)};
    detail[0] = '\0';
    if (!init->told[first]) {
        snprintf(title, sizeof title, "Uninitialized __%s__ memory read of size %u bytes",
                 report.kind, bytes);
        check_head(launch, &report.place, title, head, sizeof head);
        if (space == PTX_GLOBAL)
            device_describe_address(launch->emu, address, nearest, sizeof nearest);
        snprintf(detail, sizeof detail, "    Address 0x%" PRIx64 "%s%s%s has not been written",
                 address, *nearest ? " (" : "", nearest, *nearest ? ")" : "");
    }
    init->told[first] = true;
    check_report(launch->emu, launch, &report);
}

/* ---- a kernel's accesses --------------------------------------------------------------------- */

bool init_begin(struct launch *launch)
{
    struct init *init = launch->emu->init;
    free(init->told);
    free(init->first);
    init->told = calloc(launch->kernel->code_count, sizeof *init->told);
    init->first = check_first_of_lines(launch->kernel);
    return init->told && init->first;
}

struct init_block *init_block_new(const struct block *block)
{
    struct init_block *init = calloc(1, sizeof *init);
    if (!init) return NULL;
    init->words = (block->shared_bytes + WORD - 1) / WORD;
    init->shared = malloc(init->words * sizeof *init->shared + 1);
    if (init->shared) return init;
    free(init);
    return NULL;
}

void init_block_start(struct block *block)
{
    memset(block->init->shared, 0, block->init->words * sizeof *block->init->shared);
}

void init_block_free(struct init_block *init)
{
    if (!init) return;
    free(init->shared);
    free(init);
}

/* Of the device whose memory that is; NULL: of the host. */
static struct init *owner_of(const struct emu *emu, uint64_t address)
{
    if (emu_is_device(emu, address)) return emu->init;
    for (unsigned i = 0; i < emu->peer_count; i++)
        if (emu_is_device(emu->peers[i].emu, address)) return emu->peers[i].emu->init;
    return NULL;
}

/* Each element that a lane takes, of the owner's shared memory if init is NULL. They lie in one word
 * each, because they are aligned. What is no plain load takes `bytes` at once. */
static void read_lane(struct warp *w, const struct insn *i, int lane, struct init *init,
                      const struct block *owner, uint64_t address, unsigned bytes)
{
    uint32_t used = watch_used_bytes(i);
    unsigned step = i->tally == TALLY_LOAD ? i->element_bytes : bytes;
    for (unsigned k = 0; k < bytes; k += step, address += step) {
        if (!(used >> k & 1)) continue;
        const uint64_t *word = init ? word_at(init, address) : &owner->init->shared[address / WORD];
        if (!word || !(*word & bits_from(address, step)))
            report(w, i, lane, init ? PTX_GLOBAL : PTX_SHARED, address, step);
    }
}

void init_access(struct warp *w, const struct insn *i, uint32_t mask, const uint64_t *address,
                 unsigned bytes, const char *operation, enum ptx_space space,
                 const struct block *owner)
{
    bool shared = space == PTX_SHARED;
    struct init *init =
        shared ? NULL : owner_of(w->block->launch->emu, address[__builtin_ctz(mask)]);
    if (w->block->launch->emu->init->out_of_memory || (!shared && !init)) return;
    for (uint32_t left = mask; left && *operation != 's'; left &= left - 1) {
        int lane = __builtin_ctz(left);
        read_lane(w, i, lane, init, owner, address[lane], bytes);
    }
    for (uint32_t left = mask; left && *operation != 'l'; left &= left - 1) {
        uint64_t at = address[__builtin_ctz(left)];
        if (shared)
            owner->init->shared[at / WORD] |= bits_from(at, bytes);
        else
            init_write(init, at, bytes);
    }
}
