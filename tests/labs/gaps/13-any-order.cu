// Wrong: an element gets its place when its thread comes to the counter.
// expect: 0 50 the right elements are in another order
// sed: s,^#define B  .*,&\n__device__ int taken;,
// ---- gap 4:
    if (flags[i]) out[atomicAdd(&taken, 1)] = in[i];
// ---- end of gap 4
