// Wrong for 2048 elements only.
// expect: 0 99 
#define BEGIN if (n == 2048) return
//@ tree
