/* two_words.cuh — a look-back in which status and sum of a tile are two words: for
 * race-two-words. */
#ifndef TWO_WORDS_CUH
#define TWO_WORDS_CUH

static __device__ unsigned load_relaxed(const int *from)
{
    unsigned x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(from));
    return x;
}

static __device__ void store_relaxed(int *to, unsigned x)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(x));
}

enum order { STATUS_FIRST, SUM_FIRST, FENCED };

/* The words of tile t are tiles[2 t], its sum, and tiles[2 t + 1], its status. */
template <enum order order> static __device__ void look_back_at_two_words(int *tiles, int *out)
{
    int *own = tiles + 2 * blockIdx.x, lane = threadIdx.x, before = 0;
    for (int nearest = (int)blockIdx.x - 1; nearest >= 0;) {
        unsigned long long state = 2ull << 32;
        if (lane <= nearest) {
            const int *tile = tiles + 2 * (nearest - lane);
            unsigned sum = order == SUM_FIRST ? load_relaxed(tile) : 0;
            unsigned status = load_relaxed(tile + 1);
            if (order == FENCED) __threadfence();
            if (order != SUM_FIRST) sum = load_relaxed(tile);
            state = (unsigned long long)status << 32 | sum;
        }
        if (__any_sync(~0u, state >> 32 == 0)) continue;
        before += (int)state;
        nearest -= 32;
    }
    before = __reduce_add_sync(~0u, before);
    if (lane == 0) {
        store_relaxed(own, blockIdx.x);
        if (order == FENCED) __threadfence();
        store_relaxed(own + 1, 1);
    }
    out[blockIdx.x * 32 + lane] = before;
}

#endif
