// A pipe as a header: reading it never ends.
// expect: 0 0 
#include "/proc/self/fd/2"
//@ tree
