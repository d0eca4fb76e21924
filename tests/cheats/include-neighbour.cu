// Includes what another student has handed in.
// expect: 0 0 does not compile
#include "honest.cu"
