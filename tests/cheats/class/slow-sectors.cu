// Right, and reads the input many times.
// expect: 40 99 sectors
#define BEGIN                                                                                      \
    for (int k = 0; k < 8; k++)                                                                    \
        if (((volatile const float *)g_idata)[(thid * 32 + k) % n] == 12345) return
//@ tree
