// A recursion that exhausts the stack.
// expect: 0 0 stack overflow
__device__ __noinline__ float deeper(volatile float *above, int depth)
{
    volatile float own[1024];
    own[depth % 1024] = above == nullptr ? depth : above[depth % 1024];
    return depth == 0 ? own[0] : deeper(own, depth - 1) + own[depth % 1024];
}
//@ kernel
{ g_odata[threadIdx.x] = deeper(nullptr, 1 << 24) + g_idata[0] + n; }
