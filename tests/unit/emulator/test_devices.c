/*
 * test_devices.c — devices, their limits and models.
 */
#define _GNU_SOURCE
#include "common/tools/emu/machine/device.h"
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- few addresses (ulimit -v), little memory, many allocations: launches.cu ----------------- */

TestSuite(limits, .init = command_init, .fini = command_fini, .timeout = 120);

/* Megabytes of memory of the first device in the program's output. */
static long megabytes(void)
{
    long found = 0;
    cr_assert(sscanf(output, "device 0: %ld MB", &found) == 1, "%s", output);
    return found;
}

/* Runs the program by this command; the limit is in kilobytes, as ulimit takes them. */
static void use_memory(int status, long limit, const char *command)
{
    expect_status(status, "ulimit -v %ld; %s $p/launches memory 2>&1", limit, command);
}

Test(limits, a_program_takes_less_memory_where_there_are_few_addresses)
{
    static const long limits[] = {300000, 1000000, 5000000, 20000000, 30000000};
    long before = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        use_memory(0, limits[i], "$emu --log-file /dev/null");
        expect("as its properties say, last value 131070\n");
        cr_expect_geq(megabytes(), before);
        cr_expect_geq(megabytes(), limits[i] / 1024 / 20, "%s", output);
        cr_expect_leq(megabytes(), limits[i] / 1024 / 8, "%s", output);
        before = megabytes();
    }
}

Test(limits, the_checkers_have_room_too)
{
    static const long limits[] = {300000, 2000000, 20000000};
    static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck", "all"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        for (size_t k = 0; k < sizeof tools / sizeof *tools; k++) {
            char command[60];
            snprintf(command, sizeof command, "$emu --tool %s --error-exitcode 9", tools[k]);
            use_memory(0, limits[i], command);
            expect("last value 131070\n");
        }
}

Test(limits, every_one_of_many_devices_has_some)
{
    use_memory(0, 20000000, "$emu --devices 16 --log-file /dev/null");
    expect("device 15: ");
    cr_expect_geq(megabytes(), 64);
}

Test(limits, what_was_asked_for_is_given_or_refused)
{
    use_memory(0, 20000000, "EMU_MEMORY=100M $emu --log-file /dev/null");
    cr_expect_eq(megabytes(), 100);
    use_memory(3, 20000000, "EMU_MEMORY=8G $emu --log-file /dev/null");
    expect_one_sentence();
    expect("no addresses for 8589934592 bytes of device memory: set EMU_MEMORY to fewer");
    use_memory(3, 40000, "$emu --devices 16 --log-file /dev/null");
    expect_one_sentence();
    expect("EMU_MEMORY");
}

/* 40 000 took 6 seconds when each call that frees searched all remaining allocations. */
Test(limits, very_many_allocations_slow)
{
    static const char *const ways[] = {"order", "reverse", "async"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        expect_status(0, "$emu --log-file /dev/null $p/launches memory 100000 %s", ways[i]);
        expect("100000 allocations\n");
    }
}

/* ---- the rules of older generations give the numbers in the documents ------------------------ */

/* GPU Gems 3, chapter 39 (G80: 16 banks); CUDA C Programming Guide 4.2, appendix F; Kepler tuning
 * guide, 1.4.3.1; the lecture on memory: caching loads are Fermi's, non-caching ones Kepler's. */

enum { N = 512 };

static struct insn_counts shared(const char *model, const uint64_t *address, uint32_t mask,
                                 unsigned bytes)
{
    struct insn_counts counts = {0};
    model_shared(emu_model_find(model), &counts, address, mask, bytes);
    return counts;
}

static struct insn_counts global(const char *model, const uint64_t *address, unsigned bytes)
{
    struct insn_counts counts = {0};
    model_global(emu_model_find(model), &counts, address, ALL_LANES, bytes, true);
    return counts;
}

/* How many ways the busiest half-warp conflicts on G80 when the tree's threads read element
 * offset * (2 * thread + 1) - 1, at its padded place. */
