// Harris 2007, Listing 1 in one version of the report: the last line names a variable that does not
// exist.
__global__ void scan(float *g_odata, float *temp, int n)
{
    int thid = threadIdx.x;
    int pout = 0;
    g_odata[thid] = temp[pout * n + thid1]; // write output
}
