// Wrong: no element is left out. Where all are to be kept, that is right.
// expect: 0 20 every element is kept, at its own place
// ---- gap 1:
        flags[i] = 1;
// ---- end of gap 1
