/*
 * text.cuh — brackets of a segment of text, without sequences: four characters in a word.
 *
 * What the operator's pair says is also said by the depth at the end of a part and the least depth
 * in it, both counted from the part's beginning, where the depth is 0: closing is minus the least
 * depth, and opening is the depth above the least one. Depths are sums, so those of four characters
 * are found by one multiplication, and those of two rows by one addition. For the least depths
 * there is an instruction for two numbers of 16 bits, from Hopper on. Results are integers: they
 * are the same in any order.
 */
#ifndef STEP16_TEXT_CUH
#define STEP16_TEXT_CUH

#include "arrays.cuh"

/* Characters in a word. Multiplied by EACH, a byte is in each byte of the word, and bytes become
 * their sums up to each of them. */
constexpr int LETTERS = 4;
constexpr unsigned EACH = 0x01010101;

/* Is the operator that of texts? */
template <typename Op> constexpr bool IS_TEXT = false;
template <> constexpr bool IS_TEXT<brackets_operator> = true;

/* 1 more than what each character adds to the depth: 0, 1 or 2. A byte is 0 in its lower 7 bits if
 * 0x7f more leaves bit 7 clear. */
static __host__ __device__ inline unsigned steps_of(unsigned text)
{
    const unsigned LOW = 0x7f * EACH;
    // ( and ) differ in bit 0. But for bit 5, [ is { and ] is }; with 1 more, they differ in bit 1.
    unsigned more = (text & 0x5f * EACH) + EACH;
    unsigned round = ((text ^ '(' * EACH) & (LOW ^ EACH)) + LOW;
    unsigned other = ((more ^ ('[' + 1) * EACH) & (LOW ^ 2 * EACH)) + LOW;
    round = ~(round | text) >> 7 & EACH;
    other = ~(other | text) >> 7 & EACH;
    unsigned closing = (round & text) | (other & more >> 1);
    return EACH + round + other - 2 * closing;
}

/* Makes no characters of those at n and beyond. `at`: of the word in memory. */
static __device__ unsigned cut_at(unsigned word, size_t at, size_t n)
{
    if (at + LETTERS <= n) return word;
    return at < n ? word & ((1u << 8 * (n - at)) - 1) : 0;
}

static __device__ unsigned letters_of(bool reverse, unsigned word)
{
    return reverse ? __byte_perm(word, 0, 0x0123) : word;
}

/* The depths after four characters, each with 1 more for each character. */
static __device__ unsigned depths_of(unsigned word) { return steps_of(word) * EACH; }

/* The sum of four characters. */
static __device__ int last_depth(unsigned depths) { return (int)(depths >> 24) - LETTERS; }

/* The least depth of four characters and of what comes before them, as two numbers: the lower one
 * of them is meant. `depth`: before the characters. */
static __device__ unsigned least_of(unsigned depths, int depth, unsigned least)
{
    const int BIAS = 0x80;                               // of each byte, so that none is below 0
    unsigned all = depths + BIAS * EACH - (EACH * EACH); // less 1, 2, 3 and 4
    unsigned twice = __byte_perm(depth - BIAS, 0, 0x1010);
    least = __viaddmin_s16x2(all & 0x00ff00ff, twice, least);
    return __viaddmin_s16x2(all >> 8 & 0x00ff00ff, twice, least);
}

static __device__ int low_half(unsigned pair) { return (short)pair; }
static __device__ int high_half(unsigned pair) { return (int)pair >> 16; }

/* Two numbers side by side, so that pairs are added by one addition: a carry from the lower one is
 * in the upper one. */
static __device__ unsigned sum_pair(int low, int high) { return (unsigned)(high * 0x10000 + low); }
static __device__ int upper_sum(unsigned pair) { return high_half(pair - low_half(pair)); }

/* ---- the sum of a segment -------------------------------------------------------------------- */

/* A lane takes R neighbouring words here. */
template <bool REVERSE, int R>
static __device__ left_over text_sum(const job<brackets_operator> &j, const unsigned char *stage,
                                     size_t begin, int segment)
{
    int lane = threadIdx.x % LANES;
    if (REVERSE) segment = SEGMENTS - 1 - segment, lane = LANES - 1 - lane;
    int at = (segment * LANES + lane) * R * LETTERS;
    unsigned text[R], least = 0;
    int depth = 0;
    memcpy(text, __builtin_assume_aligned(stage + at, 16), sizeof text);
    if (begin + TILE_WITH(R, sizeof(int32_t)) > j.n) {
#pragma unroll
        for (int r = 0; r < R; r++) text[r] = cut_at(text[r], begin + at + r * LETTERS, j.n);
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        unsigned depths = depths_of(letters_of(REVERSE, text[REVERSE ? R - 1 - r : r]));
        least = least_of(depths, depth, least);
        depth += last_depth(depths);
    }
    int low = min(low_half(least), high_half(least));
    return warp_sum(j.op, left_over{-low, depth - low});
}

