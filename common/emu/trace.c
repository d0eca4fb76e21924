#include "trace.h"
#include "module.h"
#include <inttypes.h>
#include <string.h>

void trace_access(struct emu_trace *trace, const struct warp *w, const struct insn *i,
                  uint32_t mask, const uint64_t *address, unsigned bytes, const char *operation,
                  enum ptx_space space)
{
    const struct launch *launch = w->block->launch;
    const struct ptx_text *text = &launch->kernel->module->text;
    const char *path = i->source->file < text->file_count ? text->files[i->source->file] : NULL;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path ? path : "";
    if (!trace->has_header)
        fputs(
            "launch\tkernel\tblock\twarp\tepoch\tline\toperation\tspace\tbytes\tmask\taddresses\n",
            trace->file);
    trace->has_header = true;
    fprintf(trace->file, "%u\t%s\t%" PRIu64 "\t%u\t%u\t%s:%u\t%s\t%s\t%u\t%08" PRIx32 "\t",
            launch->id, launch->kernel->info.name, w->block->index, w->index, w->block->epoch, name,
            i->source->source_line, operation, ptx_space_name(space), bytes, mask);
    for (uint32_t left = mask; left; left &= left - 1)
        fprintf(trace->file, "%" PRIx64 "%c", address[__builtin_ctz(left)],
                left & (left - 1) ? ' ' : '\n');
}
