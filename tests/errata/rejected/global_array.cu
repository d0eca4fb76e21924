// The lecture, "Access Path": arrays qualified with __global__. The word is for kernels; an array
// in device memory is a __device__ one.
__global__ float table[32];
__global__ void read(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
