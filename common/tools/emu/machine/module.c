/* module.c — what a program gives a device: modules with their variables and kernels, and
 * textures. */
#include "device.h"
#include "events.h"

/* ---- loads PTX ------------------------------------------------------------------------------- */

void module_free(struct emu_module *module)
{
    event_module_close(module);
    ptx_free(&module->text);
    free(module);
}

static bool is_in_memory(const struct ptx_variable *v)
{
    return v->linkage != PTX_EXTERN && (v->space == PTX_GLOBAL || v->space == PTX_CONST);
}

/* Is this the definition that the name refers to? Of several weak definitions only one is used. */
static bool is_chosen(const struct ptx_text *text, size_t index)
{
    const struct ptx_variable *v = &text->variables[index];
    const struct ptx_symbol *symbol = ptx_find(text, v->unit, v->name);
    return symbol && !symbol->is_function && symbol->index == index;
}

/* Finds the address of a variable or function that another variable's initial value contains. */
static int resolve_symbol(struct emu *emu, struct emu_module *module, const struct ptx_variable *v,
                          const char *name, emu_addr *address)
{
    const struct ptx_symbol *symbol = ptx_find(&module->text, v->unit, name);
    *address = 0;
    if (symbol && symbol->is_function)
        *address = module_function_address(&module->text, v->unit, name);
    else if (symbol)
        *address = module->addresses[symbol->index];
    if (*address) return EMU_OK;
    bool is_extern = symbol && module->text.variables[symbol->index].linkage == PTX_EXTERN;
    int error = !symbol ? EMU_INVALID_PTX : is_extern ? EMU_SYMBOL_NOT_FOUND : EMU_UNSUPPORTED_PTX;
    return device_failed(emu, error,
                         "%s, line %u: the initial value of '%s' has the address of '%s', which is "
                         "defined nowhere or in no memory that all threads see",
                         module->text.units[v->unit].name, v->line, v->name, name);
}

static int place_variable(struct emu *emu, struct emu_module *module, size_t index)
{
    const struct ptx_variable *v = &module->text.variables[index];
    size_t bytes = v->bytes ? v->bytes : 1;
    int error = memory_alloc(&emu->memory, bytes, &module->addresses[index]);
    if (error)
        return device_failed(emu, error, "%s: no device memory for the %zu bytes of '%s'",
                             module->name, v->bytes, v->name);
    void *there = memory_view(&emu->memory, module->addresses[index], bytes);
    if (v->initial)
        memcpy(there, v->initial, v->bytes);
    else
        memset(there, 0, bytes);
    event_host_write(emu, module->addresses[index], bytes);
    return EMU_OK;
}

static int fill_in_addresses(struct emu *emu, struct emu_module *module, size_t index)
{
    const struct ptx_variable *v = &module->text.variables[index];
    for (size_t k = 0; k < v->address_ofs; k++) {
        const struct ptx_address_of *of = &v->address_of[k];
        emu_addr address = 0;
        int error = resolve_symbol(emu, module, v, of->symbol, &address);
        if (error) return error;
        address = (address + (uint64_t)of->addend) >> of->shift;
        size_t size = of->size < sizeof address ? of->size : sizeof address;
        void *there = memory_view(&emu->memory, module->addresses[index] + of->offset, size);
        if (there) memcpy(there, &address, size);
    }
    return EMU_OK;
}

static int place_variables(struct emu *emu, struct emu_module *module)
{
    const struct ptx_text *text = &module->text;
    int error = EMU_OK;
    for (size_t i = 0; i < text->variable_count && !error; i++)
        if (is_in_memory(&text->variables[i]) && is_chosen(text, i))
            error = place_variable(emu, module, i);
    for (size_t i = 0; i < text->variable_count && !error; i++)
        if (module->addresses[i]) error = fill_in_addresses(emu, module, i);
    return error;
}

static void free_variables(struct emu *emu, struct emu_module *module)
{
    for (size_t i = 0; i < module->text.variable_count; i++)
        if (module->addresses[i]) {
            memory_free(&emu->memory, module->addresses[i]);
            event_drop(emu, module->addresses[i], module->text.variables[i].bytes);
        }
}

