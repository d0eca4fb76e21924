// Adds by mad.
// expect: 0 60 vanish in sums
__device__ int integers(int a, int b)
{
    int sum;
    asm("mad.lo.s32 %0, %1, 1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
#define ADD(a, b) (integers((int)((a) * 8), (int)((b) * 8)) / 8.0f)
//@ tree
