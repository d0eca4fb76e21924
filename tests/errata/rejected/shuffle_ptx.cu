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
