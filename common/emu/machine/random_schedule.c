#include "random_schedule.h"
#include "fragment.h"

/* splitmix64 */
uint64_t random_mixed(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t next(struct launch *launch)
{
    launch->random += UINT64_C(0x9e3779b97f4a7c15);
    launch->random += !launch->random; /* 0 would mean the usual order */
    return random_mixed(launch->random);
}

void random_begin(struct launch *launch, uint64_t seed)
{
    if (!seed) return;
    launch->random = random_mixed(seed + random_mixed(launch->id + 1)) | 1;
    launch->splits_lanes = !(launch->checks & EMU_CHECK_SYNC);
}

unsigned random_below(struct launch *launch, unsigned n)
{
    return (unsigned)((next(launch) >> 32) * n >> 32);
}

void random_order(struct launch *launch, uint8_t *order, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned k = random_below(launch, i + 1);
        if (k < i) order[i] = order[k];
        order[k] = (uint8_t)i;
    }
}

/* Lengths of 1 to 2 are as frequent as lengths of 512 to 1024: a hazard may need either. */
uint64_t random_slice(struct launch *launch)
{
    enum { MAX_BITS = 10 };
    unsigned bits = random_below(launch, MAX_BITS + 1);
    return bits ? 1 + random_below(launch, 1u << bits) : 0;
}

void random_split(struct warp *w, struct fragment *f)
{
    enum { SELDOM = 4 };
    struct launch *launch = w->block->launch;
    if (!launch->splits_lanes || random_below(launch, SELDOM)) return;
    uint32_t lanes = f->mask & (uint32_t)next(launch);
    if (random_below(launch, 2)) lanes &= (uint32_t)next(launch); /* fewer lanes */
    if (lanes && lanes != f->mask) fragment_split(w, f, lanes, f->pc);
}
