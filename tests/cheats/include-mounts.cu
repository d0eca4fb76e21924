// Includes a list of mounts, which would name folders of the instructor in the report.
// expect: 0 0 does not compile
#include "/proc/self/mountinfo"
//@ tree
