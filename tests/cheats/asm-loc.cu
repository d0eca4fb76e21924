// PTX that claims to come from other lines. Its scan is right.
// expect: 100 100 
#define BEGIN asm volatile(".loc 1 99999 1")
//@ tree
