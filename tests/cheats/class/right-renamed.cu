// Right: the solution with other names and comments.
// expect: 100 100 
#define temp store
#define thid worker
//@ tree
