#include "repeat.h"
#include "common/emu/machine/warp/frame.h"

/* A larger state is not checked: its digest would take longer than a turn. */
enum { LARGEST_STATE = 4 << 20 };

/* splitmix64's step */
static uint64_t mix(uint64_t digest, uint64_t value)
{
    uint64_t z = (digest ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 31;
}

static uint64_t digest_bytes(uint64_t digest, const uint8_t *bytes, size_t size)
{
    for (size_t k = 0; k + sizeof(uint64_t) <= size; k += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + k, sizeof word);
        digest = mix(digest, word);
    }
    return digest;
}

/* The frames of a call and its callers; the kernel's own is part of the block's memory. */
static uint64_t digest_frames(uint64_t digest, const struct frame *frame)
{
    for (; frame->caller; frame = frame->caller) {
        digest = mix(digest, frame->return_pc);
        digest = digest_bytes(digest, frame->registers, frame->callee->register_bytes);
        digest = digest_bytes(digest, frame->area, frame->area_bytes * WARP);
    }
    return digest;
}

static uint64_t digest_warp(uint64_t digest, const struct warp *w)
{
    digest = mix(digest, (uint64_t)w->live << 32 | w->carry);
    digest = mix(digest, (uint64_t)w->cluster_arrived << 32 | w->cluster_owes);
    for (unsigned k = 0; k < w->fragment_count; k++) {
        const struct fragment *f = &w->fragments[k];
        digest = mix(digest, (uint64_t)f->pc << 32 | f->mask);
        digest = mix(digest, (uint64_t)f->state << 32 | f->barrier);
        digest = digest_frames(digest, f->frame);
    }
    return digest;
}

/* 0: the state is too large. Asynchronous copies under way are not part of it; when one arrives, it
 * changes memory. */
static uint64_t digest_of(const struct cluster *cluster)
{
    uint64_t digest = cluster->parity;
    size_t size = 0;
    for (unsigned rank = 0; rank < cluster->size; rank++)
        size += cluster->blocks[rank]->memory_bytes;
    if (size > LARGEST_STATE) return 0;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        const struct block *block = cluster->blocks[rank];
        if (block->ended) continue;
        digest = digest_bytes(digest, block->shared, block->memory_bytes);
        for (unsigned i = 0; i < block->warp_count; i++)
            digest = digest_warp(digest, &block->warps[i]);
        for (unsigned number = 0; number < MAX_BARRIERS; number++)
            digest = mix(digest, block->barriers[number].arrived);
    }
    return digest | !digest;
}

/* Brent's algorithm for cycles: an earlier state is kept for twice as many turns as the one
 * before. */
bool repeats(struct cluster *cluster)
{
    struct repeat *repeat = &cluster->repeat;
    uint64_t digest = digest_of(cluster);
    if (!digest) return false;
    repeat->turns++;
    if (digest == repeat->digest) {
        repeat->left = repeat->turns; /* until it returns to this state */
        repeat->turns = 0;
        return true;
    }
    if (repeat->turns >= repeat->most) {
        repeat->digest = digest;
        repeat->most = 2 * repeat->turns;
        repeat->turns = 0;
    }
    if (!repeat->left) return false;
    repeat->left--;
    return true;
}
