/* many.c — the library of scan.h around the kernels (part.h) and the exchanges (exchange.h). */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "common/step/cuda_check.h"
#include "parts/exchange.h"
#include "scan.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct exchange *const exchanges[EXCHANGE_ANY] = {
    [EXCHANGE_MPI] = &exchange_mpi,
    [EXCHANGE_NCCL] = &exchange_nccl,
    [EXCHANGE_PEER] = &exchange_peer,
    [EXCHANGE_EXSCAN] = &exchange_exscan,
};

/* Checks that all ranks have the same arguments, and that these are valid. */
static int agree_on(const struct many_scan *s, enum many_op op, enum many_exchange exchange,
                    size_t n, struct fault *fault)
{
    uint64_t mine[] = {(uint64_t)op, (uint64_t)exchange, n, 0}, first[4];
    memcpy(&mine[3], &s->wait, sizeof s->wait);
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, 4, MPI_UINT64_T, 0, s->comm);
    int code = 0;
    if (memcmp(first, mine, sizeof first) != 0)
        code = fail(fault, EXIT_USAGE,
                    "operator, exchange, n or the time to wait differ from those of rank 0; they "
                    "must be the same on all ranks.");
    else if ((unsigned)op >= MANY_OPS || (unsigned)exchange >= EXCHANGE_ANY)
        code = fail(fault, EXIT_USAGE, "there is no operator %d or no exchange %d.", (int)op,
                    (int)exchange);
    else if (s->ranks > MANY_RANKS)
        code = fail(fault, EXIT_USAGE, "%d ranks are too many; %d is the limit.", s->ranks,
                    MANY_RANKS);
    else if (!exchanges[exchange])
        code = fail(fault, EXIT_USAGE, "this program was built without NCCL.");
    else if (exchange == EXCHANGE_PEER && s->ranks > MANY_PEERS)
        code = fail(fault, EXIT_USAGE, "exchange peer takes at most %d ranks, not %d.", MANY_PEERS,
                    s->ranks);
    else if (!(s->wait >= 0))
        code = fail(fault, EXIT_USAGE, "a rank cannot wait %g seconds.", s->wait);
    return agree(s->comm, code, fault);
}

/* ---- the library ----------------------------------------------------------------------------- */

static int open_memory(struct many_scan *s, struct fault *fault)
{
    struct part *p = &s->part;
    size_t tiles = many_tiles_of(p->shape, s->ranks, s->rank).count;
    const struct {
        void **to;
        size_t bytes;
    } arrays[] = {{&p->tile_sums, tiles * many_state_bytes(p->op)},
                  {&p->node_sums, s->slots_bytes},
                  {&p->node_prefix, s->slots_bytes},
                  {&s->all_nodes, (size_t)s->ranks * s->slots_bytes}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        size_t bytes = arrays[i].bytes + 1; /* never 0, also if a rank has no tiles */
        CUDA_CHECK(fault, cudaMalloc(arrays[i].to, bytes));
        /* The exchange sends all slots, also those without a node. */
        CUDA_CHECK(fault, cudaMemset(*arrays[i].to, 0, bytes));
    }
    return 0;
}

/* Makes what a collective uses that is under way. */
static int open_exchange(struct many_scan *s, struct fault *fault)
{
    s->own = NULL;
    CUDA_CHECK(fault, cudaMallocHost(&s->host_sums, s->slots_bytes + 1));
    CUDA_CHECK(fault, cudaMallocHost(&s->host_all_nodes, (size_t)s->ranks * s->slots_bytes + 1));
    return s->exchange->open ? s->exchange->open(s, fault) : 0;
}

static int open_scan(struct many_scan *s, struct fault *fault)
{
    int code = open_memory(s, fault);
    if (!code) code = open_exchange(s, fault);
    // The memory is cleared in stream 0, and a scan may be in another stream.
    if (!code) CUDA_CHECK(fault, cudaDeviceSynchronize());
    return code;
}

int many_create(struct many_scan **scan, MPI_Comm comm, enum many_op op,
                enum many_exchange exchange, size_t n, double wait_seconds, struct fault *fault)
{
    struct many_scan s = {
        .running = MPI_REQUEST_NULL, .meeting = MPI_REQUEST_NULL, .wait = wait_seconds};
    *scan = NULL;
    MPI_Comm_dup(comm, &s.control);
    MPI_Comm_dup(comm, &s.comm);
    MPI_Comm_size(s.comm, &s.ranks);
    MPI_Comm_rank(s.comm, &s.rank);
    int code = agree_on(&s, op, exchange, n, fault);
    if (code) {
        MPI_Comm_free(&s.comm);
        MPI_Comm_free(&s.control);
        return code;
    }
    s.part = (struct part){
        .op = op, .shape = many_shape_of(n), .ranks = s.ranks, .rank = s.rank};
    s.slots_bytes = many_slots(s.part.shape.nodes, s.ranks) * many_state_bytes(op);
    s.exchange = exchanges[exchange];
    *scan = allocated(malloc(sizeof s));
    **scan = s;
    code = agree(s.comm, open_scan(*scan, fault), fault);
    if (!code && s.exchange->connect)
        code = agree(s.comm, s.exchange->connect(*scan, fault), fault);
    struct fault later;
    if (code) many_destroy(*scan, &later), *scan = NULL;
    return code;
}

