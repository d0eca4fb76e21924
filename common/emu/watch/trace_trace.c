#include "trace.h"
#include "counters.h"
#include "common/emu/ptx/module.h"
#include "common/files/visible.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct emu_trace {
    FILE *file;
    bool has_header;
};

static const char header[] = "launch\tkernel\tblock\twarp\tepoch\tline\toperation\tspace\tbytes\t"
                             "mask\twavefronts\tideal\tsectors\taddresses\tvalues\n";

struct emu_trace *trace_open(FILE *file)
{
    struct emu_trace *trace = calloc(1, sizeof *trace);
    if (trace) trace->file = file;
    return trace;
}

void trace_close(struct emu_trace *trace) { free(trace); }

/* Prints what this access alone adds to the counters. */
static void print_counts(FILE *file, const struct warp *w, const struct insn *i,
                         const struct access *access)
{
    struct insn_counts counts = {0};
    count_access(&counts, w, i, access);
    if (access->space == PTX_SHARED)
        fprintf(file, "%" PRIu64 "\t%" PRIu64 "\t-\t", counts.wavefronts, counts.ideal);
    else
        fprintf(file, "-\t-\t%" PRIu64 "\t", counts.sectors);
}

/* Prints one lane's value. Before the access is carried out, a store's value is in registers; other
 * values are in memory. */
static void print_value(FILE *file, const struct warp *w, const struct insn *i, int lane,
                        const void *memory, unsigned bytes)
{
    bool plain = i->tally == TALLY_LOAD || i->tally == TALLY_STORE || i->tally == TALLY_ATOMIC;
    unsigned size = plain ? i->element_bytes : (unsigned)sizeof(uint32_t);
    for (unsigned k = 0; k * size < bytes; k++) {
        unsigned left = bytes - k * size; /* fewer than 4 at the edge of a tensor */
        uint64_t value = 0;
        if (i->tally == TALLY_STORE)
            memcpy(&value, (const uint8_t *)slot_at(w, i->memory.value[k]) + lane * i->lane_bytes,
                   size);
        else
            memcpy(&value, (const uint8_t *)memory + k * size, left < size ? left : size);
        fprintf(file, "%s%0*" PRIx64, k ? "," : "", (int)(2 * size), value);
    }
}

static void print_values(FILE *file, const struct warp *w, const struct insn *i,
                         const struct access *access)
{
    bool store = access->operation == OPERATION_STORE;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        const void *memory = (const void *)(uintptr_t)(access->host + access->address[lane]);
        if (store && i->tally != TALLY_STORE)
            fputc('-', file);
        else
            print_value(file, w, i, lane, memory, access->bytes);
        fputc(left & (left - 1) ? ' ' : '\n', file);
    }
}

/* Prints the columns up to the source line. */
static void print_place(FILE *file, const struct warp *w, const struct insn *i)
{
    const struct launch *launch = w->block->launch;
    const struct ptx_text *text = &launch->kernel->module->text;
    const char *path = i->source->file < text->file_count ? text->files[i->source->file] : NULL;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path ? path : "";
    fprintf(file, "%u\t%s\t%" PRIu64 "\t%u\t%u\t", launch->id, launch->kernel->info.name,
            w->block->index, w->index, w->block->epoch);
    visible_print(file, name, strlen(name));
    fprintf(file, ":%u\t", i->source->source_line);
}

/* Begins a line, and before the first one the header. */
static FILE *begin_line(struct emu_trace *trace, const struct warp *w, const struct insn *i)
{
    if (!trace->has_header) fputs(header, trace->file);
    trace->has_header = true;
    print_place(trace->file, w, i);
    return trace->file;
}

void trace_access(struct emu_trace *trace, const struct warp *w, const struct insn *i,
                  const struct access *access)
{
    static const char *const operations[] = {"ld", "st", "atom"};
    FILE *file = begin_line(trace, w, i);
    fprintf(file, "%s\t%s\t%u\t%08" PRIx32 "\t", operations[access->operation],
            ptx_space_name(access->space), access->bytes, access->mask);
    print_counts(file, w, i, access);
    for (uint32_t left = access->mask; left; left &= left - 1)
        fprintf(file, "%" PRIx64 "%c", access->address[__builtin_ctz(left)],
                left & (left - 1) ? ' ' : '\t');
    print_values(file, w, i, access);
}

/* ---- barriers and warp-wide operations ------------------------------------------------------- */

static bool is_exchange(const struct insn *i)
{
    const char *word = i->source->words[0];
    return !strcmp(word, "shfl") || !strcmp(word, "vote");
}

/* Begins the line of a barrier or of a warp-wide operation, up to its lists. */
static FILE *begin_step(struct emu_trace *trace, const struct warp *w, const struct insn *i,
                        uint32_t lanes)
{
    FILE *file = begin_line(trace, w, i);
    const struct ptx_instruction *source = i->source;
    fputs(source->words[0], file);
    for (unsigned k = 1; k < source->word_count; k++) /* .up of a shuffle, .warp of a barrier */
        if (strcmp(source->words[k], "sync")) {
            fprintf(file, ".%s", source->words[k]);
            break;
        }
    fprintf(file, "\t-\t0\t%08" PRIx32 "\t-\t-\t-\t", lanes);
    return file;
}

void trace_step(struct emu_trace *trace, const struct warp *w, const struct insn *i, uint32_t lanes)
{
    if (is_exchange(i)) return;
    fputs("-\t-\n", begin_step(trace, w, i, lanes));
}

void trace_exchange(struct emu_trace *trace, const struct warp *w, const struct insn *i,
                    const struct exchange *e)
{
    FILE *file = begin_step(trace, w, i, e->lanes);
    if (!e->from) fputs("-\t", file);
    for (uint32_t left = e->from ? e->lanes : 0; left; left &= left - 1)
        fprintf(file, "%x%c", e->from[__builtin_ctz(left)], left & (left - 1) ? ' ' : '\t');
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        fprintf(file, "%08" PRIx32 ",%08" PRIx32 "%c", e->given[lane], e->received[lane],
                left & (left - 1) ? ' ' : '\n');
    }
}
