#!/usr/bin/env bats
# install.bats — ways to get the emulator: `make install-emu`, the tarball of `make dist`, its
# manual page and completion, and `emu run FILE.cu`.
# bats file_tags=slow
load common

# A sanitized emulator needs more than glibc and /proc, and is never installed.
setup_file() {
    [ -z "${SANITIZED:-}" ] || return 0
    unset MAKEFLAGS MAKELEVEL MFLAGS V CI
    export TREE=$PWD TARBALL PREFIX=$BATS_FILE_TMPDIR/dest/opt/emu
    make install-emu PREFIX=/opt/emu DESTDIR="$BATS_FILE_TMPDIR/dest" >/dev/null
    TARBALL=$PWD/$(umask 077 && make dist 2>"$BATS_FILE_TMPDIR/errors" | tail -n 1)
}

setup() {
    [ -z "${SANITIZED:-}" ] || skip "the sanitized emulator is not installed"
    cd "$BATS_TEST_TMPDIR" || return
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir "$TMPDIR"
    emu=$PREFIX/bin/emu
    p=$TREE/build/tests/programs
}

# unpack FOLDER: unpacks the tarball; $unpacked is the folder that it makes there.
unpack() {
    tar -C "$1" -xzf "$TARBALL"
    unpacked=$(echo "$1"/upsweep-emu-*)
}

# ---- make install-emu ----------------------------------------------------------------------------

@test "an installed tree works, also after a move" {
    run -7 "$emu" --log-file /dev/null "$p/shared" 7
    [[ $output = $'last value 124\nemu: the kernels have run; '* ]]

    cp -a "$PREFIX" moved
    run -0 moved/bin/emu --csv "$p/shared"
    says '"strided"'
    run -0 moved/bin/emu --log-file /dev/null "$p/blas" ordered
    says "ordered 0 294393"
    [ "$(moved/bin/emu --nvcc-flags)" = "-L$PWD/moved/lib/upsweep" ]

    ln -s moved/bin/emu link
    run -0 ./link --log-file /dev/null "$p/shared"

    cp -a moved 'a b'
    NVCC_PREPEND_FLAGS=$('a b/bin/emu' --nvcc-flags) "$("$TREE/common/build/toolkit.sh")/bin/nvcc" \
        -arch=compute_90 "$TREE/tests/cases/fixtures/programs/kernels.cu" -o linked
    run -7 ./linked 7
    says "last value 124"
    for folder in 'a"b' 'a$b' 'a\b'; do
        cp -a moved "$folder"
        run -2 "$folder/bin/emu" --nvcc-flags
        says "$folder/lib/upsweep; move it to another folder, or link with -cudart shared"
    done
    run -0 'a b/bin/emu' --log-file /dev/null "$p/shared"

    rm -r moved/lib/upsweep
    run -2 moved/bin/emu "$p/shared"
    says "libcudart.so.13 is missing"
}

@test "uninstall removes what install put there, and nothing else" {
    local root=$PWD/root
    cp -a "$BATS_FILE_TMPDIR/dest" root
    [ -x root/opt/emu/bin/emu ]
    [ -e root/opt/emu/lib/upsweep/libcudart_static.a ]
    touch "$root/opt/emu/bin/other"
    run -0 make -C "$TREE" --no-print-directory uninstall PREFIX=/opt/emu DESTDIR="$root"
    [ "$(find "$root" -not -type d)" = "$root/opt/emu/bin/other" ]
    [ ! -e "$root/opt/emu/lib/upsweep" ]
}

@test "emu.h and the library serve C and C++ programs without the repository" {
    cat >own.c <<'END'
#include <emu.h>
int main(void)
{
    char message[200];
    struct emu *emu = emu_open(NULL, message, sizeof message);
    puts(emu ? emu_gpu(emu)->name : message);
    emu_close(emu);
}
END
    cp own.c own.cpp
    run -1 grep -n 'include "' "$PREFIX/include/emu.h"
    for compiler in "gcc own.c" "g++ own.cpp"; do
        $compiler -Wall -Wextra -Werror -I"$PREFIX/include" -L"$PREFIX/lib/upsweep" -lcudart \
            -Wl,--no-as-needed,-rpath,"$PREFIX/lib/upsweep" -lcudart -o own
        run ./own
        [ "$output" = "NVIDIA H200" ]
    done
}

# ---- the manual page and completion --------------------------------------------------------------

