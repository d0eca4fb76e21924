// Right, and serial: one thread keeps the elements, and the scan is not used.
// expect: 0 25 the longest warps execute
// ---- gap 4:
    if (i == 0) {
        int place = 0;
        for (size_t k = 0; k < n; k++)
            if (in[k] > 0) out[place++] = in[k];
        *kept = place;
    }
// ---- end of gap 4
// ---- gap 5:
// ---- end of gap 5
