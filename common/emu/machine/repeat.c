#include "repeat.h"
#include "frame.h"

/* A larger state is not checked: its digest would take longer than a turn. After a digest of many
 * bytes come turns without one, so that they do not take longer than the turns. */
enum { LARGEST_STATE = 4 << 20, BYTES_A_TURN = 32 << 10 };

/* splitmix64's step */
static uint64_t mix(uint64_t digest, uint64_t value)
{
    uint64_t z = (digest ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
    return z ^ z >> 31;
}

/* Four digests of interleaved words, which the processor computes at once. Up to 7 bytes at
 * the end are left out. */
static uint64_t digest_bytes(uint64_t digest, const uint8_t *bytes, size_t size)
{
    uint64_t a = digest, b = 1, c = 2, d = 3, word[4];
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(word, bytes, sizeof word);
        a = mix(a, word[0]);
        b = mix(b, word[1]);
        c = mix(c, word[2]);
        d = mix(d, word[3]);
    }
    for (; size >= sizeof *word; bytes += sizeof *word, size -= sizeof *word) {
        memcpy(word, bytes, sizeof *word);
        a = mix(a, *word);
    }
    return mix(mix(mix(a, b), c), d);
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

static size_t state_bytes(const struct cluster *cluster)
{
    size_t size = 0;
    for (unsigned rank = 0; rank < cluster->size; rank++)
        size += cluster->blocks[rank]->memory_bytes;
    return size;
}

/* Never 0. Asynchronous copies in flight are not part of it; one that arrives changes memory. */
static uint64_t digest_of(const struct cluster *cluster)
{
    uint64_t digest = cluster->parity;
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

/* Has another cluster changed memory since this one's last turn? */
static bool memory_is_new(struct cluster *cluster)
{
    struct launch *launch = cluster->launch;
    struct repeat fresh = {.pause = cluster->repeat.pause};
    pthread_mutex_lock(&launch->lock);
    fresh.new_values = launch->new_values;
    pthread_mutex_unlock(&launch->lock);
    if (fresh.new_values == cluster->repeat.new_values) return false;
    cluster->repeat = fresh; /* what it did before proves nothing */
    return true;
}

static bool is_known_to_repeat(struct repeat *repeat)
{
    if (!repeat->left) return false;
    repeat->left--;
    return true;
}

/* Brent's algorithm for cycles: an earlier state is kept for twice as many turns as the one before.
 * While other clusters change memory a wait may end, and no digest is made, which would take long.
 */
bool repeats(struct cluster *cluster)
{
    struct repeat *repeat = &cluster->repeat;
    size_t size = state_bytes(cluster);
    repeat->turns++;
    if (memory_is_new(cluster) || size > LARGEST_STATE) return false;
    if (repeat->pause) {
        repeat->pause--;
        return is_known_to_repeat(repeat);
    }
    uint64_t digest = digest_of(cluster);
    repeat->pause = (unsigned)(size / BYTES_A_TURN);
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
    return is_known_to_repeat(repeat);
}
