/* multi_copy.cu — copies and kernels overlap: while one buffer is worked on, the next one is filled
 * and the last one emptied. Two buffers each way, one stream a buffer. */
#include "check.cuh"

static const int BUFFERS = 2, PIECE = 4096, PIECES = 9, THREADS = 256;

static __global__ void scale(const float *in, float *out, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * by;
}

int main()
{
    cudaStream_t stream[BUFFERS];
    float *in[BUFFERS], *out[BUFFERS], *pinned_in, *pinned_out;
    const size_t bytes = PIECE * sizeof(float);
    CUDA(cudaHostAlloc((void **)&pinned_in, PIECES * bytes, cudaHostAllocWriteCombined));
    CUDA(cudaHostAlloc((void **)&pinned_out, PIECES * bytes, cudaHostAllocDefault));
    for (int b = 0; b < BUFFERS; b++) {
        CUDA(cudaStreamCreate(&stream[b]));
        CUDA(cudaMallocAsync((void **)&in[b], bytes, stream[b]));
        CUDA(cudaMallocAsync((void **)&out[b], bytes, stream[b]));
    }
    std::vector<float> expected(PIECES * PIECE);
    for (int i = 0; i < PIECES * PIECE; i++) {
        pinned_in[i] = (float)(next_random() % 1000);
        expected[i] = pinned_in[i] * (float)(i / PIECE + 1);
    }
    for (int p = 0; p < PIECES; p++) {
        int b = p % BUFFERS; /* the stream keeps it from being filled before it is empty */
        CUDA(cudaMemcpyAsync(in[b], pinned_in + p * PIECE, bytes, cudaMemcpyDefault, stream[b]));
        scale<<<PIECE / THREADS, THREADS, 0, stream[b]>>>(in[b], out[b], (float)(p + 1));
        CUDA(cudaGetLastError());
        CUDA(cudaMemcpyAsync(pinned_out + p * PIECE, out[b], bytes, cudaMemcpyDefault, stream[b]));
    }
    for (int b = 0; b < BUFFERS; b++) {
        CUDA(cudaFreeAsync(in[b], stream[b]));
        CUDA(cudaFreeAsync(out[b], stream[b]));
        CUDA(cudaStreamSynchronize(stream[b]));
    }
    expect_same("out", pinned_out, expected.data(), expected.size());
    return right("%d pieces through %d buffers", PIECES, BUFFERS);
}
