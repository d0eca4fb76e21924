/* curand_engines.c — the generators by their published definitions: XORWOW (Marsaglia, 2003),
 * MRG32k3a (L'Ecuyer, 1999), Philox4x32-10 (Salmon and others, 2011), Sobol's sequence with the
 * direction numbers of Joe and Kuo (2008). How a seed becomes a state, and how far subsequences are
 * apart, is as in cuRAND: 2^67 steps for XORWOW, 2^76 for MRG32k3a. */
#include "libs.h"

#include <string.h>

/* ---- XORWOW ---------------------------------------------------------------------------------- */

enum { WORDS_OF_STATE = 5, BITS_OF_STATE = 160, XORWOW_STEP = 362437, XORWOW_APART = 67 };

/* A linear map of the shifted words: row i is what bit i becomes. */
struct bit_matrix {
    uint32_t row[BITS_OF_STATE][WORDS_OF_STATE];
};

static void shift(uint32_t v[WORDS_OF_STATE])
{
    uint32_t t = v[0] ^ v[0] >> 2;
    memmove(v, v + 1, 4 * sizeof *v);
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

uint32_t xorwow_next(struct xorwow *x)
{
    shift(x->shifted);
    x->added += XORWOW_STEP;
    return x->shifted[4] + x->added;
}

static void apply_bits(const struct bit_matrix *m, uint32_t v[WORDS_OF_STATE])
{
    uint32_t sum[WORDS_OF_STATE] = {0};
    for (int i = 0; i < BITS_OF_STATE; i++)
        for (int w = 0; v[i / 32] >> i % 32 & 1 && w < WORDS_OF_STATE; w++) sum[w] ^= m->row[i][w];
    memcpy(v, sum, sizeof sum);
}

static void one_step(struct bit_matrix *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < BITS_OF_STATE; i++) {
        m->row[i][i / 32] = UINT32_C(1) << i % 32;
        shift(m->row[i]);
    }
}

static void square_bits(struct bit_matrix *m)
{
    struct bit_matrix old = *m;
    for (int i = 0; i < BITS_OF_STATE; i++) apply_bits(&old, m->row[i]);
}

void xorwow_skip(struct xorwow *x, uint64_t steps)
{
    struct bit_matrix m;
    x->added += XORWOW_STEP * (uint32_t)steps;
    one_step(&m);
    for (; steps != 0; steps >>= 1) {
        if (steps & 1) apply_bits(&m, x->shifted);
        square_bits(&m);
    }
}

void xorwow_start(union engine *threads, uint64_t seed)
{
    uint32_t low = ((uint32_t)seed ^ 0xaad26b49) * 1099087573,
             high = ((uint32_t)(seed >> 32) ^ 0xf7dcefdd) * 2591861531;
    struct xorwow x = {
        {123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low},
        6615241 + low + high};
    struct bit_matrix m;
    one_step(&m);
    for (int i = 0; i < XORWOW_APART; i++) square_bits(&m);
    for (int i = 0; i < XORWOW_THREADS; i++) {
        threads[i].xorwow = x;
        apply_bits(&m, x.shifted); /* 2^67 steps add a multiple of 2^32 */
    }
}

/* ---- MRG32k3a -------------------------------------------------------------------------------- */

static const uint64_t modulus_1 = 4294967087, modulus_2 = 4294944443;
enum { A12 = 1403580, A13 = 810728, A21 = 527612, A23 = 1370589, MRG_APART = 76 };

uint32_t mrg_next(struct mrg *g)
{
    uint64_t p = (A12 * (uint64_t)g->first[1] + A13 * (modulus_1 - g->first[0])) % modulus_1,
             q = (A21 * (uint64_t)g->second[2] + A23 * (modulus_2 - g->second[0])) % modulus_2;
    memmove(g->first, g->first + 1, 2 * sizeof *g->first);
    memmove(g->second, g->second + 1, 2 * sizeof *g->second);
    g->first[2] = (uint32_t)p;
    g->second[2] = (uint32_t)q;
    return (uint32_t)(p > q ? p - q : p + modulus_1 - q);
}

struct matrix_3 {
    uint64_t at[3][3];
};

static void multiply_3(struct matrix_3 *a, const struct matrix_3 *b, uint64_t modulus)
{
    struct matrix_3 product = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                product.at[i][j] =
                    (product.at[i][j] + a->at[i][k] * b->at[k][j] % modulus) % modulus;
    *a = product;
}

