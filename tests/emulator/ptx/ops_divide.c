/* ops_divide.c — division of 64-bit integers that all fit into 48 bits, or nearly. */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WARPS = 400, LANES = 32, COUNT = WARPS * LANES };

/* By the warp's number: divisors that are equal in all lanes or not, numbers at the limit, next to
 * a multiple of the divisor, negative, 0, and in one lane too large. */
static void choose(unsigned n, uint64_t *seed, uint64_t *a, uint64_t *b)
{
    unsigned warp = n / LANES, lane = n % LANES;
    static uint64_t shared;
    const uint64_t limit = UINT64_C(1) << 48;
    uint64_t random = next_random(seed) >> 16;
    *b = (next_random(seed) >> (16 + warp % 48)) | 1;
    if (lane == 0) shared = *b;
    if (warp & 1) *b = shared;
    switch (warp / 2 % 8) {
    case 0: *a = random; break;
    case 1: *a = limit - 1 - lane; break;
    case 2: *a = random / *b * *b - (random > *b); break;
    case 3: *a = random / *b * *b; break;
    case 4: *a = lane & 1 ? 0 - random : random, *b = lane & 2 ? 0 - *b : *b; break;
    case 5: *a = lane == 5 ? random << 16 : lane; break;
    case 6: *a = random, *b = lane == 7 ? 0 : *b; break;
    default: *a = lane, *b = warp & 1 ? 1 : limit - 1;
    }
}

Test(emu_ops_divide, small_numbers)
{
    static union value in[COUNT][2], out[COUNT][4];
    struct emu *emu = open_emu();
    uint64_t seed = 1;
    for (unsigned n = 0; n < COUNT; n++) choose(n, &seed, &in[n][0].u64, &in[n][1].u64);
    int e = ptx_run(emu,
                    "div.u64 $0, $4, $5;\nrem.u64 $1, $4, $5;\n"
                    "div.s64 $2, $4, $5;\nrem.s64 $3, $4, $5;",
                    "llll=ll", COUNT, in[0], out[0]);
    cr_assert(!e, "%s", emu_message(emu));
    for (unsigned n = 0; n < COUNT; n++) {
        uint64_t a = in[n][0].u64, b = in[n][1].u64, want[4];
        memset(want, 0xff, sizeof want);
        if (b) want[0] = a / b, want[1] = a % b;
        if (b) want[2] = (uint64_t)((int64_t)a / (int64_t)b);
        if (b) want[3] = (uint64_t)((int64_t)a % (int64_t)b);
        cr_assert(!memcmp(want, out[n], sizeof want), "%llx, %llx: %llx %llx %llx %llx",
                  (unsigned long long)a, (unsigned long long)b, (unsigned long long)out[n][0].u64,
                  (unsigned long long)out[n][1].u64, (unsigned long long)out[n][2].u64,
                  (unsigned long long)out[n][3].u64);
    }
    emu_close(emu);
}
