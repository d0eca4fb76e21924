/* alone.c — for WebAssembly without threads: loops that one thread takes alone, and no progress bar
 * on a terminal. In place of parallel.c and progress.c. And no launches in kernels, in place of the
 * emulator's files that page.mk leaves out. */
#include "common/emu/ptx/insn.h"
#include "common/harness/host/host.h"

#include <stdbool.h>
#include <stddef.h>

struct emu;
struct launch;
struct op_comparison;
struct race;

unsigned parallel_threads = 1;

void parallel_for(size_t count, void (*work)(void *, size_t), void *context)
{
    for (size_t i = 0; i < count; i++) work(context, i);
}

bool progress_is_wanted(void) { return false; }
void progress_begin(const char *label, size_t total) { (void)label, (void)total; }
void progress_at(size_t done) { (void)done; }
void progress_end(void) {}

void (*runtime_find(const char *name))(struct warp *, const struct insn *, uint32_t)
{
    return (void)name, NULL;
}
int children_open(struct emu *emu, struct launch *launch) { return (void)emu, (void)launch, 0; }
int children_take(struct emu *emu, struct launch *launch) { return (void)emu, (void)launch, 0; }
struct launch *children_next(struct emu *emu, int *error) { return (void)emu, *error = 0, NULL; }
void children_drop(struct emu *emu) { (void)emu; }
void children_free(struct launch *launch) { (void)launch; }
void descendants_close(struct emu *emu) { (void)emu; }
void race_families_compare(struct op_comparison *c, struct race *race) { (void)c, (void)race; }
void race_families_forget(struct race *race, uint64_t address, uint64_t bytes)
{
    (void)race, (void)address, (void)bytes;
}
