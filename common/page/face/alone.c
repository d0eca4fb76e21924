/* alone.c — for WebAssembly without threads: loops that one thread takes alone, and no progress bar
 * on a terminal. In place of parallel.c and progress.c. */
#include "common/harness/host/parallel.h"
#include "common/harness/print/progress.h"

unsigned parallel_threads = 1;

void parallel_for(size_t count, void (*work)(void *, size_t), void *context)
{
    for (size_t i = 0; i < count; i++) work(context, i);
}

bool parallel_is_shared(size_t count) { return (void)count, false; }

bool progress_is_wanted(void) { return false; }
void progress_begin(const char *label, size_t total) { (void)label, (void)total; }
void progress_at(size_t done) { (void)done; }
void progress_end(void) {}
