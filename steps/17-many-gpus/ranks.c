/* ranks.c — finds out which ranks there are, and gives each of them a GPU. */
#define _GNU_SOURCE /* pthread_sigmask */
#include "common/files/files.h"
#include "common/step/cuda_check.h"
#include "program.h"

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void ranks_select_early(void)
{
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    int gpus = 0;
    if (!local || cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 1) {
        (void)cudaGetLastError(); /* device_choose says what is wrong */
        return;
    }
    (void)cudaSetDevice(atoi(local) % gpus);
}

static void count_machines(struct ranks *r)
{
    int first;
    MPI_Comm_split_type(r->comm, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &r->here);
    MPI_Comm_rank(r->here, &r->local);
    MPI_Comm_size(r->here, &r->locals);
    first = r->local == 0;
    MPI_Allreduce(&first, &r->machines, 1, MPI_INT, MPI_SUM, r->comm);
}

/* Selects a GPU and asks for its id. Emulated ones have none: each rank emulates one of its own. */
static int select_gpu(const struct ranks *r, cudaUUID_t *id, struct fault *fault)
{
    int gpus;
    struct cudaDeviceProp gpu;
    CUDA_CHECK(fault, cudaGetDeviceCount(&gpus));
    CUDA_CHECK(fault, cudaSetDevice(r->local % gpus));
    CUDA_CHECK(fault, cudaGetDeviceProperties(&gpu, r->local % gpus));
    *id = gpu.uuid;
    if (r->emulated) memcpy(id, &r->local, sizeof r->local);
    return 0;
}

/* How many different GPUs are there, and how many ranks have this rank's? */
static void count_gpus(struct ranks *r, const cudaUUID_t *id)
{
    cudaUUID_t all[r->locals];
    int first = 1;
    MPI_Allgather(id, (int)sizeof *id, MPI_BYTE, all, (int)sizeof *id, MPI_BYTE, r->here);
    for (int i = 0; i < r->locals; i++) {
        if (memcmp(&all[i], id, sizeof *id) != 0) continue;
        r->sharers++;
        if (i < r->local) first = 0;
    }
    MPI_Allreduce(&first, &r->gpus, 1, MPI_INT, MPI_SUM, r->comm);
}

/* Does this rank's GPU reach all others that it can see? */
static bool reaches_peers(void)
{
    int own, count;
    if (cudaGetDevice(&own) || cudaGetDeviceCount(&count)) return false;
    for (int i = 0; i < count; i++) {
        int can = 1;
        if (i != own && (cudaDeviceCanAccessPeer(&can, own, i) || !can)) return false;
    }
    return true;
}

/* Are all ranks' GPUs of the same model as that of rank 0? */
static bool are_alike(const struct ranks *r, const struct device *device)
{
    char name[DEVICE_NAME];
    memcpy(name, device->name, sizeof name);
    MPI_Bcast(name, sizeof name, MPI_BYTE, 0, r->comm);
    int same = strcmp(name, device->name) == 0, all;
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_LAND, r->comm);
    return all;
}

int ranks_open(struct ranks *r, const struct device *device, struct fault *fault)
{
    *r = (struct ranks){.comm = MPI_COMM_WORLD};
    MPI_Comm_rank(r->comm, &r->rank);
    MPI_Comm_size(r->comm, &r->count);
    count_machines(r);
    int emulated = device->emulated, all;
    MPI_Allreduce(&emulated, &all, 1, MPI_INT, MPI_LAND, r->comm);
    r->emulated = all;
    cudaUUID_t id = {{0}};
    int code = select_gpu(r, &id, fault);
    count_gpus(r, &id);
    r->alike = are_alike(r, device);
    int reaches = !code && r->sharers == 1 && (r->emulated ? r->alike : reaches_peers());
    if (r->machines > 1 || r->count > MANY_PEERS || device->emulated != r->emulated)
        reaches = false;
    MPI_Allreduce(&reaches, &all, 1, MPI_INT, MPI_LAND, r->comm);
    r->peers = all;
    return code;
}

void ranks_close(struct ranks *r) { MPI_Comm_free(&r->here); }

/* ---- the exchange ---------------------------------------------------------------------------- */

