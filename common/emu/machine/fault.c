/* fault.c — the message of a fault: what happened, the source line, the kernel, block and
 * thread. */
#include "device.h"
#include "events.h"
#include "common/emu/ptx/kernel_name.h"
#include "common/files/visible.h"
#include <stdarg.h>
#include <string.h>

enum { PATH = 450 }; /* what is shown of a path */

void describe_source(const char *file, unsigned line, unsigned ptx_line, char *text, size_t size)
{
    char shown[PATH];
    visible(shown, sizeof shown, file ? file : "");
    if (file)
        snprintf(text, size, "%s:%u (PTX line %u)", shown, line, ptx_line);
    else if (ptx_line)
        snprintf(text, size, "PTX line %u (compile with -lineinfo for the source line)", ptx_line);
    else
        snprintf(text, size, "the end of the kernel");
}

void describe_place(const struct emu_kernel *kernel, const struct insn *insn, char *text,
                    size_t size)
{
    const struct ptx_text *ptx = &kernel->module->text;
    const struct ptx_instruction *source = insn ? insn->source : NULL;
    const char *file = source && source->file < ptx->file_count ? ptx->files[source->file] : NULL;
    describe_source(source && source->source_line ? file : NULL, source ? source->source_line : 0,
                    source ? source->line : 0, text, size);
}

/* Keeps the launch's first fault, and stops the warp. True: this is the first one. */
static bool stop(struct warp *w, const struct insn *i, int lane, int error, const char *what)
{
    struct launch *launch = w->block->launch;
    struct emu_dim block = w->block->id, thread = thread_of(w, lane);
    char place[500], kernel[200];
    describe_place(launch->kernel, i, place, sizeof place);
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);
    pthread_mutex_lock(&launch->lock);
    bool is_first = !launch->error;
    if (is_first) {
        snprintf(launch->message, sizeof launch->message,
                 "%s, at %s in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", what, place, kernel,
                 block.x, block.y, block.z, thread.x, thread.y, thread.z);
        launch->error = error;
    }
    pthread_mutex_unlock(&launch->lock);
    w->fuel = 0; /* the interpreter stops now */
    w->slice = 0;
    return is_first;
}

static int chosen_lane(const struct warp *w, int lane)
{
    return lane >= 0 ? lane : w->live ? __builtin_ctz(w->live) : 0;
}

#define SENTENCE_SIZE 1000

/* Ends the launch, and announces the fault if it is the first one. */
static void end(struct warp *w, const struct insn *i, int lane, int error, enum fault_kind kind,
                const char *format, va_list arguments)
{
    char what[SENTENCE_SIZE];
    vsnprintf(what, sizeof what, format, arguments);
    lane = chosen_lane(w, lane);
    if (stop(w, i, lane, error, what))
        event_fault(w->block->launch, &(struct fault_event){.warp = w,
                                                            .insn = i,
                                                            .lane = lane,
                                                            .error = error,
                                                            .kind = kind,
                                                            .what = what,
                                                            .picture = ""});
}

void fault(struct warp *w, const struct insn *i, int lane, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    end(w, i, lane, error, FAULT_OTHER, format, arguments);
    va_end(arguments);
}

void fault_arguments(struct warp *w, const struct insn *i, int lane, int error, const char *format,
                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    end(w, i, lane, error, FAULT_ARGUMENTS, format, arguments);
    va_end(arguments);
}

bool fault_found(struct warp *w, const struct insn *i, int lane, int error, const char *format, ...)
{
    char what[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return stop(w, i, chosen_lane(w, lane), error, what);
}
