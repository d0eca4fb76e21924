// The lecture, "Aligned memory copy": a parenthesis is missing.
__device__ bool is_all_aligned(char *, char *, int);
__device__ void memcpy_aligned_16(char *, char *, size_t);
__device__ void memorycopy(char *tptr, char *sptr, size_t size)
{
    unsigned mask = __activemask();
    // clang-format off
    if (__all_sync(mask, is_all_aligned(tptr, sptr, 16))
        return memcpy_aligned_16(tptr, sptr, size);
    // clang-format on
}
