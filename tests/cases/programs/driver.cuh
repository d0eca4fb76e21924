/* driver.cuh — what the programs share that use the driver API: checks of its calls, and PTX. */
#ifndef DRIVER_CUH
#define DRIVER_CUH

#include "check.cuh"

#include <cstring>
#include <cuda.h>
#include <string>

inline const char *error_name(CUresult error)
{
    const char *name = NULL;
    cuGetErrorName(error, &name);
    return name ? name : "an unknown error";
}

/* A call of the driver API that must return an error, or CUDA_SUCCESS. */
#define IS(call, error)                                                                            \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != (error)) {                                                                  \
            printf("line %d: %s: %s\n", __LINE__, #call, error_name(result_));                     \
            exit(EXIT_WRONG);                                                                      \
        }                                                                                          \
    } while (0)
#define CU(call) IS(call, CUDA_SUCCESS)

#define PTX_HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"

/* Adds step to the first n elements, element i by thread i. `none` does nothing, at most 64 threads
 * of `limited` do so, and `fill` writes to shared memory that the launch sizes. */
static const char kernels[] = PTX_HEAD R"(
.visible .global .align 4 .u32 step = 1;
.extern .shared .align 4 .b8 dynamic[];
.visible .entry add(.param .u64 array, .param .u32 n)
{
    .reg .b32 %r<6>;
    .reg .b64 %a<3>;
    .reg .pred %outside;
    ld.param.u64 %a1, [array];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %outside, %r2, %r1;
    @%outside bra end;
    mad.wide.u32 %a1, %r2, 4, %a1;
    ld.global.u32 %r3, [%a1];
    ld.global.u32 %r4, [step];
    add.u32 %r3, %r3, %r4;
    st.global.u32 [%a1], %r3;
end:
    ret;
}
.visible .entry none() { ret; }
.visible .entry limited() .maxntid 64, 1, 1 { ret; }
.visible .entry fill()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, dynamic;
    mad.lo.u32 %r2, %r1, 4, %r2;
    st.shared.u32 [%r2], %r1;
    ret;
}
)";

struct Driver {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add, none;
    Driver()
    {
        CU(cuInit(0));
        CU(cuDeviceGet(&device, 0));
        CU(cuCtxCreate(&context, NULL, 0, device));
        CU(cuModuleLoadData(&module, kernels));
        CU(cuModuleGetFunction(&add, module, "add"));
        CU(cuModuleGetFunction(&none, module, "none"));
    }
};

inline CUresult launch(CUfunction f, unsigned blocks, unsigned threads, void **args,
                       CUstream stream = NULL, unsigned shared = 0, void **extra = NULL)
{
    return cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, shared, stream, args, extra);
}

inline CUdeviceptr device_ints(const std::vector<int> &values)
{
    CUdeviceptr p;
    CU(cuMemAlloc(&p, values.size() * sizeof(int)));
    CU(cuMemcpyHtoD(p, values.data(), values.size() * sizeof(int)));
    return p;
}

inline std::vector<int> host_ints(CUdeviceptr p, size_t n)
{
    std::vector<int> values(n);
    CU(cuMemcpyDtoH(values.data(), p, n * sizeof(int)));
    return values;
}

#endif
