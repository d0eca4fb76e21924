/* differ.c — `diff schedule N`: a launch is executed again in another order, and the first load is
 * found, of a run in the usual order, that has read another value there. See debug.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "debug.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { OF_CHUNK = 16, MOST_CHUNKS = 1 << 20 };
#define MOST_THREADS (UINT32_C(1) << 22)

/* What a thread's load has read: the value, or a mixture of its bytes if they are more than 8. */
struct load {
    uint64_t value;
    uint32_t pc, bytes;
};

/* What the process that runs in the other order leaves for the one that compares. Each thread has
 * its loads in a list of chunks; chunk 0 is none. */
static struct loads {
    uint32_t first[MOST_THREADS], chunks;
    bool is_full;
    struct chunk {
        struct load loads[OF_CHUNK];
        uint32_t count, next;
    } chunk[MOST_CHUNKS];
} * loads;

/* Of each thread, in this process: the chunk that it has come to, and the place in it. */
static struct load_cursor {
    uint32_t chunk, at;
} * cursors;

/* The memory is there once it is written. */
void differ_open(void)
{
    loads = mmap(NULL, sizeof *loads, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (loads == MAP_FAILED) abort();
}

void differ_begin(bool records)
{
    if (records) madvise(loads, sizeof *loads, MADV_REMOVE);
    free(cursors);
    cursors = allocated(calloc(MOST_THREADS, sizeof *cursors));
}

static struct load load_of(const struct warp *w, const struct insn *i, const struct access *a,
                           int lane)
{
    const uint8_t *from = (const uint8_t *)(uintptr_t)(a->host + a->address[lane]);
    struct load load = {.pc = (uint32_t)(i - w->block->launch->kernel->code), .bytes = a->bytes};
    for (unsigned done = 0; done < a->bytes; done += 8) {
        uint64_t word = 0;
        memcpy(&word, from + done, a->bytes - done < 8 ? a->bytes - done : 8);
        load.value = done ? random_mixed(load.value) + word : word;
    }
    return load;
}

/* The thread's next entry; NULL: it has none, or there is no room. */
static struct load *next_entry(uint32_t thread, bool records)
{
    struct load_cursor *c = &cursors[thread];
    uint32_t *link = c->chunk ? &loads->chunk[c->chunk].next : &loads->first[thread];
    if (!c->chunk || c->at == OF_CHUNK) {
        if (records && loads->chunks + 1 == MOST_CHUNKS) loads->is_full = true;
        if (records && !loads->is_full) *link = ++loads->chunks;
        if (!*link) return NULL;
        *c = (struct load_cursor){.chunk = *link};
    }
    struct chunk *chunk = &loads->chunk[c->chunk];
    if (records) chunk->count++;
    return c->at < chunk->count ? &chunk->loads[c->at++] : NULL;
}

static void describe(const struct load *load, char *text, size_t size)
{
    if (load->bytes == sizeof(uint32_t))
        word_print((uint32_t)load->value, text, size);
    else if (load->bytes <= sizeof load->value)
        snprintf(text, size, "%" PRIu64, load->value);
    else
        snprintf(text, size, "%" PRIu32 " bytes", load->bytes);
}

bool differ_load(const struct warp *w, const struct insn *i, const struct access *a, int lane,
                 bool records, char why[MESSAGE])
{
    uint64_t thread = w->block->index * w->block->threads + w->index * WARP + (unsigned)lane;
    struct load own = load_of(w, i, a, lane), *other;
    char one[40], two[40];
    if (thread >= MOST_THREADS || !(other = next_entry((uint32_t)thread, records))) return false;
    if (records) *other = own;
    if (other->pc != own.pc) { /* it has branched by what no load has read: an atomic's result */
        snprintf(why, MESSAGE, "In the other order this thread's next load is another one");
        return true;
    }
    describe(&own, one, sizeof one);
    describe(other, two, sizeof two);
    snprintf(why, MESSAGE, "Here the thread is about to load %s; in the other order, %s", one, two);
    return other->value != own.value || other->bytes != own.bytes;
}

bool differ_is_whole(void)
{
    return !loads->is_full &&
           dim_count(session_launch()->grid) * dim_count(session_launch()->block) <= MOST_THREADS;
}
