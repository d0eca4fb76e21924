/* registered.c — the code that a program's constructors register, and loading it. */
#include "cudart.h"

/* ---- keeps what the program's constructors register about its code --------------------------- */

/* nvcc puts a constructor into every object file, which registers the fat binary and then each
 * kernel and each variable. They are only written down here, so programs with much code start
 * quickly, too. */

struct registered cudart_registered = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- registration: called by the program's constructors -------------------------------------- */

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper)
{
    struct program *program = allocated(calloc(1, sizeof *program));
    program->wrapper = wrapper;
    pthread_mutex_lock(&cudart_registered.mutex);
    program->next = cudart_registered.programs;
    cudart_registered.programs = program;
    pthread_mutex_unlock(&cudart_registered.mutex);
    return (void **)program;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

/* Called at exit. The lists are kept: the report at the end of the process still names kernels. */
void CUDARTAPI __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
                                      const char *name, int thread_limit, uint3 *thread,
                                      uint3 *block, dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block; /* always NULL or -1 */
    (void)block_dim, (void)grid_dim, (void)warp_size;
    struct kernel *kernel = allocated(malloc(sizeof *kernel));
    *kernel = (struct kernel){.host = host, .name = name, .program = (struct program *)handle};
    pthread_mutex_lock(&cudart_registered.mutex);
    kernel->next = cudart_registered.kernels;
    cudart_registered.kernels = kernel;
    pthread_mutex_unlock(&cudart_registered.mutex);
}

static void add_variable(struct variable variable)
{
    struct variable *added = allocated(malloc(sizeof *added));
    *added = variable;
    pthread_mutex_lock(&cudart_registered.mutex);
    added->next = cudart_registered.variables;
    cudart_registered.variables = added;
    pthread_mutex_unlock(&cudart_registered.mutex);
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                 int is_extern, size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add_variable((struct variable){
        .host = host, .name = name, .program = (struct program *)handle, .bytes = bytes});
}

/* The host accesses a __managed__ variable through *host_pointer. */
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                                        const char *name, int is_extern, size_t bytes,
                                        int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add_variable((struct variable){.host = host_pointer,
                                   .name = name,
                                   .program = (struct program *)handle,
                                   .is_managed = true,
                                   .bytes = bytes});
}

/* The program calls this before its first access to a __managed__ variable, and ignores the result.
 * So if loading fails, the process ends here; the reason has been printed. */
char CUDARTAPI __cudaInitModule(void **handle)
{
    cudaError_t error = LOCKED(cudart_registered.mutex, cudart_load((struct program *)handle));
    if (error != cudaSuccess) cudart_exit(EXIT_DEVICE);
    return 1;
}

/* ---- handles --------------------------------------------------------------------------------- */

