/*
 * test_ipc.c — memory that several processes share (cudaIpcGetMemHandle). A test forks them before
 * it uses CUDA, and they send each other handles and words through pipes.
 */
#define _GNU_SOURCE
#include "common/tools/emu/emu.h"
#include "tests/cases/fixtures/fixtures.h"
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(ipc, .timeout = 120);

/* ---- processes ------------------------------------------------------------------------------- */

/* Another process, as one sees it: where it reads, and where it writes. */
struct process {
    int to, from;
    pid_t id;
};

/* In a forked process, where Criterion's assertions do not work. */
#define need(condition)                                                                            \
    do {                                                                                           \
        if (condition) break;                                                                      \
        fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                            \
        _exit(1);                                                                                  \
    } while (0)
#define need_ok(call) need((call) == cudaSuccess)

/* Starts a process that calls work() and ends with 0. */
static struct process start(void (*work)(struct process *parent))
{
    int to[2], from[2];
    cr_assert(pipe(to) == 0 && pipe(from) == 0);
    struct process child = {.to = to[1], .from = from[0], .id = fork()};
    cr_assert(child.id >= 0);
    if (child.id > 0) {
        close(to[0]);
        close(from[1]);
        return child;
    }
    close(to[1]);
    close(from[0]);
    work(&(struct process){.to = from[1], .from = to[0]});
    _exit(0);
}

