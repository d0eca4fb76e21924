// CUB does the work.
// expect: 0 0 does not compile
#include <cub/block/block_scan.cuh>
//@ tree
