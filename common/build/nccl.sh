#!/bin/sh
# nccl.sh: prints the flags that compile and link a program in C with NCCL, or nothing where NCCL is
# missing. It takes the NCCL of the folder NCCL_HOME. Without NCCL_HOME it takes that of the CUDA
# toolkit, or else one that pip has installed for the python3 in PATH.
# nccl.sh --home: prints the folder of the NCCL that it takes.
# nccl.sh --folders: prints the folders in which it looks, one per line.
cd "${0%/*}/../.." || exit

folders() {
    if [ -n "$NCCL_HOME" ]; then
        echo "$NCCL_HOME"
        return
    fi
    echo "${CUDA:-$(common/build/toolkit.sh)}" # the Makefile knows it already
    python3 -c 'import sys; print(*sys.path, sep="\n")' 2>/dev/null |
        sed -n 's,.*-packages$,&/nvidia/nccl,p'
}

# The library in folder $1. A wheel has only libnccl.so.2, without a link for the linker.
library() {
    for library in "$1"/lib64/libnccl.so "$1"/lib/libnccl.so "$1"/lib*/libnccl.so.2 \
        "$1"/lib/x86_64-linux-gnu/libnccl.so; do
        [ ! -e "$library" ] || { echo "$library" && return; }
    done
    return 1
}

home() {
    folders | while read -r folder; do
        [ -e "$folder/include/nccl.h" ] && library "$folder" >/dev/null && cd "$folder" && pwd &&
            break
    done
}

case $1 in
--folders) folders ;;
--home) home ;;
*)
    home=$(home)
    [ -n "$home" ] || exit 0
    library=$(library "$home")
    # GCC searches /usr/include itself, and last: libraries' headers rely on that.
    [ "$home" = /usr ] || printf '%s ' "-I$home/include"
    # The command emu names NCCL, which needs a GPU, when it is called: not before that (lazy).
    echo "$library -Wl,-rpath,${library%/*} -Wl,-z,lazy"
    ;;
esac
