/* load_module.c — code that a program loads while it runs. */
#define _POSIX_C_SOURCE 200809L /* strdup, open_memstream */
#include "cudart.h"

#include <ctype.h>
#include <inttypes.h>

/* ---- what an image is ------------------------------------------------------------------------ */

/* The head of several PTX texts in one image. For each there follow its length in 8 bytes, its name
 * and the text, both with a NUL behind them. */
struct packed {
    char mark[16];
    uint64_t bytes, count, registers;
};
static const char mark[sizeof((struct packed){0}.mark)] = "emu linked PTX\n";
static const char fat_binary[] = {0x50, (char)0xED, 0x55, (char)0xBA};
static const char elf[] = {0x7F, 'E', 'L', 'F'};

/* Reads no byte behind the first one that differs: the image's size is not known. */
static bool begins_with(const void *image, const char *begin, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (((const char *)image)[i] != begin[i]) return false;
    return true;
}

/* The first character behind blanks and comments. */
static const char *skip_comments(const char *text)
{
    for (;; text++) {
        if (begins_with(text, "//", 2))
            text += strcspn(text, "\n");
        else if (begins_with(text, "/*", 2) && strstr(text, "*/") != NULL)
            text = strstr(text, "*/") + 1;
        else if (!isspace((unsigned char)*text))
            return text;
        if (*text == '\0') return text;
    }
}

bool cudart_is_ptx(const void *image)
{
    return begins_with(skip_comments(image), ".version", strlen(".version"));
}

void *cudart_pack_texts(const struct emu_ptx *texts, size_t count, unsigned registers,
                        size_t *bytes)
{
    char *image = NULL;
    struct packed head = {.count = count, .registers = registers};
    FILE *file = allocated(open_memstream(&image, bytes));
    fwrite(&head, sizeof head, 1, file);
    for (const struct emu_ptx *t = texts; t < texts + count; t++) {
        uint64_t length = t->length;
        fwrite(&length, sizeof length, 1, file);
        fwrite(t->name, strlen(t->name) + 1, 1, file);
        fwrite(t->text, t->length, 1, file);
        fputc('\0', file);
    }
    fclose(file);
    allocated(image);
    memcpy(head.mark, mark, sizeof mark);
    head.bytes = *bytes;
    memcpy(image, &head, sizeof head);
    return image;
}

/* ---- copying an image ------------------------------------------------------------------------ */

/* Copies an image, with a NUL and more room behind it, and makes places for its texts. */
static void copy_data(struct module_source *module, const void *image, size_t bytes, size_t room,
                      size_t texts)
{
    module->data = allocated(malloc(bytes + 1 + room));
    module->texts = texts > 0 ? allocated(calloc(texts, sizeof *module->texts)) : NULL;
    module->count = texts;
    memcpy(module->data, image, bytes);
    ((char *)module->data)[bytes] = '\0';
}

static void unpack_texts(struct module_source *module)
{
    char *next = (char *)module->data + sizeof(struct packed);
    for (struct emu_ptx *t = module->texts; t < module->texts + module->count; t++) {
        uint64_t length;
        memcpy(&length, next, sizeof length);
        t->name = next + sizeof length;
        t->text = t->name + strlen(t->name) + 1;
        t->length = length;
        next = (char *)t->text + length + 1;
    }
}

static void copy_text(struct module_source *module, const char *text, const char *name)
{
    size_t length = strlen(text), name_bytes = strlen(name) + 1;
    copy_data(module, text, length, name_bytes, 1);
    char *copy = module->data;
    memcpy(copy + length + 1, name, name_bytes);
    *module->texts = (struct emu_ptx){copy, length, copy + length + 1, false};
}

static void copy_packed(struct module_source *module, const void *image)
{
    struct packed head;
    memcpy(&head, image, sizeof head);
    copy_data(module, image, head.bytes, 0, head.count);
    module->registers = (unsigned)head.registers;
    unpack_texts(module);
}

static void copy_fat_binary(struct module_source *module, const void *data, size_t bytes)
{
    copy_data(module, data, bytes, 0, 0);
    module->wrapper =
        (struct fatbin_wrapper){.magic = WRAPPER_MAGIC, .version = 1, .data = module->data};
}

/* A fat binary may come with the wrapper that nvcc puts around it. */
static const void *unwrap(const void *image)
{
    static const int magic = WRAPPER_MAGIC;
    bool has_wrapper = begins_with(image, (const char *)&magic, sizeof magic);
    return has_wrapper ? ((const struct fatbin_wrapper *)image)->data : image;
}

static cudaError_t refuse(cudaError_t error, char *message, const char *name, const char *why)
{
    snprintf(message, LOAD_MESSAGE, "%s %s", name, why);
    return error;
}