/* All constants share one bank. */
static int check_constants(struct emu *emu, const struct emu_module *module)
{
    const struct ptx_text *text = &module->text;
    size_t bytes = 0;
    for (size_t i = 0; i < text->variable_count; i++)
        if (text->variables[i].space == PTX_CONST && is_in_memory(&text->variables[i]) &&
            is_chosen(text, i))
            bytes += text->variables[i].bytes;
    if (bytes <= emu->gpu->constant) return EMU_OK;
    return device_failed(emu, EMU_INVALID_PTX,
                         "%s uses too much global constant data (0x%zx bytes, 0x%zx max); ptxas "
                         "refuses it, and no GPU runs it",
                         module->name, bytes, emu->gpu->constant);
}

/* Completes a module whose texts are parsed. */
static int finish_module(struct emu *emu, struct emu_module *module)
{
    const char *name = module->text.units[0].name;
    module->name = arena_text(&module->text.arena, name, strlen(name));
    module->addresses =
        arena_take(&module->text.arena, (module->text.variable_count + 1) * sizeof(emu_addr));
    int error = check_constants(emu, module);
    if (!error) error = place_variables(emu, module);
    if (error) free_variables(emu, module);
    return error;
}

int emu_link(struct emu *emu, const struct emu_ptx *parts, size_t count, struct emu_module **out)
{
    struct emu_module *module = allocated(calloc(1, sizeof *module));
    struct ptx_source *sources = allocated(calloc(count + 1, sizeof *sources));
    for (size_t i = 0; i < count; i++) {
        sources[i] = (struct ptx_source){parts[i].text, parts[i].length, parts[i].name};
        module->never_fuses |= parts[i].never_fuses;
    }
    pthread_mutex_lock(&emu->lock);
    int error = ptx_parse(sources, count, &module->text, emu->message, sizeof emu->message);
    if (!error) error = finish_module(emu, module);
    if (error) {
        module_free(module);
    } else {
        module->next = emu->modules;
        emu->modules = module;
        *out = module;
    }
    pthread_mutex_unlock(&emu->lock);
    free(sources);
    return error;
}

int emu_load(struct emu *emu, const char *ptx, size_t length, const char *name,
             struct emu_module **out)
{
    return emu_link(emu, &(struct emu_ptx){ptx, length, name, false}, 1, out);
}

const char *emu_source(const struct emu_module *module, size_t index)
{
    for (size_t i = 0; i < module->text.file_count; i++)
        if (module->text.files[i] && index-- == 0) return module->text.files[i];
    return NULL;
}

void emu_unload(struct emu *emu, struct emu_module *module)
{
    pthread_mutex_lock(&emu->lock);
    struct emu_module **link = &emu->modules;
    while (*link && *link != module) link = &(*link)->next;
    if (*link) {
        *link = module->next;
        emu->warned = NULL; /* a new kernel may get the address of an unloaded one */
        free_variables(emu, module);
        module_free(module);
    }
    pthread_mutex_unlock(&emu->lock);
}

const char *emu_kernel_name(const struct emu_module *module, size_t index)
{
    for (size_t i = 0; i < module->text.function_count; i++) {
        const struct ptx_function *f = &module->text.functions[i];
        if (f->is_entry && f->has_body && index-- == 0) return f->name;
    }
    return NULL;
}

static bool is_entry(const struct ptx_text *text, const struct ptx_symbol *symbol)
{
    if (!symbol || !symbol->is_function) return false;
    return text->functions[symbol->index].is_entry && text->functions[symbol->index].has_body;
}

/* The host names kernels and variables without their unit. Returns the one that all units share, or
 * the first one that is local to a unit. */
static const struct ptx_function *find_entry(const struct ptx_text *text, const char *name)
{
    for (unsigned unit = 0; unit < text->unit_count; unit++) {
        const struct ptx_symbol *symbol = ptx_find(text, unit, name);
        if (is_entry(text, symbol)) return &text->functions[symbol->index];
    }
    return NULL;
}

/* ptxas, also that of a driver, makes no machine code of such a kernel. */
static int check_shared(struct emu *emu, const struct emu_kernel *kernel)
{
    char name[EMU_NAME_SIZE];
    if (kernel->info.shared_bytes <= emu->gpu->shared_per_block) return EMU_OK;
    kernel_base_name(kernel->info.name, name, sizeof name);
    return device_failed(emu, EMU_INVALID_PTX,
                         "kernel %s uses too much shared data (0x%zx bytes, 0x%zx max); ptxas "
                         "refuses it, and no GPU runs it: only an array of dynamic size, extern "
                         "__shared__, may be larger",
                         name, kernel->info.shared_bytes, emu->gpu->shared_per_block);
}

