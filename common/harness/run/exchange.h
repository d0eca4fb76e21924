/*
 * exchange.h — two elements of the input change places before a timed run. So each run has an input
 * of its own, and a result that is kept from earlier runs is wrong.
 *
 * Where all sums are exact, the exchange changes the sums between the two places by the difference
 * of the two elements, and no others. That is taken back after the run, and then the output has to
 * be, bit by bit, that of the input without the exchange.
 */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "buffer.h"
#include "common/harness/verify/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The elements at `low` and `high`, low < high. Both 0: none change places. */
struct exchange {
    size_t low, high;
};

/* Bytes of host memory that exchange_sums() needs for n elements. */
size_t exchange_room(size_t n);

/* Chooses two elements that differ; each number gives others. None where sums are not exact, where
 * the step has a reference of its own, or where no two elements that differ were found. */
struct exchange exchange_choose(const struct problem *, const struct facts *, uint64_t number);

/* The input, which holds problem.in, gets the two elements in each other's place. Waits. */
cudaError_t exchange_elements(const struct exchange *, const struct problem *,
                              const struct buffer *in);
/* Puts them back, except where the run has changed them. Waits. */
cudaError_t exchange_elements_back(const struct exchange *, const struct problem *,
                                   const struct buffer *in);

/* Takes what the exchange changes out of the sums of the output, or, with `put_in`, puts it in. A sum
 * for which that is not exact is wrong, and stays as it is. `room`: exchange_room(n) bytes. Waits. */
cudaError_t exchange_sums(const struct exchange *, const struct problem *, const struct buffer *out,
                          bool put_in, void *room);

#ifdef __cplusplus
}
#endif

#endif
