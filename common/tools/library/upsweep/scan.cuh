/*
 * scan.cuh — scans with an operator of your own, for programs in C++17 that nvcc compiles. Nothing
 * has to be linked but the CUDA runtime.
 *
 *     struct largest : upsweep::plain<int> {
 *         __host__ __device__ int identity() const { return INT_MIN; }
 *         __host__ __device__ int combine(int a, int b) const { return a > b ? a : b; }
 *     };
 *     upsweep::scan(largest(), workspace, &bytes, out, in, NULL, n, NULL, stream);
 *
 * An operator is associative, (a ∘ b) ∘ c = a ∘ (b ∘ c), which upsweep::check_operator tests on the
 * host. The order of the operands is kept. It is a struct with
 *   In, Out     types of an element of the input and of the result;
 *   In2         type of an element of a second input, or upsweep::no_input;
 *   State       what is combined: 4, 8 or 16 bytes, of 4-byte words;
 *   identity()  the state that changes no other one;
 *   enter(x, y) the state of one element;
 *   combine(left, right)  the state of two neighbouring parts of the input;
 *   leave(before, own)    the result from the state of all elements that count for it, and the
 *                         state of its own element;
 *   begin(h)    the state of an initial value that is given as a result.
 * All of them are __host__ __device__. upsweep::plain<T> has all but identity and combine, if
 * elements, states and results are the same.
 */
#ifndef UPSWEEP_SCAN_CUH
#define UPSWEEP_SCAN_CUH

#include "scan.h"

namespace upsweep
{
namespace scan_kernels
{
#include "common/tools/library/heads.h"
#include "common/tools/library/scan/check.cuh"
#include "common/tools/library/scan/scan.cuh"
} // namespace scan_kernels

using scan_kernels::step16::no_input;
using scan_kernels::step16::plain;

using scan_kernels::step16::affine_operator;
using scan_kernels::step16::decay_operator;
using scan_kernels::step16::logsumexp_operator;
using scan_kernels::step16::max_operator;
using scan_kernels::step16::min_operator;
using scan_kernels::step16::product_operator;
using scan_kernels::step16::sum_operator;
using scan_kernels::step16::xor_operator;

/*
 * As the functions of scan.h, with an object of an operator, because an operator may have
 * parameters. in2 is NULL if Op::In2 is no_input. ALL_HEADS: also UPSWEEP_HEADS_BYTES and KEYS,
 * which take four kernels more; otherwise these return cudaErrorNotSupported.
 */
template <bool ALL_HEADS = false, typename Op>
static cudaError_t scan(const Op &op, void *workspace, size_t *bytes, typename Op::Out *out,
                        const typename Op::In *in, const typename Op::In2 *in2, size_t n,
                        const struct upsweep_scan_options *options, cudaStream_t stream)
{
    namespace kernels = scan_kernels::step16;
    const bool needs_in2 = kernels::bytes_of<typename Op::In2>::value > 0;
    size_t needed = 0;
    bool done;
    cudaError_t error =
        kernels::scan<Op, ALL_HEADS>(op, NULL, &needed, NULL, NULL, NULL, n, options, stream);
    if (!error)
        error = scan_kernels::begin_call(
            workspace, bytes, needed, options && options->cleared ? 0 : needed, n,
            scan_kernels::is_array(out, alignof(typename Op::Out)) &&
                scan_kernels::is_array(in, alignof(typename Op::In)) &&
                (!needs_in2 || scan_kernels::is_array(in2, alignof(typename Op::In2))) &&
                scan_kernels::heads_given(options),
            stream, &done);
    if (error || done) return error;
    return kernels::scan<Op, ALL_HEADS>(op, workspace, bytes, out, in, in2, n, options, stream);
}

/* Tests on the host whether an operator is one: is it associative, and is its identity one? It
 * combines elements that are drawn at random, prints a counterexample to `to` and returns false if
 * it finds one. finite: the operator is for finite numbers only. No test of this kind is a proof.
 *
 * In, In2 and Out must be numbers, State may be a struct. For elements that are structs, test an
 * operator with the same State and combine() whose enter() makes the state of a number. */
template <typename Op> static bool check_operator(const Op &op, FILE *to, bool finite = false)
{
    return scan_kernels::scan_check_operator(
        op, to, finite ? scan_kernels::SCAN_FINITE_NUMBERS : scan_kernels::SCAN_ALL_NUMBERS);
}

} // namespace upsweep

#endif
