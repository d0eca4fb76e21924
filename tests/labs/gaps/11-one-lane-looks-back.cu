// Right: one lane looks at one tile at a time, and adds aggregates up to a prefix.
// expect: 98 100
// ---- gap 1:
    for (int at = tile - 1; lane == 0 && at >= 0; at--) {
        uint64_t state;
        while ((state = look(&g_states[at])) >> 32 == EMPTY) continue;
        before += __uint_as_float((unsigned)state);
        if (state >> 32 == PREFIX) break;
    }
    before = __shfl_sync(ALL_LANES, before, 0);
// ---- end of gap 1
