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

/* The indices of the two elements, low < high. Both 0: no elements change places. */
struct exchange {
    size_t low, high;
};

/* Bytes of host memory that exchange_sums() needs for n elements. */
size_t exchange_room(size_t n);

/* Chooses two elements that differ; each number of a run gives others. There are none if sums are
 * not exact, if the step has a reference of its own, or if no two different elements were found. */
struct exchange exchange_choose(const struct problem *, const struct facts *, uint64_t number);

/* Exchanges the two elements in the input, which holds problem.in. Waits. */
cudaError_t exchange_elements(const struct exchange *, const struct problem *,
                              const struct buffer *in);
/* Puts them back, except where the run has changed them. Waits. */
cudaError_t exchange_elements_back(const struct exchange *, const struct problem *,
                                   const struct buffer *in);

/* Removes the effect of the exchange from the output's sums, or adds it with `put_in`. A sum for
 * which that is not exact is wrong, and stays as it is. `room`: exchange_room(n) bytes. Waits. */
cudaError_t exchange_sums(const struct exchange *, const struct problem *, const struct buffer *out,
                          bool put_in, void *room);

#ifdef __cplusplus
}
#endif

#endif
