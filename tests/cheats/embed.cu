// Puts a file of the grader into the program.
// expect: 0 0 does not compile
__device__ const unsigned char secret[] = {
#embed "/etc/passwd"
};
//@ tree
