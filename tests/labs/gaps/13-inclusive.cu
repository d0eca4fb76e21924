// Wrong: each place is one too far where the element itself is kept.
// expect: 0 30 every kept element is one place too far
// ---- gap 3:
    place = totals[warp] + sum;
// ---- end of gap 3
