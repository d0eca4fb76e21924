#include "quiz.h"

#include "common/harness/report/source_line.h"
#include "common/step/element.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    BANKS = 32,
    WORD = 4,                       /* bytes */
    FIRST_WORDS = 2 * QUIZ_NUMBERS, /* of shared memory, about which a question of values is */
    FEW_LANES = 4,                  /* of an access that a question is about, at least */
    TRIES = 100,                    /* to find one that can be named */
    CODE_BYTES = 120,               /* of a source line */
};

#define PUT(to, ...) snprintf((to), QUIZ_TEXT, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) static void append(char to[QUIZ_TEXT], const char *format,
                                                         ...)
{
    size_t used = strlen(to);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to + used, QUIZ_TEXT - used, format, arguments);
    va_end(arguments);
}

/* ---- barriers and source lines --------------------------------------------------------------- */

static unsigned last_epoch(const struct accesses *all)
{
    unsigned last = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->of[i].epoch > last) last = all->of[i].epoch;
    return last;
}

/* "after barrier 3 and before barrier 4"; a block counts its barriers from 1. */
static void append_when(char *to, const struct accesses *all, unsigned epoch)
{
    if (epoch) append(to, "after barrier %u", epoch);
    append(to, "%s", epoch && epoch < last_epoch(all) ? " and " : "");
    if (epoch < last_epoch(all)) append(to, "before barrier %u", epoch + 1);
}

/* The code in "scan.cu:43", without its comment; returns the line's number. `file` is its path. */
static unsigned source_of(const struct step *step, const char *place, char file[CODE_BYTES],
                          char code[CODE_BYTES])
{
    const char *colon = strchr(place, ':');
    unsigned line = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    snprintf(file, CODE_BYTES, "steps/%02d-%s/%.*s", step->number, step->name,
             (int)strcspn(place, ":"), place);
    source_text(file, line, code, CODE_BYTES);
    char *comment = strstr(code, " //");
    if (comment) *comment = '\0';
    return line;
}

/* "line 43 of steps/03-work-efficient/scan.cu, `temp[bi] += temp[ai];`" */
static void append_line(char *to, const struct step *step, const char *place)
{
    char file[CODE_BYTES], code[CODE_BYTES];
    unsigned line = source_of(step, place, file, code);
    append(to, "line %u of %s", line, file);
    if (*code) append(to, ", `%s`", code);
}

/* Does the line name this access, and no other of the kind? `a[i] += b[k]` loads two words. (A
 * compiler that moves an access may give it a line that names another one, or none.) */
static bool is_named(const struct step *step, const struct access *a)
{
    char file[CODE_BYTES], code[CODE_BYTES];
    source_of(step, a->line, file, code);
    const char *bracket = strchr(code, '['), *equals = strchr(code, '=');
    if (!bracket || !equals) return false;
    if (strcmp(a->operation, "st") == 0) return bracket < equals;
    unsigned loads = equals[-1] == '+';
    for (const char *c = equals; *c; c++) loads += *c == '[';
    return loads == 1;
}

/* ---- choosing -------------------------------------------------------------------------------- */

typedef bool fits_fn(const struct accesses *, const struct access *);

/* One of the accesses that fit, or NULL. */
static const struct access *pick(struct quiz *q, const struct accesses *all, fits_fn *fits)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += fits(all, &all->of[i]);
    if (!count) return NULL;
    size_t chosen = quiz_draw(q, count);
    for (size_t i = 0;; i++)
        if (fits(all, &all->of[i]) && chosen-- == 0) return &all->of[i];
}

static unsigned pick_lane(struct quiz *q, uint32_t mask)
{
    size_t chosen = quiz_draw(q, (size_t)__builtin_popcount(mask));
    unsigned lane = 0;
    while (!(mask >> lane & 1) || chosen--) lane++;
    return lane;
}

/* ---- what is in this word? ------------------------------------------------------------------- */

/* Lanes that store another number than 0 in one of the first words. */
static uint32_t not_zero(const struct access *a)
{
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < TRACED_LANES; lane++)
        if (access_has(a, lane) && a->value[lane] && a->address[lane] < WORD * FIRST_WORDS)
            lanes |= 1U << lane;
    return lanes;
}

