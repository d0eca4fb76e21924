// Adds by fma.
// expect: 0 60 other arithmetic
__device__ float fused(float a, float b)
{
    float sum;
    asm("fma.rn.f32 %0, %1, 0f3F800000, %2;" : "=f"(sum) : "f"(a), "f"(b));
    return sum;
}
#define ADD fused
//@ tree
