/* with_index.cuh — a result that is a value and the index of the element that has it. */
#ifndef STEP16_WITH_INDEX_CUH
#define STEP16_WITH_INDEX_CUH

#include <stdint.h>

namespace step16
{
/* Index -1: of no element. */
template <typename T> struct with_index {
    T value;
    int64_t index;
};
} // namespace step16
using step16::with_index;

#endif
