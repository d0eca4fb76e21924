/* host_call.c — what main calls, where main is a kernel of one thread on a device of its own
 * (emu_run_main). The GPU's memory is not there, so that an access to it is a fault, at its
 * line. */
#include "ops.h"
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/machine/events.h"

/* enum cudaMemcpyKind */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST, DEVICE_TO_DEVICE, ANY_DIRECTION };
enum { SHAPE = 7, MOST_PARAMETERS = 64, MOST_ARGUMENTS = SHAPE + MOST_PARAMETERS };

/* A call of main, with its arguments. */
struct host_call {
    struct emu_program *program;
    struct warp *warp;
    const struct insn *insn;
    int lane;
    const char *name;
    uint64_t argument[MOST_ARGUMENTS];
};

/* What a call returns. An error is a finding, because programs seldom look at it. */
static uint64_t answer(struct host_call *c, int error, const char *why)
{
    char title[2200];
    if (!error) return 0;
    c->program->error = error;
    snprintf(title, sizeof title, "%s returns error %d: %s", c->name, error, why);
    event_host_error(c->warp, c->insn, c->lane, title);
    return (uint64_t)error;
}

/* … of a call of the GPU's emulator. */
static uint64_t answer_of(struct host_call *c, int error)
{
    return answer(c, error, emu_message(c->program->gpu));
}

/* ---- memory of the host ---------------------------------------------------------------------- */

static bool can(struct host_call *c, bool is_done, uint64_t address, size_t bytes)
{
    if (!is_done)
        fault(c->warp, c->insn, c->lane, EMU_ILLEGAL_ADDRESS,
              "%s is given %zu bytes at 0x%llx, where the host has no such memory", c->name, bytes,
              (unsigned long long)address);
    return is_done;
}

static bool host_read(struct host_call *c, void *to, uint64_t from, size_t bytes)
{
    return can(c, builtin_read(c->warp, c->lane, from, to, bytes), from, bytes);
}

static bool host_write(struct host_call *c, uint64_t to, const void *from, size_t bytes)
{
    return can(c, builtin_write(c->warp, c->lane, to, from, bytes), to, bytes);
}

static uint64_t do_malloc(struct host_call *c) { return builtin_allocate(c->warp, c->argument[0]); }

static uint64_t do_free(struct host_call *c)
{
    builtin_release(c->warp, c->insn, c->lane, c->argument[0]);
    return 0;
}

static uint64_t do_nothing(struct host_call *c) { return (void)c, 0; }

/* ---- memory of the GPU ----------------------------------------------------------------------- */

static uint64_t do_cuda_malloc(struct host_call *c)
{
    emu_addr address = 0;
    int error = c->argument[1] ? emu_alloc(c->program->gpu, c->argument[1], &address) : 0;
    if (!error) host_write(c, c->argument[0], &address, sizeof address);
    return answer_of(c, error);
}

static uint64_t do_cuda_free(struct host_call *c)
{
    return answer_of(c, c->argument[0] ? emu_free(c->program->gpu, c->argument[0]) : 0);
}

static uint64_t do_cuda_memset(struct host_call *c)
{
    int error = emu_fill(c->program->gpu, c->argument[0], (uint8_t)c->argument[1], c->argument[2]);
    return answer_of(c, c->argument[2] ? error : 0);
}

/* Both ways between the two devices; each side is the GPU's or the host's. */
static int copy(struct host_call *c, bool to_gpu, bool from_gpu)
{
    uint64_t to = c->argument[0], from = c->argument[1], bytes = c->argument[2];
    if (to_gpu && from_gpu) return emu_copy(c->program->gpu, to, from, bytes);
    char *buffer = malloc(bytes);
    int error = buffer ? EMU_OK : EMU_OUT_OF_MEMORY;
    if (!error && from_gpu) error = emu_read(c->program->gpu, buffer, from, bytes);
    bool is_there = !error && (from_gpu || host_read(c, buffer, from, bytes));
    if (is_there && to_gpu) error = emu_write(c->program->gpu, to, buffer, bytes);
    if (is_there && !to_gpu) host_write(c, to, buffer, bytes);
    free(buffer);
    return error;
}

static uint64_t do_cuda_memcpy(struct host_call *c)
{
    bool to_gpu = emu_is_device(c->program->gpu, c->argument[0]),
         from_gpu = emu_is_device(c->program->gpu, c->argument[1]);
    unsigned kind = (unsigned)c->argument[3];
    if (kind > ANY_DIRECTION) return answer(c, EMU_INVALID_COPY_KIND, "there is no such direction");
    if (!c->argument[2]) return 0;
    bool wants_to = kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE,
         wants_from = kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE;
    bool fits = kind == ANY_DIRECTION || (to_gpu == wants_to && from_gpu == wants_from);
    if (!fits || !c->argument[0] || !c->argument[1])
        return answer(c, EMU_INVALID_VALUE, "the direction does not fit the two pointers");
    return answer_of(c, copy(c, to_gpu, from_gpu));
}

