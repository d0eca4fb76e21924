/*
 * keys.cuh — keys as unsigned numbers whose order is the one asked for, and their digits.
 *
 * A radix sort orders bits as an unsigned number orders them. Three bijections make the order of
 * other types out of it, and all are one expression with two constants:
 *     signed integers    flip the sign bit, so that negative ones come first;
 *     floats             the same, and flip all other bits of negative ones, as a larger magnitude
 *                        has to come first there;
 *     descending order   flip all bits.
 */
#ifndef STEP15_KEYS_CUH
#define STEP15_KEYS_CUH

#include "shape.h"

#include <stdint.h>

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

#endif
