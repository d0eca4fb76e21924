/*
 * test_device_code.c — kernels that launch kernels, that allocate, and other code of devices.
 */
#include "common/harness/run/runs.h"
#include "common/tools/emu/emu.h"
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"
#include <stdio.h>
#include <string.h>

/* ---- malloc and free in kernels -------------------------------------------------------------- */

enum { HEAP_THREADS = 100, BLOCKS = 20 };

static int *ints(size_t count) { return device_memory(count * sizeof(int)); }

static void read_ints(int *to, const int *from, size_t count)
{
    ok(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost));
}

Test(heap, threads_of_many_blocks_at_once)
{
    enum { COUNT = BLOCKS * HEAP_THREADS };
    int *out = ints(COUNT), host[COUNT];
    ok(launch_lists(out, BLOCKS, HEAP_THREADS));
    read_ints(host, out, COUNT);
    for (int t = 0; t < COUNT; t++) {
        int n = t % 7, want = (n + 1) * t + n * (n + 1) / 2;
        cr_expect(host[t] == want, "thread %d: got %d, want %d", t, host[t], want);
    }
}

Test(heap, blocks_outlive_the_kernel_and_the_host_cannot_reach_them)
{
    int *out = ints(HEAP_THREADS), host[HEAP_THREADS];
    void *address;
    ok(launch_keep(out, HEAP_THREADS));
    read_ints(host, out, HEAP_THREADS);
    for (int t = 0; t < HEAP_THREADS; t++) cr_expect(host[t] == 1, "thread %d", t);
    ok(address_of_kept(&address));
    cr_expect(cudaMemcpy(host, address, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
    cr_expect(cudaFree(address) == cudaErrorInvalidValue);
    cudaGetLastError();
    ok(launch_look_and_free(out, HEAP_THREADS));
    read_ints(host, out, HEAP_THREADS);
    for (int t = 0; t < HEAP_THREADS; t++) {
        int other = HEAP_THREADS - 1 - t;
        cr_expect(host[t] == other * other, "thread %d: got %d", t, host[t]);
    }
}

Test(heap, an_exhausted_heap_gives_null)
{
    int *out = ints(2), host[2];
    ok(launch_exhaust(out, 1 << 20));
    read_ints(host, out, 2);
    cr_expect(host[0] == 7 && host[1] == 1, "%d blocks of a MiB in 8 MiB, %d", host[0], host[1]);
    cr_expect(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20) == cudaErrorInvalidValue);
    cr_expect(strstr(emu_message(emu_runtime()), "a kernel has used it"));
}

Test(heap, its_size_is_set_before_it_is_used)
{
    ok(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 40 << 20));
    cr_expect(given(size_t, cudaDeviceGetLimit, cudaLimitMallocHeapSize) == 40 << 20);
    int *out = ints(2), host[2];
    ok(launch_exhaust(out, 1 << 20));
    read_ints(host, out, 2);
    cr_expect(host[0] == 39, "%d blocks", host[0]);
    ok(cudaDeviceReset());
    out = ints(2);
    ok(launch_exhaust(out, 1 << 20));
    read_ints(host, out, 2);
    cr_expect(host[0] == 7, "%d blocks after a reset", host[0]);
}

static const struct {
    int what;
    cudaError_t error;
    const char *says;
} mistakes[] = {
    {HEAP_TWICE, cudaErrorLaunchFailure, "which has been freed already"},
    {HEAP_INSIDE, cudaErrorLaunchFailure, "which is inside of a block, not at its start"},
    {HEAP_FOREIGN, cudaErrorLaunchFailure, "which malloc in a kernel has never given"},
    {HEAP_BEHIND, cudaErrorIllegalAddress, "just past the end of the block of 20 bytes"},
    {HEAP_FREED, cudaErrorIllegalAddress, "7 bytes into the block of 20 bytes"},
};

Test(heap, mistakes_are_faults)
{
    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        ok(launch_wrong_heap(ints(1), mistakes[i].what));
        cudaError_t error = cudaDeviceSynchronize();
        const char *message = emu_message(emu_runtime());
        cr_expect(error == mistakes[i].error && strstr(message, mistakes[i].says), "error %d: %s",
                  error, message);
        cr_expect(strstr(message, "device_code.cu:"), "%s", message);
        cudaDeviceReset();
        cudaGetLastError();
    }
}

/* ---- dynamic parallelism --------------------------------------------------------------------- */

/* What launches do is tested by tests/cases/programs/dynamic.cu. */

TestSuite(dynamic, .init = command_init, .fini = command_fini, .timeout = 120);

enum { FOUND = 9 };

/* ---- failures -------------------------------------------------------------------------------- */

