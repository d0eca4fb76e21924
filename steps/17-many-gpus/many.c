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

/* Memory of `count` states. The exchange sends all slots of node_sums, also those without a
 * node. */
static int states_open(const struct many_scan *s, void **to, size_t count, struct fault *fault)
{
    size_t bytes = states_bytes(count, s->state_bytes);
    CUDA_CHECK(fault, cudaMalloc(to, bytes));
    CUDA_CHECK(fault, cudaMemset(*to, 0, bytes));
    return 0;
}

static int open_part(struct many_scan *s, struct fault *fault)
{
    struct part *p = &s->part;
    size_t tiles = many_tiles_of(p->shape, s->ranks, s->rank).count;
    int code = states_open(s, &p->tile_sums, tiles, fault);
    if (!code) code = states_open(s, &p->node_sums, s->slots, fault);
    if (!code) code = states_open(s, &p->node_prefix, s->slots, fault);
    if (!code && s->exchange->open) code = s->exchange->open(s, fault);
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
    s.part.op = op;
    s.part.shape = many_shape_of(n);
    s.part.ranks = s.ranks, s.part.rank = s.rank;
    s.state_bytes = many_state_bytes(op);
    s.slots = many_slots(s.part.shape.nodes, s.ranks);
    s.exchange = exchanges[exchange];
    *scan = allocated(malloc(sizeof s));
    **scan = s;
    code = agree(s.comm, open_part(*scan, fault), fault);
    if (!code && s.exchange->connect)
        code = agree(s.comm, s.exchange->connect(*scan, fault), fault);
    struct fault later;
    if (code) many_destroy(*scan, &later), *scan = NULL;
    return code;
}

static int check_aligned(const char *name, const void *p, struct fault *fault)
{
    if ((uintptr_t)p % MANY_ALIGNMENT == 0) return 0;
    return fail(fault, EXIT_USAGE, "%s is not aligned; its address must be a multiple of %d.", name,
                MANY_ALIGNMENT);
}

static int before_exchange(struct many_scan *s, const void *out, const void *in, const void *in2,
                           cudaStream_t stream, struct fault *fault)
{
    int code = check_aligned("out", out, fault);
    if (!code) code = check_aligned("in", in, fault);
    if (!code) code = check_aligned("in2", in2, fault);
    if (code) return code;
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

/* On some ranks a collective may be under way that others did not begin. It stays as it is, with
 * its communicator and its buffers; the ranks get others. */
static int renew(struct many_scan *s, struct fault *fault)
{
    MPI_Request duplication;
    MPI_Comm_idup(s->control, &s->comm, &duplication);
    int code = await(s, &duplication, NOT_RESET, fault);
    if (code || s->running == MPI_REQUEST_NULL) return code;
    s->running = MPI_REQUEST_NULL;
    s->own = NULL;
    return s->exchange->open(s, fault);
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
    const struct exchange *x = s->exchange;
    if (x->leave) x->leave(s);
    int code = x->leave ? meet(s, "not all ranks have called many_destroy", fault) : 0;
    if (s->running == MPI_REQUEST_NULL && !code) {
        x->close(s);
        MPI_Comm_free(&s->comm);
        MPI_Comm_free(&s->control);
    }
    cudaFree(s->part.tile_sums);
    cudaFree(s->part.node_sums);
    cudaFree(s->part.node_prefix);
    free(s);
    return code;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* Waits for other ranks, up to the limit that many_create gets. */

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

int meet(struct many_scan *s, const char *what, struct fault *fault)
{
    if (s->meeting == MPI_REQUEST_NULL) MPI_Ibarrier(s->control, &s->meeting);
    return await(s, &s->meeting, what, fault);
}

/* ---- agreement ------------------------------------------------------------------------------- */

/* Do all ranks have the sentence `said`? */
static int all_alike(MPI_Comm comm, int code, const struct fault *own, const struct fault *said)
{
    int alike = code && strcmp(own->text, said->text) == 0, all;
    MPI_Allreduce(&alike, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

int agree(MPI_Comm comm, int code, struct fault *fault)
{
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int failed = code ? rank : INT_MAX;
    MPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == INT_MAX) return 0;
    struct fault said = *fault;
    MPI_Bcast(&said, (int)sizeof said, MPI_BYTE, first, comm);
    fault->code = said.code;
    if (all_alike(comm, code, fault, &said)) return fault->code;
    int used = snprintf(fault->text, sizeof fault->text, "rank %d of %d: ", first, ranks);
    snprintf(fault->text + used, sizeof fault->text - (size_t)used, "%.*s",
             (int)(sizeof fault->text - 1) - used, said.text);
    return fault->code;
}
