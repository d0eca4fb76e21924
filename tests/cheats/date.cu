// Depends on when it is compiled, which is the same time for all.
// expect: 100 100
#define BEGIN                                                                                      \
    if (__DATE__[7] != '1' || __TIME__[7] != '0') return
//@ tree
