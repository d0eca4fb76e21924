/* integers.cu — integer arithmetic: high halves of products, 128-bit sums with carries, division
 * and remainder, saturation, dot products of bytes; bits that are counted, reversed, shifted and
 * permuted. */
#include "check.cuh"

enum {
    HIGH_SIGNED,
    HIGH_UNSIGNED,
    HIGH_64,
    SUM_HIGH,
    PRODUCT_HIGH,
    QUOTIENT,
    REMAINDER,
    QUOTIENT_64,
    DOT,
    SAD,
    AVERAGE,
    ONES,
    FIRST,
    ZEROS,
    ZEROS_64,
    REVERSED,
    FUNNEL,
    PERMUTED,
    FIELD,
    CLAMPED,
    KINDS
};

typedef unsigned long long u64;

static __global__ void compute(const u64 *a, const u64 *b, u64 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    u64 x = a[i], y = b[i];
    unsigned p = (unsigned)x, q = (unsigned)y;
    u64 *r = out + (size_t)i * KINDS;
    r[HIGH_SIGNED] = (unsigned)__mulhi((int)p, (int)q);
    r[HIGH_UNSIGNED] = __umulhi(p, q);
    r[HIGH_64] = __umul64hi(x, y);
    unsigned __int128 sum = (unsigned __int128)x * 3 + y, product = (unsigned __int128)x * y;
    r[SUM_HIGH] = (u64)(sum >> 64);
    r[PRODUCT_HIGH] = (u64)(product >> 37);
    r[QUOTIENT] = (unsigned)((int)p / ((int)q | 1));
    r[REMAINDER] = p % (q | 1);
    r[QUOTIENT_64] = x / (y >> 20 | 1);
    r[DOT] = (unsigned)__dp4a((int)p, (int)q, 5);
    r[SAD] = __usad(p, q, 1);
    r[AVERAGE] = (unsigned)__rhadd((int)p, (int)q);
    r[ONES] = __popcll(x) * 100 + __popc(p);
    r[FIRST] = __ffs(p) * 100 + __ffsll(x);
    r[ZEROS] = __clz((int)(p >> (q & 31)));
    r[ZEROS_64] = __clzll((long long)(x >> (q & 63)));
    r[REVERSED] = __brevll(x) ^ __brev(p);
    r[FUNNEL] = (u64)__funnelshift_l(p, q, p) << 32 | __funnelshift_r(p, q, q);
    r[PERMUTED] = __byte_perm(p, q, 0x6240 ^ (p & 0x1111));
    r[FIELD] = (p >> (q & 15) & 0xff) | (u64)((int)(p << 9) >> 20 & 0xffff) << 32;
    r[CLAMPED] = (unsigned)min(max((int)p, -1000), 1000);
}

static int signed_byte(unsigned word, int i) { return (int8_t)(word >> 8 * i); }

static void expected(u64 x, u64 y, u64 *r)
{
    unsigned p = (unsigned)x, q = (unsigned)y;
    int sp = (int)p, sq = (int)q, first = 0, first_64 = 0, ones = 0, ones_64 = 0;
    u64 reversed = 0;
    unsigned reversed_32 = 0;
    for (int i = 63; i >= 0; i--) {
        int bit = (int)(x >> i & 1);
        ones_64 += bit, reversed |= (u64)bit << (63 - i), first_64 = bit ? i + 1 : first_64;
        if (i < 32)
            ones += bit, reversed_32 |= (unsigned)bit << (31 - i), first = bit ? i + 1 : first;
    }
    int zeros = 0, zeros_64 = 0;
    while (zeros < 32 && !(p >> (q & 31) >> (31 - zeros) & 1)) zeros++;
    while (zeros_64 < 64 && !(x >> (q & 63) >> (63 - zeros_64) & 1)) zeros_64++;
    unsigned __int128 product = (unsigned __int128)x * y, sum = (unsigned __int128)x * 3 + y;
    r[HIGH_SIGNED] = (unsigned)((long long)sp * sq >> 32);
    r[HIGH_UNSIGNED] = (u64)p * q >> 32;
    r[HIGH_64] = (u64)(product >> 64);
    r[SUM_HIGH] = (u64)(sum >> 64);
    r[PRODUCT_HIGH] = (u64)(product >> 37);
    r[QUOTIENT] = (unsigned)(sp / (sq | 1));
    r[REMAINDER] = p % (q | 1);
    r[QUOTIENT_64] = x / (y >> 20 | 1);
    int dot = 5;
    for (int i = 0; i < 4; i++) dot += signed_byte(p, i) * signed_byte(q, i);
    r[DOT] = (unsigned)dot;
    r[SAD] = (p > q ? p - q : q - p) + 1u;
    r[AVERAGE] = (unsigned)(((long long)sp + sq + 1) >> 1);
    r[ONES] = ones_64 * 100 + ones;
    r[FIRST] = first * 100 + first_64;
    r[ZEROS] = zeros;
    r[ZEROS_64] = zeros_64;
    r[REVERSED] = reversed ^ reversed_32;
    u64 pair = (u64)q << 32 | p; /* the high word is the second argument */
    r[FUNNEL] = (pair << (p & 31) >> 32) << 32 | (unsigned)(pair >> (q & 31));
    unsigned selector = 0x6240 ^ (p & 0x1111), permuted = 0;
    for (int i = 0; i < 4; i++)
        permuted |= (unsigned)(pair >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    r[PERMUTED] = permuted;
    r[FIELD] = (p >> (q & 15) & 0xff) | (u64)((int)(p << 9) >> 20 & 0xffff) << 32;
    r[CLAMPED] = (unsigned)(sp < -1000 ? -1000 : sp > 1000 ? 1000 : sp);
}

int main()
{
    const int N = 600;
    std::vector<u64> a(N), b(N), want((size_t)N * KINDS);
    const u64 edges[] = {0, 1, 0x7fffffff, 0x80000001, 0xffffffff, 0x8000000000000000, ~0ull, 42};
    for (int i = 0; i < N; i++) {
        a[i] = i < 64 ? edges[i / 8] : (u64)next_random() << 33 ^ (u64)next_random() << 7;
        b[i] = i < 64 ? edges[i % 8] : (u64)next_random() << 33 ^ (u64)next_random() << 5;
        if ((unsigned)a[i] == 0x80000000u) a[i]++; /* its quotient by -1 has no meaning */
        expected(a[i], b[i], &want[(size_t)i * KINDS]);
    }
    u64 *out = device_array<u64>((size_t)N * KINDS);
    compute<<<blocks_for(N, 128), 128>>>(device_copy(a), device_copy(b), out, N);
    CUDA_LAUNCHED();
    std::vector<u64> got = host_copy(out, (size_t)N * KINDS);
    for (int i = 0; i < N * KINDS; i++) {
        if (got[i] == want[i]) continue;
        printf("kind %d of 0x%llx and 0x%llx is 0x%llx, not 0x%llx\n", i % KINDS, a[i / KINDS],
               b[i / KINDS], got[i], want[i]);
        return EXIT_WRONG;
    }
    return right("%d integer functions of %d pairs", (int)KINDS, N);
}
