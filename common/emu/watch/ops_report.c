/* ops_report.c — racecheck: hazards between operations as text. A finding is a pair of places:
 * source lines of kernels, or calls of the runtime. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "ops.h"
#include "check.h"
#include "common/emu/machine/device.h"
#include "common/emu/ptx/kernel_name.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the code of a launch -------------------------------------------------------------------- */

/* The kept copy of a file's name; NULL: no name, or out of memory. */
static const char *keep_file(struct stream_ops *ops, const char *name)
{
    if (!name) return NULL;
    for (size_t i = ops->file_count; i-- > 0;)
        if (!strcmp(ops->files[i], name)) return ops->files[i];
    char **grown = realloc(ops->files, (ops->file_count + 1) * sizeof *grown);
    if (!grown) return NULL;
    ops->files = grown;
    char *copy = strdup(name);
    if (copy) ops->files[ops->file_count++] = copy;
    return copy;
}

static struct op_place place_in_kernel(struct stream_ops *ops, const struct emu_kernel *kernel,
                                       unsigned place)
{
    const struct ptx_instruction *source =
        place == UNKNOWN_PLACE ? NULL : kernel->code[place].source;
    const struct ptx_text *text = &kernel->module->text;
    if (!source) return (struct op_place){0};
    bool has_line = source->source_line && source->file < text->file_count;
    return (struct op_place){has_line ? keep_file(ops, text->files[source->file]) : NULL,
                             has_line ? source->source_line : 0, source->line};
}

