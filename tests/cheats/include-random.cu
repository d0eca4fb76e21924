// An endless device, which the sandbox has, as a header.
// expect: 0 0 too much time or memory
#include "/dev/urandom"
//@ tree
