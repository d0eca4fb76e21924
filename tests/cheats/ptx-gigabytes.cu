// Functions that become gigabytes of PTX.
// expect: 0 0 too much time or memory
template <int N> __device__ __forceinline__ void twice()
{
    twice<N - 1>();
    twice<N - 1>();
}
template <> __device__ __forceinline__ void twice<0>()
{
    asm volatile("// xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}
__global__ void many() { twice<26>(); }
//@ tree
