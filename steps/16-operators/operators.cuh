/*
 * operators.cuh — the operators. Each is associative: (a ∘ b) ∘ c = a ∘ (b ∘ c). The order of the
 * operands matters for some of them, and the kernels keep it.
 *
 * An operator is a struct with
 *   In, Out     types of an element of the input and of the result;
 *   In2         type of an element of a second input, or no_input;
 *   State       what is combined: 4, 8 or 16 bytes, of 4-byte words;
 *   identity()  the state that changes no other one;
 *   enter(x, y) the state of one element; or enter(x, y, i), for element i of the array or column;
 *   combine(left, right)  the state of two neighbouring parts of the input;
 *   leave(before, own)    the result from the state of all elements that count for it, and the
 *                         state of its own element;
 *   begin(h)    the state of an initial value that is given as a result.
 * All of them are called on the GPU, and on the CPU by check.cuh.
 */
#ifndef STEP16_OPERATORS_CUH
#define STEP16_OPERATORS_CUH

#include <math.h>
#include <stdint.h>

#define SCAN_BOTH __host__ __device__ inline

/* A namespace without scan: calls that name no namespace search that of their arguments, and would
 * find step 16's scan for scan(sum_operator<int>(), …) of the library. */
namespace step16
{
namespace operators
{

/* The type of a second input that an operator does not have. */
struct no_input {
};

/* Of the operators whose elements, states and results are the same. */
template <typename T> struct plain {
    typedef T In, State, Out;
    typedef no_input In2;
    SCAN_BOTH T enter(T x, no_input) const { return x; }
    SCAN_BOTH T leave(T before, T) const { return before; }
    SCAN_BOTH T begin(T initial) const { return initial; }
};

/* Integers wrap: they are added as unsigned ones. */
template <typename T> struct wrapping {
    typedef T type;
};
template <> struct wrapping<int32_t> {
    typedef uint32_t type;
};
template <> struct wrapping<int64_t> {
    typedef uint64_t type;
};

template <typename T> struct sum_operator : plain<T> {
    typedef typename wrapping<T>::type U;
    SCAN_BOTH T identity() const { return 0; }
    SCAN_BOTH T combine(T left, T right) const { return (T)((U)left + (U)right); }
};

template <typename T> struct product_operator : plain<T> {
    typedef typename wrapping<T>::type U;
    SCAN_BOTH T identity() const { return 1; }
    SCAN_BOTH T combine(T left, T right) const { return (T)((U)left * (U)right); }
};

template <typename T> struct xor_operator : plain<T> {
    SCAN_BOTH T identity() const { return 0; }
    SCAN_BOTH T combine(T left, T right) const { return left ^ right; }
};

/* The least and the largest number of a type. */
template <typename T> struct range;
template <> struct range<float> {
    SCAN_BOTH static float least() { return -INFINITY; }
    SCAN_BOTH static float largest() { return INFINITY; }
};
template <> struct range<double> {
    SCAN_BOTH static double least() { return -(double)INFINITY; }
    SCAN_BOTH static double largest() { return (double)INFINITY; }
};
template <> struct range<int32_t> {
    SCAN_BOTH static int32_t least() { return INT32_MIN; }
    SCAN_BOTH static int32_t largest() { return INT32_MAX; }
};
template <> struct range<int64_t> {
    SCAN_BOTH static int64_t least() { return INT64_MIN; }
    SCAN_BOTH static int64_t largest() { return INT64_MAX; }
};

/* The largest so far. Of equal ones, such as -0 and +0, the last. From the first NaN on the result
 * is that NaN. */
template <typename T> struct max_operator : plain<T> {
    SCAN_BOTH T identity() const { return range<T>::least(); }
    SCAN_BOTH T combine(T left, T right) const
    {
        return left > right || left != left ? left : right;
    }
};

template <typename T> struct min_operator : plain<T> {
    SCAN_BOTH T identity() const { return range<T>::largest(); }
    SCAN_BOTH T combine(T left, T right) const
    {
        return left < right || left != left ? left : right;
    }
};

/* log(exp(x0) + exp(x1) + …). The state is the largest x and the sum of all exp(x - largest), so
 * nothing overflows. */
template <typename T> struct log_sum {
    T largest, sum; /* sum = 0: of no element, or of -INFINITY alone */
};

/* On the GPU by the instruction for 2^x, which is wrong by less than expf may be. But the argument
 * is rounded twice: judge.c takes that into account. */
static SCAN_BOTH float exp_of(float x)
{
#ifdef __CUDA_ARCH__
    const float LOG2_E = 1.442695041f;
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * LOG2_E));
    return y;
#else
    return expf(x);
#endif
}
static SCAN_BOTH double exp_of(double x) { return exp(x); }
static SCAN_BOTH float log_of(float x) { return logf(x); }
static SCAN_BOTH double log_of(double x) { return log(x); }