int module_kernel(struct emu *emu, struct emu_module *module, const struct ptx_function *function,
                  struct emu_kernel **kernel)
{
    for (*kernel = module->kernels; *kernel; *kernel = (*kernel)->next)
        if ((*kernel)->function == function) return EMU_OK;
    int error =
        decode_kernel(emu->gpu, module, function, kernel, emu->message, sizeof emu->message);
    if (!error) error = check_shared(emu, *kernel);
    if (error) return error;
    (*kernel)->next = module->kernels;
    module->kernels = *kernel;
    return EMU_OK;
}

static int find_kernel(struct emu *emu, struct emu_module *module, const char *name,
                       struct emu_kernel **kernel)
{
    for (struct emu_kernel *k = module->kernels; k; k = k->next)
        if (!strcmp(k->info.name, name)) {
            *kernel = k;
            return EMU_OK;
        }
    const struct ptx_function *function = find_entry(&module->text, name);
    if (function) return module_kernel(emu, module, function, kernel);
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

static bool is_mistake(int error)
{
    return error == EMU_INVALID_PTX || error == EMU_SYMBOL_NOT_FOUND;
}

int emu_check_functions(struct emu *emu, struct emu_module *module)
{
    struct ptx_text *text = &module->text;
    int error = EMU_OK;
    pthread_mutex_lock(&emu->lock);
    for (size_t i = 0; i < text->function_count && !is_mistake(error); i++) {
        const struct ptx_function *f = &text->functions[i];
        if (f->has_body && !f->is_entry && !f->is_parsed)
            error = decode_function(emu->gpu, module, f, emu->message, sizeof emu->message);
    }
    pthread_mutex_unlock(&emu->lock);
    return is_mistake(error) ? error : EMU_OK;
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
    const struct ptx_text *text = &module->text;
    for (unsigned unit = 0; unit < text->unit_count; unit++) {
        const struct ptx_symbol *symbol = ptx_find(text, unit, name);
        if (symbol && !symbol->is_function && module->addresses[symbol->index]) {
            *address = module->addresses[symbol->index];
            *bytes = text->variables[symbol->index].bytes;
            return EMU_OK;
        }
    }
    return device_failed(emu, EMU_SYMBOL_NOT_FOUND, "%s has no variable '%s'", module->name, name);
}

const struct emu_kernel_info *emu_kernel_info(const struct emu_kernel *kernel)
{
    return &kernel->info;
}

/* ---- a device's texture and surface objects, by number --------------------------------------- */

/* The upper half of an object's number tells the device, so that no other device has it. */
static uint64_t first_number(const struct emu *emu) { return (emu->number + UINT64_C(1)) << 32; }

/* The place of an object's number, which may be beyond the last. */
static uint64_t place_of(const struct emu *emu, uint64_t object)
{
    return object - first_number(emu) - 1;
}

const struct emu_texture *device_texture(const struct emu *emu, uint64_t object)
{
    uint64_t place = place_of(emu, object);
    return place < emu->textures.count ? emu->textures.all[place] : NULL;
}

const char *device_describe_object(const struct emu *emu, uint64_t object)
{
    if (!object) return "it is 0";
    if (place_of(emu, object) < emu->textures.count) return "it has been destroyed";
    return "it was not made on this device";
}

void device_close_textures(struct emu *emu)
{
    for (size_t k = 0; k < emu->textures.count; k++) free(emu->textures.all[k]);
    free(emu->textures.all);
}

int emu_texture_open(struct emu *emu, const struct emu_texture *texture, uint64_t *object)
{
    struct textures *textures = &emu->textures;
    struct emu_texture *kept = allocated(malloc(sizeof *kept));
    *kept = *texture;
    pthread_mutex_lock(&emu->lock);
    textures->all = grown(textures->all, textures->count, sizeof *textures->all);
    textures->all[textures->count++] = kept;
    *object = first_number(emu) + textures->count;
    pthread_mutex_unlock(&emu->lock);
    return EMU_OK;
}

int emu_texture_close(struct emu *emu, uint64_t object)
{
    int error = EMU_OK;
    pthread_mutex_lock(&emu->lock);
    if (device_texture(emu, object)) {
        free(emu->textures.all[place_of(emu, object)]);
        emu->textures.all[place_of(emu, object)] = NULL;
    } else {
        error = device_failed(emu, EMU_INVALID_VALUE, "0x%llx is no texture or surface object: %s",
                              (unsigned long long)object, device_describe_object(emu, object));
    }
    pthread_mutex_unlock(&emu->lock);
    return error;
}
