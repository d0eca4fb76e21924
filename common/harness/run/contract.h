/*
 * contract.h — does a scan keep to its stream? A stream capture records what a call puts into the
 * stream, and runs none of it. A scan that does something that cannot be recorded breaks the
 * contract of step.h.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "timing.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONTRACT_TEXT 200

/*
 * Captures work(context) in the stream. If it can be captured and does nothing that a scan may not
 * do, `breach` is "" and *graph what was recorded, which the caller destroys. Otherwise *graph is
 * NULL and `breach`[CONTRACT_TEXT] says what it did. Returns 0 or EXIT_DEVICE.
 */
int contract_capture(run_fn *work, void *context, cudaStream_t stream, cudaGraphExec_t *graph,
                     char *breach, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