static cudaError_t copy_image(struct module_source *module, const void *image, size_t limit,
                              const char *name, char *message)
{
    const void *data = limit == SIZE_MAX ? unwrap(image) : image; /* no file has a wrapper */
    size_t bytes = begins_with(data, fat_binary, sizeof fat_binary) ? fatbin_size(data, limit) : 1;
    if (bytes == 0)
        return refuse(cudaErrorInvalidKernelImage, message, name,
                      "is a fat binary that is cut off or damaged");
    if (bytes > 1)
        copy_fat_binary(module, data, bytes);
    else if (begins_with(data, mark, sizeof mark))
        copy_packed(module, data);
    else if (begins_with(data, elf, sizeof elf))
        return refuse(cudaErrorNoKernelImageForDevice, message, name,
                      "is machine code for GPUs (a cubin), which the emulator does not execute; "
                      "give it the PTX instead, which nvcc -ptx and nvrtcGetPTX make");
    else if (cudart_is_ptx(data))
        copy_text(module, data, name);
    else
        return refuse(cudaErrorInvalidKernelImage, message, name,
                      "is neither PTX, which begins with .version, nor a fat binary");
    return cudaSuccess;
}

/* ---- what the emulator cannot load ----------------------------------------------------------- */

static unsigned target_of(const struct emu_ptx *text)
{
    const char *target = strstr(text->text, ".target");
    const char *number = target != NULL ? strstr(target, "sm_") : NULL;
    return number != NULL ? (unsigned)strtoul(number + strlen("sm_"), NULL, 10) : 0;
}

/* As ptxas of a driver does, which compiles for its GPU. */
static cudaError_t check_text(const struct emu_ptx *text, char *message)
{
    unsigned own = cudart_newest_code(), target = target_of(text);
    if (target > own) {
        snprintf(message, LOAD_MESSAGE,
                 "%s: its .target is sm_%u, and the GPU is an sm_%u: compile it for compute_%u, or "
                 "choose another model with EMU_GPU",
                 text->name, target, own, own);
        return cudaErrorInvalidPtx;
    }
    if (strstr(text->text, ".attribute(.managed)") == NULL) return cudaSuccess;
    return refuse(cudaErrorNotSupported, message, text->name,
                  "has a __managed__ variable, which the emulator supports only in code that is "
                  "compiled into the program; use memory of cuMemAllocManaged instead");
}

static cudaError_t check_texts(struct program *program, char *message)
{
    const struct module_source *module = program->module;
    cudaError_t error = cudaSuccess;
    unsigned arch = 0;
    for (size_t i = 0; i < module->count && error == cudaSuccess; i++) {
        error = check_text(&module->texts[i], message);
        if (arch < target_of(&module->texts[i])) arch = target_of(&module->texts[i]);
    }
    for (int i = 0; i < MAX_DEVICES; i++) program->on[i].ptx_arch = arch;
    return error;
}

static struct emu_module *loaded(struct program *program)
{
    return cudart_load(program) == cudaSuccess ? program->on[cudart_device()->number].module : NULL;
}

/* A driver compiles all functions when it loads a module, and so finds mistakes in each. What the
 * emulator does not support is told when that kernel is asked for. */
static cudaError_t check_functions(struct program *program, char *message)
{
    struct emu *emu = emu_runtime();
    struct emu_module *module = loaded(program);
    const char *name;
    int error = EMU_OK;
    for (size_t i = 0; (name = emu_kernel_name(module, i)) != NULL; i++) {
        struct emu_kernel *kernel;
        error = emu_kernel(emu, module, name, &kernel);
        if (error == EMU_INVALID_PTX || error == EMU_SYMBOL_NOT_FOUND) break;
        error = EMU_OK;
    }
    if (error == EMU_OK) error = emu_check_functions(emu, module);
    if (error != EMU_OK) snprintf(message, LOAD_MESSAGE, "%s", emu_message(emu));
    return (cudaError_t)error;
}

/* ---- loading and unloading ------------------------------------------------------------------- */

/* Modules that have ended, and their kernels: their handles must not be given again. */
static struct program *dead_programs;
static struct kernel *dead_kernels;

static struct program *new_module(const struct context *context)
{
    struct program *program = allocated(calloc(1, sizeof *program));
    struct module_source *module = allocated(calloc(1, sizeof *module));
    module->context = context;
    program->module = module;
    program->wrapper = &module->wrapper;
    program->next = cudart_registered.programs;
    cudart_registered.programs = program;
    return program;
}