static bool stores_value(const struct accesses *all, const struct access *a)
{
    return access_is(a, "st", "shared") && a->bytes == WORD && not_zero(a) &&
           a->epoch < last_epoch(all);
}

/* The numbers that were loaded are no question. */
static bool stores_later_value(const struct accesses *all, const struct access *a)
{
    return a->epoch > 0 && stores_value(all, a);
}

/* The last store to this word up to the next barrier; lane is one of it. */
static const struct access *last_store(const struct accesses *all, const struct access *chosen,
                                       unsigned *lane)
{
    uint64_t address = chosen->address[*lane];
    for (size_t i = 0; i < all->count; i++) {
        const struct access *a = &all->of[i];
        if (!access_is(a, "st", "shared") || a->epoch != chosen->epoch) continue;
        for (unsigned k = 0; k < TRACED_LANES; k++)
            if (access_has(a, k) && a->address[k] == address) chosen = a, *lane = k;
    }
    return chosen;
}

bool ask_value(struct quiz *q, struct question *to)
{
    const struct access *a = pick(q, &q->small, stores_later_value);
    if (!a) a = pick(q, &q->small, stores_value);
    if (!a || step_element(q->step, q->options->variant) != ELEMENT_F32) return false;
    unsigned lane = pick_lane(q, not_zero(a));
    uint64_t word = a->address[lane] / WORD;
    a = last_store(&q->small, a, &lane);
    float value;
    memcpy(&value, &a->value[lane], sizeof value);
    PUT(to->text,
        "The input is %s. Every thread of the block has come to barrier %u, and none has passed "
        "it. Which number is in word %" PRIu64 " of shared memory?",
        q->numbers, a->epoch + 1, word);
    PUT(to->answer, "%g", value);
    PUT(to->why, "lane %u of warp %u stores it in ", lane, a->warp);
    append_line(to->why, q->step, a->line);
    return true;
}

/* ---- how much is done between two barriers? -------------------------------------------------- */

static bool uses_shared(const struct accesses *all, const struct access *a)
{
    (void)all;
    return strcmp(a->space, "shared") == 0;
}

static unsigned warps_of(const struct quiz *q)
{
    unsigned most = 0;
    for (size_t i = 0; i < q->large.count; i++)
        if (q->large.of[i].warp > most) most = q->large.of[i].warp;
    return most + 1;
}

static unsigned warps_using(const struct accesses *all, unsigned epoch)
{
    uint64_t seen = 0; /* a block has at most 32 warps */
    for (size_t i = 0; i < all->count; i++)
        if (uses_shared(all, &all->of[i]) && all->of[i].epoch == epoch)
            seen |= UINT64_C(1) << all->of[i].warp;
    return (unsigned)__builtin_popcountll(seen);
}

static unsigned words_loaded(const struct accesses *all, unsigned epoch)
{
    unsigned words = 0;
    for (size_t i = 0; i < all->count; i++)
        if (access_is(&all->of[i], "ld", "shared") && all->of[i].epoch == epoch)
            words += access_lanes(&all->of[i]) * (all->of[i].bytes / WORD);
    return words;
}

bool ask_level(struct quiz *q, struct question *to)
{
    const struct access *a = pick(q, &q->large, uses_shared);
    if (!a) return false;
    unsigned words = words_loaded(&q->large, a->epoch);
    bool ask_words = words && quiz_draw(q, 2);
    PUT(to->text, "n = %zu. ", q->n);
    if (ask_words)
        append(to->text, "How many words do the threads of block 0, all together, load from shared "
                         "memory ");
    else
        append(to->text, "Block 0 has %u warps. How many of them use shared memory ", warps_of(q));
    append_when(to->text, &q->large, a->epoch);
    append(to->text, "?");
    PUT(to->answer, "%u", ask_words ? words : warps_using(&q->large, a->epoch));
    PUT(to->why, "%s --levels shows it for all blocks", q->command);
    return true;
}

/* ---- how do lanes share the banks? ----------------------------------------------------------- */

static bool has_lanes(const struct accesses *all, const struct access *a)
{
    return uses_shared(all, a) && a->bytes == WORD && access_lanes(a) >= FEW_LANES;
}

static bool has_conflicts(const struct accesses *all, const struct access *a)
{
    return has_lanes(all, a) && a->wavefronts > a->ideal;
}

