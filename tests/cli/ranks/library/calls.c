/*
 * calls.c — what step 17's scan.h promises, in several processes: build/tests/many-calls TEST…
 * prints what was wrong, or nothing. tests/cli/ranks/ranks.bats runs it.
 */
#define _DEFAULT_SOURCE /* pause, usleep */
#include "steps/17-many-gpus/request.h"
#include "steps/17-many-gpus/scan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 30011 /* 8 tiles */

static int rank, ranks, wrong;
static _Thread_local struct fault fault; /* of the last call that has failed */

static void expect(bool is, const char *what)
{
    if (is) return;
    printf("rank %d of %d: %s (%s)\n", rank, ranks, what, fault.text);
    wrong = 1;
}

/* Element i of any type: small integers, and real numbers whose sums round. */
static void put(enum many_op op, void *to, size_t i, uint32_t salt)
{
    uint32_t z = (uint32_t)(i + salt) * 0x9E3779B9u;
    z ^= z >> 15;
    double real = (double)z * 0x1p-31 - 1;
    switch (op) {
    case MANY_SUM_F64: ((double *)to)[i] = real; break;
    case MANY_SUM_I32: ((int32_t *)to)[i] = (int32_t)z; break;
    case MANY_SUM_I64: ((int64_t *)to)[i] = (int64_t)z << 20; break;
    default: ((float *)to)[i] = (float)real;
    }
}

/* A scan with this rank's arrays. */
struct arrays {
    enum many_op op;
    size_t n;
    uint32_t salt; /* of `in` */
    struct many_part mine;
    struct many_scan *scan;
    void *in, *in2, *out;
};

/* The elements of all ranks, and the results that they must have. */
static uint64_t all_in[N], all_in2[N], want[N], got[N];

static void make_all(const struct arrays *a)
{
    for (size_t i = 0; i < a->n; i++) put(a->op, all_in, i, a->salt), put(a->op, all_in2, i, 77);
}

static size_t bytes_of(const struct arrays *a) { return a->mine.count * many_element_bytes(a->op); }

static char *mine_of(const struct arrays *a, void *all)
{
    return (char *)all + a->mine.begin * many_element_bytes(a->op);
}

/* Other elements, so that the sums of an earlier run are wrong. */
static void change(struct arrays *a, uint32_t salt)
{
    a->salt = salt;
    make_all(a);
    cudaMemcpy(a->in, mine_of(a, all_in), bytes_of(a), cudaMemcpyHostToDevice);
    cudaMemcpy(a->in2, mine_of(a, all_in2), bytes_of(a), cudaMemcpyHostToDevice);
}

/* Of the scans that are created next. */
static double wait_seconds = MANY_WAIT_SECONDS;

static void open_arrays(struct arrays *a, enum many_op op, enum many_exchange exchange, size_t n)
{
    *a = (struct arrays){.op = op, .n = n, .mine = many_part_of(n, ranks, rank)};
    void **const arrays[] = {&a->in, &a->in2, &a->out};
    for (int i = 0; i < 3; i++) cudaMalloc(arrays[i], bytes_of(a) + 16);
    change(a, 0);
    int code = many_create(&a->scan, MPI_COMM_WORLD, op, exchange, n, wait_seconds, &fault);
    expect(code == 0, "many_create");
}

static void close_arrays(struct arrays *a)
{
    expect(many_destroy(a->scan, &fault) == 0, "many_destroy");
    cudaFree(a->in), cudaFree(a->in2), cudaFree(a->out);
}

/* Scans all elements into `want` by this rank alone. */
static void scan_alone(const struct arrays *a, bool inclusive)
{
    size_t bytes = a->n * many_element_bytes(a->op);
    void *in = NULL, *in2 = NULL;
    struct many_scan *scan;
    make_all(a);
    cudaMalloc(&in, bytes + 16), cudaMemcpy(in, all_in, bytes, cudaMemcpyHostToDevice);
    cudaMalloc(&in2, bytes + 16), cudaMemcpy(in2, all_in2, bytes, cudaMemcpyHostToDevice);
    int code = many_create(&scan, MPI_COMM_SELF, a->op, EXCHANGE_MPI, a->n, MANY_WAIT_FOREVER,
                           &fault);
    const void *second = a->op == MANY_AFFINE_F32 ? in2 : NULL;
    if (!code) code = many_run(scan, in, in, second, inclusive, NULL, &fault);
    expect(code == 0, "a scan by one rank");
    cudaMemcpy(want, in, bytes, cudaMemcpyDeviceToHost);
    many_destroy(scan, &fault);
    cudaFree(in), cudaFree(in2);
}