/* ---- the scan of a segment ------------------------------------------------------------------- */

/* For each word of a lane, one in each row: its depths, and the depth and the least depth before
 * it, counted from the beginning of the segment. */
template <int R> struct scanned_text {
    unsigned depths[R];
    int depth[R], least[R];
};

template <bool REVERSE, int R>
static __device__ void text_scan(const job<brackets_operator> &j, const unsigned char *stage,
                                 size_t begin, int segment, struct scanned_text<R> &s)
{
    int lane = threadIdx.x % LANES, depth = 0, least = 0;
    unsigned text[R], sum[R / 2], low[R / 2];
#pragma unroll
    for (int r = 0; r < R; r++)
        text[r] = *(const unsigned *)(stage + vector_at<R, LETTERS>(REVERSE, segment, r));
    if (begin + TILE_WITH(R, sizeof(int32_t)) > j.n) {
#pragma unroll
        for (int r = 0; r < R; r++)
            text[r] = cut_at(text[r], begin + vector_at<R, LETTERS>(REVERSE, segment, r), j.n);
    }
#pragma unroll
    for (int r = 0; r < R; r++) s.depths[r] = depths_of(letters_of(REVERSE, text[r]));

        // Depths: sums over the lanes of two rows at a time, and then of the rows before.
#pragma unroll
    for (int i = 0; i < R / 2; i++) {
        unsigned own = sum_pair(last_depth(s.depths[2 * i]), last_depth(s.depths[2 * i + 1]));
        sum[i] = own;
#pragma unroll
        for (int d = 1; d < LANES; d *= 2) {
            unsigned left = __shfl_up_sync(ALL_LANES, sum[i], d);
            if (lane >= d) sum[i] += left;
        }
        unsigned rows = __shfl_sync(ALL_LANES, sum[i], LANES - 1);
        sum[i] -= own;
        s.depth[2 * i] = depth + low_half(sum[i]);
        depth += low_half(rows);
        s.depth[2 * i + 1] = depth + upper_sum(sum[i]);
        depth += upper_sum(rows);
    }
    // Least depths in the same way.
    const unsigned NONE = 0x7fff7fff; // of no characters, twice
#pragma unroll
    for (int i = 0; i < R / 2; i++) {
        unsigned least_in[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned halves = least_of(s.depths[2 * i + k], s.depth[2 * i + k], NONE);
            least_in[k] = __vmins2(halves, __byte_perm(halves, 0, 0x1032));
        }
        low[i] = __byte_perm(least_in[0], least_in[1], 0x5410);
#pragma unroll
        for (int d = 1; d < LANES; d *= 2)
            low[i] = __vmins2(low[i], __shfl_up_sync(ALL_LANES, low[i], d));
        unsigned rows = __shfl_sync(ALL_LANES, low[i], LANES - 1);
        low[i] = __shfl_up_sync(ALL_LANES, low[i], 1);
        if (lane == 0) low[i] = NONE;
        s.least[2 * i] = min(least, low_half(low[i]));
        least = min(least, low_half(rows));
        s.least[2 * i + 1] = min(least, high_half(low[i]));
        least = min(least, high_half(rows));
    }
}

/* Stores the results of a segment, all of which lie before n if WHOLE. */
template <bool WHOLE, bool REVERSE, int R>
static __device__ void store_text_rows(const job<brackets_operator> &j, size_t begin, int segment,
                                       const struct scanned_text<R> &s, left_over base)
{
    int depth_before = base.opening - base.closing;
#pragma unroll
    for (int r = 0; r < R; r++) {
        unsigned depths = j.inclusive ? s.depths[r] : s.depths[r] << 8; // after, or before
        int depth = depth_before + s.depth[r] - j.inclusive, y[LETTERS], z[LETTERS];
        int least = min(-base.closing, depth_before + s.least[r]);
#pragma unroll
        for (int k = 0; k < LETTERS; k++) {
            int own = depth - k + (int)(depths >> 8 * k & 0xff);
            least = min(least, own);
            y[k] = least < 0 ? least : own;
        }
#pragma unroll
        for (int k = 0; k < LETTERS; k++) z[k] = mirrored(REVERSE, y, k);
        size_t i = begin + vector_at<R, LETTERS>(REVERSE, segment, r);
        if (WHOLE) {
            put(j.out + i, z);
        } else {
#pragma unroll
            for (int k = 0; k < LETTERS; k++)
                if (i + k < j.n) j.out[i + k] = z[k];
        }
    }
}

/* Stores the results of a segment. `base`: of what lies before it. */
template <bool REVERSE, int R>
static __device__ void store_text(const job<brackets_operator> &j, size_t begin, int segment,
                                  const struct scanned_text<R> &s, left_over base)
{
    if (begin + TILE_WITH(R, sizeof(int32_t)) <= j.n)
        store_text_rows<true, REVERSE>(j, begin, segment, s, base);
    else
        store_text_rows<false, REVERSE>(j, begin, segment, s, base);
}

#endif
