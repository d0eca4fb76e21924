/* heads.h — what the scans of the library check besides (call.h). */
#ifndef LIBRARY_HEADS_H
#define LIBRARY_HEADS_H

#include "call.h"

/* Is the array of heads there and aligned, if one is needed? */
static inline bool heads_given(const struct upsweep_scan_options *o)
{
    if (!o || o->kind == UPSWEEP_HEADS_NONE) return true;
    if (o->kind == UPSWEEP_HEADS_OFFSETS)
        return o->count == 0 || is_array(o->heads, sizeof(int64_t));
    return is_array(o->heads, o->kind == UPSWEEP_HEADS_BYTES ? 1 : sizeof(uint32_t));
}

#endif
