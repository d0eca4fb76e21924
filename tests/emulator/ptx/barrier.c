/*
 * barrier.c — block barriers: used correctly, in divergent code, and not reached by all threads;
 * deadlocks; launches beyond the limits. The number of host threads changes no result.
 */
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, WARP = 32 };

/* ---- launches beyond the limits -------------------------------------------------------------- */

Test(emu_barrier, launch_limits)
{
    static const struct {
        const char *name;
        struct emu_dim grid, block;
        size_t shared;
        int want;
    } launches[] = {
        {"the largest block", {1, 1, 1}, {1024, 1, 1}, 0, EMU_OK},
        {"the largest flat block", {1, 1, 1}, {32, 32, 1}, 0, EMU_OK},
        {"z of a block at its limit", {1, 1, 1}, {1, 1, 64}, 0, EMU_OK},
        {"grid in three dimensions", {3, 2, 4}, {8, 1, 1}, 0, EMU_OK},
        {"much shared memory", {1, 1, 1}, {32, 1, 1}, 48 * 1024, EMU_OK},
        {"block too large", {1, 1, 1}, {1025, 1, 1}, 0, EMU_INVALID_VALUE},
        {"block too large in two dimensions", {1, 1, 1}, {64, 32, 1}, 0, EMU_INVALID_VALUE},
        {"block too deep", {1, 1, 1}, {1, 1, 65}, 0, EMU_INVALID_VALUE},
        {"no threads", {1, 1, 1}, {0, 1, 1}, 0, EMU_INVALID_VALUE},
        {"no threads in y", {1, 1, 1}, {32, 0, 1}, 0, EMU_INVALID_VALUE},
        {"no blocks", {0, 1, 1}, {32, 1, 1}, 0, EMU_INVALID_VALUE},
        {"no blocks in z", {1, 1, 0}, {32, 1, 1}, 0, EMU_INVALID_VALUE},
        {"grid too high", {1, 65536, 1}, {1, 1, 1}, 0, EMU_INVALID_VALUE},
        {"grid too wide", {0x80000000, 1, 1}, {1, 1, 1}, 0, EMU_INVALID_VALUE},
        {"product that overflows", {1, 1, 1}, {65536, 65536, 1}, 0, EMU_INVALID_VALUE},
        {"too much shared memory", {1, 1, 1}, {32, 1, 1}, 228 * 1024, EMU_INVALID_VALUE},
        {"absurd shared memory", {1, 1, 1}, {32, 1, 1}, SIZE_MAX, EMU_INVALID_VALUE},
    };
    struct emu *emu = open_emu();
    struct emu_kernel *kernel = load_kernel(emu, PTX_KERNEL("k", "ret;\n"), "k");
    uint64_t zero = 0;
    void *args[] = {&zero, &zero};
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        int e = emu_launch(emu, kernel, launches[i].grid, launches[i].block, launches[i].shared,
                           args, false);
        bool right = e == launches[i].want;
        cr_expect(right, "%s: error %d, want %d: %s", launches[i].name, e, launches[i].want,
                  emu_message(emu));
        cr_expect(!e || emu_message(emu)[0], "%s: no message", launches[i].name);
    }
    emu_close(emu);
}
