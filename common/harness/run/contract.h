/*
 * contract.h — does a scan keep to its stream? A stream capture records what a call puts into the
 * stream, and runs none of it. A scan that does something that cannot be recorded breaks the
 * contract of step.h.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONTRACT_TEXT 200

/*
 * Captures work(context) in the stream. If that succeeds and the work does nothing that a scan
 * must not do, `breach` is "" and *graph is the recorded graph, which the caller destroys.
 * Otherwise *graph is NULL and `breach`[CONTRACT_TEXT] says what the work did. Returns 0 or
 * EXIT_DEVICE.
 */
int contract_capture(run_fn *work, void *context, cudaStream_t stream, cudaGraphExec_t *graph,
                     char *breach, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
