#!/bin/sh
# Prints the folder of the CUDA toolkit that the build uses, or nothing if no toolkit is found (exit
# 1). It is the first complete toolkit of release 13 among $CUDA_HOME, $CUDA_PATH, nvcc in PATH,
# /usr/local, and the toolkit that `make setup` has unpacked.

nvcc_in_path=$(command -v nvcc)
if [ -n "$nvcc_in_path" ]; then
    nvcc_in_path=$(dirname "$(dirname "$(readlink -f "$nvcc_in_path")")")
fi

for folder in "$CUDA_HOME" "$CUDA_PATH" "$nvcc_in_path" /usr/local/cuda /usr/local/cuda-13* \
    build/cuda; do
    [ -x "$folder/bin/nvcc" ] || continue
    [ -e "$folder/include/cuda_runtime.h" ] || continue
    [ -e "$folder/lib64/libcudart.so" ] || continue
    case $("$folder/bin/nvcc" --version 2>/dev/null) in
    *"release 13."*)
        echo "$folder"
        exit 0
        ;;
    esac
done
exit 1
