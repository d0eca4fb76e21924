/*
 * matrices.cu — moves of matrices between shared memory and registers (ldmatrix, stmatrix, and
 * wmma's loads and stores) of one warp, in many patterns, for comparing counters.
 *
 * Each launch is one warp that makes one such move. For ldmatrix and stmatrix a table in constant
 * memory says where each row of 16 bytes begins. For wmma it says where the matrix begins, and how
 * far apart its rows are. measure.py runs this program under ncu on a GPU.
 *
 *   matrices [OPERATION [SHAPE]]   a launch for each kind of move and pattern
 *   matrices --list [...]          prints what it launches, as CSV: operation,shape,pattern
 *
 * The patterns are part of the recording: a change to them needs a new one.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mma.h>

using namespace nvcuda;

/* Lanes of a warp; bytes of a matrix's row; rows of a matrix; bytes that rows reach. */
enum { LANES = 32, ROW = 16, ROWS = 8, WINDOW = 32768 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "matrices: %s: %s\n", #call, cudaGetErrorString(error_));              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Where each lane's row begins; for wmma, at[0] is where the matrix begins. */
struct places {
    uint32_t at[LANES];
    uint32_t stride; /* of wmma, in elements */
};

static __constant__ struct places chosen;

/* ---- the moves ------------------------------------------------------------------------------- */

/* One kind of move; TEXT of PTX has the address %4 and the registers %0 to %3. */
#define LDMATRIX(NAME, SHAPE, LIST)                                                                \
    static __global__ void NAME(uint32_t *out)                                                     \
    {                                                                                              \
        extern __shared__ __align__(128) char shared[];                                            \
        uint32_t r[4] = {}, at = __cvta_generic_to_shared(shared) + chosen.at[threadIdx.x];        \
        asm volatile("ldmatrix.sync.aligned.m8n8." SHAPE ".shared.b16 " LIST ", [%4];"             \
                     : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])                              \
                     : "r"(at)                                                                     \
                     : "memory");                                                                  \
        if ((r[0] ^ r[1] ^ r[2] ^ r[3]) == 77) *out = 0; /* which waits for the loads */           \
    }
#define STMATRIX(NAME, SHAPE, LIST)                                                                \
    static __global__ void NAME(uint32_t *out)                                                     \
    {                                                                                              \
        extern __shared__ __align__(128) char shared[];                                            \
        uint32_t at = __cvta_generic_to_shared(shared) + chosen.at[threadIdx.x];                   \
        uint32_t r = threadIdx.x + (out == nullptr);                                               \
        asm volatile("stmatrix.sync.aligned.m8n8." SHAPE ".shared.b16 [%4], " LIST ";" ::"r"(r),   \
                     "r"(r), "r"(r), "r"(r), "r"(at)                                               \
                     : "memory");                                                                  \
    }
#define ONE  "{%0}"
#define TWO  "{%0, %1}"
#define FOUR "{%0, %1, %2, %3}"
LDMATRIX(ldmatrix_x1, "x1", ONE)
LDMATRIX(ldmatrix_x2, "x2", TWO)
LDMATRIX(ldmatrix_x4, "x4", FOUR)
LDMATRIX(ldmatrix_x1_trans, "x1.trans", ONE)
LDMATRIX(ldmatrix_x2_trans, "x2.trans", TWO)
LDMATRIX(ldmatrix_x4_trans, "x4.trans", FOUR)
STMATRIX(stmatrix_x1, "x1", ONE)
STMATRIX(stmatrix_x2, "x2", TWO)
STMATRIX(stmatrix_x4, "x4", FOUR)
STMATRIX(stmatrix_x1_trans, "x1.trans", ONE)
STMATRIX(stmatrix_x2_trans, "x2.trans", TWO)
STMATRIX(stmatrix_x4_trans, "x4.trans", FOUR)

