/*
 * work.h — one piece of work for a device, which a stream carries out or a graph's node holds.
 *
 * A runtime function describes its work as a struct work and calls cudart_submit(). That carries
 * out the work at once or, while the stream is being captured, adds it to the graph.
 */
#ifndef CUDART_WORK_H
#define CUDART_WORK_H

#include "cudart.h"

struct graph;
struct graph_memory;
struct conditional;

/* A kernel's launch. */
struct kernel_work {
    const void *host; /* the stub, or a cudaKernel_t */
    dim3 grid, block;
    size_t shared;
    void **args;
    bool cooperative;
    int priority;
    dim3 cluster; /* x = 0: as the kernel was compiled */
};

struct work {
    enum cudaGraphNodeType type;
    int device; /* number of the device that runs it */
    union {
        struct kernel_work kernel;
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;               /* to record, or to wait for */
        struct graph *child;             /* owned by the node */
        struct conditional *conditional; /* so is this one (graph_exec.c) */
        struct graph_memory *memory;     /* to allocate or free (memory.c) */
        void *address;                   /* to free; not memory of a graph */
    };
};

/* Submits work to a stream. Errors are kept for cudaGetLastError. */
cudaError_t cudart_submit(cudaStream_t, struct work *);

/* Check and carry out each type of work (cuda_launch.c, copy.c, fill.c). */
cudaError_t cudart_check_kernel(const struct kernel_work *, struct function **);
cudaError_t cudart_run_kernel(const struct kernel_work *, cudaStream_t);
cudaError_t cudart_check_copy(const struct cudaMemcpy3DParms *);
cudaError_t cudart_run_copy(const struct cudaMemcpy3DParms *);
cudaError_t cudart_check_fill(const struct cudaMemsetParams *);
cudaError_t cudart_run_fill(const struct cudaMemsetParams *);
void cudart_run_host(const struct cudaHostNodeParams *);
void cudart_record_event(cudaEvent_t);

/* Carry out a copy without arrays: in a stream, and before the function returns. */
cudaError_t cudart_submit_copy(const struct cudaMemcpy3DParms *, cudaStream_t);
cudaError_t cudart_copy_now(const struct cudaMemcpy3DParms *);

/* Carry out a fill likewise. */
cudaError_t cudart_submit_fill(const struct cudaMemsetParams *, cudaStream_t);
cudaError_t cudart_fill_now(const struct cudaMemsetParams *);

/* The description of a one-dimensional copy. */
struct cudaMemcpy3DParms cudart_plain_copy(void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind);

/* Makes a copy of work for a graph's node, with its own arguments, child graph and reference to
 * memory. */
cudaError_t cudart_copy_work(struct work *to, const struct work *from);
void cudart_free_work(struct work *);

#endif
