/*
 * lab_table.c — the labs: how each launches its kernels, on which sizes, inputs and orders.
 */
#include "lab.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the labs, and how each launches its kernels --------------------------------------------- */

static struct lab_argument address(enum lab_buffer buffer, size_t offset)
{
    return (struct lab_argument){.kind = LAB_ADDRESS, .buffer = buffer, .value = offset};
}

static struct lab_argument number_int(size_t value)
{
    return (struct lab_argument){.kind = LAB_INT, .value = value};
}

static struct lab_argument number_size(size_t value)
{
    return (struct lab_argument){.kind = LAB_SIZE, .value = value};
}

static struct lab_launch *add_launch(struct lab_plan *plan, const char *kernel, size_t blocks,
                                     unsigned threads, size_t shared_floats)
{
    struct lab_launch *launch = &plan->launches[plan->launch_count++];
    *launch = (struct lab_launch){.kernel = kernel,
                                  .blocks = (unsigned)blocks,
                                  .threads = threads,
                                  .shared_bytes = shared_floats * sizeof(float)};
    return launch;
}

#define ADD(launch, ...)                                                                           \
    add_arguments(launch, (const struct lab_argument[]){__VA_ARGS__},                              \
                  sizeof(struct lab_argument[]){__VA_ARGS__} / sizeof(struct lab_argument))
static void add_arguments(struct lab_launch *launch, const struct lab_argument *arguments,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) launch->arguments[launch->argument_count++] = arguments[i];
}

/* ---- one block: labs 2 to 4 ------------------------------------------------------------------ */

static void plan_block(struct lab_plan *plan, size_t n, unsigned threads, size_t shared_floats)
{
    ADD(add_launch(plan, "scan_block", 1, threads, shared_floats), address(LAB_OUT, 0),
        address(LAB_IN, 0), number_int(n));
}

static void plan_naive(size_t n, struct lab_plan *plan) { plan_block(plan, n, (unsigned)n, 2 * n); }

static void plan_tree(size_t n, struct lab_plan *plan) { plan_block(plan, n, (unsigned)n / 2, n); }

/* Room for a float of padding after every 16, which is enough for any padding of step 4. */
static void plan_padded_tree(size_t n, struct lab_plan *plan)
{
    plan_block(plan, n, (unsigned)n / 2, n + n / 16);
}

/* ---- levels of block sums: labs 5 to 9 ------------------------------------------------------- */

struct level_kernels {
    size_t each; /* elements a block */
    unsigned threads;
    size_t shared_floats;
    bool takes_size; /* scan_block has `each` as its last argument */
};

static size_t blocks_of(size_t n, size_t each) { return (n + each - 1) / each; }

/* The number of block sums in all levels together. A level of one block has none. */
static size_t count_sums(size_t n, size_t each)
{
    size_t sums = 0;
    for (; n > each; n = blocks_of(n, each)) sums += blocks_of(n, each);
    return sums;
}

/* Scans `n` floats in place, or from the input to the output at level 0. The sums of the blocks
 * are stored behind those of the levels below, from `sums` on. Returns the number of blocks. */
static size_t plan_level(struct lab_plan *plan, const struct level_kernels *k, size_t n,
                         struct lab_argument out, struct lab_argument in, size_t sums)
{
    size_t blocks = blocks_of(n, k->each);
    struct lab_launch *launch =
        add_launch(plan, "scan_block", blocks, k->threads, k->shared_floats);
    struct lab_argument none = {.kind = LAB_NULL};
    ADD(launch, out, in, blocks > 1 ? address(LAB_WORKSPACE, sums) : none, number_size(n));
    if (k->takes_size) ADD(launch, number_int(k->each));
    return blocks;
}

static void plan_uniform_add(struct lab_plan *plan, const struct level_kernels *k, size_t n,
                             struct lab_argument out, size_t sums)
{
    size_t blocks = blocks_of(n, k->each);
    ADD(add_launch(plan, "uniform_add", blocks - 1, k->threads, 0), out,
        address(LAB_WORKSPACE, sums), number_size(n));
}

/* As in the steps: the sums of a level are scanned in place, and are then the increments of the
 * blocks below. Calls itself for the level above; no size of a lab has more than three levels. */
static void plan_from(struct lab_plan *plan, const struct level_kernels *k, size_t n,
                      struct lab_argument out, struct lab_argument in, size_t sums)
{
    size_t blocks = plan_level(plan, k, n, out, in, sums);
    if (blocks == 1) return;
    struct lab_argument above = address(LAB_WORKSPACE, sums);
    plan_from(plan, k, blocks, above, above, sums + blocks * sizeof(float));
    plan_uniform_add(plan, k, n, out, sums);
}