/* A stub asks for its handle once and keeps it. So this does not check whether the kernel can run;
 * the launch does. */
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    struct kernel *found = LOCKED(cudart_registered.mutex, cudart_find_kernel(host));
    *kernel = (cudaKernel_t)found;
    return cudart_done(found != NULL ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

RUNTIME_ANYWHERE(cudaGetKernel, (cudaKernel_t *kernel, const void *host),
                 IF(kernel != NULL, cudaErrorInvalidValue, __cudaGetKernel(kernel, host)))

/* ---- loads the code that the program has registered ------------------------------------------ */

/* PTX is decompressed and parsed when a kernel or a variable is first used on a device. */

enum { NAME_BYTES = 40 };

/* The number of a program's fat binaries: 1, or one for each object file. */
static size_t count_containers(const struct fatbin_wrapper *wrapper)
{
    size_t count = 0;
    if (wrapper->version != WRAPPER_WITH_OBJECTS) return 1;
    while (wrapper->objects[count] != NULL) count++;
    return count;
}

static const void *container_at(const struct fatbin_wrapper *wrapper, size_t index)
{
    return wrapper->version == WRAPPER_WITH_OBJECTS ? wrapper->objects[index] : wrapper->data;
}

/* A PTX text, with its name for messages. */
struct part {
    struct fatbin_ptx ptx;
    char name[NAME_BYTES];
};

/* Names a text: the program's only one, or that of an object file. */
static void name_part(struct part *part, size_t object, size_t objects)
{
    if (objects == 1)
        snprintf(part->name, NAME_BYTES, "the program's PTX");
    else
        snprintf(part->name, NAME_BYTES, "the PTX of object %zu", object + 1);
}

/* Reads the PTX from all containers; *found of them have PTX that this GPU can run. nvcc -rdc=true
 * adds NVIDIA's device runtime, which has no PTX for most GPUs. So it is an error only if no
 * container has suitable PTX. A function that is then missing is named when a kernel calls it. */
static int extract_all(const struct fatbin_wrapper *wrapper, size_t count, struct part *parts,
                       size_t *found, char *message)
{
    unsigned arch = cudart_newest_code();
    int first_error = EMU_OK; /* the first object file is the program's own */
    char text[LOAD_MESSAGE];
    *found = 0;
    for (size_t i = 0; i < count; i++) {
        struct part *part = &parts[*found];
        int error =
            fatbin_extract(container_at(wrapper, i), SIZE_MAX, arch, &part->ptx, text, sizeof text);
        if (error == EMU_OK) {
            name_part(part, i, count);
            ++*found;
            continue;
        }
        bool unsuitable = error == (int)cudaErrorNoKernelImageForDevice;
        if (first_error == EMU_OK || !unsuitable) snprintf(message, LOAD_MESSAGE, "%s", text);
        if (!unsuitable) return error;
        first_error = error;
    }
    return *found ? EMU_OK : first_error;
}

static int link_texts(struct image *image, const struct emu_ptx *texts, size_t count, char *message)
{
    int error = emu_link(emu_runtime(), texts, count, &image->module);
    if (error == EMU_OK) cudart_keep_sources(image->module);
    if (error != EMU_OK) snprintf(message, LOAD_MESSAGE, "%s", emu_message(emu_runtime()));
    return error;
}

static int link_parts(struct image *image, size_t count, const struct part *parts, char *message)
{
    struct emu_ptx *texts = allocated(calloc(count, sizeof *texts));
    for (size_t i = 0; i < count; i++) {
        texts[i] = (struct emu_ptx){parts[i].ptx.text, parts[i].ptx.length, parts[i].name,
                                    parts[i].ptx.never_fuses};
        if (image->ptx_arch < parts[i].ptx.arch) image->ptx_arch = parts[i].ptx.arch;
    }
    int error = link_texts(image, texts, count, message);
    free(texts);
    return error;
}

/* Gives the module its machine code, if the program has it. Programs linked with -rdc=true have it
 * apart from the PTX. */
static void attach_machine_code(struct image *image, const struct fatbin_wrapper *wrapper)
{
    struct fatbin_code *code = &image->code;
    if (fatbin_machine_code(wrapper->data, SIZE_MAX, cudart_newest_code(), code))
        emu_machine_code(emu_runtime(), image->module, code->data, code->size, code->arch);
}

static int load_containers(struct image *image, const struct fatbin_wrapper *wrapper, char *message)
{
    size_t count = count_containers(wrapper);
    struct part *parts = allocated(calloc(count, sizeof *parts));
    size_t found;
    int error = extract_all(wrapper, count, parts, &found, message);
    if (error == EMU_OK) error = link_parts(image, found, parts, message);
    if (error == EMU_OK) attach_machine_code(image, wrapper);
    for (size_t i = 0; i < count; i++) free(parts[i].ptx.text);
    free(parts);
    return error;
}

/* Moves a __managed__ variable into memory that the host and all devices share. */
static int place_managed(const struct image *image, struct variable *variable, bool is_first)
{
    if (variable->managed == NULL) variable->managed = cudart_map_new(variable->bytes);
    if (variable->managed == NULL) return EMU_OUT_OF_MEMORY;
    int error =
        emu_place_symbol(emu_runtime(), image->module, variable->name, variable->managed, is_first);
    *(void **)variable->host = variable->managed;
    return error;
}

/* Places all __managed__ variables. They keep their values when a second device loads the program.
 * */
static int place_all_managed(const struct program *program, const struct image *image)
{
    int error = EMU_OK;
    bool is_first = true;
    for (int i = 0; i < MAX_DEVICES; i++)
        if (&program->on[i] != image && program->on[i].module != NULL) is_first = false;
    for (struct variable *v = cudart_registered.variables; v != NULL && error == EMU_OK;
         v = v->next)
        if (v->is_managed && v->program == program) error = place_managed(image, v, is_first);
    return error;
}

static int load_code(struct image *image, const struct program *program, char *message)
{
    const struct module_source *module = program->module;
    if (module != NULL && module->texts != NULL)
        return link_texts(image, module->texts, module->count, message);
    if (program->wrapper->magic == WRAPPER_MAGIC)
        return load_containers(image, program->wrapper, message);
    snprintf(message, LOAD_MESSAGE, "the program registered something that is not a fat binary");
    return EMU_INVALID_PTX;
}

cudaError_t cudart_load_quietly(struct program *program, char message[LOAD_MESSAGE])
{
    struct image *image = &program->on[cudart_device()->number];
    message[0] = '\0';
    if (image->loaded) return image->error;
    image->loaded = true;

    int error = load_code(image, program, message);
    if (error == EMU_OK) {
        error = place_all_managed(program, image);
        if (error != EMU_OK)
            snprintf(message, LOAD_MESSAGE, "the program's __managed__ variables have no place: %s",
                     emu_message(emu_runtime()));
    }
    if (error == EMU_UNSUPPORTED_PTX) error = (int)cudaErrorNotSupported; /* not its version */
    return image->error = (cudaError_t)error;
}

/* CUDA's error for one of emu.h. To a driver, PTX whose functions are missing is wrong PTX. */
static cudaError_t error_of(int error)
{
    switch (error) {
    case EMU_UNSUPPORTED_PTX: return cudaErrorNotSupported; /* not its version */
    case EMU_SYMBOL_NOT_FOUND: return cudaErrorInvalidPtx;
    default: return (cudaError_t)error;
    }
}

cudaError_t cudart_load(struct program *program)
{
    char message[LOAD_MESSAGE];
    cudaError_t error = cudart_load_quietly(program, message);
    if (error != cudaSuccess) cudart_print(message);
    return error_of((int)error);
}

/* A GPU runs machine code of its own generation. Of other PTX its driver makes machine code. */
static unsigned arch_of_code(const struct image *image)
{
    const struct emu_gpu *gpu = emu_gpu(emu_runtime());
    bool is_own = image->code.data != NULL && image->code.arch / 10 == (unsigned)gpu->major;
    return is_own ? image->code.arch : (unsigned)(10 * gpu->major + gpu->minor);
}

/* Loads the kernel on the thread's device, unless that has been tried before. An error is printed
 * once. */
static cudaError_t prepare(struct kernel *kernel, struct function *function)
{
    if (function->kernel != NULL || function->error != cudaSuccess) return function->error;

    int error = cudart_load(kernel->program);
    if (error == EMU_OK) {
        const struct image *image = &kernel->program->on[cudart_device()->number];
        error = emu_kernel(emu_runtime(), image->module, kernel->name, &function->kernel);
        if (error != EMU_OK) cudart_print(emu_message(emu_runtime()));
        const struct module_source *module = kernel->program->module;
        if (error == EMU_OK && module != NULL && module->registers > 0)
            emu_limit_registers(function->kernel, module->registers);
        function->name = kernel->name;
        function->ptx_arch = image->ptx_arch;
        function->code_arch = arch_of_code(image);
    }
    return function->error = error_of(error);
}

struct kernel *cudart_find_kernel(const void *host)
{
    for (struct kernel *k = cudart_registered.kernels; k != NULL; k = k->next)
        if (k->host == host || k == host) return k;
    return NULL;
}

cudaError_t cudart_function(const void *host, struct function **function)
{
    cudaError_t error =
        host == NULL ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle;
    *function = NULL;
    pthread_mutex_lock(&cudart_registered.mutex);
    struct kernel *kernel = cudart_find_kernel(host);
    if (kernel != NULL) {
        struct function *found = &kernel->on[cudart_device()->number];
        error = prepare(kernel, found);
        if (error == cudaSuccess || (error == cudaErrorNotSupported && found->name != NULL))
            *function = found;
    }
    pthread_mutex_unlock(&cudart_registered.mutex);
    return error;
}

const struct function *cudart_function_named(const char *name, const struct function *other)
{
    int number = cudart_device()->number;
    const struct function *found = other;
    pthread_mutex_lock(&cudart_registered.mutex);
    for (struct kernel *k = cudart_registered.kernels; k != NULL; k = k->next) {
        if (strcmp(k->name, name) != 0) continue;
        found = &k->on[number];
        k->on[number].name = k->name;
    }
    pthread_mutex_unlock(&cudart_registered.mutex);
    return found;
}

static cudaError_t find_variable(const struct variable *variable, emu_addr *address, size_t *bytes)
{
    int error = cudart_load(variable->program);
    if (error != EMU_OK) return (cudaError_t)error;
    const struct image *image = &variable->program->on[cudart_device()->number];
    error = emu_symbol(emu_runtime(), image->module, variable->name, address, bytes);
    return error == EMU_SYMBOL_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)error;
}

