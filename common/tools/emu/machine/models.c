/* models.c — the rules by which older GPUs access memory. */
#define _GNU_SOURCE /* strcasecmp_l */
#include "device.h"
#include <locale.h>
#include <strings.h>

enum { HALF_WARP = 16, QUARTER_WARP = 8, WORD_BYTES = 4, SEGMENT_BYTES = 32, LINE_BYTES = 128 };

/* ---- shared memory --------------------------------------------------------------------------- */

/* The lanes first … first + count - 1 of a mask. */
static uint32_t lanes_of(uint32_t mask, unsigned first, unsigned count)
{
    return mask & (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

/* How many of the remaining lanes access this word? */
static unsigned wanting(const uint64_t *word, uint32_t left, uint64_t wanted)
{
    unsigned count = 0;
    for (; left; left &= left - 1) count += word[__builtin_ctz(left)] == wanted;
    return count;
}

/* G80, GT200: 16 banks serve a half-warp. In each pass one word, the broadcast word, is delivered
 * to all lanes that access it, and every other bank serves one lane. The choice of the broadcast
 * word is not specified. Here it is the word that most lanes access, the first one of several. */
static unsigned passes_with_one_broadcast(const uint64_t *word, uint32_t left)
{
    enum { BANKS = 16 };
    unsigned passes = 0;
    for (; left; passes++) {
        uint64_t broadcast = 0;
        unsigned most = 0;
        for (uint32_t each = left; each; each &= each - 1) {
            uint64_t candidate = word[__builtin_ctz(each)];
            unsigned count = wanting(word, left, candidate);
            if (count > most) most = count, broadcast = candidate;
        }
        uint32_t busy = UINT32_C(1) << broadcast % BANKS;
        for (uint32_t each = left; each; each &= each - 1) {
            unsigned lane = (unsigned)__builtin_ctz(each);
            uint32_t bank = UINT32_C(1) << word[lane] % BANKS;
            if (word[lane] != broadcast && busy & bank) continue;
            busy |= bank;
            left &= ~(UINT32_C(1) << lane);
        }
    }
    return passes;
}

/* An access of 8 or 16 bytes counts as an access of 4 bytes for each of its words. */
static void shared_g80(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                       unsigned bytes, unsigned word_bytes)
{
    for (unsigned first = 0; first < WARP; first += HALF_WARP) {
        uint32_t half = lanes_of(mask, first, HALF_WARP);
        for (unsigned offset = 0; half && offset < bytes; offset += word_bytes) {
            uint64_t word[WARP];
            for (int lane = 0; lane < WARP; lane++)
                word[lane] = (address[lane] + offset) / word_bytes;
            counts->wavefronts += passes_with_one_broadcast(word, half);
            counts->ideal++;
        }
    }
}

/* The largest number of different rows that the lanes access in one of 32 banks. Each lane accesses
 * `words` consecutive words. */
static unsigned busiest_bank(const uint64_t *address, uint32_t lanes, unsigned words,
                             unsigned word_bytes, unsigned words_a_row)
{
    enum { BANKS = 32, MOST = WARP * 4 };
    uint64_t seen[MOST];
    unsigned count = 0, in_bank[BANKS] = {0}, most = 0;
    for (; lanes; lanes &= lanes - 1) {
        for (unsigned k = 0; k < words; k++) {
            uint64_t word = address[__builtin_ctz(lanes)] / word_bytes + k;
            unsigned bank = (unsigned)(word % BANKS);
            uint64_t place = word / words_a_row * BANKS + bank; /* of row and bank */
            bool known = false;
            for (unsigned i = 0; i < count && !known; i++) known = seen[i] == place;
            if (known) continue;
            seen[count++] = place;
            if (++in_bank[bank] > most) most = in_bank[bank];
        }
    }
    return most;
}

/* Fermi: 32 banks serve a warp; a half-warp for 8 bytes; a quarter-warp for 16 bytes. For 16 bytes
 * "one must add 1 to the maximum number of threads … that access different addresses belonging to
 * the same bank", so two passes are the minimum. */
static void shared_fermi(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes, unsigned word_bytes)
{
    unsigned group = bytes <= 4 ? WARP : bytes == 8 ? HALF_WARP : QUARTER_WARP;
    unsigned words = (bytes + word_bytes - 1) / word_bytes, extra = bytes == 16;
    for (unsigned first = 0; first < WARP; first += group) {
        uint32_t lanes = lanes_of(mask, first, group);
        if (!lanes) continue;
        counts->wavefronts += busiest_bank(address, lanes, words, word_bytes, 32) + extra;
        counts->ideal++;
    }
}

/* Kepler: 32 banks of 8 bytes serve a warp; a half-warp for 16 bytes. In 4-byte mode words i and
 * i + 32 of an aligned group of 64 are in one row. In 8-byte mode words of 8 bytes follow each
 * other. */
static void shared_kepler(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                          unsigned bytes, unsigned word_bytes)
{
    unsigned group = bytes <= 8 ? WARP : HALF_WARP;
    unsigned words = (bytes + word_bytes - 1) / word_bytes;
    for (unsigned first = 0; first < WARP; first += group) {
        uint32_t lanes = lanes_of(mask, first, group);
        if (!lanes) continue;
        counts->wavefronts +=
            busiest_bank(address, lanes, words, word_bytes, word_bytes == 4 ? 64 : 32);
        counts->ideal++;
    }
}

/* ---- global memory --------------------------------------------------------------------------- */

static void transaction(struct insn_counts *counts, unsigned bytes)
{
    counts->sectors++;
    counts->moved += bytes;
}

/* The number of different bytes requested: aligned accesses of one size do not overlap. */
static uint64_t needed_bytes(const uint64_t *address, uint32_t mask, unsigned bytes)
{
    uint64_t needed = 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        bool known = false;
        for (uint32_t before = lanes_of(mask, 0, lane); before && !known; before &= before - 1)
            known = address[__builtin_ctz(before)] == address[lane];
        if (!known) needed += bytes;
    }
    return needed;
}

/* Does every active lane k of a half-warp access word k of one aligned group of 16? */
static bool in_order(const uint64_t *address, uint32_t half, unsigned first, unsigned bytes)
{
    unsigned lane = (unsigned)__builtin_ctz(half);
    uint64_t start = address[lane] - (uint64_t)(lane - first) * bytes;
    if (bytes < WORD_BYTES || start % (HALF_WARP * bytes)) return false;
    for (; half; half &= half - 1) {
        lane = (unsigned)__builtin_ctz(half);
        if (address[lane] != start + (uint64_t)(lane - first) * bytes) return false;
    }
    return true;
}

/* G80: a half-warp in order takes one transaction of 64 or 128 bytes, or two of 128. Otherwise each
 * lane takes one of 32 bytes. */
static void global_g80(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                       unsigned bytes, unsigned least)
{
    for (unsigned first = 0; first < WARP; first += HALF_WARP) {
        uint32_t half = lanes_of(mask, first, HALF_WARP);
        if (!half) continue;
        unsigned span = HALF_WARP * bytes;
        if (!in_order(address, half, first, bytes)) {
            for (int lanes = __builtin_popcount(half); lanes > 0; lanes--)
                transaction(counts, least);
            continue;
        }
        for (unsigned at = 0; at < span; at += LINE_BYTES)
            transaction(counts, span < LINE_BYTES ? span : LINE_BYTES);
    }
}

/* GT200: the segment of the lowest lane serves all lanes of the half-warp inside of it. It is
 * halved while all these lanes are in one half. Then the next segment follows. */
static void global_gt200(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                         unsigned bytes, unsigned least)
{
    unsigned largest = bytes == 1 ? least : bytes == 2 ? 2 * least : LINE_BYTES;
    for (unsigned first = 0; first < WARP; first += HALF_WARP) {
        uint32_t left = lanes_of(mask, first, HALF_WARP);
        while (left) {
            uint64_t segment = address[__builtin_ctz(left)] / largest, low = UINT64_MAX, high = 0;
            for (uint32_t each = left; each; each &= each - 1) {
                unsigned lane = (unsigned)__builtin_ctz(each);
                if (address[lane] / largest != segment) continue;
                if (address[lane] < low) low = address[lane];
                if (address[lane] + bytes - 1 > high) high = address[lane] + bytes - 1;
                left &= ~(UINT32_C(1) << lane);
            }
            unsigned size = largest;
            while (size > least && low / (size / 2) == high / (size / 2)) size /= 2;
            transaction(counts, size);
        }
    }
}

/* One transaction for each aligned range of `size` bytes that is accessed by a warp; by a half-warp
 * for 8 bytes; by a quarter-warp for 16 bytes. */
static void global_stretches(struct insn_counts *counts, const uint64_t *address, uint32_t mask,
                             unsigned bytes, unsigned size)
{
    unsigned group = bytes <= 4 ? WARP : bytes == 8 ? HALF_WARP : QUARTER_WARP;
    for (unsigned first = 0; first < WARP; first += group) {
        uint32_t left = lanes_of(mask, first, group);
        while (left) {
            uint64_t stretch = address[__builtin_ctz(left)] / size;
            for (uint32_t each = left; each; each &= each - 1) {
                unsigned lane = (unsigned)__builtin_ctz(each);
                if (address[lane] / size == stretch) left &= ~(UINT32_C(1) << lane);
            }
            transaction(counts, size);
        }
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

#define SEGMENTS(rule) {rule, SEGMENT_BYTES}
static const struct emu_model models[] = {
    {{"g80", "G80 (2006): 16 banks serve a half-warp; 64 or 128 bytes if its lanes are in order, "
             "else 32 bytes a lane"},
     {shared_g80, 4}, SEGMENTS(global_g80), SEGMENTS(global_g80)},
    {{"gt200", "GT200 (2008): 16 banks serve a half-warp; its segments of 32 to 128 bytes"},
     {shared_g80, 4}, SEGMENTS(global_gt200), SEGMENTS(global_gt200)},
    {{"fermi", "Fermi (2010): 32 banks serve a warp; lines of 128 bytes (stores: segments of 32)"},
     {shared_fermi, 4}, {global_stretches, LINE_BYTES}, SEGMENTS(global_stretches)},
    {{"kepler4", "Kepler (2012): 32 banks of 8 bytes, in 4-byte mode; segments of 32 bytes"},
     {shared_kepler, 4}, SEGMENTS(global_stretches), SEGMENTS(global_stretches)},
    {{"kepler8", "Kepler (2012): 32 banks of 8 bytes, in 8-byte mode; segments of 32 bytes"},
     {shared_kepler, 8}, SEGMENTS(global_stretches), SEGMENTS(global_stretches)},
    {.info = {"hopper",
              "today's rules, since Volta (2017): 32 banks, sectors of 32 bytes; the default"}},
};

const struct emu_model *emu_model_at(size_t index)
{
    return index < sizeof models / sizeof *models ? &models[index] : NULL;
}

const struct emu_model *emu_model_find(const char *key)
{
    const struct emu_model *model;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* static; a Turkish i has no I */
    for (size_t i = 0; (model = emu_model_at(i)) != NULL; i++)
        if (strcasecmp_l(model->info.key, key, c) == 0) return model;
    return NULL;
}

const struct emu_model_info *emu_model_info(const struct emu_model *model) { return &model->info; }

void model_shared(const struct emu_model *model, struct insn_counts *counts,
                  const uint64_t *address, uint32_t mask, unsigned bytes)
{
    counts->shared_requests++;
    model->shared.count(counts, address, mask, bytes, model->shared.unit);
    counts->source_ideal = counts->ideal;
}

void model_global(const struct emu_model *model, struct insn_counts *counts,
                  const uint64_t *address, uint32_t mask, unsigned bytes, bool load)
{
    counts->requests++;
    counts->bytes += (uint64_t)bytes * (unsigned)__builtin_popcount(mask);
    counts->needed += needed_bytes(address, mask, bytes);
    const struct model_rule *rule = load ? &model->load : &model->store;
    rule->count(counts, address, mask, bytes, rule->unit);
}
