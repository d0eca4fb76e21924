/* text.c — a text that grows. */
#include "text.h"
#include <stdio.h>
#include <string.h>

static void make_room(struct text *t, size_t more)
{
    if (t->used + more < t->room) return;
    t->room = 2 * (t->used + more) + 1000;
    char *bytes = cc_take(t->arena, t->room);
    if (t->used) memcpy(bytes, t->bytes, t->used);
    t->bytes = bytes;
}

void text_add(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    make_room(t, (size_t)length + 1);
    va_start(list, format);
    vsnprintf(t->bytes + t->used, (size_t)length + 1, format, list);
    va_end(list);
    t->used += (size_t)length;
}

const char *text_bytes(const struct text *t) { return t->bytes ? t->bytes : ""; }
