// Adds in double.
// expect: 0 60 other arithmetic
__device__ float doubles(float a, float b)
{
    double sum;
    asm("add.rn.f64 %0, %1, %2;" : "=d"(sum) : "d"((double)a), "d"((double)b));
    return sum;
}
#define ADD doubles
//@ tree
