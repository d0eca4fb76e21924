/* module.c — loading PTX: its variables get device memory, its kernels are decoded when asked
 * for. */
#include "module.h"
#include "device.h"
#include <stdlib.h>
#include <string.h>

void module_free(struct emu_module *module)
{
    ptx_free(&module->text);
    arena_free(module->arena);
    free(module);
}

uint64_t module_function_address(const struct ptx_text *text, const char *name)
{
    uint64_t address = 0;
    for (size_t i = 0; i < text->function_count;
         i++) /* of a declaration and a definition the latter */
        if (!strcmp(text->functions[i].name, name) && (!address || text->functions[i].has_body))
            address = CODE_WINDOW + i * FUNCTION_BYTES;
    return address;
}

/* Where a variable's address is wanted in another one's initial value. */
static int resolve_symbol(struct emu *emu, struct emu_module *module, const char *name,
                          emu_addr *address)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (!strcmp(module->text.variables[i].name, name) && module->addresses[i]) {
            *address = module->addresses[i];
            return EMU_OK;
        }
    *address = module_function_address(&module->text, name);
    if (*address) return EMU_OK;
    return device_failed(emu, EMU_UNSUPPORTED_PTX,
                         "%s: the address of '%s' in an initial value is not supported",
                         module->name, name);
}

static int place_variables(struct emu *emu, struct emu_module *module)
{
    const struct ptx_text *text = &module->text;
    for (size_t i = 0; i < text->variable_count; i++) {
        const struct ptx_variable *v = &text->variables[i];
        if (v->space != PTX_GLOBAL && v->space != PTX_CONST) continue;
        if (v->is_extern)
            return device_failed(
                emu, EMU_UNSUPPORTED_PTX,
                "%s:%u: variable '%s' is defined in another module; linking is not supported",
                module->name, v->line, v->name);
        int error = memory_alloc(&emu->memory, v->bytes ? v->bytes : 1, &module->addresses[i]);
        if (error)
            return device_failed(emu, error, "%s: no device memory for the %zu bytes of '%s'",
                                 module->name, v->bytes, v->name);
        void *there = memory_view(&emu->memory, module->addresses[i], v->bytes ? v->bytes : 1);
        if (v->initial)
            memcpy(there, v->initial, v->bytes);
        else
            memset(there, 0, v->bytes);
    }
    for (size_t i = 0; i < text->variable_count; i++)
        for (size_t k = 0; k < text->variables[i].address_ofs; k++) {
            const struct ptx_address_of *of = &text->variables[i].address_of[k];
            emu_addr address = 0;
            int error = resolve_symbol(emu, module, of->symbol, &address);
            if (error) return error;
            address += (uint64_t)of->addend;
            void *there =
                memory_view(&emu->memory, module->addresses[i] + of->offset, sizeof address);
            if (there) memcpy(there, &address, sizeof address);
        }
    return EMU_OK;
}

static void free_variables(struct emu *emu, struct emu_module *module)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (module->addresses[i]) memory_free(&emu->memory, module->addresses[i]);
}

int emu_load(struct emu *emu, const char *ptx, size_t length, const char *name,
             struct emu_module **out)
{
    struct emu_module *module = calloc(1, sizeof *module);
    if (!module) return device_failed(emu, EMU_OUT_OF_MEMORY, "out of memory");
    pthread_mutex_lock(&emu->lock);
    int error = ptx_parse(ptx, length, name, &module->text, emu->message, sizeof emu->message);
    if (!error) {
        module->arena = arena_new();
        module->name = module->arena ? arena_text(module->arena, name ? name : "PTX",
                                                  strlen(name ? name : "PTX"))
                                     : NULL;
        module->addresses =
            module->name
                ? arena_take(module->arena, (module->text.variable_count + 1) * sizeof(emu_addr))
                : NULL;
        if (!module->addresses) {
            error = device_failed(emu, EMU_OUT_OF_MEMORY, "out of memory");
        } else {
            error = place_variables(emu, module);
            if (error) free_variables(emu, module);
        }
    }
    if (error) {
        module_free(module);
    } else {
        module->next = emu->modules;
        emu->modules = module;
        *out = module;
    }
    pthread_mutex_unlock(&emu->lock);
    return error;
}

void emu_unload(struct emu *emu, struct emu_module *module)
{
    pthread_mutex_lock(&emu->lock);
    struct emu_module **link = &emu->modules;
    while (*link && *link != module) link = &(*link)->next;
    if (*link) {
        *link = module->next;
        free_variables(emu, module);
        module_free(module);
    }
    pthread_mutex_unlock(&emu->lock);
}

static int find_kernel(struct emu *emu, struct emu_module *module, const char *name,
                       struct emu_kernel **kernel)
{
    for (struct emu_kernel *k = module->kernels; k; k = k->next)
        if (!strcmp(k->info.name, name)) {
            *kernel = k;
            return EMU_OK;
        }
    for (size_t i = 0; i < module->text.function_count; i++) {
        const struct ptx_function *function = &module->text.functions[i];
        if (!function->is_entry || !function->has_body || strcmp(function->name, name)) continue;
        int error =
            decode_kernel(emu->gpu, module, function, kernel, emu->message, sizeof emu->message);
        if (error) return error;
        (*kernel)->next = module->kernels;
        module->kernels = *kernel;
        return EMU_OK;
    }
    return device_failed(emu, EMU_INVALID_DEVICE_FUNCTION, "%s has no kernel '%s'", module->name,
                         name);
}

int emu_kernel(struct emu *emu, struct emu_module *module, const char *name,
               struct emu_kernel **kernel)
{
    pthread_mutex_lock(&emu->lock);
    int error = find_kernel(emu, module, name, kernel);
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_place_symbol(struct emu *emu, struct emu_module *module, const char *name, void *host,
                     bool fill)
{
    emu_addr old, new = (emu_addr)(uintptr_t)host;
    size_t bytes;
    int error = emu_symbol(emu, module, name, &old, &bytes);
    if (error || old == new) return error;
    pthread_mutex_lock(&emu->lock);
    const void *from = memory_view(&emu->memory, old, bytes);
    if (module->kernels || !from || !memory_view(&emu->memory, new, bytes)) {
        error = device_failed(emu, EMU_INVALID_VALUE, "variable '%s' cannot move to %p any more",
                              name, host);
    } else {
        if (fill) memcpy(host, from, bytes);
        for (size_t i = 0; i < module->text.variable_count; i++)
            if (module->addresses[i] == old) module->addresses[i] = new;
        memory_free(&emu->memory, old);
    }
    pthread_mutex_unlock(&emu->lock);
    return error;
}

int emu_symbol(struct emu *emu, struct emu_module *module, const char *name, emu_addr *address,
               size_t *bytes)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (module->addresses[i] && !strcmp(module->text.variables[i].name, name)) {
            *address = module->addresses[i];
            *bytes = module->text.variables[i].bytes;
            return EMU_OK;
        }
    return device_failed(emu, EMU_SYMBOL_NOT_FOUND, "%s has no variable '%s'", module->name, name);
}

const struct emu_kernel_info *emu_kernel_info(const struct emu_kernel *kernel)
{
    return &kernel->info;
}
