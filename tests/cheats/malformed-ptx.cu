// What is not PTX, in the PTX.
// expect: 0 0 does not compile; the compiler's messages are in the report
#define BEGIN asm volatile("this is not PTX;")
//@ tree