template <typename Fragment, typename T> static __global__ void wmma_load(uint32_t *out)
{
    extern __shared__ __align__(128) char shared[];
    Fragment f;
    wmma::load_matrix_sync(f, (const T *)(shared + chosen.at[0]), chosen.stride);
    for (int e = 0; e < f.num_elements; e++)
        if ((float)f.x[e] == 77) *out = 0;
}

template <typename Fragment, typename T, wmma::layout_t layout>
static __global__ void wmma_load_c(uint32_t *out)
{
    extern __shared__ __align__(128) char shared[];
    Fragment f;
    wmma::load_matrix_sync(f, (const T *)(shared + chosen.at[0]), chosen.stride, layout);
    for (int e = 0; e < f.num_elements; e++)
        if ((float)f.x[e] == 77) *out = 0;
}

template <typename Fragment, typename T, wmma::layout_t layout>
static __global__ void wmma_store(uint32_t *out)
{
    extern __shared__ __align__(128) char shared[];
    Fragment f;
    wmma::fill_fragment(f, (T)(out == nullptr ? 1 : 2));
    wmma::store_matrix_sync((T *)(shared + chosen.at[0]), f, chosen.stride, layout);
}

/* ---- the patterns ---------------------------------------------------------------------------- */

enum { MOST = 100 };

struct pattern {
    char name[60];
    struct places places;
};

static struct pattern patterns[MOST];
static int count;
static uint32_t state;

static uint32_t random_below(uint32_t limit)
{
    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * limit >> 32);
}

/* The rows follow each other. */
static struct places *new_pattern(const char *format, int a = 0, int b = 0)
{
    if (count == MOST) exit(1); // there are more patterns than MOST says
    struct pattern *p = &patterns[count++];
    snprintf(p->name, sizeof p->name, format, a, b);
    for (int l = 0; l < LANES; l++) p->places.at[l] = l * ROW;
    return &p->places;
}

static void strided(int rows)
{
    struct places *p = new_pattern("stride %d rows", rows);
    for (int l = 0; l < LANES; l++) p->at[l] = l * rows * ROW;
}

/* Matrices that lie side by side in a tile whose rows are `bytes` apart: each of `rows` rows. */
static void tile(int rows, int bytes)
{
    struct places *p = new_pattern("tile of %d rows, %d bytes apart", rows, bytes);
    for (int l = 0; l < LANES; l++) p->at[l] = l % rows * bytes + l / rows * ROW;
}

/* A tile whose chunks of 16 bytes are exchanged within rows of `bytes` bytes, as TMA does it. */
static void swizzled(int bytes)
{
    struct places *p = new_pattern("tile of 8 rows, swizzled in %d bytes", bytes);
    for (int l = 0; l < LANES; l++) {
        uint32_t at = l % ROWS * bytes + l / ROWS * ROW % bytes;
        p->at[l] = at ^ (at / 128 % (bytes / ROW) * ROW);
    }
}

static void behind(int start)
{
    struct places *p = new_pattern("from byte %d", start);
    for (uint32_t &at : p->at) at += start;
}

/* Lanes that have the same row: neighbours, those in turn, or all but a bit. */
static void repeated(int lanes)
{
    struct places *p = new_pattern("%d lanes a row", lanes);
    for (int l = 0; l < LANES; l++) p->at[l] = l / lanes * ROW;
    p = new_pattern("%d rows in turn", lanes);
    for (int l = 0; l < LANES; l++) p->at[l] = l % lanes * ROW;
}
static void without_bit(int bit)
{
    struct places *p = new_pattern("same with lane ^ %d", bit);
    for (int l = 0; l < LANES; l++) p->at[l] = (l & ~bit) * ROW;
}

/* Some rows in a second line of banks: `line` lines away, for lanes with `bit`. */
static void displaced(int bit, int line)
{
    struct places *p = new_pattern("lanes with bit %d, %d lines further", bit, line);
    for (int l = 0; l < LANES; l++) p->at[l] = (l & ~bit) * ROW + (l & bit ? line * 128 : 0);
}

