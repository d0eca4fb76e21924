#!/bin/sh
# nccl.sh: prints the flags that compile and link a program in C with NCCL, that of the folder
# NCCL_HOME or of the CUDA toolkit. It prints nothing where NCCL is missing.
home=${NCCL_HOME:-$("${0%/*}/toolkit.sh")}
[ -e "$home/include/nccl.h" ] || exit 0
home=$(cd "$home" && pwd)
for library in "$home"/lib64/libnccl.so "$home"/lib/libnccl.so "$home"/lib*/libnccl.so.2 \
    "$home"/lib/x86_64-linux-gnu/libnccl.so; do
    [ -e "$library" ] || continue
    # GCC searches /usr/include itself, and last: libraries' headers rely on that.
    [ "$home" = /usr ] || printf '%s ' "-I$home/include"
    # The command emu names NCCL, which needs a GPU, when it is called: not before that (lazy).
    echo "-DHAVE_NCCL $library -Wl,-rpath,${library%/*} -Wl,-z,lazy"
    exit
done