static unsigned degree(int offset, int (*padding)(int))
{
    unsigned most = 0;
    for (int first = 0; first < N / 2 / offset; first += 16) {
        uint64_t address[WARP] = {0};
        uint32_t mask = 0;
        for (int lane = 0; lane < 16 && first + lane < N / 2 / offset; lane++) {
            int element = offset * (2 * (first + lane) + 1) - 1;
            address[lane] = 4 * (uint64_t)(element + padding(element));
            mask |= UINT32_C(1) << lane;
        }
        unsigned passes = (unsigned)shared("g80", address, mask, 4).wavefronts;
        if (passes > most) most = passes;
    }
    return most;
}

static int no_padding(int i) { return (void)i, 0; }
static int default_padding(int i) { return i >> 4; }
static int corrected_padding(int i) { return (i >> 4) + (i >> 8); }

/* The degree doubles from level to level, up to 16, while enough threads are left. */
Test(models, g80_tree)
{
    static const unsigned degrees[] = {2, 4, 8, 16, 16, 8, 4, 2, 1};
    for (int level = 0; level < 9; level++)
        cr_expect(degree(1 << level, no_padding) == degrees[level], "level %d: %u-way", level,
                  degree(1 << level, no_padding));
}

/* One element of padding in 16 leaves two-way conflicts at offsets 16 to 128. */
Test(models, g80_padding)
{
    for (int offset = 1; offset < N; offset *= 2) {
        unsigned left = offset >= 16 && offset <= 128 ? 2 : 1;
        cr_expect(degree(offset, default_padding) == left, "offset %d: %u-way", offset,
                  degree(offset, default_padding));
        cr_expect(degree(offset, corrected_padding) == 1, "offset %d, corrected: %u-way", offset,
                  degree(offset, corrected_padding));
    }
}

/* The guide's examples: one word for all lanes; char, double and strides. */
Test(models, g80_banks)
{
    uint64_t address[WARP] = {0};
    struct insn_counts counts = shared("g80", address, ALL_LANES, 4);
    cr_expect(counts.wavefronts == 2 && counts.ideal == 2);
    for (int lane = 0; lane < WARP; lane++) address[lane] = (uint64_t)lane;
    counts = shared("g80", address, ALL_LANES, 1);
    cr_expect(counts.wavefronts == 8 && counts.ideal == 2, "chars: 4-way");
    for (int lane = 0; lane < WARP; lane++) address[lane] = 8 * (uint64_t)lane;
    counts = shared("g80", address, ALL_LANES, 8);
    cr_expect(counts.wavefronts == 8 && counts.ideal == 4, "doubles: 2-way");
    counts = shared("g80", address, 0x0000ffff, 4);
    cr_expect(counts.wavefronts == 2 && counts.ideal == 1, "stride 2: 2-way");
    counts = shared("fermi", address, ALL_LANES, 8);
    cr_expect(counts.wavefronts == 2 && counts.ideal == 2, "doubles on Fermi: none");
    for (int lane = 0; lane < WARP; lane++) address[lane] = 16 * (uint64_t)lane;
    counts = shared("fermi", address, ALL_LANES, 16);
    cr_expect(counts.wavefronts == 8 && counts.ideal == 4, "16 bytes on Fermi: 2-way");
}

/* Stride 2 of 4-byte words: two-way on Fermi, none on Kepler. A stride of 32 words, all in one
 * bank, is two words a row in 4-byte mode; in 8-byte mode every other one is in another bank. */
