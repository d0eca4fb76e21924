/* sparse_matrix.cu — a sparse matrix (compressed rows) times a vector, with a thread or a warp per
 * row; and a breadth-first search on the same structure as a graph. */
#include "check.cuh"

static const int THREADS = 128;

static __global__ void row_by_thread(const int *start, const int *column, const float *value,
                                     const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}

static __global__ void row_by_warp(const int *start, const int *column, const float *value,
                                   const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32) sum += value[k] * x[column[k]];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) y[row] = sum;
}

static __global__ void next_level(const int *start, const int *column, int *distance, int level,
                                  int rows, int *found)
{
    int from = blockIdx.x * blockDim.x + threadIdx.x;
    if (from >= rows || distance[from] != level) return;
    for (int k = start[from]; k < start[from + 1]; k++)
        if (atomicCAS(&distance[column[k]], -1, level + 1) == -1) *found = 1;
}

int main()
{
    const int ROWS = 700;
    std::vector<int> start(1, 0), column, distance(ROWS, -1), queue(1, 0);
    std::vector<float> value, x = random_values<float>(ROWS, 10), expected(ROWS, 0.0f);
    for (int row = 0; row < ROWS; row++) {
        int count = row % 10 == 0 ? 100 : next_random() % 4; /* some rows are long */
        for (int k = 0; k < count; k++) {
            column.push_back(next_random() % ROWS);
            value.push_back((float)(next_random() % 10));
            expected[row] += value.back() * x[column.back()];
        }
        start.push_back((int)column.size());
    }
    int *device_start = device_copy(start), *device_column = device_copy(column);
    float *device_value = device_copy(value), *device_x = device_copy(x);
    float *y = device_array<float>(ROWS);
    row_by_thread<<<blocks_for(ROWS, THREADS), THREADS>>>(device_start, device_column, device_value,
                                                          device_x, y, ROWS);
    CUDA_LAUNCHED();
    expect_same("a thread a row", host_copy(y, ROWS), expected);
    row_by_warp<<<blocks_for(32 * ROWS, THREADS), THREADS>>>(device_start, device_column,
                                                             device_value, device_x, y, ROWS);
    CUDA_LAUNCHED();
    expect_same("a warp a row", host_copy(y, ROWS), expected);

    distance[0] = 0;
    int *device_distance = device_copy(distance), *found = device_array<int>(1), more = 1;
    for (int level = 0; more; level++) {
        CUDA(cudaMemset(found, 0, sizeof(int)));
        next_level<<<blocks_for(ROWS, THREADS), THREADS>>>(device_start, device_column,
                                                           device_distance, level, ROWS, found);
        CUDA_LAUNCHED();
        more = host_copy(found, 1)[0];
    }
    for (size_t i = 0; i < queue.size(); i++)
        for (int k = start[queue[i]]; k < start[queue[i] + 1]; k++) {
            if (distance[column[k]] >= 0) continue;
            distance[column[k]] = distance[queue[i]] + 1;
            queue.push_back(column[k]);
        }
    expect_same("distance", host_copy(device_distance, ROWS), distance);
    return right("sparse matrix of %d rows, and a search in it", ROWS);
}
