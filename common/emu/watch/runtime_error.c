/* runtime_error.c — memcheck: a call of the CUDA runtime in a kernel returns an error. Kernels
 * seldom look at it. */
#include "check.h"
#include "common/emu/machine/device.h"
#include "common/emu/machine/events.h"
#include <string.h>

/* "a launch", or "cudaMalloc" */
static void describe_call(const struct insn *i, char *text, size_t size)
{
    static const char prefix[] = "__cudaCDP2";
    const char *name = i->call->callee ? i->call->callee->function->name : "a function";
    bool is_prefixed = !strncmp(name, prefix, strlen(prefix));
    if (strstr(name, "LaunchDevice") || strstr(name, "GetParameterBuffer"))
        snprintf(text, size, "a launch in a kernel");
    else
        snprintf(text, size, "a call of %s%s in a kernel", is_prefixed ? "cuda" : "",
                 is_prefixed ? name + strlen(prefix) : name);
}

void event_runtime_error(struct warp *w, const struct insn *i, int lane, int error)
{
    struct launch *launch = w->block->launch;
    const struct emu_host_side *host = &launch->emu->host_side;
    char call[200], title[500];
    if (!(launch->checks & EMU_CHECK_MEMORY)) return;
    describe_call(i, call, sizeof call);
    snprintf(title, sizeof title, "Program hit %s (error %d) due to \"%s\" on %s",
             host->error_name ? host->error_name(error) : "an error", error,
             host->error_text ? host->error_text(error) : "unknown", call);
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = EMU_CHECK_MEMORY,
                                        .kind = "api-error",
                                        .title = title,
                                        .place = check_place(w, i, lane)});
}
