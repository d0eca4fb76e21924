/* thrust_sort.cu — Thrust sorts: numbers by radix, any order by merging, keys with values. */
#include "check.cuh"
#include <algorithm>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

struct point {
    int x, y;
};

struct by_distance {
    __host__ __device__ bool operator()(point a, point b) const
    {
        return a.x * a.x + a.y * a.y < b.x * b.x + b.y * b.y;
    }
};

static int run()
{
    const int N = 20000;
    std::vector<unsigned> keys = random_values<unsigned>(N, 1u << 31);
    thrust::device_vector<unsigned> device(keys.begin(), keys.end());
    thrust::sort(device.begin(), device.end());
    EXPECT(thrust::is_sorted(device.begin(), device.end()));
    std::vector<unsigned> sorted = keys, got(N);
    std::sort(sorted.begin(), sorted.end());
    thrust::copy(device.begin(), device.end(), got.begin());
    expect_same("sorted", got, sorted);

    /* The place that each key had: sort the places with the keys. */
    std::vector<int> place(N);
    for (int i = 0; i < N; i++) {
        keys[i] %= 1000;
        place[i] = i;
    }
    device.assign(keys.begin(), keys.end());
    thrust::device_vector<int> places(N);
    thrust::sequence(places.begin(), places.end());
    thrust::stable_sort_by_key(device.begin(), device.end(), places.begin(),
                               thrust::greater<unsigned>());
    std::stable_sort(place.begin(), place.end(), [&](int a, int b) { return keys[a] > keys[b]; });
    std::vector<int> got_place(N);
    thrust::copy(places.begin(), places.end(), got_place.begin());
    expect_same("place", got_place, place);

    thrust::host_vector<point> points(N);
    for (int i = 0; i < N; i++) points[i] = {(int)(next_random() % 99), (int)(next_random() % 99)};
    thrust::device_vector<point> device_points = points;
    thrust::stable_sort(device_points.begin(), device_points.end(), by_distance());
    thrust::host_vector<point> got_points = device_points;
    std::stable_sort(points.begin(), points.end(), by_distance());
    for (int i = 0; i < N; i++)
        EXPECT(got_points[i].x == points[i].x && got_points[i].y == points[i].y);
    return right("Thrust: radix sort, sort by key, sort of points");
}

PROGRAMS({"thrust_sort", run})