static void at_random(int number, int range)
{
    struct places *p = new_pattern("random %d of %d rows", number, range);
    for (uint32_t &at : p->at) at = random_below(range) * ROW;
}

static void few_patterns(void)
{
    for (int rows : {1, 2, 8, 9}) strided(rows);
    tile(8, 128), tile(8, 144), swizzled(128);
    repeated(2), repeated(8);
    at_random(0, 16), at_random(1, 64);
}

static void reversed(void)
{
    struct places *p = new_pattern("rows of a matrix in reverse");
    for (int l = 0; l < LANES; l++) p->at[l] = (l ^ 7) * ROW;
    p = new_pattern("two rows of each matrix in one bank");
    for (int l = 0; l < LANES; l++) p->at[l] = l * ROW + (l % ROWS == 5 ? 1024 - 16 : 0);
    p = new_pattern("one matrix repeated with another's row");
    for (int l = 0; l < LANES; l++) p->at[l] = l % ROWS * ROW + (l == 9 ? 1024 : 0);
}

static void all_patterns(void)
{
    for (int rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 32, 33}) strided(rows);
    for (int bytes : {64, 80, 128, 144, 256, 272}) tile(8, bytes);
    for (int bytes : {32, 64, 80, 128, 144}) tile(16, bytes);
    for (int bytes : {32, 64, 128}) swizzled(bytes);
    for (int start : {16, 32, 48, 64, 112}) behind(start);
    for (int lanes : {2, 4, 8, 16, 32}) repeated(lanes);
    for (int bit = 1; bit < LANES; bit *= 2) without_bit(bit);
    for (int bit = 1; bit < LANES; bit *= 2) displaced(bit, 8);
    for (int bit = 1; bit < 8; bit *= 2) displaced(bit, 1);
    reversed();
    for (int range = 8; range <= 512; range *= 4)
        for (int number = 0; number < 4; number++) at_random(number, range);
}

/* wmma: the rows' distance in elements, which must be a multiple of 16 bytes. */
static void wmma_patterns(uint32_t bytes, uint32_t least)
{
    for (uint32_t more : {0, 1, 2, 3, 4, 5, 8, 16}) {
        uint32_t stride = least + more * ROW / bytes;
        if (stride * bytes % ROW) stride = (stride * bytes / ROW + 1) * ROW / bytes;
        new_pattern("rows %d elements apart", stride)->stride = stride;
    }
    struct places *p = new_pattern("from byte 32, rows %d elements apart", 64);
    p->stride = 64, p->at[0] = 32;
}

/* ---- the launches ---------------------------------------------------------------------------- */

#define HALF_A(LAYOUT) wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::LAYOUT>, __half
#define HALF_B(LAYOUT) wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::LAYOUT>, __half
#define BYTE_A(LAYOUT)                                                                             \
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::LAYOUT>, signed char
#define TF32_A(LAYOUT)                                                                             \
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::LAYOUT>, float
#define DOUBLE_A(LAYOUT) wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::LAYOUT>, double
#define SUM(TYPE)        wmma::fragment<wmma::accumulator, 16, 16, 16, TYPE>, TYPE

