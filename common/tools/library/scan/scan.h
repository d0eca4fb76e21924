/*
 * scan.h — step 16 as a library: scans of device memory with any associative operator, for programs
 * in C and C++. For an operator of your own see scan.cuh.
 *
 *     struct upsweep_scan_options backwards = {.inclusive = true, .reverse = true};
 *     size_t bytes = 0;
 *     scan_max_i32(NULL, &bytes, NULL, NULL, n, &backwards, stream);        how large a workspace?
 *     cudaMalloc(&workspace, bytes);
 *     scan_operators_init(workspace, bytes, stream);                        once
 *     scan_max_i32(workspace, &bytes, out, in, n, &backwards, stream);      as often as you like
 *
 * Operators, types, results and options are those of upsweep/scan.h, whose functions call these;
 * `cleared` has no meaning here, sums and products of unsigned integers are those of signed ones,
 * and there are more operators:
 *
 *   brackets     open brackets after the part                      u8 -> i32
 *   sight        is a point visible from the first one?            f32 -> i32
 */
#ifndef STEP16_SCAN_H
#define STEP16_SCAN_H

#include "common/tools/library/upsweep/scan.h" /* the options */

#ifdef __cplusplus
extern "C" {
#endif

/* Clears a workspace. Needed once, before its first scan. */
cudaError_t scan_operators_init(void *workspace, size_t bytes, cudaStream_t stream);

/*
 * workspace  NULL: sets *bytes to what a scan of n elements with these options needs, and does
 *            nothing else. Otherwise *bytes bytes of device memory, aligned to 16, which
 *            scan_operators_init has cleared once. It may be used for any number of scans, of any
 *            operator and options and of any n for which it is large enough, one after the other;
 *            and for the calls of step 12's scan.h and step 13's compact.h in any order, but for
 *            nothing else. Scans that may run at the same time need one each. It serves 2^31 - 1
 *            scans; then it must be cleared again.
 * out, in    n elements each in device memory, aligned to one element. out may be an input if the
 *            types have the same size; otherwise they do not overlap.
 * options    NULL, or as upsweep/scan.h says. Read during the call only.
 * stream     every launch goes there; the call does not wait. It may be captured into a graph.
 * Returns cudaSuccess; cudaErrorNotSupported for heads that the function does not take;
 * cudaErrorInvalidValue if the workspace is too small or not aligned, if n is no multiple of row or
 * columns, if more than one of row, columns and kind is set, if heads or a second input are
 * missing, if n is of 2^31 tiles or more, or if `count` is beyond 2^39 - 256; or an error of CUDA.
 * An error that was there before stays for the caller's cudaGetLastError. n = 0 succeeds and does
 * nothing. Options and n are refused for n = 0 and for a workspace of NULL as well; there the
 * arrays need not exist.
 */
#define SCAN_ARGUMENTS size_t n, const struct upsweep_scan_options *options, cudaStream_t stream
/* clang-format off */
#define SCAN_DECLARE(name, In, Out)                                                                \
    cudaError_t scan_##name(void *workspace, size_t *bytes, Out *out, const In *in, SCAN_ARGUMENTS);
/* clang-format on */

/* X(name, In, Out) */
#define SCAN_WITH_ALL_HEADS(X)                                                                     \
    X(sum_f32, float, float)                                                                       \
    X(sum_f64, double, double)                                                                     \
    X(sum_i32, int32_t, int32_t)                                                                   \
    X(sum_i64, int64_t, int64_t)                                                                   \
    X(max_f32, float, float)                                                                       \
    X(max_f64, double, double)                                                                     \
    X(max_i32, int32_t, int32_t)                                                                   \
    X(max_i64, int64_t, int64_t)

/* brackets: of ( ) [ ] { } and other characters. Each kind of bracket counts as the same. From the
 * first closing bracket without an opening one on: minus the number of such brackets so far. At
 * most 2^31 - 1 of them open, with those of the initial depth, and as many close. */
#define SCAN_WITH_SOME_HEADS(X)                                                                    \
    X(product_f32, float, float)                                                                   \
    X(product_f64, double, double)                                                                 \
    X(product_i64, int64_t, int64_t)                                                               \
    X(min_f32, float, float)                                                                       \
    X(min_f64, double, double)                                                                     \
    X(min_i32, int32_t, int32_t)                                                                   \
    X(min_i64, int64_t, int64_t)                                                                   \
    X(xor_u32, uint32_t, uint32_t)                                                                 \
    X(xor_u64, uint64_t, uint64_t)                                                                 \
    X(logsumexp_f32, float, float)                                                                 \
    X(logsumexp_f64, double, double)                                                               \
    X(brackets, uint8_t, int32_t)

SCAN_WITH_ALL_HEADS(SCAN_DECLARE)
SCAN_WITH_SOME_HEADS(SCAN_DECLARE)
#undef SCAN_DECLARE

/* The largest or smallest so far, and its index. Without `initial` (cudaErrorNotSupported). */
#define DECLARE_INDEXED(name, T)                                                                   \
    cudaError_t scan_##name(void *workspace, size_t *bytes, T *out, int64_t *indices, const T *in, \
                            SCAN_ARGUMENTS)
