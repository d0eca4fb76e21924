// Does not end at one size, and is right at all others.
// expect: 75 82 n = 2048
#define BEGIN                                                                                      \
    if (n == 2048)                                                                                 \
        for (volatile int i = 0; i == 0;) continue
//@ tree
