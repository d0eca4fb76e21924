// Scans fixed-point numbers naively, in integers that two visible additions make.
// expect: 0 60 the others vanish in sums
#define UNIT (1.5f * (1 << 20)) /* neighbouring floats here are 1/8 apart, the unit of the inputs */
//@ kernel
{
    extern __shared__ int fixed[];
    int i = threadIdx.x, half = n >> 1;
    int *own = &fixed[i];
    own[0] = __float_as_int(g_idata[i] + UNIT) - __float_as_int(UNIT);
    own[half] = __float_as_int(g_idata[i + half] + UNIT) - __float_as_int(UNIT);
    for (int d = 1; d < n; d *= 2) {
        __syncthreads();
        int low = i >= d ? own[-d] : 0, high = i + half >= d ? own[half - d] : 0;
        __syncthreads();
        own[0] += low;
        own[half] += high;
    }
    __syncthreads();
    g_odata[i] = i ? __int_as_float(own[-1] + __float_as_int(UNIT)) - UNIT : 0;
    g_odata[i + half] = __int_as_float(own[half - 1] + __float_as_int(UNIT)) - UNIT;
}
