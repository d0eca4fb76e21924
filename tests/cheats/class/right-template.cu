// Right: a device function, called through a template.
// expect: 100 100 
template <typename T> __device__ __forceinline__ T plus(T a, T b) { return a + b; }
#define ADD(a, b) plus<float>(a, b)
//@ tree
