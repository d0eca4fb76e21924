#include "exchange.h"

#include "common/step/cuda_check.h"
#include "fingerprint.h"

#include <string.h>

/* The two elements are at most this far apart, because the sums between them go through the host.
 * The distance is larger than a block of any step, so that the sums of whole blocks change too. */
#define REACH ((size_t)1 << 18)

#define ATTEMPTS 64 /* attempts to find two elements that differ */

#define LARGEST sizeof(int64_t) /* of an element */

/* ---- the choice of two elements -------------------------------------------------------------- */

size_t exchange_room(size_t n) { return (n < REACH ? n : REACH) * LARGEST; }

static const char *element_at(const struct problem *p, size_t index)
{
    return (const char *)p->in + index * element_size(p->element);
}

static long double number_at(const struct problem *p, size_t index)
{
    long double number;
    element_widen(p->element, p->in, index, 1, &number);
    return number;
}

struct exchange exchange_choose(const struct problem *p, const struct facts *facts, uint64_t number)
{
    struct exchange none = {0};
    if (!facts->exact || p->reference || p->n < 2) return none;
    for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t hash = fingerprint_hash(number, attempt);
        size_t low = (hash >> 32) % (p->n - 1), most = p->n - 1 - low;
        size_t high = low + 1 + (hash & UINT32_MAX) % (most < REACH ? most : REACH);
        if (number_at(p, low) != number_at(p, high)) return (struct exchange){low, high};
    }
    return none;
}

/* ---- the input ------------------------------------------------------------------------------- */

static cudaError_t put(const struct problem *p, const struct buffer *in, size_t to, size_t from)
{
    size_t size = element_size(p->element);
    return buffer_upload(in, to * size, element_at(p, from), size);
}

cudaError_t exchange_elements(const struct exchange *x, const struct problem *p,
                              const struct buffer *in)
{
    if (x->low == x->high) return cudaSuccess;
    CUDA_TRY(put(p, in, x->low, x->high));
    return put(p, in, x->high, x->low);
}

/* Puts back the element at `to`. The one at `from` was in its place. */
static cudaError_t put_back(const struct problem *p, const struct buffer *in, size_t to,
                            size_t from)
{
    char is[LARGEST];
    size_t size = element_size(p->element);
    CUDA_TRY(buffer_download(in, to * size, is, size));
    return memcmp(is, element_at(p, from), size) == 0 ? put(p, in, to, to) : cudaSuccess;
}

cudaError_t exchange_elements_back(const struct exchange *x, const struct problem *p,
                                   const struct buffer *in)
{
    if (x->low == x->high) return cudaSuccess;
    CUDA_TRY(put_back(p, in, x->low, x->high));
    return put_back(p, in, x->high, x->low);
}

/* ---- the output ------------------------------------------------------------------------------ */

/* Real sums. A sum stays as it is if the addition rounds, so that it could not be undone. */
#define ADD_REAL(type)                                                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
        long double sum = ((type *)sums)[i], changed = sum + (to - from);                          \
        type rounded = (type)changed;                                                              \
        if (rounded == changed && changed - (to - from) == sum) ((type *)sums)[i] = rounded;       \
    }

/* Integer sums, which wrap around. */
#define ADD_INTEGER(type)                                                                          \
    for (size_t i = 0; i < count; i++) ((type *)sums)[i] += (type)(int64_t)to - (type)(int64_t)from

/* Adds to - from to each sum. */
static void add(enum element element, void *sums, size_t count, long double from, long double to)
{
    switch (element_of_sum(element)) {
    case ELEMENT_F32: ADD_REAL(float); break;
    case ELEMENT_F64: ADD_REAL(double); break;
    case ELEMENT_I64:
    case ELEMENT_U64: ADD_INTEGER(uint64_t); break;
    default: ADD_INTEGER(uint32_t); break;
    }
}

cudaError_t exchange_sums(const struct exchange *x, const struct problem *p,
                          const struct buffer *out, bool put_in, void *room)
{
    if (x->low == x->high) return cudaSuccess;
    long double low = number_at(p, x->low), high = number_at(p, x->high);
    size_t size = element_size(element_of_sum(p->element)), count = x->high - x->low;
    size_t first = (x->low + !p->inclusive) * size;
    CUDA_TRY(buffer_download(out, first, room, count * size));
    add(p->element, room, count, put_in ? low : high, put_in ? high : low);
    return buffer_upload(out, first, room, count * size);
}
