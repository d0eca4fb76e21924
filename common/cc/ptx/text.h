/* text.h — a text that grows. */
#ifndef CC_TEXT_H
#define CC_TEXT_H

#include "common/cc/source/arena.h"

struct text {
    struct arena *arena;
    char *bytes; /* ends with zero */
    size_t used, room;
};

void text_add(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *text_bytes(const struct text *); /* "" if nothing was added */

#endif
