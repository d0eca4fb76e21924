// Wrong: elements that are not kept are stored as well, where the next kept one belongs.
// expect: 0 30 was written, although only
// ---- gap 4:
    out[places[i]] = in[i];
// ---- end of gap 4