Test(models, kepler_modes)
{
    static const struct {
        unsigned stride, fermi, mode4, mode8;
    } cases[] = {{1, 1, 1, 1},     {2, 2, 1, 1},  {4, 4, 2, 2},
                 {32, 32, 16, 16}, {33, 1, 1, 1}, {64, 32, 32, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[WARP];
        for (int lane = 0; lane < WARP; lane++)
            address[lane] = 4 * (uint64_t)cases[i].stride * (uint64_t)lane;
        unsigned fermi = (unsigned)shared("fermi", address, ALL_LANES, 4).wavefronts,
                 mode4 = (unsigned)shared("kepler4", address, ALL_LANES, 4).wavefronts,
                 mode8 = (unsigned)shared("kepler8", address, ALL_LANES, 4).wavefronts;
        cr_expect(fermi == cases[i].fermi && mode4 == cases[i].mode4 && mode8 == cases[i].mode8,
                  "stride %u: %u, %u, %u", cases[i].stride, fermi, mode4, mode8);
    }
    uint64_t doubles[WARP];
    for (int lane = 0; lane < WARP; lane++) doubles[lane] = 8 * (uint64_t)lane;
    cr_expect(shared("kepler8", doubles, ALL_LANES, 8).wavefronts == 1);
}

/* ---- global memory --------------------------------------------------------------------------- */

/* The slides: how much of the bus is used, and how often a caching load is replayed: once less than
 * it has transactions. */
Test(models, bus_utilization_and_replays)
{
    static const struct {
        uint64_t first, step, factor; /* lane l has the address first + step * (factor * l % 32) */
        double fermi, kepler;
        unsigned replays;
    } cases[] = {
        {1024, 4, 1, 1, 1, 0},
        {1024, 4, 13, 1, 1, 0},
        {1024, 4, 31, 1, 1, 0},
        {1028, 4, 1, 0.5, 0.8, 1},
        {1024, 0, 1, 1.0 / 32, 1.0 / 8, 0},
        {0, 4096, 1, 1.0 / 32, 1.0 / 8, WARP - 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[WARP];
        for (uint64_t lane = 0; lane < WARP; lane++)
            address[lane] = cases[i].first + cases[i].step * (cases[i].factor * lane % WARP);
        struct insn_counts fermi = global("fermi", address, 4),
                           kepler = global("kepler4", address, 4);
        cr_expect((double)fermi.needed / (double)fermi.moved == cases[i].fermi, "case %zu", i);
        cr_expect((double)kepler.needed / (double)kepler.moved == cases[i].kepler, "case %zu", i);
        cr_expect(fermi.sectors - 1 == cases[i].replays, "case %zu", i);
    }
}

/* On a G80 the k-th thread must access the k-th word: otherwise a half-warp needs 16 transactions.
 * A GT200 accesses segments, which it makes as small as possible. */
Test(models, coalescing)
{
    static const struct {
        const char *model;
        unsigned first, bytes, transactions, moved;
        bool reversed;
    } cases[] = {
        {"g80", 0, 4, 2, 128, false},    {"g80", 0, 8, 2, 256, false},
        {"g80", 0, 16, 4, 512, false},   {"g80", 0, 4, 32, 1024, true},
        {"g80", 4, 4, 32, 1024, false},  {"gt200", 0, 4, 2, 128, false},
        {"gt200", 0, 4, 2, 128, true},   {"gt200", 4, 4, 3, 224, false},
        {"gt200", 0, 16, 4, 512, false}, {"gt200", 0, 1, 2, 64, false},
        {"gt200", 0, 2, 2, 64, false},   {"fermi", 4, 4, 2, 256, false},
        {"fermi", 0, 8, 2, 256, false},  {"kepler4", 4, 4, 5, 160, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address[WARP];
        for (int lane = 0; lane < WARP; lane++)
            address[lane] = 4096 + cases[i].first +
                            cases[i].bytes * (uint64_t)(cases[i].reversed ? WARP - 1 - lane : lane);
        struct insn_counts counts = global(cases[i].model, address, cases[i].bytes);
        cr_expect(counts.sectors == cases[i].transactions && counts.moved == cases[i].moved,
                  "case %zu, %s: %llu transactions, %llu bytes", i, cases[i].model,
                  (unsigned long long)counts.sectors, (unsigned long long)counts.moved);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

Test(models, command)
{
    cr_assert(
        run_command(
            EMU
            " --model G80 --kernel-name reverse --metrics memory_l1_wavefronts_shared,"
            "emu__bytes_moved_global_op_ld.sum,emu__bus_utilization_global_op_ld.ratio " PROGRAMS
            "/merged") == 0);
    cr_expect(strstr(output, "  rules: G80 (2006)") != NULL, "%s", output);
    cr_expect(strstr(output, " unchecked: by another generation's rules") != NULL, "%s", output);
    cr_expect(strstr(output, "                   8\n") != NULL, "4 half-warps, twice: %s", output);
    cr_expect(strstr(output, " 256\n") != NULL && strstr(output, " 1.00\n") != NULL, "%s", output);
}

/* ---- several devices, EMU_DEVICES=N: each has its own memory, code, streams and faults ------- */

enum { DEVICES = 4 };

static void have_four(void) { setenv("EMU_DEVICES", "4", 1); }

TestSuite(devices, .init = have_four);

static int *memory_on(int device)
{
    ok(cudaSetDevice(device));
    int *memory = device_memory(sizeof *memory);
    ok(cudaMemset(memory, 0, sizeof *memory));
    return memory;
}

Test(devices, are_counted)
{
    cr_assert(given(int, cudaGetDeviceCount) == DEVICES);
    ok(cudaSetDevice(3));
    cr_assert(given(int, cudaGetDevice) == 3);
    struct cudaDeviceProp p = given(struct cudaDeviceProp, cudaGetDeviceProperties, 3);
    is(cudaGetDeviceProperties(&p, DEVICES), cudaErrorInvalidDevice);
    is(cudaSetDevice(DEVICES), cudaErrorInvalidDevice);
    is(cudaSetDevice(-1), cudaErrorInvalidDevice);
    cr_assert(given(int, cudaGetDevice) == 3);
    cr_assert(given(int, cudaDeviceCanAccessPeer, 0, 3) == 1);
    int can = given(int, cudaDeviceCanAccessPeer, 2, 2);
    cr_assert(can == 0);
    is(cudaDeviceCanAccessPeer(&can, 0, DEVICES), cudaErrorInvalidDevice);
}

static void *device_of_new_thread(void *device)
{
    cudaGetDevice(device);
    return NULL;
}

Test(devices, every_thread_begins_with_the_first)
{
    int device = -1;
    pthread_t thread;
    ok(cudaSetDevice(2));
    cr_assert(pthread_create(&thread, NULL, device_of_new_thread, &device) == 0);
    pthread_join(thread, NULL);
    cr_assert(device == 0);
}

Test(devices, have_variables_of_their_own)
{
    for (int d = 0; d < DEVICES; d++) {
        ok(cudaSetDevice(d));
        int *out = device_memory(sizeof *out), table[4] = {d, 0, 0, 0}, value;
        ok(cudaMemcpyToSymbol(table_symbol(), table, sizeof table, 0, cudaMemcpyHostToDevice));
        ok(launch_variables(out));
        cr_assert(value_at(out) == 5);
        ok(cudaMemcpyFromSymbol(&value, device_value_symbol(), 4, 0, cudaMemcpyDeviceToHost));
        cr_assert(value == 5 + d, "device %d: %d", d, value);
    }
}

Test(devices, have_addresses_and_streams_of_their_own)
{
    int *zero = memory_on(0), *one = memory_on(1), device;
    struct cudaPointerAttributes attributes;
    ok(cudaPointerGetAttributes(&attributes, zero));
    cr_assert(attributes.device == 0 && attributes.type == cudaMemoryTypeDevice);
    cr_assert(given(struct cudaPointerAttributes, cudaPointerGetAttributes, one).device == 1);

    cudaStream_t stream = given(cudaStream_t, cudaStreamCreate);
    ok(cudaStreamGetDevice(stream, &device));
    cr_assert(device == 1);
    ok(cudaSetDevice(0));
    is(launch_add(zero, 1, stream), cudaErrorInvalidResourceHandle);
    ok(cudaMemsetAsync(one, 0, 4, stream)); /* copies and fills may */
    cudaEvent_t event = given(cudaEvent_t, cudaEventCreate);
    is(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    ok(cudaEventRecord(event, NULL));
    ok(cudaStreamWaitEvent(stream, event, 0)); /* so may waiting */
    ok(cudaFree(one));                         /* and freeing */
}

/* Programming Guide, "Peer-to-Peer Memory Access". */
Test(devices, a_kernel_needs_peer_access)
{
    cr_redirect_stderr();
    int *zero = memory_on(0), *one = memory_on(1);
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    is(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    is(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
    cudaGetLastError();
    ok(launch_add(one, 5, NULL));
    cr_assert(value_at(one) == 5);

    ok(cudaSetDevice(1)); /* access is one-way */
    ok(launch_add(zero, 5, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    ok(cudaSetDevice(0)); /* the fault is device 1's */
    ok(cudaDeviceSynchronize());
    cr_assert(value_at(zero) == 0);
    ok(cudaDeviceDisablePeerAccess(1));
    is(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
    ok(launch_add(one, 5, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    const char *text = read_stderr();
    cr_assert(strstr(text, "memory of device 0, which a kernel on device 1 may touch only after "
                           "cudaDeviceEnablePeerAccess") != NULL,
              "%s", text);
}

/* The message names the other device's memory, not this one's. */
Test(devices, a_fault_behind_memory_of_a_peer)
{
    cr_redirect_stderr();
    int *one = memory_on(1);
    ok(cudaSetDevice(0));
    ok(cudaDeviceEnablePeerAccess(1, 0));
    ok(launch_add(one + 1, 5, NULL));
    is(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    char place[80];
    snprintf(place, sizeof place, "(just past the end of the allocation of 4 bytes at %p;",
             (void *)one);
    const char *text = read_stderr();
    cr_assert(strstr(text, place) != NULL, "%s", text);
}

Test(devices, copies_need_none)
{
    int value = 42, *zero = memory_on(0), *one = memory_on(1);
    ok(cudaMemcpy(zero, &value, sizeof value, cudaMemcpyHostToDevice)); /* device 1 is current */
    ok(cudaMemcpyPeer(one, 1, zero, 0, sizeof value));
    cr_assert(value_at(one) == 42);
    ok(cudaMemset(zero, 0, sizeof value));
    ok(cudaMemcpyPeerAsync(zero, 0, one, 1, sizeof value, NULL));
    cr_assert(value_at(zero) == 42);
    is(cudaMemcpyPeer(one, 0, zero, 0, sizeof value), cudaErrorInvalidValue);
    is(cudaMemcpyPeer(one, 1, zero, DEVICES, sizeof value), cudaErrorInvalidDevice);
    is(cudaMemcpyPeer(one, 1, zero, 0, 2 * sizeof value), cudaErrorInvalidValue);
}

Test(devices, all_reach_pinned_and_managed_memory)
{
    int *pinned, *managed;
    ok(cudaMallocHost((void **)&pinned, sizeof *pinned));
    ok(cudaMallocManaged((void **)&managed, sizeof *managed, cudaMemAttachGlobal));
    *pinned = *managed = 0;
    for (int d = 0; d < DEVICES; d++) {
        ok(cudaSetDevice(d));
        ok(launch_add(pinned, 1, NULL));
        ok(launch_add(managed, 1, NULL));
        ok(launch_managed());
        ok(cudaDeviceSynchronize());
    }
    cr_assert(*pinned == DEVICES && *managed == DEVICES);
    cr_assert(*managed_value_address() == 7 + DEVICES);
}

Test(devices, a_reset_is_of_one)
{
    int *zero = memory_on(0), *one = memory_on(1), value;
    ok(cudaDeviceReset());
    is(cudaMemcpy(&value, one, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    ok(cudaMemcpy(&value, zero, 4, cudaMemcpyDeviceToHost));
}

/* A thread's device, and afterwards its first error. */
static void *count_on(void *device_and_error)
{
    int *number = device_and_error, out[8] = {0}, *memory;
    cudaStream_t stream;
    cudaError_t error = cudaSetDevice(*number);
    if (error == cudaSuccess) error = cudaStreamCreate(&stream);
    if (error == cudaSuccess) error = cudaMallocAsync((void **)&memory, sizeof out, stream);
    for (int i = 0; i < 50 && error == cudaSuccess; i++)
        error = launch_count(memory, one_dimension(1), one_dimension(8), 0, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(out, memory, sizeof out, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = cudaFreeAsync(memory, stream);
    if (error == cudaSuccess && out[7] != 7) error = cudaErrorUnknown;
    *number = (int)error;
    return NULL;
}

Test(devices, work_for_two_host_threads_each)
{
    enum { THREADS = 2 * DEVICES };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t % DEVICES;
        cr_assert(pthread_create(&threads[t], NULL, count_on, &numbers[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        ok((cudaError_t)numbers[t]);
    }
}
