// A scan of cooperative groups does the work.
// expect: 0 0 does not compile
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
//@ tree
