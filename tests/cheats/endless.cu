// A kernel without end.
// expect: 0 0 warp instructions
//@ kernel
{
    for (volatile int i = 0; i == 0;) continue;
}