DECLARE_INDEXED(argmax_f32, float);
DECLARE_INDEXED(argmax_f64, double);
DECLARE_INDEXED(argmax_i32, int32_t);
DECLARE_INDEXED(argmax_i64, int64_t);
DECLARE_INDEXED(argmin_f32, float);
DECLARE_INDEXED(argmin_f64, double);
DECLARE_INDEXED(argmin_i32, int32_t);
DECLARE_INDEXED(argmin_i64, int64_t);
#undef DECLARE_INDEXED

/* h = a h + b, and h = keep h + take x */
cudaError_t scan_affine_f32(void *workspace, size_t *bytes, float *out, const float *a,
                            const float *b, SCAN_ARGUMENTS);
cudaError_t scan_affine_f64(void *workspace, size_t *bytes, double *out, const double *a,
                            const double *b, SCAN_ARGUMENTS);

cudaError_t scan_decay_f32(void *workspace, size_t *bytes, float *out, const float *in, float keep,
                           float take, SCAN_ARGUMENTS);
cudaError_t scan_decay_f64(void *workspace, size_t *bytes, double *out, const double *in,
                           double keep, double take, SCAN_ARGUMENTS);

/* out[i] = 1 if the point of this height and distance from the eye is above the lines to all points
 * before it, otherwise 0. Points at distance 0 or less, and NaN, are not visible and hide nothing.
 * Always exclusive: options->inclusive and initial must not be set. */
cudaError_t scan_sight_f32(void *workspace, size_t *bytes, int32_t *out, const float *heights,
                           const float *distances, float eye, SCAN_ARGUMENTS);
#undef SCAN_ARGUMENTS

/*
 * Partners of brackets: where is the bracket that closes this one, or that this one closes?
 *
 *   index     0   1   2   3   4   5   6   7   8
 *   text      (   a   [   ]   )   {   )   (   )
 *   partner   4  -1   3   2   0   6   5   8   7
 *
 * partner[i] is the index of the bracket that belongs to text[i]; -1 for a character that is no
 * bracket, and for an opening bracket that no bracket closes. As in scan_brackets, all kinds of
 * brackets count as one, so `{` and `)` may be partners, as the ones at 5 and 6 are; a program that
 * does not allow that compares text[i] with text[partner[i]]. A closing bracket without an opening
 * one is an error of the text. The partners before it are right: at this place every opening
 * bracket has been closed. From it on, every partner is -1.
 *
 * As for the scans, except that the workspace is aligned to 256, needs no clearing, and serves any
 * number of texts; that text and partner do not overlap; and that n is at most 2^31 - 1.
 */
cudaError_t scan_bracket_partners(void *workspace, size_t *bytes, int32_t *partner,
                                  const uint8_t *text, size_t n, cudaStream_t stream);

/* ---- functions.c: the scans as rows of a table, for programs that choose one by its name ----- */

/* The arguments of any of them. */
struct scan_call {
    void *workspace;
    size_t *bytes;
    void *out;
    const void *in, *second;
    size_t n;
    double keep, take; /* decay */
    float eye;         /* sight */
    const struct upsweep_scan_options *options;
    cudaStream_t stream;
};

struct scan_function {
    const char *name;       /* "sum_f32": the operator, and the type of elements of `in` */
    size_t in, second, out; /* bytes of an element; second: or 0 */
    bool real;              /* are elements of `in` floats? */
    bool all_heads;         /* does it take UPSWEEP_HEADS_BYTES and UPSWEEP_HEADS_KEYS? */
    cudaError_t (*call)(const struct scan_call *);
};

/* Ends with a row whose name is NULL. */
extern const struct scan_function scan_functions[];

#ifdef __cplusplus
}
#endif

#endif
