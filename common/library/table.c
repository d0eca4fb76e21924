/* table.c — the functions of upsweep/table.h, by step 14. */
#include "common/library/upsweep/table.h"
#include "common/library/call.h"
#include "steps/14-summed-area-table/sat.h"

#define DEFINE_TABLE(name, Pixel, Sum)                                                             \
    cudaError_t upsweep_table_##name(void *workspace, size_t *bytes, Sum *table,                   \
                                     const Pixel *pixels, size_t width, size_t height,             \
                                     unsigned channels, cudaStream_t stream)                       \
    {                                                                                              \
        struct sat_size size = {width, height, channels};                                          \
        size_t needed = 0, n = width > 0 && height > 0;                                            \
        bool done;                                                                                 \
        cudaError_t error = sat_##name(NULL, &needed, NULL, NULL, size, stream);                   \
        if (!error)                                                                                \
            error = begin_call(workspace, bytes, needed, 0, n, table && pixels, stream, &done);    \
        if (error || done) return error;                                                           \
        return sat_##name(workspace, bytes, table, pixels, size, stream);                          \
    }

DEFINE_TABLE(u8, uint8_t, uint32_t)
DEFINE_TABLE(u16, uint16_t, uint32_t)
DEFINE_TABLE(f32, float, float)

#define DEFINE_BOX(name, Pixel)                                                                    \
    cudaError_t upsweep_box_##name(Pixel *out, const uint32_t *table, size_t width, size_t height, \
                                   unsigned channels, size_t window, cudaStream_t stream)          \
    {                                                                                              \
        struct sat_size size = {width, height, channels};                                          \
        if (width > 0 && height > 0 && !(out && table)) return cudaErrorInvalidValue;              \
        return sat_box_##name(out, table, size, window, stream);                                   \
    }

DEFINE_BOX(u8, uint8_t)
DEFINE_BOX(u16, uint16_t)
