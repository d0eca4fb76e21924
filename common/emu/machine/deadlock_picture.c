/* deadlock_picture.c — see deadlock_picture.h. */
#include "deadlock_picture.h"
#include "phase_wait.h"
#include "member_mask.h"
#include "common/emu/decode/module.h"
#include <stdarg.h>
#include <string.h>

enum { LABEL = 13, ROW = 200 };

/* Text that grows until it is full. */
struct page {
    char *text;
    size_t used, size;
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void put(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(page->text + page->used, page->size - page->used, format, arguments);
    va_end(arguments);
    if (page->is_full || (size_t)length >= page->size - page->used) {
        page->text[page->used] = '\0'; /* whole pieces only */
        page->is_full = true;
    } else {
        page->used += (size_t)length;
    }
}

static void put_lanes(struct page *page, uint32_t lanes, char mark)
{
    char row[WARP + 1];
    for (int l = 0; l < WARP; l++) row[l] = lanes >> l & 1 ? mark : '.';
    row[WARP] = '\0';
    put(page, "%s  ", row);
}

/* "scan.cu:12", without folders */
static void put_place(struct page *page, const struct emu_kernel *kernel, const struct insn *insn)
{
    const struct ptx_text *ptx = &kernel->module->text;
    const struct ptx_instruction *source = insn->source;
    const char *file = source && source->file < ptx->file_count ? ptx->files[source->file] : NULL;
    if (file && source->source_line)
        put(page, "%s:%u", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, source->source_line);
    else if (source)
        put(page, "PTX line %u", source->line);
    else
        put(page, "the end");
}

static void put_fragment(struct page *page, const struct warp *w, const struct fragment *f)
{
    const struct block *block = w->block;
    const struct insn *insn = &block->launch->kernel->code[f->pc];
    put_lanes(page, f->mask, '#');
    put_place(page, block->launch->kernel, insn);
    if (f->state == FRAGMENT_AT_BARRIER) {
        const struct barrier *barrier = &block->barriers[f->barrier];
        put(page, "  waits at barrier %u (%u of %u threads)", f->barrier, barrier->arrived,
            barrier->expected);
    } else if (f->state == FRAGMENT_CONVERGING) {
        uint32_t members = converge_members(w, f, __builtin_ctz(f->mask));
        put(page, "  waits for lanes 0x%08x of its member mask 0x%08x",
            members & w->live & ~f->mask, members);
    } else if (f->state == FRAGMENT_WAITING) {
        put(page, insn->control == CONTROL_WAIT_CLUSTER ? "  waits for its cluster"
                                                        : "  waits for an mbarrier");
    } else {
        put(page, "  runs");
    }
}

/* The lines of one warp, each after the first behind `indent` + LABEL spaces. */
static void put_warp(struct page *page, const struct warp *w, int indent)
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
        if (rows++) put(page, "\n%*s", indent + LABEL, "");
        put_fragment(page, w, next);
        drawn |= next->mask;
    }
    if (!w->exited) return;
    if (rows) put(page, "\n%*s", indent + LABEL, "");
    put_lanes(page, w->exited, 'x');
    put(page, "exited");
}

static void put_group(struct page *page, int indent, unsigned first, unsigned last,
                      const char *rows)
{
    char label[LABEL + 1];
    if (first == last)
        snprintf(label, sizeof label, "warp %u", first);
    else
        snprintf(label, sizeof label, "warps %u-%u", first, last);
    put(page, "\n%*s%-*s%s", indent, "", LABEL, label, rows);
}

static void put_block(struct page *page, const struct block *block, int indent)
{
    char rows[2][WARP * ROW];
    unsigned first = 0, now = 0;
    put(page, "%s%*sblock (%u,%u,%u):", page->used ? "\n" : "", indent, "", block->id.x,
        block->id.y, block->id.z);
    for (unsigned i = 0; i < block->warp_count; i++, now = !now) {
        struct page own = {.text = rows[now], .size = sizeof rows[now]};
        put_warp(&own, &block->warps[i], indent + 2);
        if (i == first || !strcmp(rows[now], rows[!now])) continue;
        put_group(page, indent + 2, first, i - 1, rows[!now]);
        first = i;
    }
    put_group(page, indent + 2, first, block->warp_count - 1, rows[!now]);
}

void draw_waiting(const struct cluster *cluster, int indent, char *text, size_t size)
{
    static const char more[] = "\n(and more)";
    struct page page = {.text = text, .size = size - sizeof more};
    text[0] = '\0';
    for (unsigned b = 0; b < cluster->size; b++)
        if (!cluster->blocks[b]->ended) put_block(&page, cluster->blocks[b], indent);
    if (page.is_full) strcpy(text + page.used, more);
}