@test "the manual page has every option, and groff has no complaint" {
    local page=$PREFIX/share/man/man1/emu.1 options
    need groff
    run -0 --separate-stderr groff -ww -man -Tascii -P-cbou "$page"
    # shellcheck disable=SC2154 # `run --separate-stderr` sets it
    [ "$stderr" = "" ]
    options=$("$emu" --help | grep -Eo '^  (-., )?--[a-z-]+' | grep -o -- '--.*')
    [ "$(echo "$options" | wc -l)" -ge 20 ]
    for option in $options; do says "$option"; done
    for part in NAME SYNOPSIS DESCRIPTION OPTIONS NOTES MODELS RULES METRICS; do
        says $'\n'"$part"$'\n'
    done
    says "run FILE.cu"
    says "NVIDIA B200, compute capability 10.0"
    says "emu__bus_utilization_global_op_st.ratio"
    words() { tr -cs 'A-Za-z0-9_' '\n' | LC_ALL=C sort -u; }
    [ -z "$(LC_ALL=C comm -23 <("$emu" --help | sed 's/^usage://' | words) <(words <"$page"))" ]
    need man
    run -0 man -l "$page"
    says "EMU(1)"
}

# complete WORD…: completes the last word; prints the proposals.
complete_words() {
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _emu "$1" "${COMP_WORDS[COMP_CWORD]}"; printf "%s\n" "${COMPREPLY[@]}"' - \
        "$PREFIX/share/bash-completion/completions/emu" "$emu" "$@" | sort
}

@test "bash completes options, their values and files" {
    [ "$(complete_words --lo)" = --log-file ]
    [ "$(complete_words --gpu rtx)" = rtx4090 ]
    [ "$(complete_words --csv --model fer)" = fermi ]
    [ "$(complete_words --page '' | paste -sd ' ')" = "raw source" ]
    [ "$(complete_words --tool memcheck,race)" = memcheck,racecheck ]
    [ "$(complete_words -k name --metrics smsp__sass_thread_inst_executed_op_f)" = \
        smsp__sass_thread_inst_executed_op_fadd_pred_on.sum ]
    touch one.cu one.c
    [ "$(complete_words --log-file one | paste -sd ' ')" = "one.c one.cu" ]
    [ "$(complete_words --annotate one.cu)" = one.cu ]
    [ "$(complete_words --baseline one.cu)" = one.cu ]
    [ "$(complete_words run on)" = one.cu ]
    [ "$(complete_words program --lo)" = "" ]
    [ "$(complete_words --blocks desc)" = descending ]
    for tool in $(complete_words --tool ''); do
        run -0 "$emu" --tool "$tool" --version
    done
}

# ---- make dist -----------------------------------------------------------------------------------

@test "the tarball holds what install puts there, licences and a README" {
    [ ! -s "$BATS_FILE_TMPDIR/errors" ]
    [[ $TARBALL == */upsweep-emu-[0-9]*.[0-9]*-x86_64-linux.tar.gz ]]
    unpack .
    for file in LICENSE README.md zstd-licence.txt; do [ -s "$unpacked/$file" ]; done
    run tar -tvzf "$TARBALL"
    [ -z "$(grep -v '^.......r-[-x] \|^drwxr-xr-x \|^l' <<<"$output")" ]
    [ "$(cd "$PREFIX" && find . -not -type d | sort)" = \
        "$(cd "$unpacked" && find . -mindepth 2 -not -type d | sort)" ]
    [[ $("$unpacked/bin/emu" --version) == *"$(basename "$unpacked" | cut -d- -f3)"* ]]
}

