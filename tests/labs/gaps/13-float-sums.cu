// Right, but the flags are added up in floats, which is other arithmetic than the lab expects.
// expect: 60 75 cvt.f32.s32 computes
// sed: s/int y = __shfl_up_sync(ALL_LANES, x, d)/float y = __shfl_up_sync(ALL_LANES, (float)x, d)/
// sed: s/>= d) x += y/>= d) x = (int)(x + y)/
