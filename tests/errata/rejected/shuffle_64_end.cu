// The lecture, "Implement SHFL for 64b Numbers": the operand stands inside the quotes.
__global__ void together(double *x, int lo, int hi)
{
    asm volatile("mov.b64 %0, {%1,%2};" : "=d(*x)" : "r"(lo), "r"(hi));
}
