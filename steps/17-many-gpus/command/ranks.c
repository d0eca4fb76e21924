/* ranks.c — finds out which ranks there are, and gives each of them a GPU. */
#include "ranks.h"

#include "common/step/cuda_check.h"

#include <stdlib.h>
#include <string.h>

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