template <typename T> struct logsumexp_operator {
    typedef T In, Out;
    typedef no_input In2;
    typedef log_sum<T> State;
    SCAN_BOTH State identity() const { return {range<T>::least(), 0}; }
    SCAN_BOTH State enter(T x, no_input) const { return {x, x == range<T>::least() ? (T)0 : (T)1}; }
    SCAN_BOTH State begin(T initial) const { return enter(initial, {}); }
    SCAN_BOTH State combine(State left, State right) const
    {
        bool greater = left.largest > right.largest;
        State high = greater ? left : right, low = greater ? right : left;
        // Both may be infinite: then the difference would be NaN.
        T scale = low.largest == high.largest ? (T)1 : exp_of(low.largest - high.largest);
        return {high.largest, high.sum + low.sum * scale};
    }
    SCAN_BOTH T leave(State before, State) const { return before.largest + log_of(before.sum); }
};

/* h = a h + b. A part of the input maps the h before it to the h after it. This map is affine as
 * well: h -> a h + b with an a and a b of its own. To combine is to apply one map after the
 * other. */
template <typename T> struct affine {
    T a, b;
};

static SCAN_BOTH float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
static SCAN_BOTH double multiply_add(double a, double b, double c) { return fma(a, b, c); }

template <typename T> static SCAN_BOTH affine<T> apply_after(affine<T> left, affine<T> right)
{
    return {right.a * left.a, multiply_add(right.a, left.b, right.b)};
}

/* Inputs a and b; the result is h, from an initial h of 0. */
template <typename T> struct affine_operator {
    typedef T In, In2, Out;
    typedef affine<T> State;
    SCAN_BOTH State identity() const { return {1, 0}; }
    SCAN_BOTH State enter(T a, T b) const { return {a, b}; }
    SCAN_BOTH State begin(T initial) const { return {1, initial}; }
    SCAN_BOTH State combine(State left, State right) const { return apply_after(left, right); }
    SCAN_BOTH T leave(State before, State) const { return before.b; }
};

/* An affine recurrence with constants: h = keep h + take x. An exponential moving average has
 * take = 1 - keep, a discounted return has take = 1 and is scanned in reverse. */
template <typename T> struct decay_operator {
    typedef T In, Out;
    typedef no_input In2;
    typedef affine<T> State;
    T keep, take;
    SCAN_BOTH State identity() const { return {1, 0}; }
    SCAN_BOTH State enter(T x, no_input) const { return {keep, take * x}; }
    SCAN_BOTH State begin(T initial) const { return {1, initial}; }
    SCAN_BOTH State combine(State left, State right) const { return apply_after(left, right); }
    SCAN_BOTH T leave(State before, State) const { return before.b; }
};

} // namespace operators
using namespace operators;
} // namespace step16
using step16::no_input;

using step16::affine_operator;
using step16::decay_operator;
using step16::logsumexp_operator;
using step16::max_operator;
using step16::min_operator;
using step16::plain;
using step16::product_operator;
using step16::sum_operator;
using step16::xor_operator;

#endif
