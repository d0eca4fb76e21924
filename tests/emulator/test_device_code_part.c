/* test_device_code_part.c — calls, recursion, function pointers, printf and assert in kernels. */
#include "tests/fixtures/fixtures.h"

#include "common/emu/emu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 100 }; /* the last warp is not full */

static int *device_ints(void)
{
    void *out;
    cr_assert(cudaMalloc(&out, THREADS * sizeof(int)) == cudaSuccess);
    return out;
}

/* Launches, and compares the value that thread t wrote with want(t). */
static void expect_outputs(cudaError_t (*launch)(int *, int), int (*want)(int))
{
    int host[THREADS], *out = device_ints();
    cr_assert(launch(out, THREADS) == cudaSuccess, "%s", emu_message(emu_runtime()));
    cr_assert(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess, "%s",
              emu_message(emu_runtime()));
    for (int t = 0; t < THREADS; t++)
        cr_expect(host[t] == want(t), "thread %d: got %d, want %d", t, host[t], want(t));
    cudaFree(out);
}

static int fibonacci_of(int t)
{
    int a = 0, b = 1;
    for (int i = 0; i < t % 12; i++) {
        int sum = a + b;
        a = b;
        b = sum;
    }
    return a;
}
static int by_pointer(int t) { return t % 3 == 0 ? t + 1 : t % 3 == 1 ? 2 * t : t * t; }
static int by_class(int t) { return t % 2 ? 100 - t : 3 * t; }
static int by_structure(int t) { return 10 * t + 6; }
static int neighbour(int t) { return (t + 1) % THREADS; }

Test(device_code, lanes_recurse_to_different_depths)
{
    expect_outputs(launch_recursion, fibonacci_of);
}
Test(device_code, lanes_call_different_functions) { expect_outputs(launch_pointers, by_pointer); }
Test(device_code, virtual_functions) { expect_outputs(launch_virtual, by_class); }
Test(device_code, structures_by_value) { expect_outputs(launch_structures, by_structure); }
Test(device_code, a_barrier_inside_a_function)
{
    expect_outputs(launch_barrier_in_function, neighbour);
}

Test(device_code, too_deep_a_recursion_is_a_fault, .timeout = 20)
{
    int *out = device_ints();
    FILE *nowhere = fopen("/dev/null", "w"), *before = stderr;
    stderr = nowhere; /* the runtime prints the fault, too */
    cudaError_t launched = launch_deep_recursion(out, 1 << 20), error = cudaDeviceSynchronize();
    stderr = before;
    fclose(nowhere);
    cr_assert(launched == cudaSuccess);
    cr_expect(error == cudaErrorIllegalAddress, "error %d", error);
    const char *message = emu_message(emu_runtime());
    cr_expect(strstr(message, "nested too deeply") && strstr(message, "device_code.cu:"), "%s",
              message);
}

/* The text that a standard stream has received while it was redirected to a file. */
static void read_back(FILE *stream, char *text, size_t size)
{
    fflush(stream);
    rewind(stream);
    text[fread(text, 1, size - 1, stream)] = '\0';
}

Test(device_code, printf_prints_a_line_a_lane_in_order)
{
    char text[1000];
    static const char want[] = "0  0.00|0   |text|a|1099511627776|ff|%|   0\n"
                               "2  0.50|2   |text|c|1099511627776|ff|%|   2\n"
                               "4  1.00|4   |text|e|1099511627776|ff|%|   4\n"
                               "9 arguments\n";
    FILE *file = tmpfile();
    FILE *before = stdout;
    stdout = file;
    cudaError_t error = launch_printing(6);
    if (!error) error = cudaDeviceSynchronize();
    stdout = before;
    cr_assert(error == cudaSuccess, "%s", emu_message(emu_runtime()));
    read_back(file, text, sizeof text);
    cr_expect_str_eq(text, want);
    fclose(file);
}

Test(device_code, a_failed_assertion_names_the_thread)
{
    char text[4000];
    FILE *file = tmpfile(), *before = stderr;
    stderr = file;
    cudaError_t launched = launch_assertion(THREADS, 37), error = cudaDeviceSynchronize();
    stderr = before;
    read_back(file, text, sizeof text);
    fclose(file);
    cr_expect(launched == cudaSuccess);
    cr_expect(error == cudaErrorAssert, "error %d", error);
    cr_expect(
        strstr(text,
               "block: [0,0,0], thread: [37,0,0] Assertion `(int)threadIdx.x != wrong` failed."),
        "%s", text);
}

Test(device_code, an_assertion_that_holds_says_nothing)
{
    cr_assert(launch_assertion(THREADS, -1) == cudaSuccess);
    cr_expect(cudaDeviceSynchronize() == cudaSuccess);
}
