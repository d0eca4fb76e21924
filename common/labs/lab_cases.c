/* lab_cases.c — on which sizes, inputs and orders of warps a submission is run. */
#include "lab.h"

#include <math.h>

enum {
    ORDERS = 3,        /* random orders of warps and blocks for some sizes */
    MORE_ORDERS = 6,   /* the same where blocks wait for blocks, or the order has to be kept */
    ORDERED_SIZES = 3, /* how many sizes, the largest ones */
    NEAR = 8,          /* a drawn size differs from the one handed out by at most 1/8 … */
    NEAR_LEAST = 2,    /* … or by this many */
    ANYWHERE = 2,      /* sizes that are drawn between the lab's least and most */
    WARP_LANES = 32,
    TRIES = 100,
    GREATEST_ELEMENT = 15, /* in eighths */
    FEW = 256,             /* LAB_FEW: about one element of this number is greater than 0 */
    ZERO = 8,              /* about one of this number of the other elements is 0 */
    BOUNDARY_LEAST = 16,   /* the least size that may have a boundary … */
    ALIGNMENT = 256,       /* … which lies between two warps of eight elements a thread */
    EXPONENT = 64,         /* of large elements: from this one … */
    EXPONENTS = 33,        /* … to the 32 above it */
    INSTRUCTIONS = 5000000,
    INSTRUCTIONS_PER_ELEMENT = 200,
};

/* splitmix64 (Steele, Lea, Flood 2014): a word from a state that counts up. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A word that is not 0, since 0 would mean "no seed" to the emulator. */
static uint64_t draw_seed(uint64_t *state) { return draw(state) | 1; }

static bool is_among(const size_t *sizes, size_t count, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == n) return true;
    return false;
}

static size_t count_sizes(const struct lab *lab)
{
    size_t count = 0;
    while (count < LAB_SIZES && lab->sizes[count]) count++;
    return count;
}

bool lab_hands_out(const struct lab *lab, size_t n)
{
    return is_among(lab->sizes, count_sizes(lab), n);
}

/* A size near the one handed out, and neither handed out nor drawn before. After too many tries,
 * the one handed out. */
static size_t draw_size(const struct lab *lab, const size_t *drawn, size_t count, size_t near,
                        uint64_t *state)
{
    size_t reach = near / NEAR;
    if (reach < NEAR_LEAST) reach = NEAR_LEAST;
    for (int i = 0; i < TRIES; i++) {
        size_t n = near + draw(state) % (2 * reach + 1);
        if (n < reach + lab->least || n - reach > lab->most) continue;
        n -= reach;
        if (!lab_hands_out(lab, n) && !is_among(drawn, count, n)) return n;
    }
    return near;
}

/* Adds a size, unless it is there already. */
static size_t add_size(size_t *sizes, size_t count, size_t n)
{
    if (is_among(sizes, count, n)) return count;
    sizes[count] = n;
    return count + 1;
}

/* Sizes at which errors are likely: the least one, exactly one block (a warp, in a lab of one
 * block), and several full blocks. And some sizes that are near no size handed out. */
static size_t choose_edges(const struct lab *lab, uint64_t *state, size_t *sizes)
{
    size_t full = lab->block ? lab->block : WARP_LANES, count = 0;
    count = add_size(sizes, count, lab->least);
    count = add_size(sizes, count, full);
    count = add_size(sizes, count, full * (2 + draw(state) % (lab->most / full - 1)));
    for (int i = 0; i < ANYWHERE; i++)
        count = add_size(sizes, count, lab->least + draw(state) % (lab->most - lab->least + 1));
    return count;
}

/* The last sizes are those with several orders, and the largest ones handed out or drawn near
 * them. */
static size_t choose_sizes(const struct lab *lab, bool handed_out, uint64_t *state, size_t *sizes)
{
    size_t known = count_sizes(lab), count = 0;
    bool draws = !handed_out && !lab->power_of_two;
    if (draws) count = choose_edges(lab, state, sizes);
    for (size_t i = 0; i < known; i++, count++)
        sizes[count] = draws ? draw_size(lab, sizes, count, lab->sizes[i], state) : lab->sizes[i];
    return count;
}

/* The boundary is a multiple of a power of two, so that no thread and no warp of a right solution
 * has elements on both sides: it may subtract its own elements from a sum. */
static void draw_boundary(struct lab_case *c, uint64_t *state)
{
    size_t alignment = ALIGNMENT;
    if (c->n < BOUNDARY_LEAST) return;
    while (alignment > c->n / 2) alignment /= 2;
    c->boundary = alignment * (1 + draw(state) % (c->n / alignment - 1));
    c->exponent = EXPONENT + draw(state) % EXPONENTS;
}

