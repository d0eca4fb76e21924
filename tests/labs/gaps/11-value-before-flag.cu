// Wrong: status and sum are two words, and the sum is read first.
// expect: 0 90 element
// sed: s/st.relaxed.gpu.global.u64 \[%0\], %1;" ::"l"(g_state), "l"(word)/st.relaxed.gpu.global.u32 [%0], %1; st.relaxed.gpu.global.u32 [%0+4], %2;" ::"l"(g_state), "r"(__float_as_uint(sum)), "r"((unsigned)status)/
// sed: s/^    uint64_t word = (uint64_t)status.*//
// sed: s/"ld.relaxed.gpu.global.u64 %0, \[%1\];"/"{ .reg .b32 s, v; ld.relaxed.gpu.global.u32 v, [%1]; ld.relaxed.gpu.global.u32 s, [%1+4]; mov.b64 %0, {v, s}; }"/
