// Right: each level is written out by hand, through a lambda.
// expect: 100 100
// ---- gap 1:
    auto up = [&](int d, int offset) {
        __syncthreads();
        if (thid >= d) return;
        int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
        temp[bi + CONFLICT_FREE_OFFSET(bi)] += temp[ai + CONFLICT_FREE_OFFSET(ai)];
    };
    up(256, 1), up(128, 2), up(64, 4), up(32, 8), up(16, 16);
    up(8, 32), up(4, 64), up(2, 128), up(1, 256);
// ---- end of gap 1
// ---- gap 2:
    auto down = [&](int d, int offset) {
        __syncthreads();
        if (thid >= d) return;
        int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
        ai += CONFLICT_FREE_OFFSET(ai), bi += CONFLICT_FREE_OFFSET(bi);
        float t = temp[ai];
        temp[ai] = temp[bi];
        temp[bi] += t;
    };
    down(1, 256), down(2, 128), down(4, 64), down(8, 32), down(16, 16);
    down(32, 8), down(64, 4), down(128, 2), down(256, 1);
// ---- end of gap 2
