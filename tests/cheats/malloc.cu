// Takes memory until there is no more.
// expect: 0 98 instructions of lanes
#define BEGIN                                                                                      \
    for (int i = 0; i < 50; i++)                                                                   \
    if (char *bytes = (char *)malloc(1 << 20)) bytes[0] = 1
//@ tree
