// Wrong: a block may wait for one that gets no place before this one ends.
// expect: 0 93 deadlock: the GPU is full, 2 of
// sed: s/atomicAdd(g_ticket, 1)/blockIdx.x/
