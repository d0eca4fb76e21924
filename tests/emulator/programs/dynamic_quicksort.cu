/* dynamic_quicksort.cu — a quicksort whose kernel launches itself for the two parts that it has
 * made, in two streams. Small parts, and those that are nested too deep, are sorted by selection.
 */
#include "check.cuh"
#include <algorithm>

enum { DEEPEST = 16, SMALL = 32 };

static __device__ void sort_small(unsigned *data, int left, int right)
{
    for (int i = left; i <= right; i++) {
        int least = i;
        for (int j = i + 1; j <= right; j++)
            if (data[j] < data[least]) least = j;
        unsigned value = data[i];
        data[i] = data[least];
        data[least] = value;
    }
}

static __global__ void quicksort(unsigned *data, int left, int right, int depth)
{
    if (depth >= DEEPEST || right - left <= SMALL) {
        sort_small(data, left, right);
        return;
    }
    int low = left, high = right;
    unsigned pivot = data[(left + right) / 2];
    while (low <= high) {
        while (data[low] < pivot) low++;
        while (data[high] > pivot) high--;
        if (low > high) break;
        unsigned value = data[low];
        data[low++] = data[high];
        data[high--] = value;
    }
    cudaStream_t stream;
    if (left < high) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, left, high, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (low < right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, low, right, depth + 1);
        cudaStreamDestroy(stream);
    }
}

int main()
{
    for (int n : {1, 2, 33, 5000}) {
        std::vector<unsigned> data(n);
        for (int i = 0; i < n; i++) data[i] = i * 2654435761u >> 8;
        unsigned *device = device_copy(data);
        quicksort<<<1, 1>>>(device, 0, n - 1, 0);
        CUDA_LAUNCHED();
        std::sort(data.begin(), data.end());
        expect_same("sorted", host_copy(device, n), data);
        CUDA(cudaFree(device));
    }
    return right("a quicksort that launches itself");
}
