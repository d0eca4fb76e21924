// An array that no GPU has room for: ptxas refuses the kernel, and so must the emulator.
// expect: 0 0 kernel scan_block uses too much shared data (0x13
#define BEGIN                                                                                      \
    __shared__ float large[20000];                                                                 \
    large[thid] = g_idata[thid];                                                                   \
    __syncthreads();                                                                               \
    if (large[thid ^ 1] == 1e30F) g_odata[thid] = 1
//@ tree