/* Are this rank's results those of one rank, in every bit? */
static void expect_results(const struct arrays *a, bool inclusive)
{
    expect(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize");
    expect(many_check(a->scan, &fault) == 0, "many_check");
    scan_alone(a, inclusive);
    cudaMemcpy(got, a->out, bytes_of(a), cudaMemcpyDeviceToHost);
    expect(memcmp(got, mine_of(a, want), bytes_of(a)) == 0, "other bits");
    cudaMemset(a->out, 0xff, bytes_of(a));
}

static void run(struct arrays *a, bool inclusive, cudaStream_t stream)
{
    const void *in2 = a->op == MANY_AFFINE_F32 ? a->in2 : NULL;
    int code = many_run(a->scan, a->out, a->in, in2, inclusive, stream, &fault);
    expect(code == 0, "many_run");
}

/* ---- the tests ------------------------------------------------------------------------------- */

/* A scan of some elements or none, several runs of both kinds. An earlier error of a rank's own
 * calls does not make it wrong, and stays. */
static void expect_bits(enum many_op op, enum many_exchange exchange, size_t n)
{
    struct arrays a;
    cudaError_t error = rank == ranks - 1 ? cudaSetDevice(-1) : cudaSuccess;
    open_arrays(&a, op, exchange, n);
    for (int k = 0; k < 3; k++) {
        change(&a, (uint32_t)k);
        run(&a, k % 2, NULL), expect_results(&a, k % 2);
    }
    close_arrays(&a);
    expect(cudaGetLastError() == error, "cudaGetLastError");
}

/* Each operator and exchange. exscan has these bits for integers. */
static void bits(void)
{
    for (int op = 0; op < MANY_OPS; op++)
        for (int exchange = EXCHANGE_MPI; exchange <= EXCHANGE_EXSCAN; exchange++) {
            bool integers = op == MANY_SUM_I32 || op == MANY_SUM_I64;
            if (exchange == EXCHANGE_EXSCAN && !integers) continue;
            expect_bits((enum many_op)op, (enum many_exchange)exchange, N);
            expect_bits((enum many_op)op, (enum many_exchange)exchange, 0);
        }
}

/* A graph that is launched several times: the epoch is not captured. */
static void launch_graph(enum many_exchange exchange)
{
    struct arrays a;
    cudaStream_t stream;
    cudaGraph_t captured;
    cudaGraphExec_t exec;
    open_arrays(&a, MANY_SUM_F32, exchange, N);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    run(&a, false, stream), run(&a, true, stream);
    expect(cudaStreamEndCapture(stream, &captured) == cudaSuccess, "capture");
    expect(cudaGraphInstantiate(&exec, captured, 0) == cudaSuccess, "instantiate");
    for (int k = 0; k < 5; k++) {
        change(&a, (uint32_t)k);
        expect(cudaGraphLaunch(exec, stream) == cudaSuccess, "launch");
        expect_results(&a, true);
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(captured);
    cudaStreamDestroy(stream);
    close_arrays(&a);
}

static void graph(void) { launch_graph(EXCHANGE_PEER), launch_graph(EXCHANGE_NCCL); }

/* Two scans at a time do not disturb each other, nor do ranks without elements. */
static void together(void)
{
    struct arrays a, b;
    open_arrays(&a, MANY_SUM_F64, EXCHANGE_PEER, N);
    open_arrays(&b, MANY_AFFINE_F32, EXCHANGE_PEER, 5);
    run(&a, false, NULL), run(&b, true, NULL), run(&a, false, NULL);
    expect_results(&a, false), expect_results(&b, true);
    close_arrays(&b);
    run(&a, true, NULL), expect_results(&a, true);
    close_arrays(&a);
}

static void expect_refused(enum many_op op, enum many_exchange exchange, size_t n,
                           const char *sentence)
{
    struct many_scan *scan;
    int code = many_create(&scan, MPI_COMM_WORLD, op, exchange, n, wait_seconds, &fault);
    expect(code == EXIT_USAGE && scan == NULL, "not refused");
    expect(strstr(fault.text, sentence) != NULL, sentence);
}

static void expect_misaligned(struct many_scan *scan, void *out, const void *in, const void *in2,
                              const char *name)
{
    char sentence[80];
    snprintf(sentence, sizeof sentence, "%s is not aligned; its address must be a multiple of 16.",
             name);
    int code = many_run(scan, out, in, in2, false, NULL, &fault);
    expect(code == EXIT_USAGE && strcmp(fault.text, sentence) == 0, sentence);
}

/* What differs between ranks, what does not exist, and an array that is not aligned. */
static void refused(void)
{
    struct arrays a;
    bool last = rank == ranks - 1;
    const char *differ = "differ from those of rank 0";
    expect_refused(MANY_SUM_F32, EXCHANGE_MPI, last ? 200 : 100, differ);
    expect_refused(last ? MANY_SUM_I32 : MANY_SUM_F32, EXCHANGE_MPI, 100, differ);
    expect_refused(MANY_SUM_F32, last ? EXCHANGE_PEER : EXCHANGE_MPI, 100, differ);
    expect_refused((enum many_op)9, EXCHANGE_MPI, 100, "no operator 9");
    expect_refused(MANY_SUM_F32, (enum many_exchange)9, 100, "no exchange 9");
    open_arrays(&a, MANY_SUM_F32, EXCHANGE_MPI, N);
    expect_misaligned(a.scan, (char *)a.out + 4, a.in, NULL, "out");
    expect_misaligned(a.scan, a.out, (char *)a.in + 8, NULL, "in");
    expect_misaligned(a.scan, a.out, a.in, (char *)a.in2 + 1, "in2");
    run(&a, false, NULL), expect_results(&a, false);
    close_arrays(&a);
    expect(many_destroy(NULL, &fault) == 0, "many_destroy");
    wait_seconds = last ? 1 : 2, expect_refused(MANY_SUM_F32, EXCHANGE_MPI, 100, differ);
    wait_seconds = -1;
    expect_refused(MANY_SUM_F32, EXCHANGE_MPI, 100, "a rank cannot wait -1 seconds.");
}

/* Of more ranks than MANY_PEERS. */
static void too_many(void)
{
    expect_refused(MANY_SUM_F32, EXCHANGE_PEER, 100, "takes at most 32 ranks");
}

/* This rank's scan must fail with this sentence, and so must the next one, at once. */
static void expect_late(struct arrays *a, const char *sentence)
{
    for (int k = 0; k < 2; k++) {
        double start = MPI_Wtime();
        int code = many_run(a->scan, a->out, a->in, NULL, false, NULL, &fault);
        expect(cudaDeviceSynchronize() == cudaSuccess, "cudaDeviceSynchronize");
        if (!code) code = many_check(a->scan, &fault);
        expect(code == EXIT_DEVICE, "no fault");
        if (k == 0) expect(strcmp(fault.text, sentence) == 0, sentence);
        if (k == 1) expect(MPI_Wtime() - start < wait_seconds, "it waits again");
        expect(many_check(a->scan, &fault) == EXIT_DEVICE, "no fault later");
    }
}

#define AGAIN " within 0.5 seconds; let the ranks wait longer, or call many_reset on all of them."

/* Of three ranks, one does not scan, but comes to many_reset. Then all are as if nothing had been.
 */
static void late(void)
{
    static const size_t sizes[] = {N, 1}; // of one node, ranks 0 and 1 have nothing
    wait_seconds = 0.5;
    for (int exchange = EXCHANGE_MPI; exchange <= EXCHANGE_EXSCAN; exchange++)
        for (int i = 0; i < 2 && exchange != EXCHANGE_NCCL; i++) {
            struct arrays a;
            char sentence[200] = "not all ranks have called many_run" AGAIN;
            int missing = i == 0 ? ranks - 1 : 0;
            if (exchange == EXCHANGE_PEER)
                snprintf(sentence, sizeof sentence, "the sums of rank %d did not arrive" AGAIN,
                         missing);
            // MPI_Exscan needs the ranks before only.
            bool waits = rank != missing && (exchange != EXCHANGE_EXSCAN || rank > missing);
            open_arrays(&a, MANY_SUM_I32, (enum many_exchange)exchange, sizes[i]);
            if (waits) expect_late(&a, sentence);
            MPI_Barrier(MPI_COMM_WORLD);
            expect(many_reset(a.scan, &fault) == 0, "many_reset");
            for (int k = 0; k < 3; k++) run(&a, k % 2, NULL), expect_results(&a, k % 2);
            close_arrays(&a);
        }
}

/* The emulator runs kernels one after the other, so many_run itself waits for NCCL's kernel. */
static void *run_in_thread(void *arrays)
{
    run(arrays, false, NULL);
    return NULL;
}

/* All ranks but the last begin a scan. NCCL has no limit, and waits. */
static pthread_t begin_with_nccl(struct arrays *a)
{
    pthread_t thread = 0;
    open_arrays(a, MANY_SUM_I32, EXCHANGE_NCCL, N);
    if (rank < ranks - 1) pthread_create(&thread, NULL, run_in_thread, a);
    usleep(200000); // it is within the kernel
    return thread;
}

/* Then many_reset ends the wait. */
static void late_with_nccl(void)
{
    struct arrays a;
    pthread_t thread = begin_with_nccl(&a);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(many_reset(a.scan, &fault) == 0, "many_reset");
    if (rank < ranks - 1) pthread_join(thread, NULL);
    for (int k = 0; k < 3; k++) run(&a, k % 2, NULL), expect_results(&a, k % 2);
    close_arrays(&a);
}

/* The last rank comes to nothing any more: the others give up many_reset and many_destroy. With
 * NCCL, a scan cannot run any more. */
static void gone(void)
{
    struct arrays a, b;
    wait_seconds = 0.5;
    open_arrays(&a, MANY_SUM_F32, EXCHANGE_PEER, N);
    pthread_t thread = begin_with_nccl(&b);
    if (rank < ranks - 1) {
        expect(many_reset(b.scan, &fault) == EXIT_DEVICE, "many_reset");
        pthread_join(thread, NULL);
        expect(many_check(b.scan, &fault) == EXIT_DEVICE, "many_check");
        expect(many_reset(a.scan, &fault) == EXIT_DEVICE, "many_reset");
        expect(!strcmp(fault.text, "not all ranks have called many_reset" AGAIN), "reset");
        expect(many_destroy(a.scan, &fault) == EXIT_DEVICE, "many_destroy");
        MPI_Abort(MPI_COMM_WORLD, wrong ? 1 : 9);
    }
    pause();
}

/* What is chosen, or what the refusal says, where GPUs are real. */
static void choices(void)
{
    enum { PEER = EXCHANGE_PEER, NCCL = EXCHANGE_NCCL, MPI = EXCHANGE_MPI, ANY = EXCHANGE_ANY };
    struct surroundings good = {.ranks = 4, .machines = 1, .gpus = 4, .peers = true, .nccl = true};
    struct surroundings far = good, shared = good, apart = good, plain = good, emulated = good;
    struct surroundings many = good, mixed = good;
    far.machines = 2, apart.peers = plain.nccl = false, many.ranks = many.gpus = 33;
    shared.gpus = 3, emulated.emulated = mixed.emulated = true, mixed.peers = false;
    const struct {
        struct surroundings s;
        int asked, want;
        const char *refusal;
    } rows[] = {{good, ANY, PEER, NULL},
                {good, NCCL, NCCL, NULL},
                {far, ANY, MPI, NULL},
                {far, NCCL, NCCL, NULL},
                {far, PEER, 0, "takes at most 32 ranks, on one machine;"},
                {many, ANY, MPI, NULL},
                {many, PEER, 0, "takes at most 32 ranks, on one machine;"},
                {shared, ANY, MPI, NULL},
                {shared, PEER, 0, "peer needs a GPU for each rank"},
                {shared, NCCL, 0, "nccl needs a GPU for each rank"},
                {apart, ANY, MPI, NULL},
                {apart, NCCL, NCCL, NULL},
                {apart, PEER, 0, "needs GPUs that reach each other's memory;"},
                {apart, MPI, MPI, NULL},
                {plain, NCCL, 0, "needs NCCL, and this program was built without;"},
                {emulated, ANY, PEER, NULL},
                {emulated, NCCL, 0, "needs GPUs, and these are emulated;"},
                {mixed, PEER, 0, "needs emulated GPUs of one model;"},
                {mixed, EXCHANGE_EXSCAN, EXCHANGE_EXSCAN, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum many_exchange chosen;
        enum many_exchange asked = (enum many_exchange)rows[i].asked;
        int code = choose_exchange(&rows[i].s, asked, &chosen, &fault);
        const char *refusal = rows[i].refusal;
        bool right = refusal ? code == EXIT_USAGE && strstr(fault.text, refusal)
                             : code == 0 && (int)chosen == rows[i].want;
        expect(right, refusal ? refusal : exchange_names[rows[i].want]);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {{"bits", bits},
                 {"graph", graph},
                 {"together", together},
                 {"refused", refused},
                 {"too_many", too_many},
                 {"late", late},
                 {"late_with_nccl", late_with_nccl},
                 {"gone", gone},
                 {"choices", choices}};
    int found = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){0});
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 1; k < argc; k++)
        for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
            if (strcmp(argv[k], tests[i].name) == 0) found++, tests[i].test();
    MPI_Finalize();
    return found == argc ? wrong : 2;
}
