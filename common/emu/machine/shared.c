#include "events.h"
#include "shared.h"

/* The block that an address of a warp refers to; NULL after a fault. */
static struct block *owner_of(struct warp *w, const struct insn *i, int lane, uint64_t address,
                              bool own)
{
    struct block *block = w->block;
    struct cluster *cluster = block->cluster;
    uint64_t rank = address >> RANK_SHIFT;
    if (own && rank && rank != block->rank) {
        fault(
            w, i, lane, EMU_ILLEGAL_ADDRESS,
            "shared address 0x%llx belongs to the block of rank %llu, and this instruction reaches "
            "only its own block (rank %u): .shared::cluster reaches others",
            (unsigned long long)address, (unsigned long long)rank, block->rank);
        return NULL;
    }
    if (own) return block;
    if (rank >= cluster->size) {
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "shared address 0x%llx names the block of rank %llu, in a cluster of %u",
              (unsigned long long)address, (unsigned long long)rank, cluster->size);
        return NULL;
    }
    if (cluster->blocks[rank]->ended) {
        if (announces(block, ANNOUNCE_ORDER))
            event_use_after_end(w, i, lane, cluster->blocks[rank], shared_offset(address));
        fault(
            w, i, lane, EMU_LAUNCH_FAILURE,
            "the block of rank %llu has exited, and its shared memory is gone: a cluster.sync() at "
            "its end would keep it (barrier.cluster)",
            (unsigned long long)rank);
        return NULL;
    }
    return cluster->blocks[rank];
}

struct block *shared_enter(struct warp *w, const struct insn *i, struct access *access, bool own)
{
    int first = __builtin_ctz(access->mask);
    struct block *owner = owner_of(w, i, first, access->address[first], own);
    if (!owner) return NULL;
    uint32_t kept = 0;
    for (int l = 0; l < WARP; l++) {
        uint64_t rank = access->address[l] >> RANK_SHIFT;
        if (rank == owner->rank || (own && !rank)) kept |= UINT32_C(1) << l;
    }
    access->mask &= kept;
    for (int l = 0; l < WARP; l++)
        access->address[l] = shared_offset(access->address[access->mask >> l & 1 ? l : first]);
    return owner;
}

bool shared_find(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                 uint64_t address, uint64_t bytes, unsigned alignment, struct shared_place *place)
{
    if (space == PTX_GENERIC) {
        if (address - SHARED_WINDOW >= WINDOW_BYTES) {
            fault(w, i, lane, EMU_INVALID_ADDRESS_SPACE,
                  "generic address 0x%llx is not in shared memory", (unsigned long long)address);
            return false;
        }
        address -= SHARED_WINDOW;
    }
    struct block *owner = owner_of(w, i, lane, address, space == PTX_SHARED);
    if (!owner) return false;
    uint64_t offset = shared_offset(address);
    if (offset % alignment) {
        fault(w, i, lane, EMU_MISALIGNED_ADDRESS, "shared address 0x%llx is not a multiple of %u",
              (unsigned long long)address, alignment);
        return false;
    }
    if (bytes > owner->shared_bytes || offset > owner->shared_bytes - bytes) {
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "%llu bytes at shared address 0x%llx are out of bounds (%zu bytes of shared memory a "
              "block)",
              (unsigned long long)bytes, (unsigned long long)address, owner->shared_bytes);
        return false;
    }
    *place = (struct shared_place){owner, (uint32_t)offset};
    return true;
}
