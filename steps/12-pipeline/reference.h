/*
 * reference.h — step 12's scans of floats on the CPU: the additions of the kernels, in their order,
 * so that every bit of the result is the same. And how far such a result may be from the true sums.
 */
#ifndef STEP12_REFERENCE_H
#define STEP12_REFERENCE_H

#include "parts/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes what the kernel that kernel_for (shape.h) names for n computes, bit for bit. out may be
 * in. */
void reference_f32(float *out, const float *in, size_t n, bool inclusive, enum kernel kernel);
void reference_f64(double *out, const double *in, size_t n, bool inclusive, enum kernel kernel);

/* The most additions on the way from an input to an output: `sums` in the type of the sums, and
 * `carries` in that of the carry, which is double for both types. `sums` includes the rounding of a
 * carry to the type of the sums. */
struct reference_depth {
    double sums, carries;
};
struct reference_depth reference_depth(size_t n, size_t sum_bytes, enum kernel kernel);

/*
 * The bound of the error: |got - want| <= reference_bound(…) * (|x0| + … + |xi|).
 *
 * Each addition makes its result wrong by a factor of 1 + e, |e| <= u, where u is 2^-24 for float
 * and 2^-53 for double. An input that takes part in at most d of them on its way has in the sum a
 * factor that differs from 1 by d u / (1 - d u) at most (Higham, Accuracy and Stability of
 * Numerical Algorithms, lemma 3.1). For float that of the carries comes on top, 2^29 times smaller.
 */
double reference_bound(size_t n, size_t sum_bytes, enum kernel kernel);

#ifdef __cplusplus
}
#endif

#endif
