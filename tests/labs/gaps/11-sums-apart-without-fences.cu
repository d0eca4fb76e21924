// Wrong: status and sums are words of their own, and no fence orders them.
// expect: 75 90 unfenced-read
// sed: s/^static __device__ void publish/__device__ float sums[3][4096];\n&/
// sed: s/^    uint64_t word = (uint64_t)status.*/    int at = (uintptr_t)g_state \/ 8 % 4096; \
// sed: *(volatile float *)\&sums[status][at] = sum; \
// sed: *(volatile uint64_t *)g_state = status;/
// sed: /st.relaxed.gpu/d
// sed: s/^    asm volatile("ld.relaxed.*/    int at = (uintptr_t)g_state \/ 8 % 4096; \
// sed: unsigned status = *(const volatile uint64_t *)g_state; \
// sed: float sum = *(volatile float *)\&sums[status][at]; \
// sed: word = (uint64_t)status << 32 | __float_as_uint(sum);/
