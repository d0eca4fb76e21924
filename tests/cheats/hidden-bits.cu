// Adds by and, xor and shifts.
// expect: 0 60 vanish in sums
__device__ int integers(int a, int b)
{
    while (b != 0) {
        int carry = a & b;
        a ^= b;
        b = carry << 1;
    }
    return a;
}
#define ADD(a, b) (integers((int)((a) * 8), (int)((b) * 8)) / 8.0f)
//@ tree
