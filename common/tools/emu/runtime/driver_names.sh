#!/bin/bash
# What the toolkit's headers say of the driver API, and of the runtime's:
#   driver_names.sh functions|errors|runtime|stub INCLUDE
# INCLUDE is the folder of cuda.h. INCLUDE/cudaTypedefs.h says since which version a function has
# its form.
#
# functions   a row FUNCTION(name, "name without _v2, _ptsz", version) for each function, by name
# errors      a row ERROR(name) for each error
# runtime     a row RUNTIME_FUNCTION(name, "name without _ptsz") for each function of the runtime
# stub        C of a library for linkers, which only has the names; at run time the emulator, or
#             NVIDIA's libcuda.so.1, takes its place
include=$2

# Each function of these headers, also in its older forms, and in those for per-thread default
# streams. The headers of OpenGL, EGL and VDPAU need not be installed: no names come from there.
declared() {
    for macro in NO __CUDA_API_VERSION_INTERNAL CUDA_API_PER_THREAD_DEFAULT_STREAM; do
        sed '/^#include.*\(GL\|vdpau\)\//d' "$@" | ${CC:-cc} -E -P -D$macro -I"$include" -x c -
    done | grep -oE '\bcu(da)?[A-Z][A-Za-z0-9_]*\(' | tr -d '(' | LC_ALL=C sort -u
}

functions() { declared "$include"/cuda{,Profiler,GL,EGL,VDPAU}.h; }

# A line "name version" for each form of a function, the oldest first.
versions() {
    cat "$include"/cuda{,Profiler,GL,EGL,VDPAU}Typedefs.h |
        grep -oE '\*PFN_cu[A-Za-z0-9]+_v[0-9]+\)' |
        sed 's/\*PFN_\(.*\)_v\(.*\))/\1 \2/' | sort -u -k1,1 -k2,2n
}

if [ "$1" = errors ]; then
    sed -n '/^typedef enum cudaError_enum/,/^} CUresult/p' "$include/cuda.h" |
        sed -n 's/^ *\(CUDA_[A-Z0-9_]*\) *= [0-9].*/ERROR(\1)/p'
elif [ "$1" = runtime ]; then
    declared "$include"/cuda_{runtime_api,profiler_api,gl_interop,egl_interop,vdpau_interop}.h |
        awk '/^cuda/ {
            base = $1
            sub(/_pt[sd][sz]$/, "", base)
            printf "RUNTIME_FUNCTION(%s, \"%s\")\n", $1, base
        }'
elif [ "$1" = stub ]; then
    functions | sed 's/.*/int &(void) { return 34; }/' # CUDA_ERROR_STUB_LIBRARY
else
    awk 'NR == FNR { version[$1, ++forms[$1]] = $2; next }
        {
            base = $1
            sub(/_pt[sd][zs]$/, "", base)
            form = match(base, /_v[0-9]+$/) ? substr(base, RSTART + 2) : 1
            sub(/_v[0-9]+$/, "", base)
            printf "FUNCTION(%s, \"%s\", %d)\n", $1, base, version[base, form]
        }' <(versions) <(functions)
fi
