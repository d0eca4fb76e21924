/* fault.c — the sentence that a fault leaves: what, where in the source, which kernel, block and
 * thread. */
#include "common/emu/check/check.h"
#include "common/emu/ptx/kernel_name.h"
#include "common/emu/decode/module.h"
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

/* Keeps the launch's first fault, and stops the warp. True: this one is the first. */
static bool stop(struct warp *w, const struct insn *i, int lane, int error, const char *what)
{
    struct launch *launch = w->block->launch;
    struct check_place at = check_place(w, i, lane);
    char place[500], kernel[200];
    describe_place(launch->kernel, i, place, sizeof place);
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);
    pthread_mutex_lock(&launch->lock);
    bool is_first = !launch->error;
    if (is_first) {
        snprintf(launch->message, sizeof launch->message,
                 "%s, at %s in kernel %s, block (%u,%u,%u), thread (%u,%u,%u)", what, place, kernel,
                 at.block.x, at.block.y, at.block.z, at.thread.x, at.thread.y, at.thread.z);
        launch->error = error;
    }
    pthread_mutex_unlock(&launch->lock);
    w->fuel = 0; /* the interpreter looks around at once */
    w->slice = 0;
    return is_first;
}

/* A fault that no checker knows more of. It is a finding whichever of them is on: a launch that has
 * not come to its end is not right, and what it would have done is not checked. */
static void report(struct warp *w, const struct insn *i, int lane, int error, const char *what)
{
    struct launch *launch = w->block->launch;
    struct check_place place = check_place(w, i, lane);
    char head[CHECK_TEXT];
    bool waits = error == EMU_LAUNCH_FAILURE || error == EMU_LAUNCH_TIMEOUT;
    enum emu_check tool =
        waits && !(launch->checks & EMU_CHECK_MEMORY) ? EMU_CHECK_SYNC : EMU_CHECK_MEMORY;
    if (!launch->checks || error == EMU_INTERRUPTED) return;
    check_head(launch, &place, what, head, sizeof head);
    check_report(launch->emu, launch,
                 &(struct check_report){
                     .tool = tool, .kind = what, .place = place, .per_thread = true, .head = head});
}

static int chosen_lane(const struct warp *w, int lane)
{
    return lane >= 0 ? lane : w->live ? __builtin_ctz(w->live) : 0;
}

#define SENTENCE_SIZE 1000

void fault(struct warp *w, const struct insn *i, int lane, int error, const char *format, ...)
{
    char what[SENTENCE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    lane = chosen_lane(w, lane);
    if (stop(w, i, lane, error, what)) report(w, i, lane, error, what);
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