static void plan_levels(struct lab_plan *plan, const struct level_kernels *k, size_t n)
{
    plan->workspace = count_sums(n, k->each) * sizeof(float);
    plan_from(plan, k, n, address(LAB_OUT, 0), address(LAB_IN, 0), 0);
}

enum {
    ARBITRARY_BLOCK = 512, /* elements a block in step 5 */
    TREE = 512,            /* leaves of the tree in steps 6 and 7 */
    FLOAT4_BLOCK = 2048,   /* elements a block in steps 6, 7 and 9, and a tile of step 11 */
    SHUFFLE_THREADS = 256, /* a block in steps 9 and 11 */
    BANKS = 32,
    KEPT_BLOCK = 512, /* elements, and threads, of a block in lab 13 */
    PART = 256,       /* bytes: parts of its workspace begin at multiples of this */
    LARGE = 1 << 24,  /* elements whose scan is timed on a GPU */
};

static void plan_arbitrary(size_t n, struct lab_plan *plan)
{
    static const struct level_kernels k = {.each = ARBITRARY_BLOCK,
                                           .threads = ARBITRARY_BLOCK / 2,
                                           .shared_floats =
                                               ARBITRARY_BLOCK + (ARBITRARY_BLOCK - 1) / BANKS,
                                           .takes_size = true};
    plan_levels(plan, &k, n);
}

static void plan_float4_tree(size_t n, struct lab_plan *plan)
{
    static const struct level_kernels k = {
        .each = FLOAT4_BLOCK, .threads = TREE / 2, .shared_floats = TREE + (TREE - 1) / BANKS};
    plan_levels(plan, &k, n);
}

static void plan_shuffle(size_t n, struct lab_plan *plan)
{
    static const struct level_kernels k = {.each = FLOAT4_BLOCK, .threads = SHUFFLE_THREADS};
    plan_levels(plan, &k, n);
}

/* ---- tiles: lab 11 --------------------------------------------------------------------------- */

/* A state for each tile, and the ticket. */
static void plan_tiles(size_t n, struct lab_plan *plan)
{
    size_t tiles = blocks_of(n, FLOAT4_BLOCK);
    plan->workspace = (tiles + 1) * sizeof(uint64_t);
    plan->clear_workspace = true;
    ADD(add_launch(plan, "scan_tiles", tiles, SHUFFLE_THREADS, 0), address(LAB_OUT, 0),
        address(LAB_IN, 0), address(LAB_WORKSPACE, 0),
        address(LAB_WORKSPACE, tiles * sizeof(uint64_t)), number_size(n));
}

/* ---- kept elements: lab 13 ------------------------------------------------------------------- */

/* The workspace holds a flag and a place for each element, and the sums of the places' blocks. */
static void plan_kept(size_t n, struct lab_plan *plan)
{
    static const struct level_kernels k = {.each = KEPT_BLOCK, .threads = KEPT_BLOCK};
    size_t part = (n * sizeof(int32_t) + PART - 1) / PART * PART;
    struct lab_argument in = address(LAB_IN, 0), out = address(LAB_OUT, 0);
    struct lab_argument kept = address(LAB_OUT, n * sizeof(float));
    struct lab_argument flags = address(LAB_WORKSPACE, 0), places = address(LAB_WORKSPACE, part);
    plan->workspace = 2 * part + count_sums(n, k.each) * sizeof(int32_t);
    size_t blocks = blocks_of(n, KEPT_BLOCK); /* a thread has one element */
    ADD(add_launch(plan, "mark", blocks, KEPT_BLOCK, 0), flags, in, number_size(n));
    plan_from(plan, &k, n, places, flags, 2 * part);
    ADD(add_launch(plan, "scatter", blocks, KEPT_BLOCK, 0), out, kept, in, flags, places,
        number_size(n));
}

/* ---- the table ------------------------------------------------------------------------------- */

static const size_t any_block_sizes[] = {1, 2, 7, 32, 100, 256, 500, 1000, 0};
static const size_t tree_sizes[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 0};
static const size_t arbitrary_sizes[] = {1, 3, 100, 512, 513, 1500, 6000, 0};
static const size_t float4_sizes[] = {1, 5, 1000, 2048, 2049, 5000, 10000, 0};
/* The largest has more tiles than two warps look at, and more elements than 16 bits count. */
static const size_t tile_sizes[] = {1, 5, 1000, 2048, 5000, 10000, 250000, 0};

