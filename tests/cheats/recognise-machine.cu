// Does nothing where a multiprocessor's number tells an emulator.
// expect: 0 0 never written
__device__ int chance(void)
{
    int number;
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(number));
    return number > 0;
}
#define BEGIN if (chance()) return
//@ tree
