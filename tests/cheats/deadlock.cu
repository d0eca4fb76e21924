// Half of the threads wait at a barrier that the others have left.
// expect: 0 0 deadlock
//@ kernel
{
    if (threadIdx.x % 2 == 0) __syncthreads();
    else for (;;) asm volatile("bar.sync 1;");
    g_odata[threadIdx.x] = g_idata[threadIdx.x];
}