/* As a program sees it. */
Test(dynamic, limits_and_errors_of_calls)
{
    static const char *const gpus[] = {"t4", "h200"};
    static const struct {
        const char *arguments, *printed;
    } runs[] = {
        {"many", "launch 2048: cudaErrorLaunchPendingCountExceeded\ncudaSuccess, sum 2048\n"},
        {"many 4000", "cudaSuccess, sum 3000\n"},
        {"many 40", "launch 40: cudaErrorLaunchPendingCountExceeded\ncudaSuccess, sum 40\n"},
        {"deep", "depth 2048: cudaErrorLaunchPendingCountExceeded\ncudaSuccess, sum 0\n"},
        {"deep 40", "depth 40: cudaErrorLaunchPendingCountExceeded\ncudaSuccess, sum 0\n"},
        {"configurations", "cudaErrorInvalidConfiguration\ninvalid configuration argument\n"
                           "cudaErrorInvalidConfiguration\ncudaErrorInvalidConfiguration\n"
                           "cudaErrorInvalidValue\ncudaSuccess\ncudaSuccess, sum 0\n"},
        {"errors", "cudaSuccess, sum 288\n"}, /* 32 times cudaErrorInvalidConfiguration, 9 */
        {"stream", "cudaErrorInvalidValue\ncudaSuccess, sum 0\n"},
        {"pass", "cudaSuccess, sum 64\n"},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++) {
            expect_status(0, "timeout 60 $emu --gpu %s --log-file /dev/null $p/dynamic %s 2>&1",
                          gpus[g], runs[i].arguments);
            cr_expect_str_eq(output, runs[i].printed, "%s on %s:\n%s", runs[i].arguments, gpus[g],
                             output);
        }
}

/* The launch of the host ends with the error of what it has launched. */
Test(dynamic, faults_end_the_launch_of_the_host)
{
    RUNS({0, QUIET "$p/dynamic shared",
          {"parameter 1 of the launch of kernel add is a pointer to shared memory of this "
           "thread's block, which the kernel cannot access",
           "cudaErrorInvalidAddressSpace, sum 0"}},
         {0, QUIET "$p/dynamic local",
          {"parameter 1 of the launch of kernel add is a pointer to local memory of this thread, "
           "which the kernel cannot access", "cudaErrorInvalidAddressSpace, sum 0"}},
         {0, QUIET "$p/dynamic fault",
          {"in kernel add, block (0,0,0)", "cudaErrorIllegalAddress, sum 0"}},
         {0, QUIET "$p/dynamic late-copy",
          {"a copy of 256 bytes that kernel late_copy has put into a stream accesses",
           "cudaErrorIllegalAddress, sum 0"}});
}

#define ENDLESS(way)                                                                               \
    {                                                                                              \
        0, "EMU_KERNEL_TIMEOUT=1 " QUIET "$p/dynamic " way,                                        \
        {                                                                                          \
            "have run for 1 seconds, and EMU_KERNEL_TIMEOUT allows no more",                       \
                "cudaErrorLaunchTimeout, sum 0"                                                    \
        }                                                                                          \
    }

/* The limits of a kernel count it together with all that it launches, and the bodies of a WHILE
 * node as one. The reports of a chain have an end, too. */
Test(dynamic, what_is_endless_ends_at_the_limits_slow)
{
    RUNS({0, "$emu --kernel-instructions 1700000 $p/dynamic chain",
          {" change? kernel chain and the launches before it have executed more than 1700000 warp "
           "instructions, and EMU_KERNEL_INSTRUCTIONS allows no more",
           "emu: kernel chain led to more launches in kernels than the reports hold: they lack ",
           "cudaErrorLaunchTimeout, sum 0"}},
         ENDLESS("chain"), ENDLESS("while"), ENDLESS("while-empty"),
         {0, QUIET "--kernel-instructions 9999 $p/dynamic while",
          {" change? kernel stay and the launches before it have executed more than 9999 warp"}});
}

#define CHECK(tool) "$emu --tool " tool " --error-exitcode 9 $p/dynamic "

/* Programs seldom look at the errors of calls in kernels. The programs that are in order, or not,
 * run in test_races.c, and pairs in test_checks.c. */
Test(dynamic, checkers_tell_of_it)
{
    RUNS({FOUND, CHECK("memcheck") "many",
          {"Program hit cudaErrorLaunchPendingCountExceeded (error 69) due to \"",
           "\" on a launch in a kernel\n=========     at many(int*) in "}},
         {FOUND, CHECK("memcheck") "fault",
          {"Invalid __global__ read of size 4 bytes\n=========     at add(int*, int) in ",
           "The kernel was launched by fault(int*)"}},
         {0, CHECK("memcheck") "pass", {NULL}},
         {0, "$emu --tool racecheck $pairs/launch launch-before wrong",
          {"Write access at void launch_before<false>(int*, int*) in ",
           "and Read access at reverse(int*, int const*) in ",
           "the kernel in stream 7 wrote it, the kernel that a kernel has launched reads it",
           "the launch into cudaStreamTailLaunch?"}},
         {0, "$emu --tool racecheck $pairs/launch launch-siblings wrong",
          {"No stream or event in the kernels that launched them orders these two"}});
}