static uint64_t do_last_error(struct host_call *c)
{
    int error = c->program->error;
    c->program->error = 0;
    return (uint64_t)error;
}

static uint64_t do_peek(struct host_call *c) { return (uint64_t)c->program->error; }

/* ---- launches -------------------------------------------------------------------------------- */

/* Errors of a launch itself do not last; those of a kernel that has begun do. */
static bool lasts(int error)
{
    return error >= EMU_ILLEGAL_ADDRESS && error != EMU_LAUNCH_OUT_OF_RESOURCES &&
           error != EMU_COOPERATIVE_TOO_LARGE;
}

static uint64_t do_launch(struct host_call *c, struct emu_kernel *kernel)
{
    const uint64_t *a = c->argument;
    void *arguments[MOST_PARAMETERS];
    for (unsigned k = 0; k < MOST_PARAMETERS; k++) arguments[k] = &c->argument[SHAPE + k];
    struct emu_dim grid = {(unsigned)a[0], (unsigned)a[1], (unsigned)a[2]},
                   block = {(unsigned)a[3], (unsigned)a[4], (unsigned)a[5]};
    int error = emu_launch(c->program->gpu, kernel, grid, block, a[6], arguments, false);
    c->name = "this launch";
    if (!lasts(error)) return answer_of(c, error);
    c->program->fault = error;
    snprintf(c->program->message, sizeof c->program->message, "%s", emu_message(c->program->gpu));
    return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const struct host_function {
    const char *name;
    unsigned arguments;
    uint64_t (*run)(struct host_call *);
    bool is_cuda; /* it returns the error of a kernel before it */
} FUNCTIONS[] = {
    {"malloc", 1, do_malloc, false},
    {"free", 1, do_free, false},
    {"exit", 0, do_nothing, false},
    {"cudaMalloc", 2, do_cuda_malloc, true},
    {"cudaFree", 1, do_cuda_free, true},
    {"cudaMemcpy", 4, do_cuda_memcpy, true},
    {"cudaMemcpyAsync", 4, do_cuda_memcpy, true},
    {"cudaMemset", 3, do_cuda_memset, true},
    {"cudaMemsetAsync", 3, do_cuda_memset, true},
    {"cudaDeviceSynchronize", 0, do_nothing, true},
    {"cudaGetLastError", 0, do_last_error, false},
    {"cudaPeekAtLastError", 0, do_peek, false},
};

static const struct host_function *find(const char *name)
{
    for (size_t k = 0; k < sizeof FUNCTIONS / sizeof *FUNCTIONS; k++)
        if (!strcmp(FUNCTIONS[k].name, name)) return &FUNCTIONS[k];
    return NULL;
}

static uint64_t call(struct warp *warp, const struct insn *insn, int lane, const char *name)
{
    struct host_call c = {warp->block->launch->emu->program, warp, insn, lane, name, {0}};
    const struct host_function *f = find(name);
    struct emu_kernel *kernel = NULL;
    int error = f ? 0 : emu_kernel(c.program->gpu, c.program->module, name, &kernel);
    if (error) return fault(warp, insn, lane, error, "%s", emu_message(c.program->gpu)), 0;
    uint64_t from = builtin_argument(warp, insn, lane, 1, 8);
    unsigned count = f ? f->arguments : SHAPE + emu_kernel_info(kernel)->params;
    if (count > MOST_ARGUMENTS) return can(&c, false, from, 8 * count);
    if (count && !host_read(&c, c.argument, from, 8 * count)) return 0;
    if (c.program->fault && !f) return 0;
    if (c.program->fault && f->is_cuda) return (uint64_t)(c.program->error = c.program->fault);
    return f ? f->run(&c) : do_launch(&c, kernel);
}

/* host_call(name, arguments): each argument takes 8 bytes. */
void builtin_host_call(struct warp *w, const struct insn *i, uint32_t mask)
{
    char name[STRING_BYTES];
    for (; mask && w->block->launch->emu->program; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        builtin_read_string(w, lane, builtin_argument(w, i, lane, 0, 8), name);
        uint64_t result = call(w, i, lane, name);
        builtin_set_result(w, i, lane, &result, sizeof result);
    }
}

int emu_run_main(struct emu *emu, struct emu_module *module, const char *name,
                 struct emu_program *program)
{
    struct emu_dim one = {1, 1, 1};
    struct emu_kernel *kernel;
    int error = emu_kernel(emu, module, name, &kernel);
    if (error) return error;
    if (emu_kernel_info(kernel)->params) return EMU_INVALID_DEVICE_FUNCTION;
    emu->program = program;
    return emu_launch(emu, kernel, one, one, 0, NULL, false);
}