static const struct move {
    const char *operation, *shape;
    void (*run)(uint32_t *);
    uint32_t bytes, least; /* of wmma: of an element; elements of a row */
} moves[] = {
    {"ldmatrix", "x1", ldmatrix_x1, 0, 0},
    {"ldmatrix", "x2", ldmatrix_x2, 0, 0},
    {"ldmatrix", "x4", ldmatrix_x4, 0, 0},
    {"ldmatrix", "x1.trans", ldmatrix_x1_trans, 0, 0},
    {"ldmatrix", "x2.trans", ldmatrix_x2_trans, 0, 0},
    {"ldmatrix", "x4.trans", ldmatrix_x4_trans, 0, 0},
    {"stmatrix", "x1", stmatrix_x1, 0, 0},
    {"stmatrix", "x2", stmatrix_x2, 0, 0},
    {"stmatrix", "x4", stmatrix_x4, 0, 0},
    {"stmatrix", "x1.trans", stmatrix_x1_trans, 0, 0},
    {"stmatrix", "x2.trans", stmatrix_x2_trans, 0, 0},
    {"stmatrix", "x4.trans", stmatrix_x4_trans, 0, 0},
    {"wmma.load", "a.row.f16", wmma_load<HALF_A(row_major)>, 2, 16},
    {"wmma.load", "a.col.f16", wmma_load<HALF_A(col_major)>, 2, 16},
    {"wmma.load", "b.row.f16", wmma_load<HALF_B(row_major)>, 2, 16},
    {"wmma.load", "b.col.f16", wmma_load<HALF_B(col_major)>, 2, 16},
    {"wmma.load", "a.row.s8", wmma_load<BYTE_A(row_major)>, 1, 16},
    {"wmma.load", "a.col.s8", wmma_load<BYTE_A(col_major)>, 1, 16},
    {"wmma.load", "a.row.tf32", wmma_load<TF32_A(row_major)>, 4, 8},
    {"wmma.load", "a.col.tf32", wmma_load<TF32_A(col_major)>, 4, 16},
    {"wmma.load", "a.row.f64", wmma_load<DOUBLE_A(row_major)>, 8, 4},
    {"wmma.load", "a.col.f64", wmma_load<DOUBLE_A(col_major)>, 8, 8},
    {"wmma.load", "c.row.f32", wmma_load_c<SUM(float), wmma::mem_row_major>, 4, 16},
    {"wmma.load", "c.col.f32", wmma_load_c<SUM(float), wmma::mem_col_major>, 4, 16},
    {"wmma.load", "c.row.f16", wmma_load_c<SUM(__half), wmma::mem_row_major>, 2, 16},
    {"wmma.load", "c.col.f16", wmma_load_c<SUM(__half), wmma::mem_col_major>, 2, 16},
    {"wmma.store", "d.row.f32", wmma_store<SUM(float), wmma::mem_row_major>, 4, 16},
    {"wmma.store", "d.col.f32", wmma_store<SUM(float), wmma::mem_col_major>, 4, 16},
    {"wmma.store", "d.row.f16", wmma_store<SUM(__half), wmma::mem_row_major>, 2, 16},
    {"wmma.store", "d.col.f16", wmma_store<SUM(__half), wmma::mem_col_major>, 2, 16},
};

static void make_patterns(const struct move *move)
{
    memset(patterns, 0, sizeof patterns);
    count = 0, state = move->shape[1];
    if (move->bytes) return wmma_patterns(move->bytes, move->least);
    if (strchr(move->shape, '.')) return few_patterns();
    all_patterns();
}

static void take(const struct move *move, bool is_list, uint32_t *memory)
{
    make_patterns(move);
    for (int p = 0; p < count; p++) {
        if (is_list) {
            printf("%s,%s,\"%s\"\n", move->operation, move->shape, patterns[p].name);
            continue;
        }
        CHECK(cudaMemcpyToSymbol(chosen, &patterns[p].places, sizeof chosen));
        move->run<<<1, LANES, WINDOW>>>(memory);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
}

int main(int argc, char **argv)
{
    char **wanted = argv + 1;
    bool is_list = argc > 1 && strcmp(argv[1], "--list") == 0;
    uint32_t *memory = NULL;
    wanted += is_list;
    if (is_list)
        printf("operation,shape,pattern\n");
    else
        CHECK(cudaMalloc(&memory, sizeof *memory));
    for (const struct move &move : moves)
        if (!wanted[0] || (strcmp(wanted[0], move.operation) == 0 &&
                           (!wanted[1] || strcmp(wanted[1], move.shape) == 0)))
            take(&move, is_list, memory);
    return 0;
}
