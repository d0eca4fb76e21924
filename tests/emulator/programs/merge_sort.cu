/* merge_sort.cu — merge sort: sorted runs of twice the length in each pass. A thread finds by
 * binary search where its element goes: its own rank, and its rank in the run beside it. */
#include "check.cuh"
#include <algorithm>

static const int THREADS = 128;

/* How many keys of run[0..n) come before the key: smaller ones, and equal ones of the left run. */
static __device__ int rank_of(int key, const int *run, int n, bool count_equal)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (run[middle] < key || (count_equal && run[middle] == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static __global__ void merge_runs(const int *in, int *out, int n, int length)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    int pair = i / (2 * length) * 2 * length, middle = min(pair + length, n);
    int end = min(pair + 2 * length, n);
    bool is_left = i < middle;
    int rank = is_left ? rank_of(in[i], in + middle, end - middle, false)
                       : rank_of(in[i], in + pair, middle - pair, true);
    out[pair + rank + (is_left ? i - pair : i - middle)] = in[i];
}

int main()
{
    const int lengths[] = {1, 2, 1000, 20000};
    for (int n : lengths) {
        std::vector<int> values = random_values<int>(n, 5000); /* with repetitions */
        int *from = device_copy(values), *to = device_array<int>(n);
        for (int length = 1; length < n; length *= 2) {
            merge_runs<<<blocks_for(n, THREADS), THREADS>>>(from, to, n, length);
            CUDA_LAUNCHED();
            std::swap(from, to);
        }
        std::sort(values.begin(), values.end());
        expect_same("sorted", host_copy(from, n), values);
    }
    return right("merge sort of up to 20000 ints");
}
