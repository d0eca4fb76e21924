// Wrong: a tile that publishes its prefix between the two loads gives its aggregate's status to it.
// expect: 0 97 element
// sed: s/^    uint64_t word = (uint64_t)status.*/    volatile unsigned *half = (volatile unsigned *)g_state; half[0] = __float_as_uint(sum); __threadfence(); half[1] = status;/
// sed: /st.relaxed.gpu/d
// sed: s/^    asm volatile("ld.relaxed.*/    volatile const unsigned *half = (volatile const unsigned *)g_state; unsigned status = half[1]; __threadfence(); word = (uint64_t)status << 32 | half[0];/
