/*
 * allocations.c — many allocations: they keep a distance, each of their addresses leads to the
 * allocation, and freed addresses are reused when no others are left. The time for one allocation
 * does not grow with their number.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GAP = 4096, ALIGNMENT = 256 };

struct piece {
    emu_addr base; /* 0: not allocated */
    size_t bytes;
};

static struct emu *open_small(void)
{
    return open_emu_with(&(struct emu_config){.memory = 1 << 20});
}

/* The addresses around an allocation that belong to it or to no allocation. */
static void expect_found(struct emu *emu, const struct piece *piece)
{
    const emu_addr inside[] = {piece->base, piece->base + piece->bytes - 1},
                   outside[] = {piece->base - 1, piece->base + piece->bytes, piece->base - GAP,
                                piece->base + piece->bytes + GAP - 1};
    emu_addr base;
    size_t bytes;
    for (int i = 0; i < 2; i++)
        cr_assert(emu_find(emu, inside[i], &base, &bytes) && base == piece->base &&
                  bytes == piece->bytes);
    for (int i = 0; i < 4; i++) cr_assert(!emu_find(emu, outside[i], &base, &bytes));
    cr_assert(piece->base % ALIGNMENT == 0);
}

/* Nearly all addresses are used again and again. */
Test(emu_allocations, by_chance, .timeout = 60)
{
    enum { PIECES = 150, STEPS = 20000 };
    struct piece pieces[PIECES] = {0};
    struct emu *emu = open_small();
    uint64_t state = 1;
    size_t free_bytes, total, failed = 0;
    for (int step = 0; step < STEPS; step++) {
        struct piece *p = &pieces[next_random(&state) % PIECES];
        if (p->base) {
            cr_assert(!emu_free(emu, p->base));
            cr_assert(!emu_find(emu, p->base, &(emu_addr){0}, &(size_t){0}), "step %d", step);
            p->base = 0;
            continue;
        }
        p->bytes = 1 + next_random(&state) % (step % 64 ? 8192 : 200000);
        if (emu_alloc(emu, p->bytes, &p->base)) {
            failed++;
            p->base = 0;
            continue;
        }
        for (int i = 0; i < PIECES && step % 16 == 0; i++)
            if (pieces[i].base) expect_found(emu, &pieces[i]);
    }
    cr_expect_lt(failed, STEPS / 20, "%zu allocations failed", failed);
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].base) cr_assert(!emu_free(emu, pieces[i].base));
    emu_memory_info(emu, &free_bytes, &total);
    cr_expect_eq(free_bytes, total);
    cr_expect_eq(emu_alloc(emu, total, &pieces[0].base), EMU_OK);
    emu_close(emu);
}

/* When no other addresses are left, the first hole that is wide enough is used, and no other. */
Test(emu_allocations, holes_are_used_again)
{
    enum { MANY = 1000, BYTES = 300 };
    static emu_addr all[MANY];
    struct emu *emu = open_small();
    emu_addr again;
    int count = 0;
    while (!emu_alloc(emu, BYTES, &all[count])) cr_assert_lt(++count, MANY);
    cr_expect(strstr(emu_message(emu), "but not in one piece"), "%s", emu_message(emu));
    const int freed[] = {count / 2, count / 3, 0, count - 1};
    for (int i = 0; i < 4; i++) cr_assert(!emu_free(emu, all[freed[i]]));
    const int expected[] = {0, count / 3, count / 2, count - 1};
    for (int i = 0; i < 4; i++) {
        cr_assert(!emu_alloc(emu, BYTES, &again));
        cr_expect_eq(again, all[expected[i]], "hole %d", i);
    }
    cr_expect_eq(emu_alloc(emu, BYTES, &again), EMU_OUT_OF_MEMORY);
    for (int i = 0; i < 3; i++) cr_assert(!emu_free(emu, all[10 + i]));
    cr_assert(!emu_alloc(emu, BYTES + 2 * GAP, &again), "three holes side by side are one");
    cr_expect_eq(again, all[10]);
    emu_close(emu);
}

Test(emu_allocations, freed_addresses_come_back_last)
{
    struct emu *emu = open_small();
    emu_addr first, next;
    cr_assert(!emu_alloc(emu, 4, &first));
    cr_assert(!emu_free(emu, first));
    for (int i = 0; i < 400; i++) {
        cr_assert(!emu_alloc(emu, 4, &next));
        cr_assert_neq(next, first, "after %d", i);
        cr_assert(!emu_free(emu, next));
    }
    emu_close(emu);
}

/* Seconds of processor time to make `count` allocations and to free them, the oldest first. */
static double seconds_for(size_t count, unsigned checks)
{
    struct emu *emu = open_emu_with(&(struct emu_config){.memory = 512 << 20, .checks = checks});
    emu_addr *all = malloc(count * sizeof *all);
    clock_t began = clock();
    for (size_t i = 0; i < count; i++) cr_assert(!emu_alloc(emu, 16, &all[i]));
    for (size_t i = 0; i < count; i++) cr_assert(!emu_free(emu, all[i]));
    double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    free(all);
    emu_close(emu);
    return seconds;
}

/* In proportion it takes 16 times as long. If each call went through all allocations, it would take
 * 256 times as long. */
Test(emu_allocations, take_no_longer_when_there_are_many, .timeout = 120)
{
    enum { FEW = 2500, MANY = 16 * FEW };
    static const unsigned checks[] = {0, EMU_CHECK_MEMORY, EMU_CHECK_RACE, EMU_CHECK_INIT};
    for (int i = 0; i < 4; i++) {
        double few = seconds_for(FEW, checks[i]), many = seconds_for(MANY, checks[i]);
        cr_expect_lt(many, 64 * few, "checks %u: %d in %.4f s, %d in %.4f s", checks[i], FEW, few,
                     MANY, many);
    }
}

static size_t resident_pages(void)
{
    unsigned long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%lu %lu", &size, &resident) == 2);
    fclose(file);
    return resident;
}

/* Each allocation gets new addresses, but the memory behind freed ones goes back to the host. */
Test(emu_allocations, freed_memory_goes_back_to_the_host, .timeout = 60)
{
    enum { TIMES = 50000 };
    struct emu *emu = open_emu_with(&(struct emu_config){.memory = 512 << 20});
    emu_addr address;
    size_t before = resident_pages();
    for (int i = 0; i < TIMES; i++) {
        cr_assert(!emu_alloc(emu, 100, &address));
        cr_assert(!emu_free(emu, address));
    }
    cr_expect_lt(resident_pages() - before, TIMES / 10);
    emu_close(emu);
}

/* ---- when the host has few addresses --------------------------------------------------------- */

Test(emu_allocations, what_was_asked_for_in_bytes_is_given_or_refused)
{
    char message[200] = "";
    struct emu_config config = {.memory = (size_t)1 << 50};
    cr_assert(!emu_open(&config, message, sizeof message));
    cr_expect(strstr(message, "no addresses for 1125899906842624 bytes") &&
                  strstr(message, "EMU_MEMORY"),
              "%s", message);
}
