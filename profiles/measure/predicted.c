/* predicted.c — prints the formulas of predictions.h as a table, for the tables of the
 * notes: the work of one block between two barriers. A row holds the number of banks, the epoch
 * (how many barriers the block has passed), the offset of the level, how many lanes use the same
 * bank, and for loads and for stores the warp instructions, lanes, and bank conflicts. */
#include "tests/unit/steps/predictions.h"

#include <stdio.h>
#include <string.h>

/* Sizes of one block for which the notes have tables. */
static const unsigned sizes[] = {512, 2048};

static bool is_wanted(const struct plan *plan, unsigned n, unsigned banks)
{
    bool sweeps = plan->kernel == SWEEPS, tree = plan->kernel == TREE_ALONE;
    bool of_blocks = plan->kernel == TREE_OF_BLOCKS && !plan->levels;
    return tree || ((sweeps || of_blocks) && n == sizes[0] && banks == WARP_LANES);
}

/* How far the elements of a level lie apart; 0 before the first level and behind the last. */
static unsigned offset_of(const struct block *b, unsigned epoch)
{
    unsigned height = log2_of(b->size);
    if (epoch == 0 || epoch == barriers(b)) return 0;
    return epoch <= height ? 1u << (epoch - 1) : b->size >> (epoch - height);
}

static void print_block(const struct block *b)
{
    bool tree = b->plan->kernel != SWEEPS;
    for (unsigned epoch = 0; epoch <= barriers(b); epoch++) {
        struct level l = predict(b, epoch);
        unsigned offset = offset_of(b, epoch), pairs = offset && tree ? b->size / 2 / offset : 0;
        unsigned lanes = pairs < b->banks ? pairs : b->banks;
        printf("%s,%s,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u,%u\n", b->plan->step, b->plan->variant, b->size,
               b->banks, epoch, offset,
               lanes ? padded_ways(b->plan, lanes, 2 * offset, b->banks) : 1, l.loads, l.stores,
               l.load_lanes, l.store_lanes, l.load_conflicts, l.store_conflicts);
    }
}

int main(void)
{
    puts("step,variant,n,banks,epoch,offset,ways,loads,stores,load_lanes,store_lanes,"
         "load_conflicts,store_conflicts");
    for (int i = 0; i < PLANS; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (unsigned banks = WARP_LANES; banks >= WARP_LANES / 2; banks /= 2) {
                if (!is_wanted(&plans[i], sizes[k], banks)) continue;
                struct block b = block_at(&plans[i], sizes[k], 0, banks);
                print_block(&b);
            }
    return 0;
}
