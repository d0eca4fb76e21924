/* select.cu — what upsweep/select.h selects by flags, and nonzero; by select.cuh. */
#include <string.h>

#include "common/tools/library/upsweep/select.cuh"

#define ARGUMENTS size_t n, const struct upsweep_select_options *options, cudaStream_t stream

using upsweep::select_kernels::flagged;

/* Elements of 16 bytes. */
struct __align__(16) b128 { uint64_t part[2]; };

/* Is one of these bits set? Of floats all bits but the sign count. */
template <typename T> struct bits {
    T counted;
    __device__ bool operator()(T x) const { return (x & counted) != 0; }
};

/* Are the flags there, where they are needed? */
static bool is_missing(const void *workspace, const uint8_t *flags, size_t n)
{
    return workspace && n > 0 && !flags;
}

#define DEFINE_BY_FLAGS(name, by, T)                                                               \
    cudaError_t upsweep_##name(void *workspace, size_t *bytes, void *out, uint64_t *kept,          \
                               const void *in, const uint8_t *flags, ARGUMENTS)                    \
    {                                                                                              \
        if (is_missing(workspace, flags, n)) return cudaErrorInvalidValue;                         \
        return upsweep::by(flagged{flags}, workspace, bytes, (T *)out, kept, (const T *)in, n,     \
                           options, stream);                                                       \
    }
#define DEFINE_FLAGGED(name, T)                                                                    \
    DEFINE_BY_FLAGS(select_flagged_##name, select, T)                                              \
    DEFINE_BY_FLAGS(partition_##name, partition, T)

DEFINE_FLAGGED(b8, uint8_t)
DEFINE_FLAGGED(b16, uint16_t)
DEFINE_FLAGGED(b32, uint32_t)
DEFINE_FLAGGED(b64, uint64_t)
DEFINE_FLAGGED(b128, b128)

#define DEFINE_INDICES(name, Index, T, Word, sign)                                                 \
    cudaError_t upsweep_##name(void *workspace, size_t *bytes, Index *out, uint64_t *kept,         \
                               const T *in, ARGUMENTS)                                             \
    {                                                                                              \
        bits<Word> keep = {(Word) ~(Word)(sign)};                                                  \
        return upsweep::select_indices(keep, workspace, bytes, out, kept, (const Word *)in, n,     \
                                       options, stream);                                           \
    }
#define DEFINE_NONZERO(name, T, Word, sign)                                                        \
    DEFINE_INDICES(nonzero_##name, uint64_t, T, Word, sign)                                        \
    DEFINE_INDICES(nonzero32_##name, uint32_t, T, Word, sign)

DEFINE_NONZERO(i8, int8_t, uint8_t, 0)
DEFINE_NONZERO(i16, int16_t, uint16_t, 0)
DEFINE_NONZERO(i32, int32_t, uint32_t, 0)
DEFINE_NONZERO(i64, int64_t, uint64_t, 0)
DEFINE_NONZERO(f16, uint16_t, uint16_t, 0x8000)
DEFINE_NONZERO(bf16, uint16_t, uint16_t, 0x8000)
DEFINE_NONZERO(f32, float, uint32_t, 0x80000000)
DEFINE_NONZERO(f64, double, uint64_t, 0x8000000000000000)
