// Right: where one warp has all the work, it waits for its own lanes only.
// expect: 100 100
// ---- gap 1:
#pragma unroll
    for (int d = TREE >> 1; d > 0; d >>= 1) {
        if (d >= 32) __syncthreads();
        else __syncwarp();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            temp[bi + CONFLICT_FREE_OFFSET(bi)] += temp[ai + CONFLICT_FREE_OFFSET(ai)];
        }
        offset *= 2;
    }
// ---- end of gap 1
// ---- gap 2:
#pragma unroll
    for (int d = 1; d < TREE; d *= 2) {
        offset >>= 1;
        if (d > 32) __syncthreads();
        else __syncwarp();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai), bi += CONFLICT_FREE_OFFSET(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
// ---- end of gap 2