size_t lab_output_words(const struct lab_case *c) { return c->n + (c->share != 0); }

struct lab_case lab_plain_case(const struct lab *lab, size_t n, uint64_t input)
{
    return (struct lab_case){
        .n = n, .input = input, .share = lab->result == LAB_KEPT ? LAB_HALF : 0};
}

static struct lab_case make_case(size_t n, bool ordered, bool bounded, uint64_t *state)
{
    struct lab_case c = {.n = n};
    c.input = draw_seed(state);
    c.clock = draw_seed(state);
    c.schedule = ordered ? draw_seed(state) : 0;
    if (bounded) draw_boundary(&c, state);
    return c;
}

/* The last cases: a deadlock there does not hide the others. */
static size_t add_small_device(const struct lab *lab, const size_t *sizes, size_t count,
                               uint64_t *state, struct lab_case *cases, size_t made)
{
    for (size_t i = count - ORDERED_SIZES; lab->resident && i < count; i++) {
        cases[made] = make_case(sizes[i], true, false, state);
        cases[made++].descending = 1;
    }
    return made;
}

/* Where elements are kept, sums do not matter: the share of kept elements does. Runs in the usual
 * order keep about half, so that right counters are compared at every size. */
static void set_shares(const struct lab *lab, struct lab_case *cases, size_t count)
{
    static const enum lab_share shares[] = {LAB_FEW, LAB_NONE, LAB_ALL, LAB_HALF};
    size_t ordered = 0;
    for (size_t i = 0; lab->result == LAB_KEPT && i < count; i++) {
        struct lab_case *c = &cases[i];
        c->boundary = c->exponent = 0;
        c->share = c->schedule ? shares[ordered++ % (sizeof shares / sizeof *shares)] : LAB_HALF;
    }
}

size_t lab_cases(const struct lab *lab, uint64_t seed, bool handed_out, struct lab_case *cases)
{
    uint64_t state = seed ^ (uint64_t)lab->number << 32 ^ (uint64_t)handed_out << 48;
    size_t sizes[LAB_SIZES], count = choose_sizes(lab, handed_out, &state, sizes), made = 0;
    int orders = lab->resident || lab->result == LAB_KEPT ? MORE_ORDERS : ORDERS;
    for (size_t i = 0; i < count; i++)
        cases[made++] = make_case(sizes[i], false, draw(&state) & 1, &state);
    for (size_t i = count > ORDERED_SIZES ? count - ORDERED_SIZES : 0; i < count; i++)
        for (int order = 0; order < orders; order++)
            cases[made++] = make_case(sizes[i], true, order > 0 && order < ORDERS, &state);
    made = add_small_device(lab, sizes, count, &state, cases, made);
    set_shares(lab, cases, made);
    return made;
}

static bool is_positive(enum lab_share share, uint64_t word)
{
    switch (share) {
    case LAB_NONE: return false;
    case LAB_ALL: return true;
    case LAB_FEW: return (word >> 32) % FEW == 0;
    default: return !(word & 1);
    }
}

/* Magnitude and sign of the next element. Where elements are kept, some are 0, which is not greater
 * than 0. */
static float draw_element(enum lab_share share, uint64_t *state)
{
    uint64_t word = draw(state);
    float magnitude = (float)(1 + (word >> 1) % GREATEST_ELEMENT) / 8;
    if (is_positive(share, word)) return magnitude;
    return share && (word >> 40) % ZERO == 0 ? 0 : -magnitude;
}

/* At least one element is kept, and one is left out if there are two. Otherwise a kernel that
 * stores nothing, or everything, might be right at a small size. */
static void force_both(const struct lab_case *c, float *in)
{
    size_t i = (size_t)(c->input % c->n), next = (i + 1) % c->n;
    in[next] = -fabsf(in[next]);
    in[i] = in[i] == 0 ? 1 : fabsf(in[i]);
}

void lab_input(const struct lab_case *c, float *in)
{
    uint64_t state = c->input;
    float scale = (float)ldexp(1, (int)c->exponent);
    for (size_t i = 0; i < c->n; i++) in[i] = draw_element((enum lab_share)c->share, &state);
    if (c->share == LAB_HALF) force_both(c, in);
    if (c->boundary == 0) return;
    for (size_t i = c->boundary; i < c->n; i++) in[i] = fabsf(in[i]) * scale;
}

uint64_t lab_instruction_limit(const struct lab *lab, size_t n)
{
    (void)lab;
    return INSTRUCTIONS + INSTRUCTIONS_PER_ELEMENT * (uint64_t)n;
}
