/* scan_options.h — options of the library's scans, as step 16 has them. Both have the same enum. */
#ifndef LIBRARY_SCAN_OPTIONS_H
#define LIBRARY_SCAN_OPTIONS_H

#include "common/tools/library/call.h"
#include "common/tools/library/upsweep/scan.h"
#include "common/tools/library/scan/scan.h"

#include <string.h>

static inline struct scan_options options_of_scan(const struct upsweep_scan_options *o)
{
    struct scan_options s;
    memset(&s, 0, sizeof s);
    if (!o) return s;
    s.inclusive = o->inclusive;
    s.reverse = o->reverse;
    s.row = o->row;
    s.columns = o->columns;
    s.kind = (enum scan_heads)o->kind;
    s.heads = o->heads;
    s.count = o->count;
    s.initial = o->initial;
    return s;
}

/* Is the array of heads there and aligned, if one is needed? */
static inline bool heads_given(const struct upsweep_scan_options *o)
{
    if (!o || o->kind == UPSWEEP_HEADS_NONE) return true;
    if (o->kind == UPSWEEP_HEADS_OFFSETS)
        return o->count == 0 || is_array(o->heads, sizeof(int64_t));
    return is_array(o->heads, o->kind == UPSWEEP_HEADS_BYTES ? 1 : sizeof(uint32_t));
}

#endif
