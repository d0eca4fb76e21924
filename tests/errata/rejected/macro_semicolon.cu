// GPU Gems 3, Listing 39-4, block A: the macro's uses have no semicolons.
#define LOG_NUM_BANKS           4
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan(float *g_odata, int n)
{
    int ai = threadIdx.x, bi = threadIdx.x + (n / 2);
    // clang-format off
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai)
    int bankOffsetB = CONFLICT_FREE_OFFSET(bi)
    // clang-format on
    g_odata[ai] = bankOffsetA + bankOffsetB;
}
