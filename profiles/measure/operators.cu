/*
 * operators.cu — one kernel for each cache operator and ordering of a load or store of global
 * memory, from which gpu.sh records the machine code that ptxas makes. They are not run.
 */
#define LOAD(name, instruction)                                                                    \
    extern "C" __global__ void name(float *out, const float *in)                                   \
    {                                                                                              \
        float x;                                                                                   \
        asm volatile(instruction ".f32 %0, [%1];" : "=f"(x) : "l"(in) : "memory");                 \
        asm volatile("st.global.f32 [%0], %1;" ::"l"(out), "f"(x) : "memory");                     \
    }
#define STORE(name, instruction)                                                                   \
    extern "C" __global__ void name(float *out)                                                    \
    {                                                                                              \
        asm volatile(instruction ".f32 [%0], 0f3F800000;" ::"l"(out) : "memory");                  \
    }

LOAD(ld_plain, "ld.global")
LOAD(ld_ca, "ld.global.ca")
LOAD(ld_cg, "ld.global.cg")
LOAD(ld_cs, "ld.global.cs")
LOAD(ld_lu, "ld.global.lu")
LOAD(ld_cv, "ld.global.cv")
LOAD(ld_nc, "ld.global.nc")
LOAD(ld_volatile, "ld.volatile.global")
LOAD(ld_relaxed_gpu, "ld.relaxed.gpu.global")
LOAD(ld_acquire_gpu, "ld.acquire.gpu.global")
STORE(st_plain, "st.global")
STORE(st_wb, "st.global.wb")
STORE(st_cg, "st.global.cg")
STORE(st_cs, "st.global.cs")
STORE(st_wt, "st.global.wt")
STORE(st_volatile, "st.volatile.global")
STORE(st_relaxed_gpu, "st.relaxed.gpu.global")
STORE(st_release_gpu, "st.release.gpu.global")
