// Adds by a dot product of integers.
// expect: 0 60 vanish in sums
__device__ int integers(int a, int b)
{
    int sum, parts = (a & 0x7f) | (a >> 7) << 16;
    asm("dp2a.lo.s32.u32 %0, %1, 0x8001, %2;" : "=r"(sum) : "r"(parts), "r"(b));
    return sum;
}
#define ADD(a, b) (integers((int)((a) * 8), (int)((b) * 8)) / 8.0f)
//@ tree
