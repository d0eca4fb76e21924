// Adds by redux, over a warp.
// expect: 0 25 vanish in sums
//@ kernel
{
    int lane = threadIdx.x % 32, width = blockDim.x < 32 ? blockDim.x : 32;
    unsigned mask = width == 32 ? 0xffffffff : (1u << width) - 1;
    for (int i = threadIdx.x / 32; i < n; i += (blockDim.x + 31) / 32) {
        int sum = 0;
        for (int j = 0; j < i; j += width)
            sum = __reduce_add_sync(mask, (lane == 0 ? sum : 0) +
                                              (j + lane < i ? (int)(g_idata[j + lane] * 8) : 0));
        if (lane == 0) g_odata[i] = sum / 8.0f;
    }
}
