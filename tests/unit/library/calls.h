/*
 * calls.h — every function of the library with a workspace, as a row of one table, so that a test
 * can call all of them in the same way.
 */
#ifndef TESTS_LIBRARY_CALLS_H
#define TESTS_LIBRARY_CALLS_H

#include "common/tools/library/upsweep/upsweep.h"

#include <stdbool.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

enum type { U8, I8, U16, I16, F16, BF16, U32, I32, F32, U64, I64, F64, B128, TYPES };
extern const size_t type_bytes[TYPES];

/* What a row computes. */
enum operation {
    SUM,
    PRODUCT,
    MAX,
    MIN,
    XOR,
    LOGSUMEXP,
    AFFINE,
    DECAY, /* scans */
    ARGMAX,
    ARGMIN, /* scans that return indices, too */
    SELECT,
    FLAGGED,
    PARTITION,
    NONZERO,
    KEYS,
    PAIRS,
    TABLE,
    OPERATIONS
};

/* Arrays in device memory that a function does not take are not looked at. */
struct arguments {
    void *workspace;
    size_t *bytes;
    void *out, *more_out;     /* more_out: kept, indices, or the values of a sort */
    const void *in, *more_in; /* more_in: b, flags, or values */
    size_t n, value_bytes;
    const struct upsweep_predicate *predicate; /* in host memory, as all below */
    const struct upsweep_scan_options *scan;
    const struct upsweep_select_options *select;
    const struct upsweep_sort_options *sort;
    cudaStream_t stream;
};

struct function {
    const char *name;
    enum operation operation;
    enum type in, out;
    cudaError_t (*call)(const struct arguments *);
};

extern const struct function functions[];
extern const size_t function_count;

/* The constants of decay, and the predicate that keeps elements from -1 to 2. */
#define KEEP 0.5f
#define TAKE 2.0f
struct upsweep_predicate some_predicate(enum type);

/* The memory of one call, each array as long as it has to be: the emulator finds what lies beyond.
 * */
struct memory {
    struct arguments a;
    size_t bytes; /* of the workspace */
    size_t out_bytes, more_out_bytes;
};

/* Device memory for n elements, with copies of `in` and `more_in` (`more_bytes` bytes; may be
 * NULL), and a workspace as large as the call asks for, full of ones. Outputs are full of 0xab. */
void memory_open(struct memory *, const struct function *, const struct arguments *wanted,
                 const void *in, const void *more_in, size_t more_bytes);
void memory_close(struct memory *);

/* Opens, calls, copies the outputs to host memory and closes. Ends the test if a call fails. The
 * arrays of the host have room for the outputs; more_out may be NULL. */
void call_once(const struct function *, const struct arguments *wanted, const void *in,
               const void *more_in, size_t more_bytes, void *out, void *more_out);

#endif
