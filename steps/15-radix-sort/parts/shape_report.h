/* shape_report.h — how sort.cu launches its kernels, for the report of ./step15. */
#ifndef STEP15_SHAPE_REPORT_H
#define STEP15_SHAPE_REPORT_H

#include "common/step/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The launch of a pass over n > 0 keys, or that of the one kernel for small n, on Hopper. */
struct launch_shape sort_shape(size_t n, size_t key_bytes, bool pairs);

#ifdef __cplusplus
}
#endif

#endif