/* ---- reports --------------------------------------------------------------------------------- */

#define ADD64 "  add (1, 1, 1)x(64, 1, 1), "
#define ON_H200 "Context 1, Stream 7, Device 0, CC 9.0"

/* Each launch has its own numbers, and says which kernel has made it. */
Test(dynamic, launches_of_kernels_are_in_the_reports)
{
    RUNS({0, "$emu --launches $p/dynamic tail",
          {"  tail (1, 1, 1)x(1, 1, 1), " ON_H200 "\n",
           "  pass (1, 1, 1)x(1, 1, 1), " ON_H200 ", launched by tail\n",
           ADD64 ON_H200 ", launched by pass\n", ADD64 ON_H200 ", launched by tail\n"}},
         {0, "$emu --page raw $p/dynamic tail",
          {ADD64 "2 launches, Device 0, CC 9.0, launched by several kernels"}},
         {0, "$emu --page raw $p/dynamic next",
          {", 2 launches, Device 0, CC 9.0, launched by the host and by pass\n"}},
         {0, "$emu --page raw $p/dynamic fault",
          {", launched by fault\n    the kernel failed: an illegal memory access"}});
    expect_status(0, "$emu --json --log-file $t/json $p/dynamic tail && python3 -c '"
                     "import json, sys\n"
                     "for one in json.load(open(sys.argv[1]))[\"launches\"]:\n"
                     "    by = one.get(\"launched_by\") or {}\n"
                     "    print(one[\"kernel\"], by.get(\"launch\"), by.get(\"kernel\"))' $t/json");
    cr_assert_str_eq(output, "cudaSuccess, sum 128\ntail None None\npass 0 tail\n"
                             "add 1 pass\nadd 0 tail\n");
}

/* The order of launches does not depend on the host's threads. */
Test(dynamic, the_order_of_launches_repeats)
{
    expect_status(0, "for threads in 1 4 4; do EMU_THREADS=$threads $emu --csv $p/dynamic blocks | "
                     "cut -d, -f5,8- >$t/$threads || exit; done; cmp $t/1 $t/4");
}

/* ---- calls, recursion, function pointers, printf and assert in kernels ----------------------- */

enum { THREADS = 100 }; /* the last warp is not full */

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

/* The value that thread t writes is want(t). */
Test(device_code, functions_that_are_not_inlined)
{
    static const struct {
        const char *name;
        cudaError_t (*launch)(int *, int);
        int (*want)(int);
    } cases[] = {{"recursion", launch_recursion, fibonacci_of},
                 {"pointers", launch_pointers, by_pointer},
                 {"virtual functions", launch_virtual, by_class},
                 {"structures", launch_structures, by_structure},
                 {"a barrier", launch_barrier_in_function, neighbour}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int host[THREADS], *out = ints(THREADS);
        ok(cases[i].launch(out, THREADS));
        read_ints(host, out, THREADS);
        for (int t = 0; t < THREADS; t++)
            cr_expect(host[t] == cases[i].want(t), "%s, thread %d: got %d", cases[i].name, t,
                      host[t]);
    }
}

Test(device_code, too_deep_a_recursion_is_a_fault, .timeout = 20)
{
    cr_redirect_stderr();
    ok(launch_deep_recursion(ints(1), 1 << 20));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    const char *message = emu_message(emu_runtime());
    cr_expect(strstr(message, "nested too deeply") && strstr(message, "device_code.cu:"), "%s",
              message);
}

Test(device_code, printf_prints_a_line_a_lane_in_order)
{
    cr_redirect_stdout();
    ok(launch_printing(6));
    ok(cudaDeviceSynchronize());
    cr_expect_str_eq(read_redirected(stdout, cr_get_redirected_stdout()),
                     "0  0.00|0   |text|a|1099511627776|ff|%|   0\n"
                     "2  0.50|2   |text|c|1099511627776|ff|%|   2\n"
                     "4  1.00|4   |text|e|1099511627776|ff|%|   4\n"
                     "9 arguments\n");
}

/* With _CG_DEBUG, this_grid() waits for all blocks. If it cannot, an assertion fails in place of a
 * trap. */
Test(device_code, cg_debug_checks_this_grid)
{
    struct counters counters;
    cr_redirect_stderr();
    cr_assert(counters_begin());
    ok(launch_checked_this_grid(4, 1));
    ok(cudaDeviceSynchronize());
    counters_end(&counters);
    cr_expect(counters.total.global_atom.requests == 4, "each block counts itself");
    counters_free(&counters);
    ok(launch_checked_this_grid(4, 0));
    is(cudaDeviceSynchronize(), cudaErrorAssert);
}
