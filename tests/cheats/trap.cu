// A trap.
// expect: 0 0 trap
#define BEGIN __trap()
//@ tree
