#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "clocks.h"
#include "random_schedule.h"
#include <time.h>

/* What is made from the seed, for different uses of it. */
enum clock_use { USE_TIME = 1, USE_ORDER, USE_FIRST, USE_MULTIPROCESSOR };

static uint64_t chance(const struct emu *emu, uint64_t use, uint64_t number)
{
    return random_mixed(emu->clock_seed ^ random_mixed(use + (number << 8)));
}

/* With a seed, instructions that the device has executed, and leaps; otherwise the warp's. The sum
 * may have passed 0 on its way. */
static uint64_t device_time(const struct warp *w) { return w->earlier + w->clock - w->fuel; }

uint64_t clocks_warp(const struct warp *w)
{
    const struct emu *emu = w->block->launch->emu;
    enum { BITS = 40 }; /* as if the GPU had run for some minutes */
    if (!emu->clock_seed) return device_time(w);
    uint64_t begin = chance(emu, USE_MULTIPROCESSOR, clocks_smid(w->block)) >> (64 - BITS);
    return begin + device_time(w);
}

uint64_t clocks_global(const struct warp *w)
{
    const struct emu *emu = w->block->launch->emu;
    const uint64_t second = 1000000000, year = 365 * 24 * 3600 * second;
    if (emu->clock_seed) return 50 * year + chance(emu, USE_TIME, 0) % year + device_time(w);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

void clocks_wait(struct warp *w, const struct insn *i)
{
    enum { PART = 32, FARTHEST = 48 }; /* 2^48 cycles are a day: a loop that asks for more hangs */
    struct emu *emu = w->block->launch->emu;
    if (i->clock.which == CLOCK_GLOBAL && !emu->clock_seed) return; /* the host's time */
    uint64_t now = w->clock - w->fuel;
    bool again = w->waited == i && now - w->waited_at == i->clock.loop;
    w->waited = i;
    w->waited_at = now;
    if (!again) w->waits_since = device_time(w);
    uint64_t waited = device_time(w) - w->waits_since;
    uint64_t leap = waited >> FARTHEST ? 0 : waited / PART;
    if (leap == 1 && waited - PART < i->clock.loop) warp_yield(w);
    w->earlier += leap;
    if (emu->clock_seed) emu->executed += leap;
}

static unsigned common_divisor(unsigned a, unsigned b)
{
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* first + index * step, where step has no divisor in common with the number of multiprocessors:
 * blocks that follow each other are on as many of them as there are. */
unsigned clocks_smid(const struct block *block)
{
    const struct launch *launch = block->launch;
    const struct emu *emu = launch->emu;
    unsigned sms = (unsigned)emu->gpu->sms;
    if (!emu->clock_seed) return (unsigned)(block->index % sms);
    unsigned first = (unsigned)(chance(emu, USE_FIRST, launch->id) % sms),
             step = 1 + (unsigned)(chance(emu, USE_ORDER, launch->id) % sms);
    while (common_divisor(step, sms) != 1) step++;
    return (unsigned)((first + block->index % sms * step) % sms);
}
