/* fault.c — the sentence that a fault leaves: what, where in the source, which kernel, block and
 * thread. */
#include "machine.h"
#include "kernel_name.h"
#include "module.h"
#include <stdarg.h>
#include <string.h>

void describe_place(const struct emu_kernel *kernel, const struct insn *insn, char *text,
                    size_t size)
{
    const struct ptx_text *ptx = &kernel->module->text;
    const struct ptx_instruction *source = insn ? insn->source : NULL;
    const char *file = source && source->file < ptx->file_count ? ptx->files[source->file] : NULL;
    if (source && source->source_line && file)
        snprintf(text, size, "%s:%u (PTX line %u)", file, source->source_line, source->line);
    else if (source)
        snprintf(text, size, "PTX line %u (compile with -lineinfo for the source line)",
                 source->line);
    else
        snprintf(text, size, "the end of the kernel");
}

void fault(struct warp *w, const struct insn *i, int lane, int error, const char *format, ...)
{
    struct launch *launch = w->block->launch;
    char what[400], place[500], kernel[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    describe_place(launch->kernel, i, place, sizeof place);
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);

    if (lane < 0) lane = w->live ? __builtin_ctz(w->live) : 0;
    unsigned thread = w->index * WARP + (unsigned)lane;
    struct emu_dim id = w->block->id, size = launch->block;
    pthread_mutex_lock(&launch->lock);
    if (!launch->error) {
        snprintf(launch->message, sizeof launch->message,
                 "%s, at %s in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", what, place, kernel,
                 id.x, id.y, id.z, thread % size.x, thread / size.x % size.y,
                 thread / size.x / size.y);
        launch->error = error;
    }
    pthread_mutex_unlock(&launch->lock);
    w->fuel = 0; /* the interpreter looks around at once */
    w->slice = 0;
}
