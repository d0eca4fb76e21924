// The grader's environment as a header; the sandbox has an empty one. The scan is right.
// expect: 100 100 
#include "/proc/self/environ"
//@ tree
