// Right: a ballot's population count adds up the flags of a warp. Sums of blocks are no flags.
// expect: 100 100
// sed: s/^    int sum = warp_scan(x);/    unsigned votes = __ballot_sync(ALL_LANES, x);\n&/
// sed: s/int sum = warp_scan(x)/int sum = sums ? __popc(votes << (31 - lane)) : warp_scan(x)/
