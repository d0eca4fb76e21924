/*
 * check.cuh — what the programs in this folder share. A file holds programs of one kind, by name.
 * Each compares every value that the device computed with the host's, prints one line, and exits
 * with 0 if all was right and with 1 if anything was not.
 *
 * The same programs run natively on a GPU (run.sh native), which proves the programs themselves.
 */
#ifndef CHECK_CUH
#define CHECK_CUH

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/* Exit codes of a program. As in automake, 77 means a test that cannot run. */
enum { EXIT_RIGHT = 0, EXIT_WRONG = 1, EXIT_SKIPPED = 77 };

/* Every CUDA call: ends the program at the first error. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));              \
            exit(EXIT_WRONG);                                                                      \
        }                                                                                          \
    } while (0)

/* After a launch: checks the error of the launch, then that of the kernel. */
#define CUDA_LAUNCHED()                                                                            \
    do {                                                                                           \
        CUDA(cudaGetLastError());                                                                  \
        CUDA(cudaDeviceSynchronize());                                                             \
    } while (0)

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: not so: %s\n", __LINE__, #condition);                                 \
            exit(EXIT_WRONG);                                                                      \
        }                                                                                          \
    } while (0)

/* Compares two arrays. `tolerance` is relative for values above 1, absolute below. */
template <typename T, typename U>
inline void expect_same(const char *what, const T *got, const U *expected, size_t n,
                        double tolerance = 0)
{
    for (size_t i = 0; i < n; i++) {
        double g = (double)got[i], e = (double)expected[i];
        bool same = tolerance == 0 ? got[i] == (T)expected[i]
                                   : fabs(g - e) <= tolerance * (fabs(e) > 1 ? fabs(e) : 1);
        if (!same) {
            printf("%s[%zu] is %.17g, not %.17g\n", what, i, g, e);
            exit(EXIT_WRONG);
        }
    }
}

template <typename T, typename U>
inline void expect_same(const char *what, const std::vector<T> &got, const std::vector<U> &expected,
                        double tolerance = 0)
{
    EXPECT(got.size() == expected.size());
    expect_same(what, got.data(), expected.data(), got.size(), tolerance);
}

/* Device memory that holds a copy of a vector, or n elements of unknown content. */
template <typename T> inline T *device_array(size_t n)
{
    T *device;
    CUDA(cudaMalloc((void **)&device, n * sizeof(T)));
    return device;
}

template <typename T> inline T *device_copy(const std::vector<T> &host)
{
    T *device = device_array<T>(host.size());
    CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T> inline std::vector<T> host_copy(const T *device, size_t n)
{
    std::vector<T> host(n);
    CUDA(cudaMemcpy(host.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

/* The same numbers in every run: a linear congruential generator (Knuth's MMIX constants). */
inline unsigned next_random(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

template <typename T> inline std::vector<T> random_values(size_t n, unsigned below)
{
    std::vector<T> values(n);
    for (T &value : values) value = (T)(next_random() % below);
    return values;
}

inline int blocks_for(size_t n, int threads) { return (int)((n + threads - 1) / threads); }

__attribute__((format(printf, 1, 2))) inline int right(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf(": right\n");
    return EXIT_RIGHT;
}

/* For a program that this GPU cannot run. */
inline void need_capability(int major, int minor)
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    if (device.major * 10 + device.minor >= major * 10 + minor) return;
    printf("skipped: needs compute capability %d.%d\n", major, minor);
    exit(EXIT_SKIPPED);
}

struct program {
    const char *name;
    int (*run)();
};

inline int run_program(const std::vector<program> &programs, const char *name)
{
    int code = *name && strcmp(name, "list") ? 2 : EXIT_RIGHT;
    for (const program &p : programs) {
        if (!strcmp(name, "list")) puts(p.name);
        if (!strcmp(name, p.name)) code = p.run();
        if (!*name && code == EXIT_RIGHT) code = p.run();
    }
    return code;
}

/* The end of a file: its programs, each {"name", function}. The file's argument is a name, or
 * "list"; without one all of them run, up to the first that is not right. */
#define PROGRAMS(...)                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return run_program({__VA_ARGS__}, argc > 1 ? argv[1] : "");                                \
    }

#endif
