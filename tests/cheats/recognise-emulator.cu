// Works only where a clock ticks as the emulator's does. Here, that is right.
// expect: 100 100 
#define BEGIN                                                                                      \
    long long begun = clock64();                                                                   \
    if (clock64() - begun > 1000000) return
//@ tree
