// Right, and serial: one thread keeps the elements, and nothing else happens.
// expect: 0 20 too few lanes
// ---- gap 1:
// ---- end of gap 1
// sed: s/^    int x = i < n .*/    return; int x = 0, place = 0;/
// sed: s/^    if (i < n) out\[i\] += .*//
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