struct op_code *op_code_of(struct stream_ops *ops, const struct race *race,
                           const struct launch *launch)
{
    unsigned count = race->place_count + 1;
    if (!race->places || !race->uses) return NULL;
    struct op_code *code = calloc(1, sizeof *code + count * sizeof *code->places);
    if (!code) return NULL;
    code->place_count = count;
    for (unsigned i = 0; i < count; i++)
        code->places[i] = place_in_kernel(ops, launch->kernel, race->places[i]);
    code->kernel = strdup(launch->kernel->info.name);
    if (code->kernel) return code;
    free(code);
    return NULL;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What is said of each kind of operation. */
static const struct {
    const char *noun, *begun;
} op_words[] = {
    [STREAM_OP_KERNEL] = {"kernel", "The kernel was launched at"},
    [STREAM_OP_COPY] = {"copy", "The copy was made at"},
    [STREAM_OP_FILL] = {"fill", "The fill was made at"},
    [STREAM_OP_HOST] = {"host function", "The host function was put into the stream at"},
    [STREAM_OP_LIBRARY] = {"", "The library was called at"},
    [STREAM_OP_CONDITION] = {"conditional node", "The graph was launched at"},
    [STREAM_OP_ALLOC] = {"allocation", "The memory was allocated at"},
    [STREAM_OP_FREE] = {"free", "The memory was freed at"},
};

/* One side of a hazard. */
struct op_side {
    const struct op_state *op;
    struct op_place place;
    const char *access, *did;
    bool is_launcher; /* it has launched the other side, or what has launched that */
};

static struct op_side side_of(const struct stream_ops *ops, record v, bool writes, bool is_now)
{
    struct op_side side = {.op = op_at(ops, op_of(v))};
    const struct op_code *code = side.op->code;
    bool is_atomic = (record_kind(v) & KIND_MASK) == KIND_ATOMIC;
    if (code && op_place_of(v) < code->place_count) side.place = code->places[op_place_of(v)];
    side.access = is_atomic ? "Atomic access" : writes ? "Write access" : "Read access";
    switch (side.op->info.kind) {
    case STREAM_OP_ALLOC: side.did = is_now ? "allocates it" : "gives it out"; break;
    case STREAM_OP_FREE: side.did = "frees it"; break;
    default:
        side.did = writes ? (is_now ? "writes it" : "wrote it") : (is_now ? "reads it" : "read it");
    }
    return side;
}

static bool has_launched(const struct stream_ops *ops, const struct op_side *side,
                         const struct op_state *other)
{
    while (other && other->info.launcher) {
        other = op_at(ops, other->info.launcher);
        if (other == side->op) return true;
    }
    return false;
}

/* "Write access at kernel(int *) in file.cu:12 (PTX line 97)", "Read access of a copy" */
static void describe_side(const struct op_side *side, char *text, size_t size)
{
    char name[300], source[500];
    if (side->op->info.kind == STREAM_OP_KERNEL && side->op->code) {
        kernel_whole_name(side->op->code->kernel, name, sizeof name);
        describe_source(side->place.file, side->place.line, side->place.ptx_line, source,
                        sizeof source);
        snprintf(text, size, "%s at %s in %s", side->access, name, source);
    } else if (side->op->info.kind >= STREAM_OP_ALLOC) {
        snprintf(text, size, "%s of memory",
                 side->op->info.kind == STREAM_OP_ALLOC ? "Allocation" : "Free");
    } else if (side->op->info.kind == STREAM_OP_LIBRARY) {
        snprintf(text, size, "%s of %s", side->access, side->op->info.library);
    } else {
        snprintf(text, size, "%s of a %s", side->access, op_words[side->op->info.kind].noun);
    }
}

/* "the copy in stream 13 reads it" */
static void append_deed(const struct op_side *side, char *text, size_t size)
{
    const struct stream_op_info *info = &side->op->info;
    if (!info->stream && !info->launcher) {
        device_append(text, size, "cudaFree %s", side->did);
        return;
    }
    if (info->launcher) {
        device_append(text, size, "the %s that a kernel has launched %s", op_words[info->kind].noun,
                      side->did);
        return;
    }
    device_append(text, size, "%s%s in %s%llu", info->library ? "" : "the ",
                  info->library ? info->library : op_words[info->kind].noun,
                  info->in_graph ? "a graph in stream " : "stream ", info->stream);
    if (info->device) device_append(text, size, " of device %d", info->device);
    device_append(text, size, " %s", side->did);
}

static const char *advice_of(const struct op_side *before, const struct op_side *now)
{
    if (before->is_launcher)
        return "The second kernel was launched, by itself or by another one, when the first had "
               "not come to its access, or by a thread that is not ordered with it: does the "
               "access belong before the launch, or the launch into cudaStreamTailLaunch?";
    if (before->op->info.launcher && now->op->info.launcher)
        return "No stream or event in the kernels that launched them orders these two: do both "
               "belong into one stream, or the later one into cudaStreamTailLaunch?";
    if (before->op->info.kind == STREAM_OP_ALLOC)
        return "Only work behind the allocation in its stream may use the memory: is a "
               "cudaStreamWaitEvent() or a synchronisation missing?";
    if (now->op->info.kind == STREAM_OP_FREE)
        return "The memory may get another use before that work has ended: is a "
               "cudaStreamWaitEvent() or a synchronisation missing before it is freed?";
    if (before->op->info.in_graph && now->op->info.in_graph)
        return "No path of the graph, stream, event or wait of the host orders these two: is an "
               "edge of the graph missing between them?";
    return "No stream, event or wait of the host orders these two: is a cudaStreamWaitEvent() or "
           "a synchronisation missing between them?";
}

/* Of what a kernel has launched, the host knows only the kernel. */
static void append_host_place(const struct emu *emu, const struct op_side *side, char *text,
                              size_t size)
{
    if (side->op->info.launcher) return;
    check_append_host_place(emu, &side->op->info.place, op_words[side->op->info.kind].begun, text,
                            size);
}

static void describe(struct emu *emu, const struct op_conflict *c, const struct op_side *before,
                     const struct op_side *now, char *text, size_t size)
{
    struct range range;
    snprintf(text, size, "    %s hazard at ",
             !c->now_writes    ? "RAW"
             : c->before_wrote ? "WAW"
                               : "WAR");
    if (c->address >= STREAM_CONDITIONS)
        device_append(text, size, "the condition of a graph");
    else
        device_append(text, size, "address 0x%" PRIx64, c->address);
    if (device_range(emu, c->address, &range))
        device_append(text, size, " (offset %" PRIu64 " of the %" PRIu64 " bytes at 0x%" PRIx64 ")",
                      c->address - range.base, range.bytes, range.base);
    device_append(text, size, ": ");
    append_deed(before, text, size);
    device_append(text, size, ", ");
    append_deed(now, text, size);
    device_append(text, size, "\n    %s", advice_of(before, now));
    append_host_place(emu, before, text, size);
    append_host_place(emu, now, text, size);
}

/* Identifies a side of a finding: loops and streams in an array repeat it. */
static void identify(const struct op_side *side, char *text, size_t size)
{
    const struct stream_op_info *info = &side->op->info;
    device_append(text, size, "%d %s %u %u %s;", info->kind,
                  side->op->code ? side->op->code->kernel : "", side->place.line,
                  side->place.line ? 0 : side->place.ptx_line, side->access);
    if (!side->op->code)
        for (unsigned i = 0; i < info->place.count; i++)
            device_append(text, size, "%p ", info->place.frames[i]);
}

static struct emu_place emu_place_of(const struct op_side *side)
{
    return (struct emu_place){.is_known = side->op->code != NULL,
                              .file = side->place.file,
                              .line = side->place.line,
                              .ptx_line = side->place.ptx_line,
                              .access = side->access};
}

/* ---- reporting ------------------------------------------------------------------------------- */

void op_report(struct stream_ops *ops, struct emu *emu, const struct launch *launch,
               const struct op_conflict *c)
{
    char head[2 * CHECK_TEXT], detail[2 * CHECK_TEXT], same[CHECK_TEXT] = "", one[850], other[850];
    struct op_side before = side_of(ops, c->before, c->before_wrote, false),
                   now = side_of(ops, c->now, c->now_writes, true);
    before.is_launcher = has_launched(ops, &before, now.op);
    describe_side(&before, one, sizeof one);
    describe_side(&now, other, sizeof other);
    snprintf(head, sizeof head, "Error: Race reported between %s\n    and %s", one, other);
    describe(emu, c, &before, &now, detail, sizeof detail);
    identify(&before, same, sizeof same);
    identify(&now, same, sizeof same);
    check_report(
        emu, launch,
        &(struct check_report){
            .tool = EMU_CHECK_RACE,
            .severity = EMU_FINDING_ERROR,
            .kind = "unordered-operations",
            .title = "Hazard between operations that nothing orders",
            .same = same,
            .head = head,
            .sources = &(struct check_sources){now.op->code ? now.op->code->kernel : NULL,
                                               before.op->code ? before.op->code->kernel : NULL,
                                               emu_place_of(&now), emu_place_of(&before)},
            .times = c->count,
            .has_address = c->address < STREAM_CONDITIONS,
            .space = PTX_GLOBAL,
            .address = c->address,
            .unit = "hazards",
            .detail = detail});
}