static int before_exchange(struct many_scan *s, const void *out, const void *in, const void *in2,
                           cudaStream_t stream, struct fault *fault)
{
    const void *const arrays[] = {out, in, in2};
    static const char *const names[] = {"out", "in", "in2"};
    for (int i = 0; i < 3; i++)
        if ((uintptr_t)arrays[i] % MANY_ALIGNMENT != 0)
            return fail(fault, EXIT_USAGE,
                        "%s is not aligned; its address must be a multiple of %d.", names[i],
                        MANY_ALIGNMENT);
    CUDA_CHECK(fault, part_reduce(&s->part, in, in2, stream));
    CUDA_CHECK(fault, part_scan_tile_sums(&s->part, stream));
    return 0;
}

int many_run(struct many_scan *s, void *out, const void *in, const void *in2, bool inclusive,
             cudaStream_t stream, struct fault *fault)
{
    struct fault later = {0};
    if (s->part.shape.n == 0) return 0;
    if (s->lost) return scan_lost(s, fault, "the ranks did not come together");
    int code = before_exchange(s, out, in, in2, stream, fault);
    int exchanged = s->exchange->run(s, stream, &later);
    if (code) return code;
    if (exchanged) return fail(fault, exchanged, "%s", later.text);
    CUDA_CHECK(fault, part_scan(&s->part, out, in, in2, inclusive, stream));
    return 0;
}

int many_check(struct many_scan *s, struct fault *fault)
{
    if (s->part.shape.n == 0) return 0;
    if (s->exchange->check) return s->exchange->check(s, fault);
    return s->lost ? scan_lost(s, fault, "the ranks did not come together") : 0;
}

/* Waits until all ranks have called it, or the same function has been called again after a failure.
 * Returns 0 or EXIT_DEVICE. */
static int meet(struct many_scan *s, const char *what, struct fault *fault)
{
    if (s->meeting == MPI_REQUEST_NULL) MPI_Ibarrier(s->control, &s->meeting);
    return await(s, &s->meeting, what, fault);
}

/* On some ranks a collective may be under way that others did not begin. It stays as it is, with
 * its communicator and its buffers; the ranks get others. */
static int renew(struct many_scan *s, struct fault *fault)
{
    MPI_Request duplication;
    MPI_Comm_idup(s->control, &s->comm, &duplication);
    int code = await(s, &duplication, NOT_RESET, fault);
    if (code || s->running == MPI_REQUEST_NULL) return code;
    s->running = MPI_REQUEST_NULL;
    return open_exchange(s, fault);
}

int many_reset(struct many_scan *s, struct fault *fault)
{
    if (s->part.shape.n == 0) return 0;
    if (s->exchange->stop) s->exchange->stop(s);
    int code = meet(s, NOT_RESET, fault);
    if (code) return code;
    code = s->exchange->reset ? s->exchange->reset(s, fault) : renew(s, fault);
    code = agree(s->comm, code, fault);
    if (!code) s->lost = false;
    return code;
}

int many_destroy(struct many_scan *s, struct fault *fault)
{
    if (!s) return 0;
    if (s->exchange->leave) s->exchange->leave(s);
    int code = meet(s, "not all ranks have called many_destroy", fault);
    /* Otherwise another rank may still use what is this one's. */
    if (s->running == MPI_REQUEST_NULL && !code) {
        if (s->own) s->exchange->close(s);
        cudaFreeHost(s->host_sums);
        cudaFreeHost(s->host_all_nodes);
        MPI_Comm_free(&s->comm);
        MPI_Comm_free(&s->control);
    }
    cudaFree(s->part.tile_sums);
    cudaFree(s->part.node_sums);
    cudaFree(s->part.node_prefix);
    cudaFree(s->all_nodes);
    free(s);
    return code;
}

/* ---- waits ----------------------------------------------------------------------------------- */

#define SPIN_SECONDS 0.01   /* an exchange takes less, and a nap would delay it */
#define NAP_NS       100000 /* between polls after that */
#define GAP_SECONDS  1.0    /* more between two polls: this process was stopped itself */

int scan_lost(struct many_scan *s, struct fault *fault, const char *what)
{
    s->lost = true;
    return fail(fault, EXIT_DEVICE,
                "%s within %g second%s; let the ranks wait longer, or call many_reset on all of "
                "them.",
                what, s->wait, s->wait == 1 ? "" : "s");
}

int await(struct many_scan *s, MPI_Request *request, const char *what, struct fault *fault)
{
    static const struct timespec nap = {0, NAP_NS};
    double waited = 0, before = MPI_Wtime();
    for (int is_done = 0;;) {
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        if (is_done) return 0;
        double now = MPI_Wtime(), gap = now - before;
        waited += gap < GAP_SECONDS ? gap : GAP_SECONDS;
        before = now;
        if (s->wait > 0 && waited > s->wait) return scan_lost(s, fault, what);
        if (waited > SPIN_SECONDS) nanosleep(&nap, NULL);
    }
}

/* ---- agreement ------------------------------------------------------------------------------- */

int agree(MPI_Comm comm, int code, struct fault *fault)
{
    int rank, ranks, first, all_alike;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int failed = code ? rank : INT_MAX;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == INT_MAX) return 0;
    struct fault said = *fault;
    MPI_Bcast(&said, (int)sizeof said, MPI_BYTE, first, comm);
    int alike = code && strcmp(fault->text, said.text) == 0;
    MPI_Allreduce(&alike, &all_alike, 1, MPI_INT, MPI_LAND, comm);
    if (!all_alike)
        snprintf(fault->text, sizeof fault->text, "rank %d of %d: %.560s", first, ranks, said.text);
    return fault->code = said.code;
}
