// The lecture, vectorized copy, host side: the parameter is n, but the lines below use N.
__global__ void device_copy_vector2_kernel(int *d_in, int *d_out, int N);
void device_copy_vector2(int *d_in, int *d_out, int n)
{
    int threads = 128;
    int blocks = (N / 2 + threads - 1) / threads;
    device_copy_vector2_kernel<<<blocks, threads>>>(d_in, d_out, N);
}
