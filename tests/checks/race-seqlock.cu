/* race-seqlock.cu — a reader loads two words, and loads a version number before and behind them, to
 * notice a writer. The numbers need fences around the words. */
#include "pair.h"
#include <cuda/atomic>

using word = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed;

template <bool right> __device__ void fence(cuda::memory_order order)
{
    if (right) cuda::atomic_thread_fence(order, cuda::thread_scope_device);
}

template <bool right> __global__ void use(int *turn, int *pair, int *out)
{
    word now(*turn), a(pair[0]), b(pair[1]);
    if (blockIdx.x == 0) {
        now.store(1, relaxed);
        fence<right>(cuda::memory_order_release);
        a.store(5, relaxed);
        b.store(5, relaxed);
        fence<right>(cuda::memory_order_release);
        now.store(2, relaxed);
        return;
    }
    int before, x, y;
    do {
        before = now.load(relaxed);
        fence<right>(cuda::memory_order_acquire);
        x = a.load(relaxed);
        y = b.load(relaxed);
        fence<right>(cuda::memory_order_acquire);
    } while (before < 2 || now.load(relaxed) != before);
    out[blockIdx.x] = x - y;
}

PAIR(use<right>, 4, 1, zeros<int>(1), zeros<int>(2), zeros<int>(4))
