// Prints without end.
// expect: 0 60 the kernels have printed more than 4 MiB
#include <cstdio>
#define BEGIN                                                                                      \
    for (int i = 0; i < 200; i++)                                                                  \
    printf("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n")
//@ tree
