/* cub_select.cu — CUB's stream compaction: by a condition, by flags, without repetitions, and into
 * two parts. */
#include "cub.cuh"
#include <cub/device/device_partition.cuh>
#include <cub/device/device_select.cuh>

struct divisible_by {
    int divisor;
    __host__ __device__ bool operator()(int value) const { return value % divisor == 0; }
};

static void expect_selected(const char *what, const int *out, const int *count,
                            const std::vector<int> &expected)
{
    EXPECT(host_copy(count, 1)[0] == (int)expected.size());
    expect_same(what, host_copy(out, expected.size()), expected);
}

static void try_length(int n)
{
    std::vector<int> in = random_values<int>(n, 12), chosen, rest;
    std::vector<char> flag(n);
    int *values = device_copy(in), *out = device_array<int>(n), *count = device_array<int>(1);
    divisible_by three = {3};

    for (int value : in) (three(value) ? chosen : rest).push_back(value);
    WITH_TEMPORARY(cub::DeviceSelect::If(temporary, bytes, values, out, count, n, three));
    expect_selected("if", out, count, chosen);

    WITH_TEMPORARY(cub::DevicePartition::If(temporary, bytes, values, out, count, n, three));
    expect_selected("partition", out, count, chosen);
    std::vector<int> back(rest.rbegin(), rest.rend()); /* the others, from the end */
    expect_same("rest", host_copy(out + chosen.size(), back.size()), back);

    chosen.clear();
    for (int i = 0; i < n; i++) {
        flag[i] = next_random() % 5 == 0;
        if (flag[i]) chosen.push_back(in[i]);
    }
    char *flags = device_copy(flag);
    WITH_TEMPORARY(cub::DeviceSelect::Flagged(temporary, bytes, values, flags, out, count, n));
    expect_selected("flagged", out, count, chosen);

    chosen.clear();
    for (int i = 0; i < n; i++)
        if (i == 0 || in[i] != in[i - 1]) chosen.push_back(in[i]);
    WITH_TEMPORARY(cub::DeviceSelect::Unique(temporary, bytes, values, out, count, n));
    expect_selected("unique", out, count, chosen);
    CUDA(cudaFree(values));
    CUDA(cudaFree(out));
}

int main()
{
    const int lengths[] = {1, 777, 50000};
    for (int n : lengths) try_length(n);
    return right("CUB's selections and partition");
}
