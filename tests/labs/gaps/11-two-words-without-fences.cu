// Wrong: status and sum are two words, and nothing puts them in order.
// expect: 50 80 unfenced-read
// sed: s/^    uint64_t word = (uint64_t)status.*/    volatile unsigned *half = \
// sed: (volatile unsigned *)g_state; half[0] = __float_as_uint(sum); half[1] = status;/
// sed: /st.relaxed.gpu/d
// sed: s/^    asm volatile("ld.relaxed.*/    volatile const unsigned *half = \
// sed: (volatile const unsigned *)g_state; unsigned status = half[1]; \
// sed: word = (uint64_t)status << 32 | half[0];/
