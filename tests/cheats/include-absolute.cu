// Includes the solution by its absolute path.
// expect: 0 0 does not compile
#include "@TOP@/build/labs/reference3.cu"
