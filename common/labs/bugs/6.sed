# lab 9: lanes without a neighbour do not take part in the shuffle (synccheck)
s/^\( *\)float y = __shfl_up_sync(ALL_LANES, x, d);/\1if (threadIdx.x % WARP >= d) x += __shfl_up_sync(ALL_LANES, x, d);/
/^ *if (threadIdx.x % WARP >= d) x += y;/d
