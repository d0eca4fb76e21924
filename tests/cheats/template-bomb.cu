// Templates that take the compiler years.
// expect: 0 0 too much time or memory
#pragma nv_diag_suppress 61
template <int N, unsigned K> struct bomb {
    static const unsigned value = bomb<N - 1, 2 * K>::value + bomb<N - 1, 2 * K + 1>::value;
};
template <unsigned K> struct bomb<0, K> {
    static const unsigned value = K;
};
__device__ unsigned bombed = bomb<30, 1>::value;
//@ tree