int ranks_exchange(const struct ranks *r, enum exchange_choice asked, enum many_exchange *exchange,
                   struct fault *fault)
{
    static const enum many_exchange of[] = {[CHOOSE_MPI] = EXCHANGE_MPI,
                                            [CHOOSE_NCCL] = EXCHANGE_NCCL,
                                            [CHOOSE_PEER] = EXCHANGE_PEER,
                                            [CHOOSE_EXSCAN] = EXCHANGE_EXSCAN};
    struct surroundings s = {.ranks = r->count,
                             .machines = r->machines,
                             .gpus = r->gpus,
                             .emulated = r->emulated,
                             .peers = r->peers};
#ifdef HAVE_NCCL
    s.nccl = true;
#endif
    enum exchange_choice chosen = CHOOSE_MPI;
    int code = choose_exchange(&s, asked, &chosen, fault);
    *exchange = of[chosen];
    return code;
}

/* ---- the watch over other ranks -------------------------------------------------------------- */

/*
 * See program.h. MPI's functions are defined here, around those with which MPI lets a
 * program do that (PMPI). A thread beside them counts the seconds of each call.
 */

#define TICK_SECONDS  0.1
#define TICK_NS       100000000
#define AFTER_FAILURE 5.0 /* seconds that a rank waits which has failed itself */
#define RANK_SECONDS  2.0 /* rank 0 ends first, then rank 1, then the others: one says why */

static struct {
    atomic_uint calls; /* that have begun or ended: odd in a call that waits for other ranks */
    double limit;
    _Atomic(const struct fault *) reason;
} watch;

void watch_reason(const struct fault *fault) { watch.reason = fault; }

_Noreturn void watch_give_up(const struct fault *fault)
{
    replacement_drop_all();
    _exit(fault_say(fault));
}

_Noreturn static void end_waiting(void)
{
    struct fault fault;
    if (watch.reason) watch_give_up(watch.reason);
    fail(
        &fault, EXIT_DEVICE,
        "not all other ranks have come within %g second%s: one of them hangs, has been stopped, or "
        "needs more time; --wait takes another number of seconds.",
        watch.limit, watch.limit == 1 ? "" : "s");
    watch_give_up(&fault);
}

/* Ticks are counted, and not what the clock says: it goes on while this process is stopped. */
static void *count_seconds(void *later)
{
    static const struct timespec tick = {0, TICK_NS};
    unsigned before = 0;
    double waited = 0;
    for (;;) {
        nanosleep(&tick, NULL);
        unsigned now = watch.calls;
        waited = now == before && now % 2 ? waited + TICK_SECONDS : 0;
        before = now;
        double limit = watch.reason && AFTER_FAILURE < watch.limit ? AFTER_FAILURE : watch.limit;
        if (waited > limit + *(const double *)later) end_waiting();
    }
    return NULL;
}

void watch_begin(int rank, double seconds)
{
    static double later;
    pthread_t thread;
    sigset_t all, old;
    if (seconds == 0) return;
    watch.limit = seconds;
    later = RANK_SECONDS * (rank < 2 ? rank : 2);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); // signals are for the thread that runs the program
    if (pthread_create(&thread, NULL, count_seconds, &later) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void watch_begin_wait(void) { watch.calls++; }
void watch_end_wait(void) { watch.calls++; }

#define WATCHED(name, parameters, arguments)                                                       \
    int MPI_##name parameters                                                                      \
    {                                                                                              \
        watch.calls++;                                                                             \
        int code = PMPI_##name arguments;                                                          \
        watch.calls++;                                                                             \
        return code;                                                                               \
    }
WATCHED(Allgather,
        (const void *from, int sent, MPI_Datatype type, void *to, int got, MPI_Datatype of,
         MPI_Comm c),
        (from, sent, type, to, got, of, c))
WATCHED(Allreduce,
        (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm c),
        (from, to, count, type, op, c))
WATCHED(Bcast, (void *at, int count, MPI_Datatype type, int root, MPI_Comm c),
        (at, count, type, root, c))
WATCHED(Comm_dup, (MPI_Comm c, MPI_Comm *to), (c, to))
WATCHED(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *to),
        (c, type, key, info, to))
WATCHED(Finalize, (void), ())
WATCHED(Recv,
        (void *to, int count, MPI_Datatype type, int from, int tag, MPI_Comm c, MPI_Status *status),
        (to, count, type, from, tag, c, status))
WATCHED(Send, (const void *at, int count, MPI_Datatype type, int to, int tag, MPI_Comm c),
        (at, count, type, to, tag, c))
