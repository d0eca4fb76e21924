// Includes the solution by a relative path.
// expect: 0 0 does not compile
#include "../../../../../../../../@TOP@/steps/03-work-efficient/scan.cu"
