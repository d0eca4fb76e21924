/* ranks.c — begins MPI, finds the ranks, gives each of them a GPU, and lets them agree. */
#define _DEFAULT_SOURCE /* setenv; system calls go on after a signal */
#include "parts/exchange.h"
#include "request.h"

#include "common/files/files.h"
#include "common/step/cuda_check.h"

#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Open MPI sets these variables, and MPI is not there yet. With another MPI each rank uses the
 * first GPU until ranks_join, and shows progress. */
void ranks_prepare(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    const char *local = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    int gpus = 0;
    if (rank && strcmp(rank, "0") != 0) setenv("EMU_PROGRESS", "0", 1);
    /* A rank without mpirun is alone. Open MPI would start a daemon for it, which needs PATH, ssh
     * and sockets, although it has nothing to do. */
    if (!rank) setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    /* So no other GPU gets a context. */
    if (local && cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0)
        (void)cudaSetDevice(atoi(local) % gpus);
    (void)cudaGetLastError(); /* device_choose says what is wrong */
}

/* Open MPI unloads its components while a thread of its own may still call them, which ended about
 * one run in thousands with a signal in MPI_Finalize (open-mpi/ompi#10117). They stay loaded. */
int dlclose(void *library)
{
    (void)library;
    return 0;
}

/* ---- waiting for other ranks ----------------------------------------------------------------- */

/*
 * A rank that has been stopped, or hangs, would leave the others waiting for ever. So a rank that
 * waits too long ends, and mpirun ends all ranks when one of them has ended with an error. Ticks
 * are counted, and not what the clock says: it goes on while this process is stopped.
 */

#define AFTER_FAILURE 5 /* seconds at most that a rank waits which has failed itself */
#define RANK_SECONDS  2 /* rank 0 ends first, then rank 1, then the others: one says why */

static struct {
    int rank;
    double seconds; /* --wait; 0: no limit */
    volatile sig_atomic_t left;
    struct fault fault;
} watch;

static void tick(int signal)
{
    (void)signal;
    alarm(1);
    if (--watch.left > 0) return;
    replacement_drop_all();
    _exit(fault_say(&watch.fault)); /* the rank is in a call of MPI or NCCL, and prints nothing */
}

void wait_begin(const struct fault *own)
{
    double limit = watch.seconds;
    if (limit == 0) return;
    if (own)
        watch.fault = *own, limit = fmin(limit, AFTER_FAILURE);
    else
        fail(&watch.fault, EXIT_DEVICE,
             "not all other ranks have come within %g second%s: one of them hangs, has been "
             "stopped, or needs more time; --wait takes another number of seconds.",
             limit, limit == 1 ? "" : "s");
    watch.left = (int)ceil(limit) + RANK_SECONDS * (watch.rank < 2 ? watch.rank : 2);
    alarm(1);
}

void wait_end(void) { alarm(0); }

/* ---- meeting --------------------------------------------------------------------------------- */

/* A rank that has failed may come to another meeting than the others. So all meetings begin with
 * the same question, and the first failure is the answer to all later ones. */
static void meet_all(const struct ranks *r, struct word *word)
{
    static struct fault failed;
    struct fault *own = &word->fault;
    (void)r;
    if (!failed.code) {
        wait_begin(own->code ? own : NULL);
        if (agree(MPI_COMM_WORLD, own->code, own)) {
            failed = *own;
        } else { /* the text of the first rank that has one */
            agree(MPI_COMM_WORLD, *own->text != '\0', own);
            MPI_Allreduce(MPI_IN_PLACE, &word->number, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
        wait_end();
    }
    if (failed.code) *own = failed;
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

static bool reaches_all(int gpus, int own)
{
    for (int i = 0, can = 1; i < gpus; i++)
        if (i != own && (cudaDeviceCanAccessPeer(&can, own, i) || !can)) return false;
    return true;
}

/* Selects a GPU. Does it reach the memory of all others of its machine? Emulated ones have no id:
 * each rank emulates one of its own. */
static int select_gpu(cudaUUID_t *id, int *reaches, int local, bool emulated, struct fault *fault)
{
    int gpus;
    struct cudaDeviceProp properties;
    CUDA_CHECK(fault, cudaGetDeviceCount(&gpus));
    CUDA_CHECK(fault, cudaSetDevice(local % gpus));
    CUDA_CHECK(fault, cudaGetDeviceProperties(&properties, local % gpus));
    *id = properties.uuid;
    if (emulated) memcpy(id, &local, sizeof local);
    *reaches = emulated || reaches_all(gpus, local % gpus);
    return 0;
}

static int find_gpus(struct request *r, struct device *device, struct fault *fault)
{
    const MPI_Comm all = MPI_COMM_WORLD;
    MPI_Comm here; /* the ranks of this machine */
    char first[DEVICE_NAME];
    cudaUUID_t own = {{0}};
    int local, reaches = 0, sharers = 0, sharers_before = 0;
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &local);
    MPI_Comm_size(here, &r->ranks.here);
    int code = select_gpu(&own, &reaches, local, device->emulated, fault);
    cudaUUID_t *ids = allocated(malloc((size_t)r->ranks.here * sizeof *ids));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, ids, sizeof own, MPI_BYTE, here);
    MPI_Comm_free(&here);
    for (int i = 0; i < r->ranks.here; i++) {
        bool same = memcmp(&ids[i], &own, sizeof own) == 0;
        sharers += same;
        sharers_before += same && i < local;
    }
    free(ids);
    memcpy(first, device->name, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_BYTE, 0, all);
    bool alike = strcmp(first, device->name) == 0;
    int count[] = {local == 0, sharers_before == 0};
    int every[] = {device->emulated, !device->emulated, alike, reaches};
    MPI_Allreduce(MPI_IN_PLACE, count, 2, MPI_INT, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, every, 4, MPI_INT, MPI_LAND, all);
    r->around.machines = count[0], r->around.gpus = count[1];
    r->around.emulated = every[0], r->around.alike = every[2];
    r->around.peers = every[3] && (every[1] || (every[0] && every[2]));
    device->memory_free /= (size_t)sharers;
    return code;
}

/* ---- joining --------------------------------------------------------------------------------- */

int ranks_join(struct subject *s, struct device *device, int code, struct fault *fault)
{
    struct request *r = s->self;
    bool informs = s->options->help || s->options->version;
    if (!code && !informs) code = many_request_check(r, s->options, fault);
    MPI_Init(NULL, NULL);
    signal(SIGPIPE, SIG_IGN); /* of MPI's sockets */
    signal(SIGALRM, tick);
    r->ranks.meet = meet_all;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->ranks.count);
    s->ranks = &r->ranks;
    r->around.ranks = r->ranks.count;
    watch.rank = r->ranks.rank, watch.seconds = r->wait;
    /* Rank 0 reports. */
    if (r->ranks.rank > 0 && !freopen("/dev/null", "w", stdout) && !code)
        code = fail(fault, EXIT_DEVICE, "cannot open /dev/null.");
    code = ranks_agree(s->ranks, code, fault);
    if (code || informs) return code;
    r->around.nccl = &exchange_nccl;
    wait_begin(NULL);
    code = find_gpus(r, device, fault);
    wait_end();
    if (!code) code = choose_exchange(&r->around, r->exchange, &r->exchange, fault);
    r->ranks.captured = r->exchange == EXCHANGE_PEER; /* NCCL's graphs have nodes of the host */
    return ranks_agree(s->ranks, code, fault);
}
