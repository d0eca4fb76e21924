#include "launches.h"

#include "common/step/cuda_check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last plain name of a mangled one: "scan" of _ZN12_GLOBAL__N_14scanIfEEvPT_. A name that is
 * not mangled stays. */
static void base_name(const char *mangled, char name[LAUNCHES_NAME])
{
    const char *at = mangled, *base = mangled;
    size_t length = strlen(mangled);
    if (strncmp(at, "_Z", 2) == 0) {
        at += at[2] == 'N' ? 3 : 2;
        if (*at == 'L') at++; /* it is static */
        while (isdigit((unsigned char)*at)) {
            char *begin;
            length = strtoul(at, &begin, 10);
            base = begin;
            at = length <= strlen(begin) ? begin + length : "";
            if (*at == 'L') at++;
        }
    }
    snprintf(name, LAUNCHES_NAME, "%.*s", (int)length, base);
}

static struct launch *find(struct launches *all, const char *name)
{
    for (unsigned k = 0; k < all->kinds; k++)
        if (strcmp(all->of[k].kernel, name) == 0) return &all->of[k];
    if (all->kinds == LAUNCHES_KINDS) return NULL;
    struct launch *added = &all->of[all->kinds++];
    strcpy(added->kernel, name);
    return added;
}

static cudaError_t add(struct launches *all, cudaGraphNode_t node)
{
    struct cudaKernelNodeParams p;
    struct cudaFuncAttributes about;
    const char *mangled;
    char name[LAUNCHES_NAME];
    CUDA_TRY(cudaGraphKernelNodeGetParams(node, &p));
    CUDA_TRY(cudaFuncGetAttributes(&about, p.func));
    CUDA_TRY(cudaFuncGetName(&mangled, p.func));
    base_name(mangled, name);
    struct launch *launch = find(all, name);
    size_t grid = (size_t)p.gridDim.x * p.gridDim.y * p.gridDim.z;
    all->all++;
    if (!launch || (launch->times++ && launch->grid >= grid)) return cudaSuccess;
    launch->grid = grid;
    launch->block = p.blockDim.x * p.blockDim.y * p.blockDim.z;
    launch->shared_bytes = about.sharedSizeBytes + p.sharedMemBytes;
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&launch->blocks_per_sm, p.func,
                                                         (int)launch->block, p.sharedMemBytes);
}

static cudaError_t look_at(cudaGraph_t graph, struct launches *all)
{
    size_t count = 0;
    CUDA_TRY(cudaGraphGetNodes(graph, NULL, &count));
    cudaGraphNode_t *nodes = allocated(calloc(count + 1, sizeof *nodes));
    cudaError_t error = cudaGraphGetNodes(graph, nodes, &count);
    for (size_t i = 0; i < count && !error; i++) {
        enum cudaGraphNodeType type;
        error = cudaGraphNodeGetType(nodes[i], &type);
        if (!error && type == cudaGraphNodeTypeKernel) error = add(all, nodes[i]);
    }
    free(nodes);
    return error;
}

struct launches launches_of(run_fn *call, void *context)
{
    struct launches all = {0};
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return all;
    if (!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)) {
        cudaError_t error = call(context, stream);
        if (!error) error = cudaGetLastError();
        cudaError_t ended = cudaStreamEndCapture(stream, &graph);
        if (error || ended || look_at(graph, &all)) all = (struct launches){0};
        if (graph) cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
    (void)cudaGetLastError();
    return all;
}

bool launches_have(const struct launches *all, const char *kernel)
{
    for (unsigned k = 0; k < all->kinds; k++)
        if (strcmp(all->of[k].kernel, kernel) == 0) return true;
    return false;
}

const struct launch *launches_largest(const struct launches *all)
{
    const struct launch *largest = NULL;
    for (unsigned k = 0; k < all->kinds; k++)
        if (!largest || all->of[k].grid > largest->grid) largest = &all->of[k];
    return largest;
}