/* Does `host` name the variable? A __managed__ one is named by the address that host and device
 * share. */
static bool is_named_by(const struct variable *variable, const void *host)
{
    return variable->host == host || (variable->managed != NULL && variable->managed == host);
}

cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes)
{
    cudaError_t error = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&cudart_registered.mutex);
    const struct variable *variable = cudart_registered.variables;
    while (variable != NULL && !is_named_by(variable, host)) variable = variable->next;
    if (variable != NULL) error = find_variable(variable, address, bytes);
    pthread_mutex_unlock(&cudart_registered.mutex);
    return error;
}

void cudart_unload_image(struct image *image)
{
    if (image->module != NULL) emu_unload(emu_runtime(), image->module);
    free(image->code.allocated);
    *image = (struct image){.ptx_arch = image->ptx_arch};
}

/* Is it a module of a context that the driver API has made? Then it ends with that context. */
static bool is_of_context(const struct program *program)
{
    return program->module != NULL && program->module->context != NULL;
}

void cudart_unload(void)
{
    int number = cudart_device()->number;
    pthread_mutex_lock(&cudart_registered.mutex);
    for (struct kernel *k = cudart_registered.kernels; k != NULL; k = k->next)
        if (!is_of_context(k->program)) k->on[number] = (struct function){0};
    for (struct program *p = cudart_registered.programs; p != NULL; p = p->next)
        if (!is_of_context(p)) cudart_unload_image(&p->on[number]);
    pthread_mutex_unlock(&cudart_registered.mutex);
}
