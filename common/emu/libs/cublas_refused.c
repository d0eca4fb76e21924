/* cublas_refused.c — the functions of NVIDIA's library that this one does not offer
 * (library_names.sh). A call says so, once for each, and returns CUBLAS_STATUS_NOT_SUPPORTED. */
#include "cublas_inside.h"

static int refuse(const char *name)
{
    if (stand_in_introduce("libcublas.so.13"))
        emu_library_refuse(
            name, "the emulator's cuBLAS has levels 1 and 2 in part, gemm, geam and dgmm, in "
                  "float and double (gemm also in half and bfloat16), by cublas_v2.h; use "
                  "these, write a kernel, or run the program on a GPU");
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* The compiler gets another name than the assembler, because it has seen the declaration. */
#define REFUSED(name, called)                                                                      \
    int refused_##name(void) __asm__(#name);                                                       \
    int refused_##name(void) { return refuse(called); }
#include <refused.inc>