/* Is it the only one of its warp in this line, between the same barriers? Others could be meant. */
static bool is_alone(const struct step *step, const struct accesses *all, const struct access *a)
{
    unsigned count = 0;
    if (!is_named(step, a)) return false;
    for (size_t i = 0; i < all->count; i++) {
        const struct access *b = &all->of[i];
        count += a->warp == b->warp && a->epoch == b->epoch && !strcmp(a->line, b->line) &&
                 access_is(b, a->operation, a->space);
    }
    return count == 1;
}

static const struct access *pick_alone(struct quiz *q, fits_fn *fits)
{
    for (int i = 0; i < TRIES; i++) {
        const struct access *a = pick(q, &q->large, fits);
        if (!a || is_alone(q->step, &q->large, a)) return a;
    }
    return NULL;
}

static void write_lanes(char *to, const struct access *a, unsigned asked)
{
    uint64_t word = a->address[asked] / WORD;
    for (unsigned lane = 0; lane < TRACED_LANES; lane++) {
        uint64_t other = a->address[lane] / WORD;
        if (access_has(a, lane) && other != word && other % BANKS == word % BANKS)
            append(to, "%s%u", *to ? " " : "", lane);
    }
    if (!*to) append(to, "none");
}

static void write_words(char *to, const struct access *a)
{
    append(to, "its lanes use the words");
    for (unsigned lane = 0; lane < TRACED_LANES; lane++)
        if (access_has(a, lane)) append(to, " %" PRIu64, a->address[lane] / WORD);
}

/* Where lanes conflict, the question is about that. */
static void ask_conflicts(struct quiz *q, const struct access *a, struct question *to)
{
    unsigned lane = pick_lane(q, a->mask);
    if (quiz_draw(q, 2)) {
        append(to->text, ". Which lanes use another word of the same bank as lane %u?", lane);
        write_lanes(to->answer, a, lane);
    } else {
        append(to->text, ". How many wavefronts does it take?");
        PUT(to->answer, "%u", a->wavefronts);
    }
}

static void ask_bank(struct quiz *q, const struct access *a, struct question *to)
{
    unsigned lane = pick_lane(q, a->mask);
    append(to->text, ". In which bank is the word of lane %u?", lane);
    PUT(to->answer, "%u", (unsigned)(a->address[lane] / WORD % BANKS));
}

bool ask_banks(struct quiz *q, struct question *to)
{
    const struct access *meeting = pick_alone(q, has_conflicts);
    const struct access *a = meeting ? meeting : pick_alone(q, has_lanes);
    if (!a) return false;
    PUT(to->text, "n = %zu. Warp %u executes, ", q->n, a->warp);
    append_when(to->text, &q->large, a->epoch);
    append(to->text, ", the %s of ", access_is(a, "ld", a->space) ? "load" : "store");
    append_line(to->text, q->step, a->line);
    if (meeting)
        ask_conflicts(q, a, to);
    else
        ask_bank(q, a, to);
    write_words(to->why, a);
    return true;
}

/* ---- how many sectors does a warp move? ------------------------------------------------------ */

static bool is_global(const struct accesses *all, const struct access *a)
{
    (void)all;
    return access_is(a, "ld", "global") || access_is(a, "st", "global");
}

bool ask_sectors(struct quiz *q, struct question *to)
{
    const struct access *a = pick(q, &q->large, is_global);
    unsigned sectors = 0;
    if (!a) return false;
    bool loads = access_is(a, "ld", a->space);
    for (size_t i = 0; i < q->large.count; i++) {
        const struct access *b = &q->large.of[i];
        if (b->warp != a->warp || !access_is(b, a->operation, "global")) continue;
        append(to->why, "%s%u", *to->why ? " + " : "its requests: ", b->sectors);
        sectors += b->sectors;
    }
    PUT(to->text,
        "n = %zu. With --offset %zu the arrays begin %zu element%s after a multiple of 128 bytes. "
        "How many sectors do the %s of warp %u in block 0 %s global memory request, together?",
        q->n, q->offset, q->offset, q->offset == 1 ? "" : "s", loads ? "loads" : "stores", a->warp,
        loads ? "from" : "to");
    PUT(to->answer, "%u", sectors);
    append(to->why, " (%s --offset %zu)", q->command, q->offset);
    return true;
}
