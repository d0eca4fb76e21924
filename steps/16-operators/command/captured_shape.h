/*
 * captured_shape.h — how a scan launches its kernels, for the report.
 */
#ifndef STEP16_CAPTURED_SHAPE_H
#define STEP16_CAPTURED_SHAPE_H

#include "common/harness/run/timing.h"
#include "common/step/step.h"

/* An address for arrays that no kernel reads or writes. */
#define NOWHERE ((size_t)1 << 20)

/* The buffer of results is displaced by multiples of this: the widest result. */
#define WIDEST_RESULT sizeof(double)

/* Captures the scan, without running it, and looks at its last kernel. All zeros if the scan cannot
 * be captured: then its run says why. */
struct launch_shape captured_shape(run_fn *scan, void *context);

#endif
