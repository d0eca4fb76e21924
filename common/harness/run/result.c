#include "result.h"

#include "common/step/cuda_check.h"

#include <stdlib.h>

int result_read(const struct result *r, size_t start, void *to, size_t bytes, struct fault *fault)
{
    CUDA_CHECK(fault, buffer_download(r->buffer, start, to, bytes));
    return 0;
}

int result_whole(struct result *r, const void **whole, struct fault *fault)
{
    size_t bytes = r->buffer->bytes;
    if (!r->whole) r->whole = allocated(malloc(bytes + !bytes));
    *whole = r->whole;
    return result_read(r, 0, r->whole, bytes, fault);
}

void result_free(struct result *r)
{
    free(r->whole);
    r->whole = NULL;
}
