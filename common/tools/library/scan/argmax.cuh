/*
 * argmax.cuh — the largest or smallest element so far, and its index.
 *
 * Same as max_operator except: the state carries the index of its element, and a result has two
 * parts, which go to two arrays (arrays.cuh). Of equal elements the last one counts, and of
 * NaNs the last NaN, as torch.cummax has it.
 */
#ifndef STEP16_ARGMAX_CUH
#define STEP16_ARGMAX_CUH

#include "steps/16-operators/operators.cuh"

namespace step16
{

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

} // namespace step16

using step16::argmax_operator;

#endif
