// Wrong: 0 is not greater than 0.
// expect: 5 40 0 is kept, and is not greater than 0
// ---- gap 1:
        flags[i] = in[i] >= 0;
// ---- end of gap 1
