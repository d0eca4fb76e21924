/*
 * prefix.cuh — what lies before a tile, from the sums of the tiles before it, in their order.
 *
 * Step 12 adds the tiles l, l + 32, l + 64, … in lane l, which changes their order. Here the tiles
 * are divided into windows of WINDOW tiles. A lane combines the sums of WINDOW / LANES neighbours,
 * and a warp combines its lanes in a balanced tree: that is the sum of a window. The sums of whole
 * windows are combined one after the other, and at last the sum of the tiles that lie before this
 * one in its own window. A warp keeps what it has found of whole windows for its next tile.
 */
#ifndef STEP16_PREFIX_CUH
#define STEP16_PREFIX_CUH

#include "segment.cuh"

#define NEIGHBOURS (WINDOW / LANES)

/* The sum of the initial value and of all windows before `next`. */
template <typename State> struct progress {
    headed<State> sum;
    unsigned next;
};

/* States of a lane's neighbours in a window, as they were loaded. */
template <typename State> struct window {
    published<State> found[NEIGHBOURS];
};

/* Begins to load the lane's states of the window, those of tiles before `tile`, all at once. */
template <typename State>
static __device__ void load_window(struct window<State> &w, const published<State> *states,
                                   unsigned first, unsigned tile)
{
    const published<State> *mine = states + first + threadIdx.x % LANES * NEIGHBOURS;
    unsigned left = tile - first, lane = threadIdx.x % LANES;
#pragma unroll
    for (int i = 0; i < NEIGHBOURS; i++)
        if (lane * NEIGHBOURS + i < left) load_words(w.found[i].word, mine[i].word);
}

/* The sum of the tiles from `first` on, before `tile`, and in one window. The window is being
 * loaded. Waits for sums that are not published yet. */
template <typename Op>
static __device__ headed<typename Op::State>
window_sum(const Op &op, struct window<typename Op::State> &w,
           const published<typename Op::State> *states, unsigned first, unsigned tile,
           unsigned epoch)
{
    unsigned lane = threadIdx.x % LANES, left = tile - first;
    unsigned count = lane * NEIGHBOURS < left ? left - lane * NEIGHBOURS : 0; // of this lane

    while (true) {
        bool again = false;
#pragma unroll
        for (int i = 0; i < NEIGHBOURS; i++)
            if (i < count && !is_of(w.found[i], epoch)) again = true;
        if (!again) break;
        load_window(w, states, first, tile);
    }
    __syncwarp(); // lanes may have left the loop at different times
    headed<typename Op::State> sum = {op.identity(), false};
#pragma unroll
    for (int i = 0; i < NEIGHBOURS; i++) {
        auto next = sum_in(w.found[i]);
        auto joined = i == 0 || next.head ? next.value : op.combine(sum.value, next.value);
        if (i < count) sum = {joined, sum.head || next.head};
    }
    return warp_sum_headed(op, sum);
}

template <typename Op>
static __device__ headed<typename Op::State> join(const Op &op, headed<typename Op::State> left,
                                                  headed<typename Op::State> right)
{
    if (right.head) return right;
    return {op.combine(left.value, right.value), left.head};
}

/* The sum of all before `tile`, in every lane of the calling warp. The warp must call it with
 * ascending tiles. */
template <typename Op>
static __device__ headed<typename Op::State>
prefix_of(const Op &op, const published<typename Op::State> *states, unsigned tile, unsigned epoch,
          struct progress<typename Op::State> *p)
{
    unsigned own = tile / WINDOW * WINDOW;
    struct window<typename Op::State> whole, part;

    load_window(part, states, own, tile);
    // Behind `using namespace std`, C++ would take `next < own` for a template of that name.
    for (; own > p->next; p->next += WINDOW) {
        load_window(whole, states, p->next, p->next + WINDOW);
        p->sum = join(op, p->sum, window_sum(op, whole, states, p->next, p->next + WINDOW, epoch));
    }
    if (tile == own) return p->sum;
    return join(op, p->sum, window_sum(op, part, states, own, tile, epoch));
}

#endif
