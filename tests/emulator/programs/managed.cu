/* managed.cu — memory that host and device share: cudaMallocManaged, a __managed__ variable, a
 * linked list that the host builds and a kernel walks. */
#include "check.cuh"

struct node {
    int value;
    node *next;
};

__managed__ int visited = 5, table[4] = {1, 10, 100, 1000};

static __global__ void walk(const node *list, long long *sum)
{
    for (; list; list = list->next) {
        *sum += list->value * table[list->value % 4];
        visited++;
    }
}

static __global__ void fill(int *value, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) value[i] = 3 * i;
}

int main()
{
    const int LENGTH = 200, N = 1000;
    int supported;
    CUDA(cudaDeviceGetAttribute(&supported, cudaDevAttrManagedMemory, 0));
    EXPECT(supported);
    node *list = NULL;
    long long *sum, expected = 0;
    CUDA(cudaMallocManaged((void **)&sum, sizeof *sum));
    for (int i = 0; i < LENGTH; i++) {
        node *first;
        CUDA(cudaMallocManaged((void **)&first, sizeof *first));
        *first = {i * i % 77, list};
        list = first;
    }
    table[2] = 500; /* the host writes, the device reads */
    for (const node *n = list; n; n = n->next) expected += n->value * table[n->value % 4];
    *sum = 0;
    walk<<<1, 1>>>(list, sum);
    CUDA_LAUNCHED();
    EXPECT(*sum == expected);
    EXPECT(visited == 5 + LENGTH);

    int *values;
    CUDA(cudaMallocManaged((void **)&values, N * sizeof(int)));
    fill<<<1, 128>>>(values, N);
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) EXPECT(values[i] == 3 * i);
    while (list) {
        node *next = list->next;
        CUDA(cudaFree(list));
        list = next;
    }
    return right("managed memory: a list of %d nodes", LENGTH);
}
