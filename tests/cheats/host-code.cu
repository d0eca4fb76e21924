// Host code that would run before main. It is never executed; the scan is right.
// expect: 100 100 
#include <cstdlib>
static int started = system("touch /tmp/cheated");
//@ tree
