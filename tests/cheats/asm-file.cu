// PTX that claims to come from another file.
// expect: 0 0 does not compile
#define BEGIN asm volatile(".file 9 \"/etc/<script>alert(1)</script>\"")
//@ tree
