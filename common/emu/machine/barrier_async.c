#include "async.h"
#include <stdlib.h>
#include <string.h>

struct async *async_of(struct warp *w, const struct insn *i)
{
    struct block *block = w->block;
    if (block->async) return block->async;
    struct async *async = calloc(1, sizeof *async);
    if (async) {
        async->queues = copy_queues_new(block->warp_count);
        async->bulk_groups = calloc(block->warp_count, sizeof *async->bulk_groups);
    }
    if (!async || !async->queues || !async->bulk_groups) {
        if (async) free(async->queues), free(async->bulk_groups);
        free(async);
        fault(w, i, -1, EMU_OUT_OF_MEMORY, "out of host memory for asynchronous copies");
        return NULL;
    }
    return block->async = async;
}

void async_start(struct block *block)
{
    struct async *async = block->async;
    copy_queues_clear(async->queues, block->warp_count);
    bulk_copies_free(&async->arriving);
    bulk_copies_free(&async->grouped);
    async->last_arriving = async->last_grouped = NULL;
    stores_free(&async->stores);
    memset(async->bulk_groups, 0, block->warp_count * sizeof *async->bulk_groups);
}

void async_end(struct block *block) { bulk_finish(block); }

void async_free(struct block *block)
{
    struct async *async = block->async;
    if (!async) return;
    copy_queues_free(async->queues, block->warp_count);
    bulk_copies_free(&async->arriving);
    bulk_copies_free(&async->grouped);
    stores_free(&async->stores);
    free(async->bulk_groups);
    free(async);
}

void async_carry_out(const struct shared_place *mbarrier)
{
    if (!mbarrier->owner->async) return;
    copy_arrive_at(mbarrier);
    bulk_arrive_at(mbarrier);
    stores_arrive_at(mbarrier);
}
