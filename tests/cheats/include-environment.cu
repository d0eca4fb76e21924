// The environment of the grader as a header; the sandbox has no /proc.
// expect: 0 0 does not compile
#include "/proc/self/environ"
//@ tree
