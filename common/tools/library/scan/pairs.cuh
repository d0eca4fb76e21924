/*
 * pairs.cuh — two columns as one sequence: a row of two elements is an element of it, and both are
 * combined at once. So two columns are nearly as fast as a scan without heads, where scan_columns
 * would scan each of its accesses over the lanes.
 */
#ifndef STEP16_PAIRS_CUH
#define STEP16_PAIRS_CUH

#include "arrays.cuh"

template <typename T> struct pair_of {
    T at[2];
};
template <typename T> struct pair_or_none {
    typedef pair_of<T> type;
};
template <> struct pair_or_none<no_input> {
    typedef no_input type;
};

template <typename Op> struct pair_operator {
    typedef pair_of<typename Op::In> In;
    typedef typename pair_or_none<typename Op::In2>::type In2;
    typedef pair_of<typename Op::State> State;
    typedef pair_of<typename Op::Out> Out;
    Op op;
    static __device__ no_input half(no_input, int) { return {}; }
    template <typename T> static __device__ T half(pair_of<T> x, int k) { return x.at[k]; }
    SCAN_BOTH State identity() const { return {op.identity(), op.identity()}; }
    __device__ State enter(In x, In2 y, size_t i) const
    {
        return {state_of(op, x.at[0], half(y, 0), i), state_of(op, x.at[1], half(y, 1), i)};
    }
    SCAN_BOTH State combine(State l, State r) const
    {
        return {op.combine(l.at[0], r.at[0]), op.combine(l.at[1], r.at[1])};
    }
    SCAN_BOTH Out leave(State before, State own) const
    {
        return {op.leave(before.at[0], own.at[0]), op.leave(before.at[1], own.at[1])};
    }
    SCAN_BOTH State begin(Out h) const { return {op.begin(h.at[0]), op.begin(h.at[1])}; }
};

/* Is this one of them? */
template <typename Op> struct is_pair {
    enum { value = false };
};
template <typename Op> struct is_pair<pair_operator<Op>> {
    enum { value = true };
};

/* Can two columns be scanned so? States and vectors have at most 16 bytes, and no indices are
 * left. */
template <typename Op>
constexpr bool PAIRS = !is_pair<Op>::value && sizeof(typename Op::State) <= 8 && WIDEST<Op> <= 8 &&
                       (int)outputs<typename Op::Out>::WIDEST == (int)sizeof(typename Op::Out);

#endif