static void apply_3(const struct matrix_3 *m, uint32_t v[3], uint64_t modulus)
{
    uint64_t sum[3] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) sum[i] = (sum[i] + m->at[i][k] * v[k] % modulus) % modulus;
    for (int i = 0; i < 3; i++) v[i] = (uint32_t)sum[i];
}

/* One step of both recurrences. */
#define FIRST_STEP                                                                                 \
    {                                                                                              \
        {                                                                                          \
            {0, 1, 0}, {0, 0, 1}, { modulus_1 - A13, A12, 0 }                                      \
        }                                                                                          \
    }
#define SECOND_STEP                                                                                \
    {                                                                                              \
        {                                                                                          \
            {0, 1, 0}, {0, 0, 1}, { modulus_2 - A23, 0, A21 }                                      \
        }                                                                                          \
    }

void mrg_skip(struct mrg *g, uint64_t steps)
{
    struct matrix_3 first = FIRST_STEP, second = SECOND_STEP;
    for (; steps != 0; steps >>= 1) {
        if (steps & 1) apply_3(&first, g->first, modulus_1);
        if (steps & 1) apply_3(&second, g->second, modulus_2);
        multiply_3(&first, &first, modulus_1);
        multiply_3(&second, &second, modulus_2);
    }
}

void mrg_start(union engine *threads, uint64_t seed)
{
    enum { START = 12345 };
    struct mrg g = {{START, START, START}, {START, START, START}};
    struct matrix_3 first = FIRST_STEP, second = SECOND_STEP;
    uint64_t low = (uint32_t)seed ^ 0x55555555, high = seed >> 32 ^ 0xaaaaaaaa;
    for (int i = 0; i < 3 && seed != 0; i++) {
        g.first[i] = (uint32_t)((i == 1 ? high : low) * START % modulus_1);
        g.second[i] = (uint32_t)((i == 1 ? low : high) * START % modulus_2);
    }
    for (int i = 0; i < MRG_APART; i++) {
        multiply_3(&first, &first, modulus_1);
        multiply_3(&second, &second, modulus_2);
    }
    for (int i = 0; i < MRG_THREADS; i++) {
        threads[i].mrg = g;
        apply_3(&first, g.first, modulus_1);
        apply_3(&second, g.second, modulus_2);
    }
}

/* ---- Philox ---------------------------------------------------------------------------------- */

void philox_block(uint64_t seed, uint64_t subsequence, uint64_t block, uint32_t words[4])
{
    enum { ROUNDS = 10 };
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t c[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)subsequence,
                     (uint32_t)(subsequence >> 32)};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t even = UINT64_C(0xd2511f53) * c[0], odd = UINT64_C(0xcd9e8d57) * c[2];
        c[0] = (uint32_t)(odd >> 32) ^ c[1] ^ key[0];
        c[1] = (uint32_t)odd;
        c[2] = (uint32_t)(even >> 32) ^ c[3] ^ key[1];
        c[3] = (uint32_t)even;
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
    memcpy(words, c, sizeof c);
}

/* ---- Sobol ----------------------------------------------------------------------------------- */

/* For each dimension from the second on: the degree of its primitive polynomial, the polynomial's
 * inner coefficients as bits, and the first direction numbers. */
static const struct {
    unsigned degree, coefficients, first[7];
} polynomials[MOST_DIMENSIONS - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

void sobol_directions(unsigned dimension, uint32_t v[SOBOL_BITS])
{
    unsigned degree = dimension > 0 ? polynomials[dimension - 1].degree : 0;
    for (unsigned i = 0; i < SOBOL_BITS; i++) {
        unsigned first = dimension == 0 ? 1 : i < degree ? polynomials[dimension - 1].first[i] : 0;
        v[i] = first << (SOBOL_BITS - 1 - i);
        if (first != 0) continue;
        v[i] = v[i - degree] ^ v[i - degree] >> degree;
        for (unsigned k = 1; k < degree; k++)
            if (polynomials[dimension - 1].coefficients >> (degree - 1 - k) & 1) v[i] ^= v[i - k];
    }
}

/* In the order of Gray's code. */
uint32_t sobol_point(const uint32_t v[SOBOL_BITS], uint64_t index)
{
    uint32_t gray = (uint32_t)(index ^ index >> 1), point = 0;
    for (int i = 0; gray != 0; i++, gray >>= 1)
        if (gray & 1) point ^= v[i];
    return point;
}
