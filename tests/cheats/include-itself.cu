// A header without end: the file itself.
// expect: 0 0 does not compile
#include __FILE__
//@ tree
