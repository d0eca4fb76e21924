// rejected.cu — what documents print and nvcc rejects. A part is compiled alone, with -DPART_NAME.

#ifdef PART_bfind
// The lecture, "Broadcast": the parameters have no types, and the caller passes one.
__device__ __bfind(&b, i) { asm volatile("bfind.u32 %0, %1;" : "=r"(b) : "r"(i)); }
__global__ void last(int *x, unsigned vote)
{
    if (vote) *x = __shfl_sync(0xffffffff, *x, __bfind(vote));
}
#endif

#ifdef PART_global_array
// The lecture, "Access Path": arrays qualified with __global__. The word is for kernels; an array
// in device memory is a __device__ one.
__global__ float table[32];
__global__ void read(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
#endif

#ifdef PART_host_n
// The lecture, vectorized copy, host side: the parameter is n, but the lines below use N.
__global__ void device_copy_vector2_kernel(int *d_in, int *d_out, int N);
void device_copy_vector2(int *d_in, int *d_out, int n)
{
    int threads = 128;
    int blocks = (N / 2 + threads - 1) / threads;
    device_copy_vector2_kernel<<<blocks, threads>>>(d_in, d_out, N);
}
#endif

#ifdef PART_lanemask_lt
// The lecture, warp-aggregated atomic: CUDA has no function of this name.
__global__ void rank(int *out)
{
    unsigned mask = __activemask();
    out[threadIdx.x] = __popc(mask & __lanemask_lt());
}
#endif

#ifdef PART_listing_1_thid1
// Harris 2007, Listing 1 in one version of the report: the last line names a variable that does not
// exist.
__global__ void scan(float *g_odata, float *temp, int n)
{
    int thid = threadIdx.x;
    int pout = 0;
    g_odata[thid] = temp[pout * n + thid1]; // write output
}
#endif

#ifdef PART_macro_semicolon
// GPU Gems 3, Listing 39-4, block A: the macro's uses have no semicolons.
#define LOG_NUM_BANKS           4
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan(float *g_odata, int n)
{
    int ai = threadIdx.x, bi = threadIdx.x + (n / 2);
    // clang-format off
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai)
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi)
        // clang-format on
        g_odata[ai] = bankOffsetA + bankOffsetB;
}
#endif

#ifdef PART_memorycopy
// The lecture, "Aligned memory copy": a parenthesis is missing.
__device__ bool is_all_aligned(char *, char *, int);
__device__ void memcpy_aligned_16(char *, char *, size_t);
__device__ void memorycopy(char *tptr, char *sptr, size_t size)
{
    unsigned mask = __activemask();
    // clang-format off
    if (__all_sync(mask, is_all_aligned(tptr, sptr, 16))
        return memcpy_aligned_16(tptr, sptr, size);
    // clang-format on
}
#endif

#ifdef PART_shuffle_64
// The lecture, "Implement SHFL for 64b Numbers": a 64-bit register is taken apart with mov.b32.
__global__ void parts(double x, int *out)
{
    int lo, hi;
    asm volatile("mov.b32 {%0,%1}, %2;" : "=r"(lo), "=r"(hi) : "d"(x));
    out[0] = lo;
    out[1] = hi;
}
#endif

#ifdef PART_shuffle_64_end
// The lecture, "Implement SHFL for 64b Numbers": the operand stands inside the quotes.
__global__ void together(double *x, int lo, int hi)
{
    asm volatile("mov.b64 %0, {%1,%2};" : "=d(*x)" : "r"(lo), "r"(hi));
}
#endif

#ifdef PART_shuffle_ptx
// The lecture, "Use the predicate from SHFL": shfl.up without .sync, which GPUs since Volta do not
// support.
__global__ void scan(float *data)
{
    float x = data[threadIdx.x];
    for (int offset = 1; offset < 32; offset <<= 1)
        asm volatile("{ .reg .f32 r0; .reg .pred p;"
                     "  shfl.up.b32 r0|p, %0, %1, 0x0;"
                     "  @p add.f32 r0, r0, %0;"
                     "  mov.f32 %0, r0; }"
                     : "+f"(x)
                     : "r"(offset));
    data[threadIdx.x] = x;
}
#endif

#ifdef PART_shuffle_without_sync
// The lecture, as was usual then: __shfl without a member mask.
__global__ void rotate(float *data)
{
    float x = data[threadIdx.x];
    data[threadIdx.x] = __shfl(x, (threadIdx.x + 1) % 32);
}
#endif
