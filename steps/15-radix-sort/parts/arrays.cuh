/* arrays.cuh — the arrays of a sort, in device memory. */
#ifndef STEP15_ARRAYS_CUH
#define STEP15_ARRAYS_CUH

#include <stdint.h>

/* values_in may be NULL: then the values are the indices. Without values all three are NULL. */
template <typename Key> struct arrays {
    Key *out, *spare;
    const Key *in;
    uint32_t *values_out, *values_spare;
    const uint32_t *values_in;
};

#endif
