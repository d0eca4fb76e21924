/*
 * more_operators.cuh — operators whose states are something else than a number: the largest or
 * smallest element so far with its index; brackets; line of sight.
 */
#ifndef STEP16_MORE_OPERATORS_CUH
#define STEP16_MORE_OPERATORS_CUH

#include "steps/16-operators/operators.cuh"

namespace step16
{
/* ---- the largest or smallest element, and its index ------------------------------------------ */

/* A result that is a value and the index of the element that has it; -1: of no element. */
template <typename T> struct with_index {
    T value;
    int64_t index;
};

/* A value, and the index of its element; NOWHERE: of no element. The index is as wide as T. */
template <typename T> struct located {
    T value;
    uint64_t index;
};
template <> struct located<float> {
    float value;
    uint32_t index;
};
template <> struct located<int32_t> {
    int32_t value;
    uint32_t index;
};

/* Same as max_operator except: the state carries the index of its element, and a result has two
 * parts, which go to two arrays (arrays.cuh). Of equal elements the last one counts, and of NaNs
 * the last NaN, as torch.cummax has it. */
template <typename T, bool MIN = false> struct argmax_operator {
    typedef T In;
    typedef no_input In2;
    typedef located<T> State;
    typedef with_index<T> Out;
    typedef decltype(State::index) Index;
    static constexpr Index NOWHERE = (Index)-1;
    size_t row; // > 0: elements of a row, in which indices are counted

    SCAN_BOTH State identity() const
    {
        return {MIN ? range<T>::largest() : range<T>::least(), NOWHERE};
    }
    SCAN_BOTH State enter(T x, no_input, size_t i) const { return {x, (Index)i}; }
    SCAN_BOTH State begin(Out) const { return identity(); }
    SCAN_BOTH State combine(State left, State right) const
    {
        T l = left.value, r = right.value;
        bool later = MIN ? r <= l : l <= r; // false for a NaN
        return right.index == NOWHERE || (!later && r == r) ? left : right;
    }
    SCAN_BOTH Out leave(State before, State) const
    {
        if (before.index == NOWHERE) return {before.value, -1};
        return {before.value, (int64_t)(row > 0 ? before.index % (Index)row : before.index)};
    }
};

/* ---- brackets and line of sight -------------------------------------------------------------- */

namespace operators
{
/* Brackets that are left over in a part of a text when each opening one has taken the closing one
 * that belongs to it: first `closing` of the one kind, then `opening` of the other. */
struct left_over {
    int32_t closing, opening;
};

/* Of ( [ { and ) ] }; all kinds count as one. The result is the number of brackets that are open
 * after the characters that count, or, from the first closing bracket without an opening one on,
 * minus the number of such brackets. */
struct brackets_operator {
    typedef uint8_t In;
    typedef int32_t Out;
    typedef no_input In2;
    typedef left_over State;
    SCAN_BOTH State identity() const { return {0, 0}; }
    SCAN_BOTH State enter(uint8_t c, no_input) const
    {
        return {c == ')' || c == ']' || c == '}', c == '(' || c == '[' || c == '{'};
    }
    SCAN_BOTH State begin(int32_t depth) const { return {0, depth}; }
    SCAN_BOTH State combine(State left, State right) const
    {
        int32_t pairs = left.opening < right.closing ? left.opening : right.closing;
        return {left.closing + right.closing - pairs, left.opening - pairs + right.opening};
    }
    SCAN_BOTH int32_t leave(State before, State) const
    {
        return before.closing > 0 ? -before.closing : before.opening;
    }
};

/* Which points of a terrain can be seen from its first point? The inputs are the heights, and the
 * distances from the first point. A point is visible if its slope is above all slopes before it. A
 * point whose slope is NaN is not visible and hides nothing.
 * Scan it exclusively: then `before` is the largest slope before the point. */
struct sight_operator {
    typedef float In, In2, State;
    typedef int32_t Out;
    float height; /* of the eye */
    SCAN_BOTH float identity() const { return -INFINITY; }
    SCAN_BOTH float enter(float high, float distance) const
    {
        float slope = (high - height) / distance;
        return distance > 0 && slope == slope ? slope : -INFINITY;
    }
    SCAN_BOTH float begin(int32_t) const { return -INFINITY; }
    SCAN_BOTH float combine(float left, float right) const { return left > right ? left : right; }
    SCAN_BOTH int32_t leave(float before, float own) const { return own > before; }
};

} // namespace operators
} // namespace step16
using step16::argmax_operator;
using step16::brackets_operator;
using step16::sight_operator;
using step16::with_index;

#endif
