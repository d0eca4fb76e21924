#!/bin/bash
# The names of NVIDIA's cuBLAS, and what the emulator's says of them:
#   library_names.sh header|refused
#
# header    cublas_names.h: the second names of functions, and declarations of the refused ones
# refused   a line REFUSED(name, "name that the program wrote") for each refused function
#
# Most functions have a second name, with _v2: a program that was compiled has that one, and the
# name without it is the old function of cublas.h. Each also has one with _64.

offered_v2=(cublas{Create,Destroy,GetVersion,SetWorkspace,{Set,Get}{Stream,PointerMode}}
    cublasI{s,d}{amax,amin} cublas{S,D}{asum,nrm2,dot,axpy,copy,swap,scal,rot,rotg}
    cublas{S,D}{gemv,ger,symv,trmv,trsv,gemm})
offered=(cublasGetProperty cublasGetCudartVersion cublasGetStatus{Name,String}
    cublas{Set,Get}{MathMode,AtomicsMode} cublas{Set,Get}{Vector,Matrix}{,Async}
    cublas{S,D}{geam,dgmm} cublasHgemm cublas{S,D,H}gemm{,Strided}Batched
    cublasSgemmEx cublasGemm{,Batched,StridedBatched}Ex)

# In these lists a line that ends with a backslash goes on at once.
refused_v2=(cublas{S,D}{rotm,rotmg,{gb,sb,sp}mv,{sp,sy}r,{sp,sy}r2,{tb,tp}mv,{tb,tp}sv,\
sy{mm,rk,r2k},tr{mm,sm}}
    cublas{C,Z}{axpy,copy,dotc,dotu,rot,rotg,scal,swap,gbmv,gemm,gemv,gerc,geru,hbmv,hemm,hemv,\
her,her2,her2k,herk,hpmv,hpr,hpr2,symm,symv,syr,syr2,syr2k,syrk,tbmv,tbsv,tpmv,tpsv,trmm,trmv,\
trsm,trsv}
    cublasI{c,z}{amax,amin} cublas{Csrot,Csscal,Zdrot,Zdscal,Scasum,Dzasum,Scnrm2,Dznrm2})
refused=(cublas{Init,Shutdown,GetError,Alloc,Free,SetKernelStream,Xerbla,LoggerConfigure}
    cublas{Set,Get}{Backdoor,EnvironmentMode,LoggerCallback,SmCountTarget} cublasSetBackdoorEx
    cublas{Set,Get}Emulation{SpecialValuesSupport,Strategy}
    cublas{Set,Get}FixedPointEmulation{MantissaBitCountPointer,MantissaBitOffset,MantissaControl}
    cublas{Set,Get}FixedPointEmulationMaxMantissaBitCount
    cublas{Asum,Axpy,Copy,Dot,Dotc,Iamax,Iamin,Nrm2,Rot,Rotg,Rotm,Rotmg,Scal,Swap}Ex
    cublas{S,D,C,Z}{gels,geqrf,getrf,getri,getrs,matinv,trsm,gemv,gemvStrided}Batched
    cublas{S,D,C,Z}{bdmm,syrkx,tpttr,trttp} cublas{C,Z}{geam,dgmm,herkx,gemmBatched}
    cublas{C,Z}{gemmStridedBatched,gemm3m} cublas{S,D}gemmGroupedBatched
    cublasCgemm{Ex,3mBatched,3mEx,3mStridedBatched} cublasC{herk,syrk}{,3m}Ex
    cublas{HSH,HSS,TSS,TST}gemv{,Strided}Batched cublasGemmGroupedBatchedEx cublasUint8gemmBias
    cublasXt{Create,Destroy,DeviceSelect,GetNumBoards,MaxBoards,{Set,Get}{BlockDim,PinningMemMode}}
    cublasXtSetCpu{Ratio,Routine}
    cublasXt{S,D,C,Z}{gemm,spmm,symm,syr2k,syrk,syrkx,trmm,trsm}
    cublasXt{C,Z}{hemm,her2k,herk,herkx})

if [ "$1" = header ]; then
    echo '/* Made by library_names.sh. */'
    for name in "${offered_v2[@]}" "${refused_v2[@]}"; do echo "#define $name ${name}_v2"; done
    printf '%s\n' '#ifdef __cplusplus' '#define CUBLAS_REFUSED ...' '#else' \
        '#define CUBLAS_REFUSED' '#endif'
    for name in "${refused_v2[@]/%/_v2}" "${refused[@]}" "${offered[@]/%/_64}" \
        "${offered_v2[@]/%/_v2_64}"; do
        echo "cublasStatus_t $name(CUBLAS_REFUSED);"
    done
else
    refuse() { printf 'REFUSED(%s, "%s")\n' "$1" "$2"; }
    for name in "${offered[@]}"; do refuse "${name}_64" "${name}_64"; done
    for name in "${refused[@]}"; do
        refuse "$name" "$name"
        refuse "${name}_64" "${name}_64"
    done
    for name in "${offered_v2[@]}" "${refused_v2[@]}"; do
        refuse "$name" "$name of cublas.h"
        refuse "${name}_v2_64" "${name}_64"
    done
    for name in "${refused_v2[@]}"; do refuse "${name}_v2" "$name"; done
fi
