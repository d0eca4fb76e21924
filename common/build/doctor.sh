#!/bin/sh
# make doctor: prints a line for each tool: was it found, which version, and its use.
. common/build/tools.sh

# line NAME WHAT-WAS-FOUND (empty: nothing) WHAT-FOR
line() { printf '%-10s %-46s %s\n' "$1" "${2:-not found}" "$3"; }

first_number() { grep -o '[0-9]\+\.[0-9.]*[0-9]' | head -n 1; }
version() { have "$1" && "$1" --version 2>/dev/null | sed -n 1p | first_number; }

# The value of macros $2 that header $1 defines, with dots between them.
macros() {
    header=$1
    shift
    for macro; do
        printf '#include <%s>\n%s\n' "$header" "$macro" | $cc -E -x c - 2>/dev/null | tail -n 1
    done | grep '^[0-9"]' | tr -d '"' | paste -sd. -
}

# Criterion's headers do not contain its version, but Debian knows it.
criterion() {
    have_header criterion/criterion.h || return
    dpkg-query -W -f '${Version}' libcriterion-dev 2>/dev/null || echo found
}

nccl() {
    home=$("$here/nccl.sh" --home)
    [ -n "$home" ] || return
    sed -n 's/^.define NCCL_\(MAJOR\|MINOR\|PATCH\) //p' "$home/include/nccl.h" | paste -sd. - |
        sed "s,\$, in $home,"
}

cuda=$(toolkit)
if [ -n "$cuda" ]; then
    nvcc="$("$cuda/bin/nvcc" --version | sed -n 's/.*release \(.*\),.*/\1/p') in $cuda"
    newest_gcc=$(sed -n 's/^#if __GNUC__ > //p' "$cuda/include/crt/host_config.h")
fi
host="C++ beside the kernels"
[ -z "$newest_gcc" ] || host="$host (this nvcc takes g++ up to $newest_gcc)"

# nvidia-smi's answer about $1, a line for each GPU; nothing if nvidia-smi fails.
query_gpu() {
    answer=$(nvidia-smi --query-gpu="$1" --format=csv,noheader 2>/dev/null) && echo "$answer"
}

bwrap=$(version bwrap)
if [ -n "$bwrap" ] && ! try_sandbox; then
    bwrap="$bwrap, cannot start a sandbox here"
fi

mpi=$(version mpirun)
if [ -n "$mpi" ] && [ -z "$("$here/mpi.sh")" ]; then
    mpi="$mpi, without its header and library"
fi

python=$(python_for_package) && numpy=$("$python" -c 'import numpy; print(numpy.__version__)')

gpu=$(query_gpu name | uniq -c | sed 's/^ *1 //; s/^ *\([0-9]*\) /\1 x /' | paste -sd, -)
driver=$(query_gpu driver_version | head -n 1)
[ -n "$driver" ] ||
    driver=$(sed -n 's/^NVRM.*Module *\([0-9.]*\).*/\1/p' /proc/driver/nvidia/version 2>/dev/null)

ncu=$(command -v ncu || ls "$cuda/bin/ncu" 2>/dev/null)
[ -z "$ncu" ] || ncu="$("$ncu" --version | first_number) in $(dirname "$ncu")"
case $(sed -n 's/^RmProfilingAdminOnly: //p' /proc/driver/nvidia/params 2>/dev/null) in
0) counters="permitted to everybody" ;;
1) counters="permitted to root only" ;;
*) counters= ;;
esac

line make "$(version make)" "runs the build"
line "$cc" "$(version "${cc%% *}")" "C: the harness and the emulator"
line "$cxx" "$(version "${cxx%% *}")" "$host"
line toolkit "$nvcc" "nvcc 13: compiles the kernels, with a GPU and without"
line zstd "$(macros zstd.h ZSTD_VERSION_MAJOR ZSTD_VERSION_MINOR ZSTD_VERSION_RELEASE)" \
    "the emulator unpacks kernels with it"
line libpng "$(macros png.h PNG_LIBPNG_VER_STRING)" \
    "PNG pictures of step 14; PGM and PPM need nothing"
line Criterion "$(criterion)" "make test: the tests in C"
line bats "$(version bats)" "make test: those of scripts and commands"
line cmake "$(version cmake)" "make test-all: the library in programs built by CMake"
line pkg-config "$(version pkg-config)" "make test-all: the same without CMake"
line bwrap "$bwrap" "make grade: a sandbox for students' programs (notes/instructor.md)"
line mpi "$mpi" "step 17: a scan between processes"
nccl=$(nccl)
line NCCL "$nccl" "step 17 --exchange nccl, with GPUs"
[ -n "$nccl" ] || echo "           looked for in $("$here/nccl.sh" --folders | paste -sd' ' -)"
line emcc "$(version emcc)" "make page: the book as a page that runs its kernels"
line pandoc "$(version pandoc)" "make page: renders the chapters"
line chromium "$(version chromium)" "make test-all: tries the page, by Selenium"
line NumPy "${numpy:-}" "make test-all: the Python package, common/tools/library/python"
line GPU "$gpu" "real times; without one the steps run emulated"
line driver "$driver" "must be 580 or newer to run CUDA 13 on the GPU"
line ncu "$ncu" "counters of the GPU; the emulator has its own, build/emu/emu"
line counters "$counters" "whether ncu may read them (RmProfilingAdminOnly)"
[ -z "$("$here/missing.sh" "" test)" ] ||
    echo "make setup installs what is missing to build and test."
