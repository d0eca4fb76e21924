// Loads the input eight times more, by bulk copies.
// expect: 80 90 sectors
__device__ static void load(float *to, const float *from, int n)
{
    __shared__ __align__(8) unsigned long long barrier;
    unsigned b = (unsigned)__cvta_generic_to_shared(&barrier);
    if (n < 4) return;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;"
                     :: "r"(b) : "memory");
    __syncthreads();
    for (int k = 0; k < 8; k++) {
        if (threadIdx.x == 0)
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %3;\n"
                         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[%1], [%2], %3, [%0];"
                         :: "r"(b), "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from),
                            "r"(4 * n) : "memory");
        asm volatile("{ .reg .pred p;\nWAIT: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                     "@!p bra WAIT; }" :: "r"(b), "r"(k & 1) : "memory");
        __syncthreads();
    }
}
#define BEGIN load(temp, g_idata, n)
//@ tree
