#!/usr/bin/env bats
# library.bats — libupsweep as `make install` installs it: the programs of notes/use.md as they
# stand there, in a folder of their own; what the library shows; and the templates' headers.
# bats file_tags=slow
load common

setup_file() {
    [ -z "${SANITIZED:-}" ] || return 0
    unset MAKEFLAGS MAKELEVEL MFLAGS V CI
    export TREE=$PWD HOME=$BATS_FILE_TMPDIR/home
    export PREFIX=$HOME/upsweep CUDA
    CUDA=$(realpath "$(common/build/toolkit.sh)")
    mkdir -p "$HOME"
    make install PREFIX="$PREFIX" >/dev/null
    rm -r "$PREFIX" # what is built keeps this umask
    (umask 077 && make install PREFIX="$PREFIX" >/dev/null)
    # Each program of the page is a file, by the name in its first line; commands become N.sh.
    mkdir "$BATS_FILE_TMPDIR/page"
    awk -v folder="$BATS_FILE_TMPDIR/page" '
        /^```sh$/ { file = folder "/" ++count ".sh"; next }
        /^```[a-z+]+$/ { waits = 1; next }
        /^```$/ { file = ""; next }
        waits { file = folder "/" $2; waits = 0 }
        file { print >file }' notes/use.md
}

# In a folder without this repository, and with nvcc in PATH, as a reader has it.
setup() {
    [ -z "${SANITIZED:-}" ] || skip "nothing is installed"
    cp -r "$BATS_FILE_TMPDIR/page" "$BATS_TEST_TMPDIR/own"
    cd "$BATS_TEST_TMPDIR/own" || return
    export PATH=$CUDA/bin:$PATH CUDAToolkit_ROOT=$CUDA
}

# page NUMBER…: runs these commands of the page in one shell.
page() { (for number; do cat "$number.sh"; done) | bash -eo pipefail; }

@test "an administrator's umask keeps nobody from reading what is installed" {
    run find "$PREFIX" ! -perm -o=r -o -type d ! -perm -o=x
    [ "$output" = "" ]
}

@test "use.md: a program in C" {
    need pkg-config
    run -0 page 2
    [ "$output" = "3 4 11 11 15 16 22 25 " ]
    for gpu in t4 a100 b200; do
        LD_LIBRARY_PATH=$PREFIX/lib run "$PREFIX/bin/emu" --gpu $gpu --log-file /dev/null ./sums
        [ "$output" = "3 4 11 11 15 16 22 25 " ]
    done
}

@test "use.md: a program by CMake, with the shared and the static library" {
    need cmake
    run -0 page 3
    says "30.25 degrees at place 1"
    sed -i 's/upsweep::upsweep/upsweep::static/' CMakeLists.txt
    run -0 page 3
    says "30.25 degrees at place 1"
    run ldd build/warmest
    says_not libupsweep
    for version in 0.9 2.0 1.1; do
        sed -i "s/find_package(upsweep [0-9.]*/find_package(upsweep $version/" CMakeLists.txt
        run ! cmake -B again -DCMAKE_PREFIX_PATH="$PREFIX"
        rm -r again
    done
}

# As on a machine with the toolkit of `make setup` alone: CMake ignores the folders of others.
@test "CMake finds the toolkit that the library was built with, and no components" {
    need cmake
    unset CUDAToolkit_ROOT CUDA_HOME CUDA_PATH
    cp -a "$PREFIX" moved
    ln -s "$CUDA" elsewhere
    sed -i "s|\"/[^\"]*cuda[^\"]*\"|\"$PWD/elsewhere\"|" moved/lib/cmake/upsweep/upsweepConfig.cmake
    configure() {
        sed -i "s/find_package(upsweep.*/find_package(upsweep $2)/" CMakeLists.txt
        PATH=/usr/bin:/bin run "$1" cmake -B "build$2" -DCMAKE_PREFIX_PATH="$PWD/moved" \
            -DCMAKE_IGNORE_PATH="/usr/local/bin;/usr/local/cuda/bin;$CUDA/bin"
    }
    configure -0 REQUIRED
    says "Found CUDAToolkit: $PWD/elsewhere"
    configure ! "REQUIRED COMPONENTS nothing"
    says "upsweep has no component nothing: ask for none."
}

@test "use.md: a program in C++" {
    run -0 page 4
    [ "$output" = "7 7 9 9 " ]
}

@test "a project of CMake in CUDA uses the templates and the library" {
    need cmake
    sed -i 's/puts("");/printf("%d\\n", upsweep_version());/' longest.cu
    sed -i '/include <cstdio>/a #include <upsweep/version.h>' longest.cu
    cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(longest LANGUAGES CUDA)
find_package(upsweep REQUIRED)
add_executable(longest longest.cu)
set_target_properties(longest PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
target_link_libraries(longest upsweep::upsweep)
END
    cmake -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CUDA_ARCHITECTURES=90
    cmake --build build
    run "$PREFIX/bin/emu" --log-file /dev/null build/longest
    [ "$output" = "7 7 9 9 1000" ]
}

@test "a program that finds neither a GPU nor the emulator says so" {
    need pkg-config
    [ ! -e /dev/nvidiactl ] || skip "there is a GPU"
    sed -i '$d' 2.sh
    run -0 page 2
    LD_LIBRARY_PATH=$PREFIX/lib:$CUDA/lib64 run -1 ./sums
    [ -n "$output" ]
}

@test "the libraries show names of one prefix, and those of the headers" {
    nm -D --defined-only "$PREFIX/lib/libupsweep.so" | awk '{ print $3 }' | sort >shown
    run grep -v '^upsweep_' shown
    [ "$output" = "" ]
    nm -g --defined-only "$PREFIX/lib/libupsweep.a" | awk 'NF == 3 { print $3 }' | sort >in_archive
    cmp shown in_archive
    printf '#include <upsweep/upsweep.h>\n' |
        gcc -E -P -I"$PREFIX/include" -I"$CUDA/include" - | grep -v 'static' |
        grep -o 'upsweep_[a-z0-9_]*(' | tr -d '(' | sort -u >declared
    cmp shown declared
    readelf -d "$PREFIX/lib/libupsweep.so" >dynamic
    grep -q 'SONAME.*\[libupsweep.so.1\]' dynamic
    run grep -c NEEDED dynamic
    [ "$output" -le 4 ]
    run grep 'stdc++\|libgcc' dynamic
    [ "$output" = "" ]
}

@test "the headers serve C and C++, and their macros have one prefix" {
    for header in "$PREFIX"/include/upsweep/*.h; do
        printf '#include <upsweep/%s>\nint own(void);\n' "$(basename "$header")" >own.c
        cp own.c own.cpp
        set -- -Wall -Wextra -Werror -I"$PREFIX/include" -isystem "$CUDA/include" -c
        gcc -std=c11 -Wpedantic "$@" own.c
        g++ "$@" own.cpp
    done
    run grep -l 'include "[^"]*/' "$PREFIX"/include/upsweep/*
    [ "$output" = "" ]
    system='#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <limits>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <type_traits>
'
    macros() {
        g++ -x c++ -D__CUDACC__ -include cuda_runtime.h -E -dM -I"$PREFIX/include" \
            -I"$CUDA/include" -I"$CUDA/include/cccl" - |
            awk '{ print $2 }' | sed 's/(.*//' | sort -u
    }
    printf '%s' "$system" | macros >before
    printf '%s#include <upsweep/%s>\n' "$system" upsweep.h '' scan.cuh '' select.cuh | macros >after
    run comm -13 before after
    says UPSWEEP_VERSION
    run grep -v '^UPSWEEP_' <<<"$output"
    [ "$output" = "" ]
}

# Both templates in one file, whose own macros and names are those of the steps.
@test "templates leave a program's names alone" {
    cat >own.cu <<'END'
#define LANES "mine"
#define TILE 5
#define WORDS 77
#include <upsweep/select.cuh>
#include <upsweep/scan.cuh>
#include <upsweep/upsweep.h>
#include <cstdio>
struct workspace { int tile; };
struct state { int x; };
struct place { int x; };
static int scan(int x) { return x + TILE; }
static int launch(int x) { return x + WORDS; }
struct from_the_second { __device__ bool operator()(float, size_t i) const { return i >= 1; } };
struct both { float x, y; };
struct is_high {
    float least;
    __host__ __device__ bool operator()(both b) const { return b.y > least; }
};
int main()
{
    size_t bytes = 0, n = 3;
    both host[3] = {{1, 5}, {2, 1}, {3, 9}}, *in, *out;
    uint64_t *kept, count;
    int64_t *where, first[2];
    float *x;
    void *w;
    cudaMalloc(&in, 24), cudaMalloc(&out, 24), cudaMalloc(&kept, 8), cudaMalloc(&where, 24);
    cudaMalloc(&x, 12), cudaMemset(x, 0, 12);
    cudaMemcpy(in, host, 24, cudaMemcpyHostToDevice);
    upsweep::partition(is_high{2}, NULL, &bytes, out, kept, in, n, NULL, 0);
    cudaMalloc(&w, bytes);
    cudaError_t error = upsweep::partition(is_high{2}, w, &bytes, out, kept, in, n, NULL, 0);
    cudaMemcpy(host, out, 24, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, kept, 8, cudaMemcpyDeviceToHost);
    printf("%d: %d kept, %g %g, then %g\n", error, (int)count, host[0].x, host[1].x, host[2].x);
    error = upsweep::select_indices(from_the_second(), w, &bytes, where, kept, x, n, NULL, 0);
    cudaMemcpy(first, where, 16, cudaMemcpyDeviceToHost);
    printf("%d: %d %d %s %d\n", error, (int)first[0], (int)first[1], LANES, scan(0) + launch(0));
}
END
    run nvcc -arch=compute_90 -cudart shared -Werror all-warnings -Xcompiler -Wall,-Wextra \
        -I"$PREFIX/include" own.cu -o own
    [ "$output" = "" ]
    run "$PREFIX/bin/emu" --log-file /dev/null ./own
    says "0: 2 kept, 1 3, then 2"
    says "0: 1 2 mine 82"
}

# Each header alone, with what compilers of users warn of; and calls of each name, whose functions
# are chosen but not compiled.
@test "templates: no warnings, and each name with and without using" {
    cat >names.cu <<'END'
#include <upsweep/scan.cuh>
#include <upsweep/select.cuh>
#ifdef USING
using namespace upsweep;
#define UP
#else
#define UP upsweep::
#endif
struct own : UP plain<int> {
    __host__ __device__ int identity() const { return 0; }
    __host__ __device__ int combine(int a, int b) const { return a + b; }
};
struct kept_ones { __device__ bool operator()(int x) const { return x > 0; } };
static void *const w = NULL;
static size_t *const b = NULL;
static uint64_t *const k = NULL;
static int *const x = NULL;
template <typename Op> int calls(typename Op::Out *x, const typename Op::In *y,
                                 const typename Op::In2 *z)
{
    static_assert(sizeof(UP scan(Op(), w, b, x, y, z, 1, NULL, NULL)) == 4, "");
    return sizeof(UP check_operator(Op(), stdout));
}
int main()
{
    static_assert(sizeof(UP select(kept_ones(), w, b, x, k, x, 1, NULL, NULL)) == 4, "");
    static_assert(sizeof(UP partition(kept_ones(), w, b, x, k, x, 1, NULL, NULL)) == 4, "");
    static_assert(sizeof(UP select_indices(kept_ones(), w, b, k, k, x, 1, NULL, NULL)) == 4, "");
    UP no_input *none = NULL;
    return calls<own>(0, 0, none) + calls<UP sum_operator<int>>(0, 0, none) +
           calls<UP product_operator<int>>(0, 0, none) + calls<UP max_operator<int>>(0, 0, none) +
           calls<UP min_operator<int>>(0, 0, none) + calls<UP xor_operator<int>>(0, 0, none) +
           calls<UP logsumexp_operator<float>>(0, 0, none) +
           calls<UP affine_operator<float>>(0, 0, 0) + calls<UP decay_operator<float>>(0, 0, none);
}
END
    compiles() {
        run nvcc -std=c++17 -arch=compute_90 -cudart shared -Werror all-warnings \
            -Xcompiler -Wall,-Wextra -I"$PREFIX/include" -c "$@" -o /dev/null
        [ "$status$output" = 0 ]
    }
    for header in "$PREFIX"/include/upsweep/*; do
        echo "#include <upsweep/${header##*/}>" >alone.cu
        compiles alone.cu
    done
    compiles names.cu
    compiles -DUSING names.cu
}

@test "an installed library works after a move" {
    need pkg-config
    cp -a "$PREFIX" "$BATS_TEST_TMPDIR/moved"
    sed -i "s|[$]HOME/upsweep|$BATS_TEST_TMPDIR/moved|g" 2.sh
    run -0 page 2
    [ "$output" = "3 4 11 11 15 16 22 25 " ]
}

@test "uninstall removes what install put there, and nothing else" {
    cp -a "$PREFIX" here
    touch here/lib/other here/include/other
    run -0 make -C "$TREE" --no-print-directory uninstall PREFIX="$PWD/here"
    [ "$(find here -not -type d | sort | paste -sd ' ')" = "here/include/other here/lib/other" ]
}
