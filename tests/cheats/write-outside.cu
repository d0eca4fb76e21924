// Writes behind the output, where an expected result might be.
// expect: 0 0 out of bounds
#define BEGIN for (int i = 0; i < 64; i++) g_odata[n + i] = 0
//@ tree
