/* function_calls.cu — calls that nvcc does not inline: pointers to functions in a table, recursion
 * (Ackermann, quicksort on an array), virtual functions of objects made on the device. */
#include "check.cuh"

typedef int (*operation)(int, int);
static __device__ __noinline__ int add(int a, int b) { return a + b; }
static __device__ __noinline__ int subtract(int a, int b) { return a - b; }
static __device__ __noinline__ int power(int a, int b)
{
    int result = 1;
    while (b-- > 0) result *= a;
    return result;
}
static __device__ operation table[] = {add, subtract, power};

static __global__ void by_pointer(int *out)
{
    int i = threadIdx.x;
    out[i] = table[i % 3](i % 7, i % 5);
}

static __host__ __device__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static __global__ void recursion(int *out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 8); }

static __device__ void quicksort(int *values, int low, int high)
{
    if (low >= high) return;
    int pivot = values[(low + high) / 2], i = low, j = high;
    while (i <= j) {
        while (values[i] < pivot) i++;
        while (values[j] > pivot) j--;
        if (i > j) break;
        int swap = values[i];
        values[i++] = values[j];
        values[j--] = swap;
    }
    quicksort(values, low, j);
    quicksort(values, i, high);
}

static __global__ void sort_rows(int *values, int length)
{
    quicksort(values + threadIdx.x * length, 0, length - 1);
}

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
    __device__ virtual ~shape() {}
};
struct circle : shape {
    float radius;
    __device__ circle(float r) : radius(r) {}
    __device__ float area() const override { return 3 * radius * radius; }
};
struct rectangle : shape {
    float width, height;
    __device__ rectangle(float w, float h) : width(w), height(h) {}
    __device__ float area() const override { return width * height; }
    __device__ int corners() const override { return 4; }
};

static __global__ void virtual_calls(float *out)
{
    circle c((float)threadIdx.x);
    rectangle r((float)threadIdx.x, 2);
    const shape *mine = threadIdx.x % 3 == 0 ? (const shape *)&c : &r;
    out[threadIdx.x] = mine->area() + mine->corners();
}

int main()
{
    const int N = 64, LENGTH = 40;
    int *ints = device_array<int>(N);
    std::vector<int> expected(N);
    by_pointer<<<1, N>>>(ints);
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) {
        int a = i % 7, b = i % 5, p = 1;
        for (int k = 0; k < b; k++) p *= a;
        expected[i] = i % 3 == 0 ? a + b : i % 3 == 1 ? a - b : p;
    }
    expect_same("by pointer", host_copy(ints, N), expected);

    recursion<<<1, N>>>(ints);
    CUDA_LAUNCHED();
    for (int i = 0; i < N; i++) expected[i] = ackermann(2, i % 8);
    expect_same("Ackermann", host_copy(ints, N), expected);

    std::vector<int> values = random_values<int>(N * LENGTH, 1000);
    int *rows = device_copy(values);
    sort_rows<<<1, N>>>(rows, LENGTH);
    CUDA_LAUNCHED();
    values = host_copy(rows, N * LENGTH);
    for (int i = 1; i < N * LENGTH; i++) EXPECT(i % LENGTH == 0 || values[i - 1] <= values[i]);

    float *floats = device_array<float>(N);
    virtual_calls<<<1, N>>>(floats);
    CUDA_LAUNCHED();
    std::vector<float> areas(N);
    for (int i = 0; i < N; i++) areas[i] = (float)(i % 3 == 0 ? 3 * i * i : 2 * i + 4);
    expect_same("area", host_copy(floats, N), areas);
    return right("function pointers, recursion, virtual functions");
}
