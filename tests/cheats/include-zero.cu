// An endless device as a header.
// expect: 0 0 does not compile
#include "/dev/zero"
//@ tree
