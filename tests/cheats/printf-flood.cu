// Prints without end.
// expect: 0 80 instructions of lanes
#include <cstdio>
#define BEGIN                                                                                      \
    for (int i = 0; i < 200; i++)                                                                  \
    printf("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n")
//@ tree
