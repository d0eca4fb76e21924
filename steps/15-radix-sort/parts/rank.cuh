/*
 * rank.cuh — where a key goes within its tile: the warp-level multisplit.
 *
 * A warp counts its keys by digit in a row of counters of its own, in shared memory. The counters
 * then become places: of the digit, behind all smaller digits of the block, and behind the same
 * digit of the warps before. A key's place is its counter, plus the number of keys with its digit
 * that come before it in the warp.
 *
 * Lanes take keys row by row: key number k of lane l is number 32 k + l of its warp. That is the
 * order of memory, so the sort is stable.
 */
#ifndef STEP15_RANK_CUH
#define STEP15_RANK_CUH

#include "shape.h"

#include <stdint.h>

/* ---- keys ------------------------------------------------------------------------------------ */

/*
 * Keys as unsigned numbers whose order is the one asked for, and their digits.
 *
 * A radix sort orders bits as an unsigned number orders them. Three bijections make the order of
 * other types out of it, and all are one expression with two constants:
 *     signed integers    flip the sign bit, so that negative ones come first;
 *     floats             the same, and flip all other bits of negative ones, as a larger magnitude
 *                        has to come first there;
 *     descending order   flip all bits.
 */

/* encoded = key ^ always ^ (key is negative ? if_negative : 0). The top bit of if_negative is 0. */
template <typename Key> struct codec {
    Key always, if_negative;
};

/* All ones if the top bit of x is 1, otherwise 0. */
template <typename Key> static __device__ Key spread_sign(Key x)
{
    return (Key)0 - (x >> (sizeof(Key) * 8 - 1));
}

template <typename Key> static __device__ Key encode(Key key, codec<Key> c)
{
    return key ^ c.always ^ (spread_sign(key) & c.if_negative);
}

/* The inverse. The top bit of the key is that of x ^ always. */
template <typename Key> static __device__ Key decode(Key x, codec<Key> c)
{
    Key y = x ^ c.always;
    return y ^ (spread_sign(y) & c.if_negative);
}

/* The codec of a kind of number in Key's bits. */
enum kind { KIND_UNSIGNED, KIND_SIGNED, KIND_REAL };

template <typename Key> static codec<Key> codec_of(enum kind kind, bool descending)
{
    const Key all = ~(Key)0, sign = (Key)1 << (sizeof(Key) * 8 - 1);
    codec<Key> c = {kind == KIND_UNSIGNED ? (Key)0 : sign,
                    kind == KIND_REAL ? (Key)(all ^ sign) : (Key)0};
    if (descending) c.always ^= all;
    return c;
}

/* Digit number `pass` of an encoded key, counted from the least significant one. A digit is a byte,
 * and one instruction takes any byte out of two words: here the key and 0, or the key's halves. */
static __device__ unsigned digit_of(uint32_t x, unsigned pass)
{
    return __byte_perm(x, 0, 0x4440 + pass);
}

static __device__ unsigned digit_of(uint64_t x, unsigned pass)
{
    return __byte_perm((unsigned)x, (unsigned)(x >> 32), pass) & (DIGITS - 1);
}

static __device__ unsigned digit_of(uint16_t x, unsigned pass) { return x >> 8 * pass & 0xff; }
static __device__ unsigned digit_of(uint8_t x, unsigned) { return x; }

/* x, of which the compiler does not know that it is x: so what depends on it is computed anew, and
 * not kept in a register meanwhile. */