static void expect_end(const struct process *child)
{
    int status;
    cr_assert(waitpid(child->id, &status, 0) == child->id);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

static void send_bytes(const struct process *to, const void *bytes, size_t size)
{
    need(write(to->to, bytes, size) == (ssize_t)size);
}

static void receive(const struct process *from, void *bytes, size_t size)
{
    need(read(from->from, bytes, size) == (ssize_t)size);
}

static void send_word(const struct process *to, int word) { send_bytes(to, &word, sizeof word); }

static int receive_word(const struct process *from)
{
    int word;
    receive(from, &word, sizeof word);
    return word;
}

static void send_memory(const struct process *to, void *memory)
{
    cudaIpcMemHandle_t handle;
    need_ok(cudaIpcGetMemHandle(&handle, memory));
    send_bytes(to, &handle, sizeof handle);
}

static cudaError_t open_handle(const cudaIpcMemHandle_t *handle, void *pointer)
{
    return cudaIpcOpenMemHandle((void **)pointer, *handle, cudaIpcMemLazyEnablePeerAccess);
}

static cudaIpcMemHandle_t receive_handle(const struct process *from)
{
    cudaIpcMemHandle_t handle;
    receive(from, &handle, sizeof handle);
    return handle;
}

static void *receive_memory(const struct process *from)
{
    cudaIpcMemHandle_t handle = receive_handle(from);
    void *memory;
    need_ok(open_handle(&handle, &memory));
    return memory;
}

static int word_at(const void *address)
{
    int word;
    need_ok(cudaMemcpy(&word, address, sizeof word, cudaMemcpyDefault));
    return word;
}

static int *new_words(int first, int count)
{
    int *words, k;
    need_ok(cudaMalloc((void **)&words, (size_t)count * sizeof *words));
    for (k = 0; k < count; k++) {
        int word = first + k;
        need_ok(cudaMemcpy(words + k, &word, sizeof word, cudaMemcpyDefault));
    }
    return words;
}

/* ---- right ----------------------------------------------------------------------------------- */

static void add_to_two(struct process *parent)
{
    int *words = receive_memory(parent);
    need(word_at(words) == 100 && word_at(words + 9) == 109);
    need_ok(launch_add(words, 5, NULL));
    need_ok(launch_add(words + 9, 6, NULL));
    need_ok(cudaDeviceSynchronize());
    need(word_at(words + 9) == 115);
    need_ok(cudaIpcCloseMemHandle(words));
    send_word(parent, 0);
}

/* The memory is allocated, and written, before it is exported. The handle of an address inside
 * means all of it. Allocations beside it stay this process's own. */
Test(ipc, one_process_writes_and_another_adds)
{
    struct process child = start(add_to_two);
    int *before = new_words(1, 10), *words = new_words(100, 10), *behind = new_words(2, 10);
    send_memory(&child, words + 3);
    cr_assert(receive_word(&child) == 0);
    cr_assert(value_at(words) == 105 && value_at(words + 1) == 101 && value_at(words + 9) == 115);
    cr_assert(value_at(before) == 1 && value_at(behind) == 2);
    ok(launch_add(words, 1, NULL));
    cr_assert(value_at(words) == 106);
    ok(cudaFree(words));
    expect_end(&child);
}

enum { TURNS = 200 };

static void throw_back(struct process *parent)
{
    struct ball *ball = receive_memory(parent);
    unsigned *wrong = (unsigned *)new_words(0, 1);
    need_ok(launch_throw(ball, 1, TURNS, wrong));
    need_ok(cudaDeviceSynchronize());
    need(word_at(wrong) == 0);
}

/* Two kernels that run at the same time and wait for each other; what was written before a release
 * is seen behind the acquire. */
Test(ipc, two_kernels_throw_a_ball)
{
    struct process child = start(throw_back);
    struct ball *ball = device_memory(sizeof *ball), new = {.turn = 0};
    unsigned *wrong = (unsigned *)new_words(0, 1);
    for (unsigned k = 0; k < BALL_WORDS; k++) new.words[k] = k;
    ok(cudaMemcpy(ball, &new, sizeof new, cudaMemcpyHostToDevice));
    send_memory(&child, ball);
    ok(launch_throw(ball, 0, TURNS, wrong));
    ok(cudaDeviceSynchronize());
    cr_assert(value_at((int *)wrong) == 0);
    expect_end(&child);
    ok(cudaMemcpy(&new, ball, sizeof new, cudaMemcpyDeviceToHost));
    cr_assert(new.turn == TURNS &&new.words[1] == TURNS *BALL_WORDS + 1);
}

enum { PROCESSES = 3, BLOCKS = 4, THREADS = 32, TIMES = 50, ALL = BLOCKS * THREADS * TIMES };

/* The kernels wait for each other, so that their atomics meet. */
static void count_with_others(struct process *parent)
{
    unsigned *counts = receive_memory(parent), *seen = (unsigned *)new_words(0, 1);
    need_ok(launch_count_up(counts, 1, 1, 1));
    need_ok(launch_wait(counts, PROCESSES, 0, seen));
    need_ok(launch_count_up(counts + 1, BLOCKS, THREADS, TIMES));
    need_ok(launch_wait(counts + 1, PROCESSES * ALL, 60000000000, seen));
    need_ok(cudaDeviceSynchronize());
    need(word_at(seen) == 1);
}

Test(ipc, three_processes_count)
{
    struct process children[PROCESSES];
    for (int k = 0; k < PROCESSES; k++) children[k] = start(count_with_others);
    int *counts = new_words(0, 1024);
    ok(cudaMemset(counts, 0, 1024 * sizeof *counts));
    for (int k = 0; k < PROCESSES; k++) send_memory(&children[k], counts);
    for (int k = 0; k < PROCESSES; k++) expect_end(&children[k]);
    cr_assert(value_at(counts) == PROCESSES && value_at(counts + 1) == PROCESSES * ALL);
}

static void open_twice(struct process *parent)
{
    cudaIpcMemHandle_t handle = receive_handle(parent);
    int *first, *second, *own = new_words(0, 1);
    struct cudaPointerAttributes attributes;
    need_ok(open_handle(&handle, &first));
    need_ok(open_handle(&handle, &second));
    need(first == second && first != own);
    need_ok(cudaPointerGetAttributes(&attributes, first));
    need(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    need_ok(cudaIpcCloseMemHandle(first));
    need_ok(launch_add(first, 1, NULL));
    need_ok(cudaIpcCloseMemHandle(first));
    need(cudaIpcCloseMemHandle(first) == cudaErrorInvalidValue);
    need(cudaMemcpy(own, first, sizeof *own, cudaMemcpyDefault) == cudaErrorInvalidValue);
    need_ok(open_handle(&handle, &first));
    need(word_at(first) == 8);
    need_ok(cudaDeviceReset()); /* closes it */
    need(cudaIpcCloseMemHandle(first) == cudaErrorInvalidValue);
    need_ok(open_handle(&handle, &first));
    need(word_at(first) == 8);
}

/* CUDA Runtime API, cudaIpcOpenMemHandle. */
Test(ipc, open_handles_are_counted)
{
    struct process child = start(open_twice);
    int *word = new_words(7, 1);
    send_memory(&child, word);
    expect_end(&child);
    cr_assert(value_at(word) == 8);
}

/* Allocations of several sizes, whose pages and offsets in a page differ. */
enum { SIZES = 5 };
static const int sizes[SIZES] = {1, 1000, 1024, 5000, 3 << 20};

static void read_sizes(struct process *parent)
{
    int *words[SIZES];
    for (int k = 0; k < SIZES; k++) words[k] = receive_memory(parent);
    for (int k = 0; k < SIZES; k++) {
        need(word_at(words[k]) == k && word_at(words[k] + sizes[k] - 1) == k);
        need(cudaMemset(words[k], 0, (size_t)sizes[k] * sizeof(int) + 1) == cudaErrorInvalidValue);
    }
    cudaGetLastError();
    need_ok(launch_add(words[1] + sizes[1], 1, NULL));
    need(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

Test(ipc, bounds_are_checked)
{
    struct process child = start(read_sizes);
    for (int k = 0; k < SIZES; k++) {
        int *words = device_memory((size_t)sizes[k] * sizeof *words);
        ok(cudaMemcpy(words, &k, sizeof k, cudaMemcpyDefault));
        ok(cudaMemcpy(words + sizes[k] - 1, &k, sizeof k, cudaMemcpyDefault));
        send_memory(&child, words);
    }
    expect_end(&child);
}

/* A store and a later load of another word are in order if a fence is between them: not both blocks
 * miss the other's store. Host threads are to each other as processes are. */
Test(ipc, a_fence_orders_a_store_and_a_load_slow)
{
    enum { LAUNCHES = 8, ROUNDS = 5000 };
    cudaIpcMemHandle_t handle;
    setenv("EMU_THREADS", "2", 1);
    static unsigned saw[2][ROUNDS];
    struct two_blocks *shared = device_memory(sizeof *shared);
    unsigned *saw_there = device_memory(sizeof saw), missed = 0;
    ok(cudaIpcGetMemHandle(&handle, shared)); /* a block that waits leaves its core to others */
    for (int launch = 0; launch < LAUNCHES; launch++) {
        ok(cudaMemset(shared, 0, sizeof *shared));
        ok(launch_store_then_load(shared, saw_there, ROUNDS));
        ok(cudaMemcpy(saw, saw_there, sizeof saw, cudaMemcpyDeviceToHost));
        for (unsigned k = 0; k < ROUNDS; k++) missed += saw[0][k] <= k && saw[1][k] <= k;
    }
    cr_assert(missed == 0, "%u of %d rounds", missed, LAUNCHES * ROUNDS);
}

/* ---- wrong ----------------------------------------------------------------------------------- */

Test(ipc, only_memory_of_cuda_malloc_is_exported)
{
    cudaIpcMemHandle_t handle;
    int *word = new_words(0, 1), *pinned, *managed, *pooled, local;
    void *variable;
    ok(cudaMallocHost((void **)&pinned, 4));
    ok(cudaMallocManaged((void **)&managed, 4, cudaMemAttachGlobal));
    ok(cudaMallocAsync((void **)&pooled, 4, NULL));
    ok(cudaGetSymbolAddress(&variable, device_value_symbol()));
    void *const others[] = {NULL, &local, pinned, managed, pooled, variable, word + 4096};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        is(cudaIpcGetMemHandle(&handle, others[k]), cudaErrorInvalidValue);
    is(cudaIpcGetMemHandle(NULL, word), cudaErrorInvalidValue);
    is(cudaGetLastError(), cudaErrorInvalidValue);
    ok(cudaIpcGetMemHandle(&handle, word));
}

static void try_handles(struct process *parent)
{
    cudaIpcMemHandle_t handle = receive_handle(parent), bad = {{0}};
    int *memory, *own = new_words(0, 1);
    need(open_handle(&bad, &memory) == cudaErrorInvalidValue);
    need(cudaIpcOpenMemHandle((void **)&memory, handle, 0) == cudaErrorInvalidValue);
    need(cudaIpcOpenMemHandle(NULL, handle, cudaIpcMemLazyEnablePeerAccess) ==
         cudaErrorInvalidValue);
    for (size_t k = 8; k < sizeof handle; k += 8) { /* behind the mark of a handle */
        bad = handle;
        bad.reserved[k] ^= 1;
        need(open_handle(&bad, &memory) == cudaErrorInvalidResourceHandle);
    }
    need_ok(cudaIpcGetMemHandle(&bad, own));
    need(open_handle(&bad, &memory) == cudaErrorDeviceUninitialized); /* its own */
    need_ok(open_handle(&handle, &memory));
    need(cudaFree(memory) == cudaErrorInvalidValue);
    need(cudaIpcGetMemHandle(&bad, memory) == cudaErrorInvalidValue);
    need(cudaIpcCloseMemHandle(memory + 1) == cudaErrorInvalidValue);
    need(cudaIpcCloseMemHandle(own) == cudaErrorInvalidValue);
    need(cudaIpcCloseMemHandle(&own) == cudaErrorInvalidValue);
    need(word_at(memory) == 3 && cudaPeekAtLastError() == cudaErrorInvalidValue);
}

/* A child gets the handle of a word that is 3, and does all of the test. */
static void give_memory(void (*work)(struct process *parent))
{
    struct process child = start(work);
    send_memory(&child, new_words(3, 1));
    expect_end(&child);
}

Test(ipc, wrong_handles_have_errors) { give_memory(try_handles); }

static void use_freed(struct process *parent)
{
    cudaIpcMemHandle_t handle = receive_handle(parent);
    int *first, *second;
    need_ok(open_handle(&handle, &first));
    send_word(parent, 0);
    receive_word(parent); /* it is freed */
    need(word_at(first) == 3);
    need_ok(open_handle(&handle, &second));
    need(first == second);
    need_ok(cudaIpcCloseMemHandle(first));
    need_ok(cudaIpcCloseMemHandle(first));
    need(open_handle(&handle, &first) == cudaErrorInvalidResourceHandle);
    second = receive_memory(parent);
    need(word_at(second) == 4);
}

Test(ipc, freed_memory_stays_where_it_is_open)
{
    struct process child = start(use_freed);
    int *word = new_words(3, 1), *newer;
    cudaIpcMemHandle_t handle, other;
    ok(cudaIpcGetMemHandle(&handle, word));
    ok(cudaIpcGetMemHandle(&other, word));
    cr_assert(memcmp(&handle, &other, sizeof handle) == 0);
    send_bytes(&child, &handle, sizeof handle);
    receive_word(&child);
    ok(cudaFree(word));
    newer = new_words(4, 1);
    send_word(&child, 0);
    send_memory(&child, newer);
    expect_end(&child);
}

static void export_and_wait(struct process *parent)
{
    send_memory(parent, new_words(11, 1));
    receive_word(parent);
}

static void export_and_end(struct process *parent) { send_memory(parent, new_words(11, 1)); }

/* The parent opens it and ends the child, which takes nothing from it. */
static void end_of_child(void (*work)(struct process *), bool by_signal)
{
    struct process child = start(work);
    cudaIpcMemHandle_t handle = receive_handle(&child);
    int *word, status;
    if (by_signal) {
        ok(open_handle(&handle, &word));
        kill(child.id, SIGKILL);
    }
    cr_assert(waitpid(child.id, &status, 0) == child.id);
    if (by_signal) {
        cr_assert(value_at(word) == 11);
        ok(launch_add(word, 1, NULL));
        cr_assert(value_at(word) == 12);
        ok(cudaIpcCloseMemHandle(word));
    }
    is(open_handle(&handle, &word), cudaErrorInvalidResourceHandle);
}

Test(ipc, memory_of_a_killed_process_stays) { end_of_child(export_and_wait, true); }
Test(ipc, memory_of_a_process_that_ended_is_gone) { end_of_child(export_and_end, false); }

static void expect_not_opened(struct process *parent, cudaError_t error)
{
    void *memory;
    cudaIpcMemHandle_t handle = receive_handle(parent);
    need(open_handle(&handle, &memory) == error);
}

static void be_another_model(struct process *parent)
{
    setenv("EMU_GPU", "t4", 1);
    expect_not_opened(parent, cudaErrorPeerAccessUnsupported);
}

Test(ipc, another_model_is_no_peer) { give_memory(be_another_model); }

static void be_another_user(struct process *parent)
{
    need(setuid(65534) == 0);
    expect_not_opened(parent, cudaErrorMapBufferObjectFailed);
}

Test(ipc, another_user_may_not_open_it)
{
    if (getuid() != 0) cr_skip_test("only root can become another user");
    give_memory(be_another_user);
}

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    need(folder != NULL);
    while (readdir(folder) != NULL) count++;
    closedir(folder);
    return count;
}

/* Low descriptors stay free: programs may rely on them. */
static void open_and_close(struct process *parent)
{
    cudaIpcMemHandle_t handle = receive_handle(parent);
    void *memory;
    need_ok(cudaFree(NULL));
    int files = count_files();
    for (int k = 0; k < 100; k++) {
        need_ok(open_handle(&handle, &memory));
        need(count_files() == files);
        need_ok(cudaIpcCloseMemHandle(memory));
    }
}

Test(ipc, no_file_stays_open)
{
    struct process child = start(open_and_close);
    int *word = new_words(1, 1), files = count_files(), lowest = dup(0);
    send_memory(&child, word);
    close(lowest);
    int next = dup(0);
    close(next);
    cr_assert(next == lowest && count_files() == files + 1);
    for (int k = 0; k < 100; k++) {
        int *other = device_memory(sizeof *other);
        given(cudaIpcMemHandle_t, cudaIpcGetMemHandle, other);
        ok(cudaFree(other));
        other = device_memory(sizeof *other);
        cr_assert(value_at(other) == (int)0xCDCDCDCD);
        ok(cudaFree(other));
    }
    cr_assert(count_files() == files + 1);
    expect_end(&child); // it opens the memory until then
    files = count_files();
    ok(cudaFree(word));
    cr_assert(count_files() == files - 1);
}

/* ---- the checkers ---------------------------------------------------------------------------- */

static struct emu *open_checking(void)
{
    char message[200];
    struct emu_config config = {.memory = 1 << 20, .checks = EMU_CHECK_ALL};
    struct emu *emu = emu_open(&config, message, sizeof message);
    need(emu);
    return emu;
}

enum { CHECKED_BYTES = 5000 };

static void import_checked(struct process *parent)
{
    char handle[EMU_HANDLE_BYTES], bytes[CHECKED_BYTES];
    emu_addr address;
    uint64_t leaked;
    struct emu *emu = open_checking();
    receive(parent, handle, sizeof handle);
    need(!emu_import(emu, handle, &address) && emu_imported(emu, address) == 1);
    need(!emu_read(emu, bytes, address, sizeof bytes));
    need(!emu_fill(emu, address, 7, sizeof bytes));
    need(emu_free(emu, address) == EMU_INVALID_VALUE);
    need(emu_report_leaks(emu, &leaked) == 0 && emu_findings(emu) == 0);
    emu_close(emu); /* with memory that is open */
    send_word(parent, 0);
}

/* What another process may write counts as written, and its memory is no leak of this one. */
Test(ipc, shared_memory_has_no_findings)
{
    struct process child = start(import_checked);
    char handle[EMU_HANDLE_BYTES], bytes[CHECKED_BYTES];
    emu_addr address;
    uint64_t leaked;
    struct emu *emu = open_checking();
    cr_assert(!emu_alloc(emu, sizeof bytes, &address));
    cr_assert(!emu_export(emu, address + 1, handle) && emu_imported(emu, address) == 0);
    send_bytes(&child, handle, sizeof handle);
    receive_word(&child);
    cr_assert(!emu_read(emu, bytes, address, sizeof bytes));
    cr_assert(bytes[0] == 7 && bytes[CHECKED_BYTES - 1] == 7);
    cr_assert_eq(emu_findings(emu), 0);
    cr_assert_eq(emu_report_leaks(emu, &leaked), 1);
    expect_end(&child);
    emu_close(emu); /* with memory that is exported */
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Seconds that this process has had a processor. */
static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A kernel that waits for two seconds, or as long as it may, leaves the processor to others. */
static void wait_for_count(unsigned *count, unsigned long long limit, int seen_then)
{
    unsigned *seen = (unsigned *)new_words(0, 1);
    double begin = processor_time();
    ok(launch_wait(count, 1, limit, seen));
    ok(cudaDeviceSynchronize());
    double took = processor_time() - begin;
    cr_assert(value_at((int *)seen) == seen_then);
    cr_assert(took < 1, "%g s of 2", took);
}

static void come_late(struct process *parent)
{
    unsigned *count = receive_memory(parent);
    sleep(2);
    need_ok(launch_count_up(count, 1, 1, 1));
}

Test(ipc, a_late_process_is_waited_for)
{
    struct process child = start(come_late);
    unsigned *count = (unsigned *)new_words(0, 1);
    send_memory(&child, count);
    wait_for_count(count, 0, 1);
    expect_end(&child);
}

/* One that looks at the time ends itself. */
Test(ipc, a_kernel_may_limit_its_wait)
{
    struct process child = start(export_and_wait);
    wait_for_count(receive_memory(&child), 2000000000, 0);
    send_word(&child, 0);
    expect_end(&child);
}

Test(ipc, a_wait_for_a_process_that_ended_is_ended)
{
    setenv("EMU_TIMEOUT", "1", 1);
    struct process child = start(export_and_wait);
    unsigned *count = receive_memory(&child), *seen = (unsigned *)new_words(0, 1);
    kill(child.id, SIGKILL);
    cr_redirect_stderr();
    ok(launch_wait(count, 1, 0, seen));
    is(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    const char *said = read_stderr();
    cr_assert(strstr(said, "emu: all blocks that have not ended have waited for 1 seconds in loops "
                           "like this one, for what none of them writes: has another process that "
                           "shares memory with this one ended, or does it need longer? "
                           "(EMU_TIMEOUT=SECONDS allows more time)"),
              "%s", said);
}

/* ---- events ---------------------------------------------------------------------------------- */

static cudaEvent_t new_shared_event(cudaIpcEventHandle_t *handle)
{
    cudaEvent_t event;
    need_ok(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    need_ok(cudaIpcGetEventHandle(handle, event));
    return event;
}

static cudaEvent_t receive_event(const struct process *from)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event;
    receive(from, &handle, sizeof handle);
    need_ok(cudaIpcOpenEventHandle(&event, handle));
    return event;
}

/* Waits for the event by one of three functions, when it is not over at first. */
static void wait_for_event(struct process *parent)
{
    cudaEvent_t event = receive_event(parent);
    need(cudaEventQuery(event) == cudaErrorNotReady);
    send_word(parent, 0); /* the kernel before it may end */
    switch (receive_word(parent)) {
    case 0: need_ok(cudaEventSynchronize(event)); break;
    case 1: need_ok(cudaStreamWaitEvent(NULL, event, 0)); break;
    default:
        while (cudaEventQuery(event) == cudaErrorNotReady) usleep(1000);
    }
    need_ok(cudaEventQuery(event));
    need_ok(cudaEventRecord(event, NULL)); /* it may record it, too */
    need_ok(cudaEventDestroy(event));
    send_word(parent, 1);
}

Test(ipc, a_process_waits_for_the_kernel_of_another)
{
    enum { WAYS = 3 };
    struct process children[WAYS];
    for (int way = 0; way < WAYS; way++) children[way] = start(wait_for_event);
    for (int way = 0; way < WAYS; way++) {
        struct process child = children[way];
        unsigned *count, *seen = (unsigned *)new_words(0, 1);
        cudaIpcEventHandle_t handle;
        ok(cudaHostAlloc((void **)&count, sizeof *count, cudaHostAllocDefault));
        *count = 0;
        cudaEvent_t event = new_shared_event(&handle);
        ok(cudaEventQuery(event));
        ok(launch_wait(count, 1, 0, seen)); /* is suspended */
        ok(cudaEventRecord(event, NULL));
        send_bytes(&child, &handle, sizeof handle);
        cr_assert(receive_word(&child) == 0);
        send_word(&child, way);
        *(volatile unsigned *)count = 1;
        ok(cudaDeviceSynchronize());
        cr_assert(receive_word(&child) == 1);
        ok(cudaEventSynchronize(event));
        ok(cudaEventDestroy(event));
        expect_end(&child);
    }
}

static void record(struct process *parent)
{
    unsigned *count;
    cudaIpcEventHandle_t handle;
    need_ok(cudaHostAlloc((void **)&count, sizeof *count, cudaHostAllocDefault));
    *count = 0;
    cudaEvent_t event = new_shared_event(&handle);
    need_ok(launch_wait(count, 1, 0, (unsigned *)new_words(0, 1)));
    need_ok(cudaEventRecord(event, NULL));
    send_bytes(parent, &handle, sizeof handle);
}

static void record_and_end(struct process *parent)
{
    record(parent);
    receive_word(parent);
}

static void record_and_sleep(struct process *parent)
{
    record(parent);
    sleep(4);
}

Test(ipc, a_long_wait_for_an_event_is_explained_once)
{
    setenv("EMU_TIMEOUT", "1", 1);
    struct process child = start(record_and_sleep);
    cudaEvent_t event = receive_event(&child);
    cr_redirect_stderr();
    ok(cudaEventSynchronize(event));
    const char *said = read_stderr();
    const char *first = strstr(said, "emu: this process has waited 1 seconds for an event");
    cr_assert(first != NULL && strstr(first + 1, "emu: ") == NULL, "%s", said);
    cr_assert(strstr(first, "EMU_TIMEOUT=SECONDS") != NULL, "%s", said);
    ok(cudaEventDestroy(event));
    expect_end(&child);
}

Test(ipc, an_event_of_a_process_that_ended_is_over)
{
    struct process child = start(record_and_end);
    cudaEvent_t event = receive_event(&child);
    is(cudaEventQuery(event), cudaErrorNotReady);
    kill(child.id, SIGKILL);
    ok(cudaEventSynchronize(event)); /* also before the system has forgotten it */
    waitpid(child.id, NULL, 0);
    ok(cudaEventQuery(event));
    ok(cudaEventDestroy(event));
}

Test(ipc, wrong_handles_of_events)
{
    cudaEvent_t event, ordinary;
    cudaIpcEventHandle_t handle, none = {{0}};
    cudaIpcMemHandle_t memory;
    void *pointer;
    is(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
    ok(cudaEventCreate(&ordinary));
    is(cudaIpcGetEventHandle(&handle, ordinary), cudaErrorInvalidResourceHandle);
    is(cudaIpcGetEventHandle(&handle, NULL), cudaErrorInvalidResourceHandle);
    event = new_shared_event(&handle);
    is(cudaIpcGetEventHandle(NULL, event), cudaErrorInvalidValue);
    ok(cudaIpcGetEventHandle(&none, event));
    cr_assert(memcmp(&none, &handle, sizeof none) == 0);
    is(cudaIpcOpenEventHandle(&ordinary, handle), cudaErrorDeviceUninitialized); /* its own */
    memcpy(&memory, &handle, sizeof memory);
    is(open_handle(&memory, &pointer), cudaErrorInvalidValue);
    ok(cudaIpcGetMemHandle(&memory, new_words(0, 1)));
    memcpy(&none, &memory, sizeof none);
    is(cudaIpcOpenEventHandle(&ordinary, none), cudaErrorInvalidValue);
    ok(cudaEventDestroy(event));
    is(cudaIpcOpenEventHandle(&ordinary, handle), cudaErrorInvalidResourceHandle);
}

/* ---- several processes on a host ------------------------------------------------------------- */

static double megabytes(const char *setting)
{
    double found = 0;
    expect_status(0, "%s $emu --log-file /dev/null $p/launches memory 2>&1", setting);
    cr_assert(sscanf(output, "device 0: %lf MB", &found) == 1, "%s", output);
    return found;
}

/* By the variables of Open MPI and MPICH. */
Test(ipc, ranks_share_the_memory_of_the_host, .init = command_init, .fini = command_fini)
{
    double half = (double)sysconf(_SC_PHYS_PAGES) / 2 * (double)sysconf(_SC_PAGESIZE) / 1048576,
           fifth = megabytes("OMPI_COMM_WORLD_LOCAL_SIZE=5");
    cr_assert(fifth > 0 && fifth <= half / 5 + 1, "%g of %g MB", fifth, half);
    cr_assert_float_eq(megabytes("MPI_LOCALNRANKS=5"), fifth, 1);
    cr_assert_float_eq(megabytes("OMPI_COMM_WORLD_LOCAL_SIZE=5 EMU_MEMORY=64M"), 64, 1);
    cr_assert_float_eq(megabytes("OMPI_COMM_WORLD_LOCAL_SIZE=no"), megabytes(""), 1);
}
