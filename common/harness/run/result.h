/*
 * result.h — what a run has computed, for those that judge and write it.
 */
#ifndef RESULT_H
#define RESULT_H

#include "buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct result {
    const struct buffer *buffer;
    void *whole; /* host memory for all of it; NULL before result_whole() */
};

/* Copies `bytes` bytes of the result, from byte `start` on, to the host. */
int result_read(const struct result *, size_t start, void *to, size_t bytes, struct fault *);

/* Copies all of the result to the host. *whole stays until the next call or result_free(). */
int result_whole(struct result *, const void **whole, struct fault *);

void result_free(struct result *);

#ifdef __cplusplus
}
#endif

#endif
