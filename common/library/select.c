/* select.c — the functions of upsweep/select.h that select by a predicate, by step 13. */
#include "common/library/upsweep/select.h"
#include "common/library/call.h"
#include "steps/13-compaction/compact.h"

/* Both have intervals of keys that are equal. */
static struct predicate predicate_of(const struct upsweep_predicate *p)
{
    struct predicate q = {.count = p->count};
    for (unsigned i = 0; i < p->count; i++)
        q.interval[i] = (struct key_interval){p->interval[i].low, p->interval[i].span};
    return q;
}

#define DEFINE_SELECT(name, T)                                                                     \
    cudaError_t upsweep_select_##name(void *workspace, size_t *bytes, T *out, uint64_t *kept,      \
                                      const T *in, const struct upsweep_predicate *predicate,      \
                                      size_t n, const struct upsweep_select_options *options,      \
                                      cudaStream_t stream)                                         \
    {                                                                                              \
        size_t needed = 0;                                                                         \
        bool done;                                                                                 \
        if (options && options->inverse) return cudaErrorNotSupported;                             \
        if (workspace && (!kept || !predicate || predicate->count > UPSWEEP_INTERVALS_MOST))       \
            return cudaErrorInvalidValue;                                                          \
        cudaError_t error = compact_##name(NULL, &needed, NULL, NULL, NULL, n, NULL, stream);      \
        if (!error)                                                                                \
            error = begin_call(workspace, bytes, needed, options && options->cleared ? 0 : needed, \
                               n, out && in, stream, &done);                                       \
        if (workspace && n == 0 && !error) return cudaMemsetAsync(kept, 0, sizeof *kept, stream);  \
        if (error || done) return error;                                                           \
        struct predicate p = predicate_of(predicate);                                              \
        return compact_##name(workspace, bytes, out, kept, in, n, &p, stream);                     \
    }

DEFINE_SELECT(f32, float)
DEFINE_SELECT(f64, double)
DEFINE_SELECT(i32, int32_t)
DEFINE_SELECT(i64, int64_t)
