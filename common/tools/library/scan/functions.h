/* functions.h — the scans of scan.h as rows of one table, for programs that choose one by its
 * name. */
#ifndef LIBRARY_SCAN_FUNCTIONS_H
#define LIBRARY_SCAN_FUNCTIONS_H

#include "scan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of any of them. */
struct scan_call {
    void *workspace;
    size_t *bytes;
    void *out;
    const void *in, *second;
    size_t n;
    double keep, take; /* decay */
    float eye;         /* sight */
    const struct upsweep_scan_options *options;
    cudaStream_t stream;
};

struct scan_function {
    const char *name;       /* "sum_f32": the operator, and the type of elements of `in` */
    size_t in, second, out; /* bytes of an element; second: or 0 */
    bool real;              /* are elements of `in` floats? */
    bool all_heads;         /* does it take UPSWEEP_HEADS_BYTES and UPSWEEP_HEADS_KEYS? */
    cudaError_t (*call)(const struct scan_call *);
};

/* Ends with a row whose name is NULL. */
extern const struct scan_function scan_functions[];

#ifdef __cplusplus
}
#endif

#endif
