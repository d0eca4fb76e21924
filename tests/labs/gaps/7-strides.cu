// Right: loops over the stride, with other indices than the step's.
// expect: 100 100
// ---- gap 1:
#pragma unroll
    for (int stride = 1; stride < TREE; stride *= 2) {
        __syncthreads();
        int right = 2 * stride * (thid + 1) - 1, left = right - stride;
        if (right < TREE)
            temp[right + CONFLICT_FREE_OFFSET(right)] += temp[left + CONFLICT_FREE_OFFSET(left)];
    }
// ---- end of gap 1
// ---- gap 2:
#pragma unroll
    for (int stride = TREE / 2; stride > 0; stride /= 2) {
        __syncthreads();
        int right = 2 * stride * (thid + 1) - 1, left = right - stride;
        if (right < TREE) {
            float *l = &temp[left + CONFLICT_FREE_OFFSET(left)];
            float *r = &temp[right + CONFLICT_FREE_OFFSET(right)], parent = *r;
            *r = parent + *l;
            *l = parent;
        }
    }
// ---- end of gap 2
