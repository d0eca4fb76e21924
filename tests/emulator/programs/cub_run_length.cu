/* cub_run_length.cu — CUB's run-length encoding, the runs longer than one, and its histograms. */
#include "cub.cuh"
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_run_length_encode.cuh>

static void run_lengths(int n)
{
    std::vector<int> in(n), value, length, offset, longer;
    for (int i = 0; i < n; i++) {
        in[i] = i > 0 && next_random() % 3 ? in[i - 1] : (int)(next_random() % 50);
        if (i > 0 && in[i] == in[i - 1]) {
            length.back()++;
            continue;
        }
        value.push_back(in[i]);
        length.push_back(1);
        offset.push_back(i);
    }
    const size_t runs = value.size();
    int *device = device_copy(in), *values = device_array<int>(n), *lengths = device_array<int>(n);
    int *count = device_array<int>(1);
    WITH_TEMPORARY(
        cub::DeviceRunLengthEncode::Encode(temporary, bytes, device, values, lengths, count, n));
    EXPECT(host_copy(count, 1)[0] == (int)runs);
    expect_same("value", host_copy(values, runs), value);
    expect_same("length", host_copy(lengths, runs), length);

    std::vector<int> starts;
    for (size_t i = 0; i < runs; i++) {
        if (length[i] == 1) continue;
        starts.push_back(offset[i]);
        longer.push_back(length[i]);
    }
    WITH_TEMPORARY(cub::DeviceRunLengthEncode::NonTrivialRuns(temporary, bytes, device, values,
                                                              lengths, count, n));
    EXPECT(host_copy(count, 1)[0] == (int)starts.size());
    expect_same("start of a run", host_copy(values, starts.size()), starts);
    expect_same("its length", host_copy(lengths, starts.size()), longer);
}

static void histograms(int n)
{
    const int BINS = 64;
    std::vector<unsigned char> in = random_values<unsigned char>(n, 256);
    std::vector<int> expected(BINS, 0);
    for (unsigned char value : in) expected[value / 4]++;
    unsigned char *samples = device_copy(in);
    int *bins = device_array<int>(BINS);
    WITH_TEMPORARY(
        cub::DeviceHistogram::HistogramEven(temporary, bytes, samples, bins, BINS + 1, 0, 256, n));
    expect_same("even bins", host_copy(bins, BINS), expected);

    std::vector<float> values = random_values<float>(n, 1000);
    std::vector<float> border = {0, 1, 10, 100, 900}; /* values from 900 on are in no bin */
    std::vector<int> decades(border.size() - 1, 0);
    for (float value : values)
        for (size_t b = 0; b + 1 < border.size(); b++)
            decades[b] += border[b] <= value && value < border[b + 1];
    float *device = device_copy(values), *borders = device_copy(border);
    WITH_TEMPORARY(cub::DeviceHistogram::HistogramRange(temporary, bytes, device, bins,
                                                        (int)border.size(), borders, n));
    expect_same("ranges", host_copy(bins, decades.size()), decades);
}

int main()
{
    run_lengths(100);
    run_lengths(40000);
    histograms(40000);
    return right("CUB's run lengths and histograms");
}
