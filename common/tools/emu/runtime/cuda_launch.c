/* cuda_launch.c — from k<<<grid, block, shared, stream>>>(arguments) to emu_launch.
 *
 * nvcc turns a launch into three calls: the configuration is pushed, the kernel's stub is called
 * with the arguments, and the stub pops the configuration and launches. */
#include "graph.h"

/* ---- the configuration between <<<>>> and the stub ------------------------------------------- */

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

/* A launch may be nested in the arguments of another: k<<<…>>>(f()), where f launches too. */
enum { MAX_NESTED = 32 };

static _Thread_local struct configuration pushed[MAX_NESTED];
static _Thread_local int depth;

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                               struct CUstream_st *stream)
{
    if (depth == MAX_NESTED) return (unsigned)cudart_done(cudaErrorInvalidConfiguration);
    pushed[depth++] = (struct configuration){grid, block, shared, stream};
    return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                                 void *stream)
{
    if (depth == 0) return cudart_done(cudaErrorMissingConfiguration);
    const struct configuration *top = &pushed[--depth];
    *grid = top->grid;
    *block = top->block;
    *shared = top->shared;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

/* ---- the launch itself ----------------------------------------------------------------------- */

struct kernel_launch {
    struct function *function;
    const struct kernel_work *work;
};

static struct emu_dim dim(dim3 d) { return (struct emu_dim){d.x, d.y, d.z}; }

static int run(void *context)
{
    const struct kernel_launch *l = context;
    const struct emu_shape shape = {.grid = dim(l->work->grid),
                                    .block = dim(l->work->block),
                                    .dynamic_shared = l->work->shared,
                                    .cooperative = l->work->cooperative,
                                    .cluster = dim(l->work->cluster),
                                    .large_clusters = l->function->large_clusters,
                                    .operation = cudart_order_current(),
                                    .may_suspend = true};
    return emu_launch_shape(emu_runtime(), l->function->kernel, &shape, l->work->args);
}

bool cudart_is_kernel_fault(int error)
{
    switch (error) {
    case EMU_ILLEGAL_ADDRESS:
    case EMU_ASSERT:
    case EMU_ILLEGAL_INSTRUCTION:
    case EMU_MISALIGNED_ADDRESS:
    case EMU_INVALID_ADDRESS_SPACE:
    case EMU_LAUNCH_TIMEOUT:
    case EMU_LAUNCH_FAILURE: return true;
    default: return false;
    }
}

/* The limit of a kernel's dynamic shared memory: 48 KiB less its static shared memory, or what
 * cudaFuncSetAttribute allows. */
static size_t shared_limit(const struct function *function)
{
    size_t left = cudart_dynamic_limit(function, emu_gpu(emu_runtime())->shared_per_block);
    return function->max_dynamic_shared > left ? function->max_dynamic_shared : left;
}

static void print_shared_limit(const struct function *function, size_t bytes, size_t limit)
{
    char advice[200];
    size_t most = cudart_dynamic_most(function);
    if (bytes > most)
        snprintf(advice, sizeof advice, "the limit of this GPU is %zu bytes for this kernel", most);
    else
        snprintf(advice, sizeof advice,
                 "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, %zu) allows "
                 "them",
                 bytes);
    cudart_printf("kernel %s was launched with %zu bytes of dynamic shared memory and may have "
                  "%zu; %s",
                  function->name, bytes, limit, advice);
}

cudaError_t cudart_check_kernel(const struct kernel_work *work, struct function **function)
{
    cudaError_t error = cudart_function(work->host, function);
    if (error != cudaSuccess) return error;
    size_t limit = shared_limit(*function);
    if (work->shared > limit) {
        print_shared_limit(*function, work->shared, limit);
        return cudaErrorInvalidValue;
    }
    bool wants_args = emu_kernel_info((*function)->kernel)->params > 0;
    return work->args == NULL && wants_args ? cudaErrorInvalidValue : cudaSuccess;
}

/* Runs it by `how`, and keeps what it counted. */
static int report(struct kernel_launch *l, int (*how)(void *), cudaStream_t stream)
{
    const struct cudart_launch reported = {.run = how,
                                           .context = l,
                                           .function = l->function,
                                           .grid = dim(l->work->grid),
                                           .block = dim(l->work->block),
                                           .stream = cudart_stream_id(stream)};
    return cudart_report_launch(&reported);
}

static int refuse(void *context)
{
    (void)context;
    return cudaErrorNotSupported;
}

/* A kernel that the emulator cannot run is in the reports as one that failed. */
static void report_refusal(struct kernel_launch *l, cudaStream_t stream)
{
    cudart_check_refusal();
    if (l->function != NULL) report(l, refuse, stream);
}

/* ---- a kernel that waits for the host -------------------------------------------------------- */

/* The kernel is suspended, and goes on when the program calls the runtime again. It stays the
 * device's suspended kernel until it has ended: a thread that waits for it, while another one goes
 * on with it, waits for that thread. */
struct suspended_kernel {
    struct kernel_launch launch;
    struct kernel_work work;
    cudaStream_t stream;
    uint64_t findings;
};
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER; /* protects the devices' pointers */

static void keep(struct suspended_kernel *kernel)
{
    pthread_mutex_lock(&keeping);
    cudart_device()->suspended = kernel;
    pthread_mutex_unlock(&keeping);
}

static struct suspended_kernel *kept(void) { return LOCKED(keeping, cudart_device()->suspended); }

static void suspend(const struct kernel_launch *l, cudaStream_t stream, uint64_t findings)
{
    struct suspended_kernel *kernel = allocated(malloc(sizeof *kernel));
    *kernel = (struct suspended_kernel){
        .launch = *l, .work = *l->work, .stream = stream, .findings = findings};
    kernel->launch.work = &kernel->work;
    keep(kernel);
}

/* The kernel has ended. Prints what went wrong. */
static cudaError_t end(int result, uint64_t findings)
{
    cudart_check_print();
    if (result == EMU_OK) return cudaSuccess;
    if (!cudart_check_wanted() || emu_finding_count(emu_runtime(), EMU_FINDING_ERROR) == findings)
        cudart_print(emu_message(emu_runtime())); /* otherwise a finding has said it */
    // The limit on instructions has nothing to do with what a kernel waits for.
    if (result == EMU_LAUNCH_TIMEOUT && !setting_text(SETTING_KERNEL_INSTRUCTIONS))
        cudart_print("kernels run one after the other here: what a kernel waits for from a later "
                     "one never comes, nor what the host would set after it has waited for the "
                     "kernel");
    if (!cudart_is_kernel_fault(result)) return (cudaError_t)result;
    cudart_check_failure();
    cudart_set_fault((cudaError_t)result);
    return cudaSuccess;
}

/* Runs it by `how`, to its end or until it waits for the host. */
static int run_by(struct kernel_launch *l, int (*how)(void *), cudaStream_t stream)
{
    cudart_parent_tell(OUTCOME_RUN);
    cudart_kernel_begins();
    int result = report(l, how, stream);
    cudart_kernel_ends(result == EMU_SUSPENDED ? EMU_OK : result);
    return result;
}

static int resume(void *context)
{
    (void)context;
    return emu_resume(emu_runtime(), false);
}
static int resume_to_end(void *context)
{
    (void)context;
    return emu_resume(emu_runtime(), true);
}

/* The suspended kernel goes on by `how`. The device's lock is held. */
static void go_on(struct suspended_kernel *kernel, int (*how)(void *))
{
    int result = run_by(&kernel->launch, how, kernel->stream);
    if (result == EMU_SUSPENDED) return;
    cudart_order_wait_children(emu_last_operation(emu_runtime()));
    end(result, kernel->findings);
    keep(NULL);
    cudart_ipc_kernel_ended();
    free(kernel);
}

bool cudart_go_on(bool waits)
{
    pthread_mutex_t *lock = &cudart_device()->going_on;
    if (kept() == NULL) return true;
    if (waits ? pthread_mutex_lock(lock) : pthread_mutex_trylock(lock)) return false;
    struct suspended_kernel *kernel = kept();
    if (kernel != NULL) go_on(kernel, waits ? resume_to_end : resume);
    pthread_mutex_unlock(lock);
    return kept() == NULL;
}

/* The legacy stream, NULL, waits for others, and others for it. */
bool cudart_is_behind(cudaStream_t stream)
{
    pthread_mutex_lock(&keeping);
    const struct suspended_kernel *kernel = cudart_device()->suspended;
    bool is_behind = kernel != NULL && (cudart_is_legacy(stream) || stream == kernel->stream ||
                                        cudart_is_legacy(kernel->stream));
    pthread_mutex_unlock(&keeping);
    return is_behind;
}

void cudart_hold_streams(void)
{
    pthread_mutex_lock(&keeping);
    if (cudart_device()->suspended != NULL) cudart_device()->suspended->stream = NULL;
    pthread_mutex_unlock(&keeping);
}

bool cudart_go_on_for(cudaStream_t stream, bool waits)
{
    bool is_behind = cudart_is_behind(stream);
    return cudart_go_on(waits && is_behind) || !is_behind;
}

/* Calls `what` on each device whose suspended kernel no thread goes on with. That thread may be
 * this one, in a signal handler, so this does not wait for it. */
static void each_suspended(void (*what)(struct suspended_kernel *))
{
    for (int i = 0; cudart_has_devices() && i < cudart_device_count(); i++) {
        pthread_mutex_t *lock = &cudart_device_at(i)->going_on;
        if (pthread_mutex_trylock(lock) != 0) continue;
        int was = cudart_use_device(i);
        if (kept() != NULL) what(kept());
        cudart_use_device(was);
        pthread_mutex_unlock(lock);
    }
}

static void complete(struct suspended_kernel *kernel) { go_on(kernel, resume_to_end); }

void cudart_go_on_at_end(void) { each_suspended(complete); }

/* The kernel was interrupted, so it ends at once. What it has counted goes to the reports. */
static void stop(struct suspended_kernel *kernel)
{
    report(&kernel->launch, resume, kernel->stream);
}

void cudart_stop_suspended(void) { each_suspended(stop); }

/* Runs a kernel and prints what went wrong. On a device with a fault it does nothing, like a GPU.
 * */
cudaError_t cudart_run_kernel(const struct kernel_work *work, cudaStream_t stream)
{
    struct kernel_launch l = {.work = work};
    if (cudart_is_forked_too_late()) return cudaErrorInitializationError;
    if (cudart_is_faulty()) return cudaSuccess;
    cudaError_t error = cudart_check_kernel(work, &l.function);
    if (error == cudaErrorNotSupported) report_refusal(&l, stream);
    if (error != cudaSuccess) return error;
    uint64_t findings = emu_finding_count(emu_runtime(), EMU_FINDING_ERROR);
    int result = run_by(&l, run, stream);
    if (result == EMU_OK) cudart_order_children(emu_last_operation(emu_runtime()));
    if (result != EMU_SUSPENDED) return end(result, findings);
    suspend(&l, stream, findings);
    return cudaSuccess;
}

static cudaError_t launch(const struct kernel_work *kernel, cudaStream_t stream)
{
    struct work work = {.type = cudaGraphNodeTypeKernel, .kernel = *kernel};
    int device = cudart_device()->number;
    cudart_work_begins(device); /* no reset by another thread may free the stream meanwhile */
    bool is_elsewhere = cudart_is_stream(stream) && cudart_stream_device(stream) != device;
    cudaError_t error = is_elsewhere ? cudart_done(cudaErrorInvalidResourceHandle)
                                     : cudart_submit(stream, &work);
    cudart_work_ends(device);
    return error;
}

#define SHAPE dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream
#define LAUNCH(handle, is_cooperative)                                                             \
    launch(&(struct kernel_work){.host = handle,                                                   \
                                 .grid = grid,                                                     \
                                 .block = block,                                                   \
                                 .shared = shared,                                                 \
                                 .args = args,                                                     \
                                 .cooperative = is_cooperative},                                   \
           stream)

/* With -default-stream per-thread, NULL is the thread's own stream: from then on for all of its
 * calls. */
RUNTIME_ANYWHERE(__cudaLaunchKernel, (cudaKernel_t kernel, SHAPE), LAUNCH(kernel, false))
RUNTIME_ANYWHERE(__cudaLaunchKernel_ptsz, (cudaKernel_t kernel, SHAPE),
                 (cudart_default_is_per_thread = true, LAUNCH(kernel, false)))
RUNTIME_ANYWHERE(cudaLaunchKernel, (const void *host, SHAPE), LAUNCH(host, false))
RUNTIME_ANYWHERE(cudaLaunchKernel_ptsz, (const void *host, SHAPE),
                 (cudart_default_is_per_thread = true, LAUNCH(host, false)))
RUNTIME_ANYWHERE_PTSZ(cudaLaunchCooperativeKernel, (const void *host, SHAPE), LAUNCH(host, true))

static cudaError_t read_cluster(const cudaLaunchAttribute *a, struct kernel_work *work)
{
    work->cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    bool is_right = work->cluster.x && work->cluster.y && work->cluster.z;
    return is_right ? cudaSuccess : cudaErrorInvalidClusterSize;
}

static cudaError_t refuse_attribute(unsigned id)
{
    cudart_printf("%u is no attribute of a launch (enum cudaLaunchAttributeID)", id);
    return cudaErrorInvalidValue;
}

static cudaError_t read_attribute(const cudaLaunchAttribute *a, struct kernel_work *work)
{
    switch (a->id) {
    case cudaLaunchAttributeCooperative:
        work->cooperative = a->val.cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributePriority: work->priority = a->val.priority; return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: return read_cluster(a, work);
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        work->early = a->val.programmaticStreamSerializationAllowed != 0;
        return cudaSuccess;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        if (!a->val.deviceUpdatableKernelNode.deviceUpdatable) return cudaSuccess;
        return cudart_not_supported("a node of a graph that kernels change",
                                    "change it from the host instead");
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributeLaunchCompletionEvent:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling: return cudaSuccess; /* only speed */
    default: return refuse_attribute(a->id);
    }
}

/* Records the events that attributes name. Behind the kernel, it has passed the places that these
 * stand for. */
static cudaError_t record_events(const cudaLaunchConfig_t *config)
{
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < config->numAttrs && error == cudaSuccess; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeProgrammaticEvent)
            error = cudaEventRecord(a->val.programmaticEvent.event, config->stream);
        if (a->id == cudaLaunchAttributeLaunchCompletionEvent)
            error = cudaEventRecord(a->val.launchCompletionEvent.event, config->stream);
    }
    return error;
}

WORK_OF(RUNTIME_ANYWHERE_PTSZ, cudaLaunchKernelExC, (const cudaLaunchConfig_t *config,
        const void *host, void **args), (config, host, args))
{
    if (config == NULL || (config->numAttrs > 0 && config->attrs == NULL))
        return cudaErrorInvalidValue;
    struct kernel_work work = {.host = host,
                               .grid = config->gridDim,
                               .block = config->blockDim,
                               .shared = config->dynamicSmemBytes,
                               .args = args};
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < config->numAttrs && error == cudaSuccess; i++)
        error = read_attribute(&config->attrs[i], &work);
    if (error != cudaSuccess) return error;
    error = launch(&work, config->stream);
    return error == cudaSuccess ? record_events(config) : error;
}
