// A device assertion.
// expect: 0 0 assert
#include <cassert>
#define BEGIN assert(n < 0)
//@ tree
