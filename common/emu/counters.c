#define _POSIX_C_SOURCE 200809L /* strdup */
#include "counters.h"
#include "module.h"
#include <stdlib.h>
#include <string.h>

enum { BANKS = 32, BANK_BYTES = 4, SECTOR_BYTES = 32, MOST_WORDS = WARP * 16 / BANK_BYTES };

/* The distinct words that lanes touch, chained by bank. */
struct bank_words {
    uint64_t word[MOST_WORDS];
    int16_t next[MOST_WORDS], first[BANKS];
    uint8_t in_bank[BANKS];
    int count;
};

static void touch(struct bank_words *words, uint64_t word)
{
    unsigned bank = word % BANKS;
    for (int i = words->first[bank]; i >= 0; i = words->next[i])
        if (words->word[i] == word) return;
    words->word[words->count] = word;
    words->next[words->count] = words->first[bank];
    words->first[bank] = (int16_t)words->count++;
    words->in_bank[bank]++;
}

static unsigned wavefronts(const uint64_t *address, uint32_t lanes, unsigned bytes)
{
    struct bank_words words = {.count = 0};
    unsigned most = 0;
    memset(words.first, -1, sizeof words.first);
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint64_t a = address[__builtin_ctz(left)];
        for (uint64_t word = a / BANK_BYTES; word <= (a + bytes - 1) / BANK_BYTES; word++)
            touch(&words, word);
    }
    for (int bank = 0; bank < BANKS; bank++)
        if (words.in_bank[bank] > most) most = words.in_bank[bank];
    return most;
}

/* Does every active lane n share its address with lane n^distance, or is that one inactive? */
static bool lanes_pair(const uint64_t *address, uint32_t mask, unsigned distance)
{
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left), other = lane ^ distance;
        if (mask >> other & 1 && address[lane] != address[other]) return false;
    }
    return true;
}

/* The everyday case: neighbouring lanes, neighbouring words, each bank once. */
static bool consecutive(const uint64_t *address, uint32_t mask)
{
    if (mask != ALL_LANES) return false;
    bool so = true;
    for (unsigned lane = 1; lane < WARP; lane++)
        so &= address[lane] == address[0] + BANK_BYTES * lane;
    return so;
}

void count_shared(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                  unsigned bytes, bool load)
{
    counts->shared_requests++;
    if (bytes == BANK_BYTES && consecutive(address, mask)) {
        counts->wavefronts++;
        counts->ideal++;
        return;
    }
    unsigned group_lanes = bytes <= 4 ? WARP : bytes == 8 ? WARP / 2 : WARP / 4;
    if (load && bytes > 4 && (lanes_pair(address, mask, 1) || lanes_pair(address, mask, 2)))
        group_lanes *= 2;
    for (unsigned first = 0; first < WARP; first += group_lanes) {
        uint32_t group =
            group_lanes == WARP
                ? mask
                : mask >> first << first & (uint32_t)((UINT64_C(1) << (first + group_lanes)) - 1);
        if (!group) continue;
        counts->wavefronts += wavefronts(address, group, bytes);
        counts->ideal++;
    }
}

void count_global(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                  unsigned bytes)
{
    uint64_t seen[WARP];
    unsigned sectors = 0;
    counts->requests++;
    counts->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    /* An access is aligned to its size, so it lies in one sector. */
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t sector = address[__builtin_ctz(left)] / SECTOR_BYTES;
        bool known = false;
        for (unsigned i = sectors; i-- > 0 && !known;) known = seen[i] == sector;
        if (!known) seen[sectors++] = sector;
    }
    counts->sectors += sectors;
}

void count_access(const struct warp *warp, const struct insn *insn, enum ptx_space space,
                  const uint64_t *address, uint32_t mask, unsigned bytes, bool load)
{
    struct insn_counts *counts = &warp->counts[insn - warp->block->launch->kernel->code];
    if (insn->counted_bytes == COUNTED_WITH_ANOTHER) return;
    if (insn->counted_bytes) bytes = insn->counted_bytes;
    if (space == PTX_SHARED)
        count_shared(counts, address, mask, bytes, load);
    else
        count_global(counts, address, mask, bytes);
}

/* ---- the record of a launch ---------------------------------------------------------------- */

static void add_shared(struct emu_shared *to, const struct insn_counts *from)
{
    to->instructions += from->shared_requests;
    to->wavefronts += from->wavefronts;
    to->ideal += from->ideal;
}

static void add_global(struct emu_global *to, const struct insn_counts *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
    to->bytes += from->bytes;
}

static void add_counts(struct emu_counts *to, const struct insn *insn,
                       const struct insn_counts *from)
{
    to->instructions += from->executed;
    to->lanes += from->lanes;
    switch (insn->tally) {
    case TALLY_NONE: break;
    case TALLY_BARRIER: to->barriers += from->executed; break;
    case TALLY_LOAD: add_shared(&to->shared_ld, from), add_global(&to->global_ld, from); break;
    case TALLY_STORE: add_shared(&to->shared_st, from), add_global(&to->global_st, from); break;
    case TALLY_ATOMIC:
        add_shared(&to->shared_atom, from), add_global(&to->global_atom, from);
        break;
    default: to->adds[insn->tally - TALLY_ADD] += from->lanes; break;
    }
}

struct emu_launch_record *record_make(const struct launch *launch, double seconds)
{
    const struct emu_kernel *kernel = launch->kernel;
    const struct ptx_text *text = &kernel->module->text;
    struct emu_launch_record *record = calloc(1, sizeof *record);
    struct emu_line *lines = calloc(kernel->line_count, sizeof *lines);
    /* The module may be unloaded before the record is read. */
    char *name = strdup(kernel->info.name), *agreement = strdup(kernel->agreement->text);
    if (!record || !lines || !name || !agreement) {
        free(record);
        free(lines);
        free(name);
        free(agreement);
        return NULL;
    }
    *record = (struct emu_launch_record){.id = launch->id,
                                         .kernel = name,
                                         .grid = launch->grid,
                                         .block = launch->block,
                                         .dynamic_shared = launch->dynamic_shared,
                                         .static_shared = kernel->info.shared_bytes,
                                         .agreement = *kernel->agreement,
                                         .seconds = seconds,
                                         .lines = lines};
    record->agreement.text = agreement;
    for (size_t i = 0; i < kernel->code_count; i++) {
        if (!launch->total[i].executed) continue;
        add_counts(&record->total, &kernel->code[i], &launch->total[i]);
        add_counts(&lines[kernel->code[i].line].counts, &kernel->code[i], &launch->total[i]);
    }
    for (size_t i = 0; i < kernel->line_count; i++) {
        const struct source_line *line = &kernel->lines[i];
        const char *file = line->file < text->file_count ? text->files[line->file] : NULL;
        if (!line->line || !file || !lines[i].counts.instructions) continue;
        struct emu_line *out = &lines[record->line_count++];
        struct emu_counts counts = lines[i].counts;
        *out = (struct emu_line){strdup(file), line->line, counts};
        if (!out->file) record->line_count--;
    }
    return record;
}

void record_free(struct emu_launch_record *record)
{
    if (!record) return;
    for (size_t i = 0; i < record->line_count; i++) free((char *)record->lines[i].file);
    free((struct emu_line *)record->lines);
    free((char *)record->kernel);
    free((char *)record->agreement.text);
    free(record);
}
