/* sorting_network.cu — bitonic and odd-even merge sort of keys with values: comparisons that do not
 * depend on the data; short distances in shared memory, long ones in global memory. */
#include "check.cuh"

static const int TILE = 512, THREADS = TILE / 2;

static __device__ void order(unsigned &key_a, unsigned &value_a, unsigned &key_b, unsigned &value_b,
                             bool upwards)
{
    if ((key_a > key_b) != upwards) return;
    unsigned key = key_a, value = value_a;
    key_a = key_b, value_a = value_b;
    key_b = key, value_b = value;
}

/* All steps of the stages from `first` to `last` whose distance fits into a tile. */
static __global__ void bitonic_shared(unsigned *key, unsigned *value, int first, int last)
{
    __shared__ unsigned k[TILE], v[TILE];
    int t = threadIdx.x, start = blockIdx.x * TILE;
    for (int i = t; i < TILE; i += THREADS) k[i] = key[start + i], v[i] = value[start + i];
    for (int size = first; size <= last; size *= 2)
        for (int distance = min(size, TILE) / 2; distance > 0; distance /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (distance - 1)), j = i + distance;
            order(k[i], v[i], k[j], v[j], ((start + i) & size) == 0);
        }
    __syncthreads();
    for (int i = t; i < TILE; i += THREADS) key[start + i] = k[i], value[start + i] = v[i];
}

static __global__ void bitonic_global(unsigned *key, unsigned *value, int size, int distance)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = 2 * t - (t & (distance - 1)), j = i + distance;
    order(key[i], value[i], key[j], value[j], (i & size) == 0);
}

static void bitonic(unsigned *key, unsigned *value, int n)
{
    bitonic_shared<<<n / TILE, THREADS>>>(key, value, 2, TILE);
    for (int size = 2 * TILE; size <= n; size *= 2) {
        for (int distance = size / 2; distance >= TILE; distance /= 2)
            bitonic_global<<<n / TILE, THREADS>>>(key, value, size, distance);
        bitonic_shared<<<n / TILE, THREADS>>>(key, value, size, size);
    }
}

static __global__ void odd_even_step(unsigned *key, unsigned *value, int size, int distance)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = 2 * t - (t & (distance - 1));
    if (distance == size / 2) { /* the first step of a merge */
        order(key[i], value[i], key[i + distance], value[i + distance], true);
    } else if ((t & (size / 2 - 1)) >= distance) {
        order(key[i - distance], value[i - distance], key[i], value[i], true);
    }
}

static void odd_even(unsigned *key, unsigned *value, int n)
{
    for (int size = 2; size <= n; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2)
            odd_even_step<<<n / TILE, THREADS>>>(key, value, size, distance);
}

static void check(const char *what, void (*sort)(unsigned *, unsigned *, int), int n)
{
    std::vector<unsigned> key = random_values<unsigned>(n, 1000), value(n);
    for (int i = 0; i < n; i++) value[i] = i;
    unsigned *device_key = device_copy(key), *device_value = device_copy(value);
    sort(device_key, device_value, n);
    CUDA_LAUNCHED();
    std::vector<unsigned> got = host_copy(device_key, n), places = host_copy(device_value, n);
    std::vector<int> seen(n, 0);
    for (int i = 0; i < n; i++) {
        bool ok = (i == 0 || got[i - 1] <= got[i]) && places[i] < (unsigned)n &&
                  key[places[i]] == got[i] && !seen[places[i]]++;
        if (ok) continue;
        printf("%s: element %d of %d is wrong\n", what, i, n);
        exit(EXIT_WRONG);
    }
}

int main()
{
    for (int n = TILE; n <= 8 * TILE; n *= 2) {
        check("bitonic", bitonic, n);
        check("odd-even", odd_even, n);
    }
    return right("bitonic and odd-even sort of up to %d pairs", 8 * TILE);
}
