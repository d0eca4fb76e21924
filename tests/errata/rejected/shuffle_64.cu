// The lecture, "Implement SHFL for 64b Numbers": a 64-bit register is taken apart with mov.b32.
__global__ void parts(double x, int *out)
{
    int lo, hi;
    asm volatile("mov.b32 {%0,%1}, %2;" : "=r"(lo), "=r"(hi) : "d"(x));
    out[0] = lo;
    out[1] = hi;
}