static __device__ unsigned anew(unsigned x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* ---- places ---------------------------------------------------------------------------------- */

#define ALL_LANES 0xffffffffu

/* vote = the lanes whose bit of `digit` under the mask `bit` is the same as this lane's. %2 is -1:
 * -1 * vote - 1 turns all bits around, as `not` does. But here the unit for logic has the most to
 * do, and the one for products the least. */
#define LANES_WITH(bit, vote)                                                                      \
    "and.b32 " vote ", %1, " bit ";\n"                                                             \
    "setp.ne.u32 p, " vote ", 0;\n"                                                                \
    "vote.sync.ballot.b32 " vote ", p, 0xffffffff;\n"                                              \
    "@!p mad.lo.u32 " vote ", " vote ", %2, %2;\n"
/* to = a & b & c: lop3 combines three words bit by bit, as its table of eight bits says. */
#define AND3(to, a, b, c) "lop3.b32 " to ", " a ", " b ", " c ", 0x80;\n"

/* -1, of which the compiler does not know that it is -1: it would make a `not` of the product. */
static __device__ unsigned minus_one()
{
    unsigned le, gt;
    asm("mov.u32 %0, %%lanemask_le;\n\tmov.u32 %1, %%lanemask_gt;" : "=r"(le), "=r"(gt));
    return le | gt;
}

/* The lanes that have the same digit as this lane. match.any takes the longer, the more different
 * digits there are, and in a warp of random keys there are about 30; eight votes always take the
 * same time. All lanes take part. */
static __device__ unsigned lanes_with_digit(unsigned digit)
{
    unsigned lanes;
    asm volatile("{ .reg .pred p; .reg .b32 a, b, c, d, e, f, g, h;\n"                      //
                 LANES_WITH("1", "a") LANES_WITH("2", "b") LANES_WITH("4", "c")             //
                 LANES_WITH("8", "d") LANES_WITH("16", "e") LANES_WITH("32", "f")           //
                 LANES_WITH("64", "g") LANES_WITH("128", "h")                               //
                 AND3("a", "a", "b", "c") AND3("d", "d", "e", "f") AND3("g", "g", "h", "a") //
                 "and.b32 %0, d, g; }"
                 : "=r"(lanes)
                 : "r"(digit), "r"(minus_one()));
    return lanes;
}

/* This lane and those before it. */
static __device__ unsigned lanes_up_to_this()
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(mask));
    return mask;
}

/* The last of these lanes. */
static __device__ unsigned last_of(unsigned lanes)
{
    unsigned last;
    asm("bfind.u32 %0, %1;" : "=r"(last) : "r"(lanes));
    return last;
}

/* The place of a key with this digit. row[digit] is the place of the warp's next key with the
 * digit. Only the last of the lanes with a digit changes its counter, as it knows how many they
 * are. The votes of the next call come after the shuffle of this call, so the additions of two
 * calls are in the order of the calls. */
static __device__ unsigned take_place(unsigned *row, unsigned digit)
{
    unsigned peers = lanes_with_digit(digit), up_to = lanes_up_to_this();
    unsigned number = __popc(peers & up_to), place = 0;
    if ((peers & ~up_to) == 0) place = atomicAdd(&row[digit], number);
    return __shfl_sync(ALL_LANES, place, last_of(peers)) + number - 1;
}

/* Number k of this thread's keys, in its block's tile or share. */
template <int KEYS> static __device__ unsigned index_of(int k)
{
    return threadIdx.x / LANES * KEYS * LANES + k * LANES + threadIdx.x % LANES;
}

/* A warp clears its row, which is aligned to 16 bytes. */
static __device__ void clear_row(unsigned *row)
{
    uint4 *part = (uint4 *)row;
    for (int i = threadIdx.x % LANES; i < DIGITS / 4; i += LANES) part[i] = make_uint4(0, 0, 0, 0);
    __syncwarp(); // no lane may count before the row is clear
}

/* The number of keys with digit threadIdx.x in all warps. For the first DIGITS threads. */
template <int WARPS> static __device__ unsigned count_in_block(const unsigned (*counters)[DIGITS])
{
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) sum += counters[w][threadIdx.x];
    return sum;
}

/* Turns counters into places; the block's first key with digit threadIdx.x comes to `place`. For
 * the first DIGITS threads. */
template <int WARPS>
static __device__ void counters_to_places(unsigned (*counters)[DIGITS], unsigned place)
{
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        unsigned count = counters[w][threadIdx.x];
        counters[w][threadIdx.x] = place;
        place += count;
    }
}

/* The sum of x over the threads before this one, among the first DIGITS threads. The next DIGITS
 * threads get the same sums if they have the same x, and so on. All threads of the block call it.
 * `sums` has room for DIGITS / LANES. */
template <typename Sum> static __device__ Sum sum_before(Sum x, Sum *sums)
{
    unsigned lane = threadIdx.x % LANES, warp = threadIdx.x % DIGITS / LANES;
    Sum sum = x;
#pragma unroll
    for (int d = 1; d < LANES; d *= 2) {
        Sum left = __shfl_up_sync(ALL_LANES, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == LANES - 1 && threadIdx.x < DIGITS) sums[warp] = sum;
    __syncthreads(); // no thread may read the warps' sums before all are there
    sum -= x;
#if __CUDA_ARCH__ >= 800
    return sum + __reduce_add_sync(ALL_LANES, lane < warp ? sums[lane] : 0);
#else
#pragma unroll
    for (int w = 0; w < DIGITS / LANES - 1; w++)
        if (w < warp) sum += sums[w];
    return sum;
#endif
}

#endif
