// A kernel with other parameters.
// expect: 0 0 parameter
__global__ void scan_block(float *g_odata) { g_odata[0] = 0; }
