// Adds by counting bits: popc as a full adder.
// expect: 0 60 vanish in sums
__device__ int integers(int a, int b)
{
    unsigned sum = 0, carry = 0;
    for (int k = 0; k < 32; k++) {
        unsigned bits = __popc((a >> k & 1) | (b >> k & 1) << 1 | carry << 2);
        sum |= (bits & 1) << k;
        carry = bits >> 1;
    }
    return (int)sum;
}
#define ADD(a, b) (integers((int)((a) * 8), (int)((b) * 8)) / 8.0f)
//@ tree