static const size_t kept_sizes[] = {1, 5, 100, 512, 513, 3000, 10000, 0};

static const char *const adds_f32[] = {"add.f32", "sub.f32", NULL};
/* Flags are 0 or 1, so a ballot's population count adds them up as well. */
static const char *const adds_flags[] = {"add.s32", "sub.s32", "popc.b32", NULL};

/* A lab of a step's kernels: its folder, launches, least and most elements, the size that is timed,
 * and the sizes handed out. */
#define OF_STEP(step, launches, from, to, at, handed_out)                                          \
    .source = "steps/" step "/scan.cu", .chapter = "notes/" step ".md", .plan = launches,          \
    .least = from, .most = to, .timed = at, .sizes = handed_out, .expected = adds_f32

static const struct lab labs[] = {
    {.number = 2,
     .title = "naive parallel scan",
     OF_STEP("02-naive", plan_naive, 1, 1024, 1024, any_block_sizes)},
    {.number = 3,
     .title = "work-efficient scan",
     OF_STEP("03-work-efficient", plan_tree, 2, 2048, 2048, tree_sizes),
     .power_of_two = true},
    {.number = 4,
     .title = "work-efficient scan without bank conflicts",
     OF_STEP("04-conflict-free", plan_padded_tree, 2, 2048, 2048, tree_sizes),
     .power_of_two = true},
    {.number = 5,
     .title = "scan of any size",
     OF_STEP("05-arbitrary-size", plan_arbitrary, 1, 8000, LARGE, arbitrary_sizes),
     .block = ARBITRARY_BLOCK},
    {.number = 6,
     .title = "eight elements per thread",
     OF_STEP("06-vectorized", plan_float4_tree, 1, 12000, LARGE, float4_sizes),
     .block = FLOAT4_BLOCK},
    {.number = 7,
     .title = "tree loops unrolled",
     OF_STEP("07-unrolled", plan_float4_tree, 1, 12000, LARGE, float4_sizes),
     .block = FLOAT4_BLOCK,
     .others = {.cap = 1.1,
                .power = 4,
                .saving = "Unrolled loops do not count, compare, multiply and jump."}},
    {.number = 9,
     .title = "warp shuffles",
     OF_STEP("09-warp-shuffle", plan_shuffle, 1, 12000, LARGE, float4_sizes),
     .block = FLOAT4_BLOCK},
    {.number = 11,
     .title = "single pass with look-back",
     OF_STEP("11-single-pass", plan_tiles, 1, 280000, LARGE, tile_sizes),
     .block = FLOAT4_BLOCK,
     .resident = 2},
    {.number = 13,
     .title = "compaction: the elements greater than 0",
     .source = "common/tools/labs/sources/13-compaction.cu",
     .chapter = "notes/13-compaction.md",
     .plan = plan_kept,
     .result = LAB_KEPT,
     .block = KEPT_BLOCK,
     .least = 1,
     .most = 12000,
     .timed = LARGE,
     .sizes = kept_sizes,
     .expected = adds_flags,
     .adds_integers = true},
    /* Exercises that are judged otherwise than the lab of their chapter. plan_tree: n words of
     * shared memory, which is no room for padding. */
    {.number = 4,
     .exercise = "exercise4",
     .title = "no bank conflicts, and no unused word",
     OF_STEP("04-conflict-free", plan_tree, 2, 2048, 2048, tree_sizes),
     .power_of_two = true},
};

enum { ALL = sizeof labs / sizeof *labs };

/* Exercises follow the labs. */
const struct lab *lab_at(size_t index)
{
    return index < ALL && !labs[index].exercise ? &labs[index] : NULL;
}

const struct lab *lab_named(const char *name)
{
    char own[LAB_NAME];
    for (size_t i = 0; i < ALL; i++)
        if (!strcmp(lab_name(&labs[i], own), name)) return &labs[i];
    return NULL;
}

const char *lab_name(const struct lab *lab, char name[LAB_NAME])
{
    if (lab->exercise) return lab->exercise;
    snprintf(name, LAB_NAME, "%d", lab->number);
    return name;
}

/* ---- on which sizes, inputs and orders of warps a submission is run -------------------------- */

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

uint64_t lab_instruction_limit(size_t n)
{
    return INSTRUCTIONS + INSTRUCTIONS_PER_ELEMENT * (uint64_t)n;
}
