/* race_life.c — racecheck's part of a device, of a launch and of a block: made and thrown away. */
#include "race_state.h"
#include "emu/machine/device.h"
#include "emu/operations/warp_ops.h"
#include <stdlib.h>
#include <string.h>

struct race *race_open(void)
{
    struct race *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    shadow_open(&race->shadow);
    race->reports = race_reports_open();
    if (race->reports) return race;
    free(race);
    return NULL;
}

void race_close(struct race *race)
{
    if (!race) return;
    shadow_close(&race->shadow);
    race_reports_close(race->reports);
    free(race->leads_to_cas);
    free(race);
}

void race_forget(struct race *race, uint64_t address, uint64_t bytes)
{
    shadow_forget(&race->shadow, address, bytes);
}

void race_begin(struct launch *launch)
{
    struct race *race = launch->emu->race;
    shadow_new_launch(&race->shadow);
    knowledge_open(&race->space, (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z);
    free(race->leads_to_cas);
    race->leads_to_cas = calloc(launch->kernel->code_count, sizeof *race->leads_to_cas);
    race->off = !race->leads_to_cas;
    race->has_cas = false;
    for (size_t i = 0; i < launch->kernel->code_count; i++) {
        const struct insn *insn = &launch->kernel->code[i];
        if (insn->tally == TALLY_ATOMIC && insn->function == ATOMIC_CAS) race->has_cas = true;
    }
}

void race_end(struct launch *launch)
{
    struct race *race = launch->emu->race;
    sync_clear(&race->space, &race->words);
    race_reports_tell(race->reports, launch);
}

struct race_block *race_block_new(const struct block *block)
{
    struct race_block *race = calloc(1, sizeof *race);
    if (!race) return NULL;
    race->race = block->launch->emu->race;
    race->warp_count = block->warp_count;
    race->granules = (block->shared_bytes + GRANULE - 1) / GRANULE;
    race->warps = calloc(race->warp_count, sizeof *race->warps);
    race->shared = malloc(race->granules * sizeof *race->shared + 1);
    if (race->warps && race->shared) return race;
    race_block_free(race);
    return NULL;
}

void race_block_start(struct block *block)
{
    struct race_block *race = block->race;
    race_clock_reset(race);
    sync_clear(&race->race->space, &race->words);
    memset(race->shared, 0, race->granules * sizeof *race->shared);
    race->copies.mbarrier_count = 0;
    for (unsigned i = 0; i < race->warp_count && race->race->has_cas; i++)
        memset(race->warps[i].recent, 0, sizeof race->warps[i].recent);
}

void race_block_free(struct race_block *race)
{
    if (!race) return;
    if (race->warps) race_clock_reset(race);
    sync_clear(&race->race->space, &race->words);
    free(race->warps);
    free(race->shared);
    free(race->copies.mbarriers);
    free(race);
}
