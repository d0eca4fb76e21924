// Right: the solution as it is.
// expect: 100 100 
//@ tree
