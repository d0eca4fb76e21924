// Adds by sad, the sum of absolute differences.
// expect: 0 60 vanish in sums
__device__ int integers(int a, int b)
{
    int sum, shifted = b ^ (b < 0 ? 0x20000000 : 0xE0000000);
    asm("sad.s32 %0, %1, 0xE0000000, %2;" : "=r"(sum) : "r"(a), "r"(shifted));
    return sum;
}
#define ADD(a, b) (integers((int)((a) * 8), (int)((b) * 8)) / 8.0f)
//@ tree