@test "the tarball needs glibc 2.34 and nothing else" {
    unpack .
    run -0 "$TREE/common/build/portable.sh" "$unpacked/bin/emu" "$unpacked"/lib/upsweep/*.so*
    [ "$output" = "" ]
}

# libraries PROGRAM: the libraries that it loads, but for CUDA's, and the loader.
libraries() { ldd "$1" | grep -v libcudart | grep -o '/[^ ]*'; }

# A root folder with the tarball, the program, and the libraries of glibc and GCC, which programs of
# g++ need. It has no /proc, no shell, no nvcc and nothing of the repository.
@test "the tarball counts step 3's conflicts on a machine without nvcc and this repository" {
    unshare -r chroot / true 2>/dev/null ||
        skip "no sandbox: unshare -r chroot is not permitted here"
    mkdir root root/tmp
    unpack root
    cp "$TREE/step3" root/
    for file in $(libraries "$TREE/step3"); do
        mkdir -p "root$(dirname "$file")"
        cp -L "$file" "root$file"
    done
    # LD_AUDIT makes the loader look for itself among the libraries, where every system has it.
    libc=$(dirname "$(find root -name libc.so.6)")
    [ -e "$libc"/ld-linux-x86-64.so.2 ] || cp root/lib64/ld-linux-x86-64.so.2 "$libc"
    run -0 unshare -r chroot root "/$(basename "$unpacked")/bin/emu" --log-file /log /step3 --reps 0
    says_not "ERROR"
    says "conflicts   375 in loads, 225 in stores (of 491 and 302 wavefronts)"
    run grep bank_conflicts root/log
    says "mem_shared_op_ld.sum                           375"
    says "mem_shared_op_st.sum                           225"
}

# ---- emu run -------------------------------------------------------------------------------------

# stand_in FILE: an nvcc that writes down its arguments and copies $PROGRAM in place of compiling.
stand_in() {
    mkdir -p "$(dirname "$1")"
    cat >"$1" <<'END'
#!/bin/sh
printf '%s\n' "$0" "$@" >"$CALLS"
while [ "$1" != -o ]; do shift; done
cp "$PROGRAM" "$2"
END
    chmod +x "$1"
    export CALLS=$BATS_TEST_TMPDIR/calls PROGRAM=${PROGRAM:-$p/shared}
}

# is_clean: emu run has left nothing in TMPDIR.
is_clean() { [ -z "$(ls "$TMPDIR")" ]; }

@test "emu run compiles with the real nvcc, runs, and removes the program" {
    mkdir "a folder"
    cat >"a folder/two words.cu" <<'END'
#include "own.h"
#include <cstdio>
#include <cstdlib>
__global__ void add(int *x) { x[threadIdx.x] += OWN; }
int main(int count, char **words)
{
    int *x, y[32];
    cudaMalloc(&x, sizeof y), cudaMemset(x, 0, sizeof y);
    add<<<1, 32>>>(x);
    cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
    printf("%d %s\n", y[31], words[1]);
    return atoi(words[2]);
}
END
    echo "#define OWN 11" >"a folder/own.h"
    run -7 --separate-stderr "$emu" --csv --log-file log run "a folder/two words.cu" "a word" 7
    [ "$output" = "11 a word" ]
    [[ $stderr == emu:*nvcc\ *-cudart\ shared\ *"'a folder/two words.cu'"$'\n'* ]]
    [[ $stderr == *$'\n'"emu: the kernels have run; if results are wrong"* ]]
    grep -q '"two words".*"add"' log
    is_clean
}

@test "emu run shows the compiler's errors as they are" {
    mkdir bin
    printf '#!/bin/sh\necho to stdout; echo "x.cu(1): error: like this" >&2; exit 1\n' >bin/nvcc
    chmod +x bin/nvcc
    touch x.cu
    CUDA_HOME='' PATH=$PWD/bin:$PATH run -2 --separate-stderr "$emu" run x.cu
    [ "$output" = "" ]
    [[ $stderr == *$'\nto stdout\nx.cu(1): error: like this\nemu: x.cu was not compiled;'* ]]
    is_clean
}

@test "emu run finds nvcc of its own package, in CUDA_HOME, and then in PATH" {
    touch x.cu
    mkdir -p site/upsweep
    cp -r "$PREFIX/bin" "$PREFIX/lib" site/upsweep/
    stand_in site/nvidia/cu13/bin/nvcc
    stand_in home/bin/nvcc
    stand_in path/nvcc
    PATH=$PWD/path:$PATH CUDA_HOME=$PWD/home run -0 "$emu" --log-file /dev/null run x.cu
    says "home/bin/nvcc -arch=sm_90 -lineinfo -cudart shared -g -o "
    says "last value 124"
    PATH=$PWD/path:$PATH CUDA_HOME=$PWD/none run -0 "$emu" --gpu t4 --log-file /dev/null run x.cu
    says "path/nvcc -arch=sm_75 "
    PATH=$PWD/path:$PATH CUDA_HOME=$PWD/home run site/upsweep/bin/emu run x.cu
    says "emu: $PWD/site/nvidia/cu13/bin/nvcc -arch=sm_90 "
    PATH=$PWD/path:$PATH run site/upsweep/bin/emu sh -c 'nvcc -o y x.cu && cat "$CALLS"'
    says "$PWD/site/nvidia/cu13/bin/nvcc"
    run -2 env PATH="$PWD/path" "$emu" run x.cu
    [ "$output" = "emu: nvcc needs g++, which is not in PATH; install the package g++\
 (gcc-c++ on Fedora and RHEL)" ]
}

@test "the emulator's own Makefile builds and runs the examples" {
    [ -z "${SANITIZED:-}" ] || skip "it would build this tree in the ordinary way"
    unset MAKEFLAGS MAKELEVEL MFLAGS
    run -0 make --no-print-directory -C "$TREE/common/tools/emu" check
    [ "$(grep -c "^right: " <<<"$output")" -eq 8 ]
    [ "$(grep -c "^found: " <<<"$output")" -eq 4 ]
}