static void drop_kernels(const struct program *program)
{
    struct kernel **link = &cudart_registered.kernels, *kernel;
    while ((kernel = *link) != NULL) {
        if (kernel->program != program) {
            link = &kernel->next;
            continue;
        }
        *link = kernel->next;
        kernel->next = dead_kernels;
        dead_kernels = kernel;
    }
}

/* The mutex is held. */
static void drop(struct program *program)
{
    struct program **link = &cudart_registered.programs;
    drop_kernels(program);
    ON_EACH_DEVICE(i, cudart_unload_image(&program->on[i]));
    free(program->module->texts);
    free(program->module->data);
    free(program->module);
    program->module = NULL;
    while (*link != program) link = &(*link)->next;
    *link = program->next;
    program->next = dead_programs;
    dead_programs = program;
}

cudaError_t cudart_load_module(const void *image, size_t limit, const char *name,
                               const struct context *context, struct program **out,
                               char message[LOAD_MESSAGE])
{
    pthread_mutex_lock(&cudart_registered.mutex);
    struct program *program = new_module(context);
    cudaError_t error = copy_image(program->module, image, limit, name, message);
    if (error == cudaSuccess) error = check_texts(program, message);
    if (error == cudaSuccess) error = cudart_load_quietly(program, message);
    if (error == cudaSuccess) error = check_functions(program, message);
    if (error != cudaSuccess) drop(program);
    pthread_mutex_unlock(&cudart_registered.mutex);
    *out = error == cudaSuccess ? program : NULL;
    return error;
}

static struct program *find(const void *handle)
{
    struct program *program = cudart_registered.programs;
    while (program != NULL && program != handle) program = program->next;
    return program != NULL && program->module != NULL ? program : NULL;
}

struct program *cudart_find_module(const void *handle)
{
    return LOCKED(cudart_registered.mutex, find(handle));
}

bool cudart_unload_module(struct program *program)
{
    ON_EACH_DEVICE(i, cudart_go_on(true)); /* kernels end */
    pthread_mutex_lock(&cudart_registered.mutex);
    bool found = find(program) != NULL;
    if (found) drop(program);
    pthread_mutex_unlock(&cudart_registered.mutex);
    return found;
}

void cudart_drop_modules(const struct context *context)
{
    pthread_mutex_lock(&cudart_registered.mutex);
    for (struct program *p = cudart_registered.programs, *next; p != NULL; p = next) {
        next = p->next;
        if (p->module != NULL && p->module->context == context) drop(p);
    }
    pthread_mutex_unlock(&cudart_registered.mutex);
}

/* ---- kernels and variables ------------------------------------------------------------------- */

static struct kernel *add_kernel(struct program *program, const char *name)
{
    struct kernel *kernel = allocated(malloc(sizeof *kernel));
    *kernel = (struct kernel){.host = kernel,
                              .name = allocated(strdup(name)),
                              .program = program,
                              .next = cudart_registered.kernels};
    return cudart_registered.kernels = kernel;
}

static bool has_kernel(struct program *program, const char *name)
{
    const char *its;
    struct emu_module *module = loaded(program);
    for (size_t i = 0; module != NULL && (its = emu_kernel_name(module, i)) != NULL; i++)
        if (strcmp(its, name) == 0) return true;
    return false;
}

cudaError_t cudart_module_kernel(struct program *program, const char *name, struct kernel **out)
{
    pthread_mutex_lock(&cudart_registered.mutex);
    struct kernel *kernel = cudart_registered.kernels;
    while (kernel != NULL && (kernel->program != program || strcmp(kernel->name, name) != 0))
        kernel = kernel->next;
    bool is_there = kernel != NULL || has_kernel(program, name);
    if (kernel == NULL && is_there) kernel = add_kernel(program, name);
    pthread_mutex_unlock(&cudart_registered.mutex);
    struct function *function;
    *out = kernel;
    return is_there ? cudart_function(kernel, &function) : cudaErrorSymbolNotFound;
}

const char *cudart_module_kernel_name(struct program *program, size_t index)
{
    struct emu_module *module = LOCKED(cudart_registered.mutex, loaded(program));
    return module != NULL ? emu_kernel_name(module, index) : NULL;
}

cudaError_t cudart_module_variable(struct program *program, const char *name, emu_addr *address,
                                   size_t *bytes)
{
    struct emu_module *module = LOCKED(cudart_registered.mutex, loaded(program));
    if (module == NULL) return cudaErrorSymbolNotFound;
    return (cudaError_t)emu_symbol(emu_runtime(), module, name, address, bytes);
}

struct program *cudart_program_of(const void *handle)
{
    const struct kernel *kernel = LOCKED(cudart_registered.mutex, cudart_find_kernel(handle));
    return kernel != NULL ? kernel->program : NULL;
}
