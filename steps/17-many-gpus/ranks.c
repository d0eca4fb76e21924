/* ranks.c — finds the ranks, gives each of them a GPU, and lets them agree. */
#define _DEFAULT_SOURCE /* setenv; system calls go on after a signal */
#include "parts/exchange.h"
#include "request.h"

#include "common/files/files.h"
#include "common/step/cuda_check.h"

#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
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

/* A rank's GPU. */
struct gpu {
    int machine; /* the first rank there */
    cudaUUID_t id;
    char name[DEVICE_NAME];
    bool emulated, reaches; /* all other GPUs that the rank can see */
};

static bool reaches_all(int gpus, int own)
{
    for (int i = 0, can = 1; i < gpus; i++)
        if (i != own && (cudaDeviceCanAccessPeer(&can, own, i) || !can)) return false;
    return true;
}

/* Selects a GPU. Emulated ones have no id: each rank emulates one of its own. */
static int select_gpu(struct gpu *gpu, int local, const struct device *device, struct fault *fault)
{
    int gpus;
    struct cudaDeviceProp properties;
    CUDA_CHECK(fault, cudaGetDeviceCount(&gpus));
    CUDA_CHECK(fault, cudaSetDevice(local % gpus));
    CUDA_CHECK(fault, cudaGetDeviceProperties(&properties, local % gpus));
    gpu->id = properties.uuid;
    gpu->emulated = device->emulated;
    if (gpu->emulated) memcpy(&gpu->id, &local, sizeof local);
    gpu->reaches = gpu->emulated || reaches_all(gpus, local % gpus);
    memcpy(gpu->name, device->name, sizeof gpu->name);
    return 0;
}

static bool is_same(const struct gpu *a, const struct gpu *b)
{
    return a->machine == b->machine && memcmp(&a->id, &b->id, sizeof a->id) == 0;
}

/* Returns how many ranks have this rank's GPU. */
static int look_around(struct surroundings *s, const struct gpu *all, int rank)
{
    int sharers = 0;
    s->emulated = s->alike = s->peers = true;
    for (int i = 0; i < s->ranks; i++) {
        bool again = false;
        for (int k = 0; k < i; k++) again = again || is_same(&all[i], &all[k]);
        s->gpus += !again;
        s->machines += all[i].machine == i;
        sharers += is_same(&all[i], &all[rank]);
        s->alike = s->alike && strcmp(all[i].name, all[0].name) == 0;
        s->emulated = s->emulated && all[i].emulated;
        s->peers = s->peers && all[i].reaches && all[i].emulated == all[0].emulated;
    }
    s->peers = s->peers && (s->alike || !s->emulated);
    return sharers;
}

static int find_gpus(struct request *r, struct device *device, struct fault *fault)
{
    MPI_Comm here;
    int local;
    struct gpu own = {.machine = r->ranks.rank};
    struct gpu *all = allocated(malloc((size_t)r->ranks.count * sizeof *all));
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &local);
    MPI_Comm_size(here, &r->ranks.here);
    MPI_Bcast(&own.machine, 1, MPI_INT, 0, here);
    MPI_Comm_free(&here);
    int code = select_gpu(&own, local, device, fault);
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    device->memory_free /= (size_t)look_around(&r->around, all, r->ranks.rank);
    free(all);
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

void ranks_leave(void)
{
    int begun;
    MPI_Initialized(&begun);
    if (!begun) return;
    wait_begin(NULL);
    MPI_Finalize();
    wait_end();
}
