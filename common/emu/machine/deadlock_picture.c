/* deadlock_picture.c — draws where each lane of a cluster waits. See deadlock.h. */
#include "deadlock.h"
#include "phase_wait.h"
#include "member_mask.h"
#include "common/emu/ptx/module.h"
#include "common/files/visible.h"
#include <stdarg.h>
#include <string.h>

enum { LABEL = 13, ROW = 200 };

/* A text that grows until it is full. */
struct picture {
    char *text;
    size_t used, size;
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void put(struct picture *picture, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(picture->text + picture->used, picture->size - picture->used, format, arguments);
    va_end(arguments);
    if (picture->is_full || (size_t)length >= picture->size - picture->used) {
        picture->text[picture->used] = '\0'; /* drops the part that does not fit */
        picture->is_full = true;
    } else {
        picture->used += (size_t)length;
    }
}

static void put_lanes(struct picture *picture, uint32_t lanes, char mark)
{
    char row[WARP + 1];
    for (int l = 0; l < WARP; l++) row[l] = lanes >> l & 1 ? mark : '.';
    row[WARP] = '\0';
    put(picture, "%s  ", row);
}

/* "scan.cu:12", without folders */
static void put_place(struct picture *picture, const struct emu_kernel *kernel,
                      const struct insn *insn)
{
    const struct ptx_text *ptx = &kernel->module->text;
    const struct ptx_instruction *source = insn->source;
    const char *file = source && source->file < ptx->file_count ? ptx->files[source->file] : NULL;
    char name[ROW];
    visible(name, sizeof name,
            file && strrchr(file, '/') ? strrchr(file, '/') + 1
            : file                     ? file
                                       : "");
    if (file && source->source_line)
        put(picture, "%s:%u", name, source->source_line);
    else if (source)
        put(picture, "PTX line %u", source->line);
    else
        put(picture, "the end");
}

static void put_fragment(struct picture *picture, const struct warp *w, const struct fragment *f)
{
    const struct block *block = w->block;
    const struct insn *insn = &block->launch->kernel->code[f->pc];
    put_lanes(picture, f->mask, '#');
    put_place(picture, block->launch->kernel, insn);
    if (f->state == FRAGMENT_AT_BARRIER) {
        const struct barrier *barrier = &block->barriers[f->barrier];
        put(picture, "  waits at barrier %u (%u of %u threads)", f->barrier, barrier->arrived,
            barrier->expected);
    } else if (f->state == FRAGMENT_WAITING_FOR_LANES) {
        uint32_t members = member_mask_of(w, f, __builtin_ctz(f->mask));
        put(picture, "  waits for lanes 0x%08x of its member mask 0x%08x",
            members & w->live & ~f->mask, members);
    } else if (f->state == FRAGMENT_WAITING_FOR_PHASE) {
        put(picture, insn->control == CONTROL_WAIT_CLUSTER ? "  waits for its cluster"
                                                           : "  waits for an mbarrier");
    } else {
        put(picture, "  runs");
    }
}

/* The lines of one warp. Lines after the first are behind `indent` + LABEL spaces. */
static void put_warp(struct picture *picture, const struct warp *w, int indent)
{
    unsigned rows = 0;
    uint32_t drawn = 0;
    for (;;) { /* the fragment with the lowest lane first */
        const struct fragment *next = NULL;
        for (unsigned k = 0; k < w->fragment_count; k++) {
            const struct fragment *f = &w->fragments[k];
            if (!(f->mask & drawn) && (!next || __builtin_ctz(f->mask) < __builtin_ctz(next->mask)))
                next = f;
        }
        if (!next) break;
        if (rows++) put(picture, "\n%*s", indent + LABEL, "");
        put_fragment(picture, w, next);
        drawn |= next->mask;
    }
    if (!w->exited) return;
    if (rows) put(picture, "\n%*s", indent + LABEL, "");
    put_lanes(picture, w->exited, 'x');
    put(picture, "exited");
}

static void put_group(struct picture *picture, int indent, unsigned first, unsigned last,
                      const char *rows)
{
    char label[LABEL + 1];
    if (first == last)
        snprintf(label, sizeof label, "warp %u", first);
    else
        snprintf(label, sizeof label, "warps %u-%u", first, last);
    put(picture, "\n%*s%-*s%s", indent, "", LABEL, label, rows);
}

static void put_block(struct picture *picture, const struct block *block, int indent)
{
    char rows[2][WARP * ROW];
    unsigned first = 0, now = 0;
    put(picture, "%s%*sblock (%u,%u,%u):", picture->used ? "\n" : "", indent, "", block->id.x,
        block->id.y, block->id.z);
    for (unsigned i = 0; i < block->warp_count; i++, now = !now) {
        struct picture own = {.text = rows[now], .size = sizeof rows[now]};
        put_warp(&own, &block->warps[i], indent + 2);
        if (i == first || !strcmp(rows[now], rows[!now])) continue;
        put_group(picture, indent + 2, first, i - 1, rows[!now]);
        first = i;
    }
    put_group(picture, indent + 2, first, block->warp_count - 1, rows[!now]);
}

void deadlock_picture_draw(const struct cluster *cluster, int indent, char *text, size_t size)
{
    static const char more[] = "\n(and more)";
    struct picture picture = {.text = text, .size = size - sizeof more};
    text[0] = '\0';
    for (unsigned b = 0; b < cluster->size; b++)
        if (!cluster->blocks[b]->ended) put_block(&picture, cluster->blocks[b], indent);
    if (picture.is_full) strcpy(text + picture.used, more);
}
