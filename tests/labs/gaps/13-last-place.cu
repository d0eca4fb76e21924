// Wrong: the last place is the number of kept elements before the last one.
// expect: 40 90 the number of kept elements is
// ---- gap 5:
    if (i == n - 1) *kept = places[i];
// ---- end of gap 5
