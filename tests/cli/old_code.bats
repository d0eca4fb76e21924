#!/usr/bin/env bats
# old_code.bats — `emu make` of makefiles and programs that are older than the toolkit: what it
# changes of the words of nvcc and of linkers. Most tests use stand-ins for both, which print their
# words; the last ones compile tests/cases/fixtures/programs/old.cu.
load common

setup_file() {
    mkdir "$BATS_FILE_TMPDIR/bin" "$BATS_FILE_TMPDIR/include"
    touch "$BATS_FILE_TMPDIR/include/cublas_v2.h" "$BATS_FILE_TMPDIR/include/curand.h"
    # Files of options are printed, too. WAIT: it waits for a signal.
    gcc -x c -o "$BATS_FILE_TMPDIR/bin/nvcc" - <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    if (count == 2 && strcmp(words[1], "--list-gpu-arch") == 0)
        return puts("compute_75\ncompute_80\ncompute_100\ncompute_110\ncompute_103") < 0;
    for (int i = 1, c; i < count; i++) {
        const char *name = strrchr(words[i], '@') ? strrchr(words[i], '@') + 1 : words[i];
        FILE *file = strncmp(name, "/proc/", 6) == 0 ? fopen(name, "r") : NULL;
        printf(file ? "[[" : "[%s] ", words[i]);
        while (file && (c = getc(file)) != EOF) putchar(c);
        if (file) printf("]] ");
    }
    fflush(stdout);
    if (getenv("WAIT")) pause();
    return getenv("CODE") ? atoi(getenv("CODE")) : 0;
}
END
    for ld in ld ld.gold some-linux-ld; do
        cp "$BATS_FILE_TMPDIR/bin/nvcc" "$BATS_FILE_TMPDIR/bin/$ld"
    done
    cp "$BATS_FILE_TMPDIR/bin/nvcc" "$BATS_FILE_TMPDIR/bin/gold"
}

setup() {
    EMU=$PWD/build/emu/emu
    emu="$EMU --log-file /dev/null"
    header=$(realpath build/emu)/removed.h
    all="[-cudart] [shared] [-include] [$header] "
    last=-L$(realpath build/emu)
    old=$PWD/tests/cases/fixtures/programs/old.cu
    CUDA_HOME=$(common/build/toolkit.sh)
    export CUDA_HOME TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir "$TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return
    bin=$BATS_FILE_TMPDIR/bin
}

teardown() {
    processor_time
    [ -z "$(ls "$TMPDIR")" ] # no file is left
}

# becomes WORDS [WORD...]: nvcc gets these words in place of the others.
becomes() {
    local expected=$1
    shift
    run $emu sh -c '"$0" "$@" 2>&1' "$bin/nvcc" "$@" 2>/dev/null
    output=${output%%emu: *}
    [ "$output" = "$expected" ] ||
        { printf 'expected: %s\nis: %s\n' "$expected" "$output"; return 1; }
}

@test "architectures that nvcc no longer knows become the next one that it knows" {
    becomes '[-arch=sm_75] ' -arch=sm_35
    becomes '[-arch] [sm_75] ' -arch sm_13
    becomes '[--gpu-architecture=compute_75] ' --gpu-architecture=compute_20
    becomes '[--gpu-architecture] [compute_75] [--gpu-code] [sm_75,compute_75] ' \
        --gpu-architecture compute_30 --gpu-code sm_35,compute_30
    becomes '[-code=lto_75] ' -code=lto_52
    becomes '[-gencode] [arch=compute_75,code=sm_75] [-gencode=arch=compute_75,code=sm_75] ' \
        -gencode arch=compute_20,code=sm_21 -gencode=arch=compute_35,code=sm_35
    becomes '[--generate-code=arch=compute_75,code=[compute_75,sm_75]] ' \
        '--generate-code=arch=compute_35,code=[compute_35,sm_35]'
    becomes '[--generate-code] [arch=compute_75,code="sm_75,compute_75"] ' \
        --generate-code 'arch=compute_35,code="sm_35,compute_35"'
    becomes '[-arch=sm_103] ' -arch=sm_101
}

# gets_ptx NUMBER|none WORD...: with these words, nvcc is asked for PTX of compute_NUMBER, too.
gets_ptx() {
    local added="[-gencode] [arch=compute_$1,code=compute_$1] "
    [ "$1" != none ] || added=
    run $emu sh -c '"$0" "$@" a.cu 2>&1' "$bin/nvcc" "${@:2}" 2>/dev/null
    [[ "${output%%emu: *}" == *"[a.cu] $added" ]] ||
        { printf '%s\nis: %s\n' "$*" "$output"; return 1; }
}

@test "where only machine code would be left, nvcc makes PTX, too" {
    gets_ptx 75 -gencode arch=compute_35,code=sm_35
    gets_ptx 75 -gencode=arch=compute_30,code=sm_30 '--generate-code=arch=compute_50,code=[sm_50]'
    gets_ptx 75 --generate-code 'code="sm_35",arch="compute_35"'
    gets_ptx 75 -arch=compute_35 -code=sm_35,sm_52
    gets_ptx 75 --gpu-code sm_35 --gpu-architecture compute_35
    gets_ptx 80 -gencode arch=compute_35,code=sm_35 -gencode=arch=compute_80,code=sm_80
    gets_ptx 80 -gencode arch=compute_80,code=sm_80 -gencode arch=compute_100,code=compute_100
    gets_ptx 90a -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=sm_80
    gets_ptx 90 -arch=all-major
    gets_ptx 90 -arch=native
    printf '%s' '-gencode arch=compute_35,code=sm_35' >options
    gets_ptx 75 --options-file options
    NVCC_APPEND_FLAGS='-gencode arch=compute_35,code=sm_35' gets_ptx 75
    for words in -arch=sm_35 -arch=compute_35 -arch=sm_100 \
        '-arch=compute_35 -code=sm_35,compute_35' '-gencode arch=compute_35,code=compute_35' \
        '-gencode arch=compute_35,code=[sm_35,compute_35] -gencode arch=compute_80,code=sm_80' \
        '-gencode arch=compute_35,code="compute_35"' '-gencode arch=compute_100a,code=sm_100a' \
        '-cubin -gencode arch=compute_35,code=sm_35'; do
        # shellcheck disable=SC2086
        gets_ptx none $words
    done
}

@test "all other words stay as they are" {
    for word in -arch=sm_75 -arch=sm_100 -arch=sm_100a -arch=sm_90a -arch=sm_130 -arch=native \
        -arch=all -arch=all-major -arch=sm_ -arch=35 -arch= -arch -gencode -DNAME=sm_35 -sm_35 \
        --version 'a b' '' -cudart -cudart=none '-O3=arch=sm_35'; do
        becomes "[$word] " "$word"
    done
    becomes '[-arch=obsm_35] ' -arch=obsm_35
    becomes '[-Xcompiler] [-arch] [sm_75] ' -Xcompiler -arch sm_75
    becomes '[-Xcompiler] [-arch=sm_35] [-arch=sm_75] ' -Xcompiler -arch=sm_35 -arch=sm_35
    becomes '' # no words
}

@test "what compiles or links gets the shared runtime and the header" {
    for input in a.cu a.cpp a.c a.o a.so 'b c.cu'; do
        becomes "${all}[$input] [-o] [a] " "$input" -o a
    done
    becomes "${all}[-c] [-x] [cu] [a] " -c -x cu a
    becomes "${all}[--x=cu] [a] " --x=cu a
    becomes "${all}[a.cu] [-cudart=shared] " a.cu -cudart=static
    becomes "${all}[a.cu] [--cudart] [shared] " a.cu --cudart static
    becomes "[-include] [$header] [a.cu] [-cudart] [none] " a.cu -cudart none
    becomes "[-include] [$header] [a.cu] [--cudart=none] " a.cu --cudart=none
    becomes "[-include] [$header] [a.cu] [-Xcompiler] [-static] " a.cu -Xcompiler -static
}

@test "linkers get the shared runtime in place of NVIDIA's static one" {
    for ld in ld ld.gold some-linux-ld; do
        run $emu sh -c '"$0" "$@"' "$bin/$ld" -o x -lcudart_static /a/libcudart_static.a \
            -l:libcudart_static.a b.o
        says "[-o] [x] [-lcudart] [-lcudart] [-lcudart] [b.o] [$last] "
        says "emu: the linker gets -lcudart in place of NVIDIA's static runtime, so that the"
    done
    run $emu sh -c '"$0" "$@"; :' "$bin/ld" -static -lcudart_static
    says "[-static] [-lcudart_static] "
    says_not "the linker gets"
    run $emu sh -c '"$0" "$@"; :' "$bin/gold" -lcudart_static
    says "[-lcudart_static] "
    says_not "the linker gets"
    printf '%s\n' '-o x' 'a\ b/libcudart_static.a' '"-lcudart_static"' -lcudart_static >words
    run $emu sh -c '"$0" "$@"; :' "$bin/ld" @words
    says $'[[-o x\n-lcudart\n"-lcudart_static"\n-lcudart\n]] '
}

@test "files of options are changed in memory" {
    printf '%s\n' '-arch sm_35 "-DA=b c"' '	-gencode=arch=compute_20,code=sm_20' >'one'
    cp one kept
    changed=$'[[-arch sm_75 "-DA=b c"\n\t-gencode=arch=compute_75,code=sm_75\n]] '
    becomes "${all}[--options-file] $changed" --options-file one
    run $emu sh -c '"$0" "$@"; :' "$bin/nvcc" -optf none,one
    [[ "$output" == "${all}[-optf] [none,/proc/self/fd/"*"] "* ]]
    cmp one kept
    printf '%s' '"-arch=sm_35" -gencode="arch=compute_35,code=sm_35"' >quoted
    becomes "$all"'[-optf] [["-arch=sm_75" -gencode="arch=compute_75,code=sm_75"]] ' -optf quoted
    run $emu bash -c '"$0" -optf <(echo -DA)' "$bin/nvcc"
    says "[-optf] [[-DA"
}

@test "each change is said once, when the command has ended" {
    printf 'all: a b c d\na b c d:\n\t@%s -arch=sm_35 $@.cu 2>&1\n' "$bin/nvcc" >Makefile
    run -0 --separate-stderr env -u MAKEFLAGS -u MAKELEVEL $emu make -j4
    [ "$(grep -o 'sm_75' <<<"$output" | wc -l)" -eq 4 ]
    [[ "$output" != *emu:* ]]
    [ "$(wc -l <<<"${stderr%emu: *}")" -le 5 ]
    for part in "emu: nvcc gets architecture 75 (sm_75, compute_75) in place of 35, which this" \
        "emu: nvcc gets -cudart shared, so that" "emu: nvcc gets -include $header, which brings" \
        "emu: with --unchanged, nvcc and the linker get their words as they are"; do
        # shellcheck disable=SC2154 # `run --separate-stderr` sets it
        [ "$(grep -cF -- "$part" <<<"$stderr")" -eq 1 ]
    done
    # A program that goes on after emu has ended says it by itself.
    run $emu sh -c 'EMU_CHANGES=/proc/0/fd/3 "$0" -arch=sm_35 2>&1' "$bin/nvcc"
    [[ "$output" == "emu: nvcc gets architecture 75 "*"[-arch=sm_75] "* ]]
}

@test "--unchanged changes nothing and says nothing" {
    for command in "$emu --unchanged" "env EMU_UNCHANGED=1 $emu" "$emu $emu --unchanged"; do
        run $command sh -c '"$0" "$@" 2>&1; :' "$bin/nvcc" -arch=sm_35 a.cu
        says "[-arch=sm_35] [a.cu] "
        says_not " gets "
    done
}

@test "nvcc is found however a makefile names it, also with spaces, and one may call another" {
    mkdir -p 'a b/bin' rel
    cp "$bin/nvcc" 'a b/bin/nvcc'
    ln -s "$bin/nvcc" rel/nvcc
    mkdir script
    printf '%s\n' '#!/bin/sh' "exec '$bin/nvcc' \"\$@\"" >script/nvcc
    chmod +x script/nvcc
    for command in 'NVCC="a b/bin/nvcc"; "$NVCC"' 'PATH="$PWD/a b/bin:$PATH"; nvcc' './rel/nvcc' \
        'cd rel; PATH=.:$PATH; nvcc' script/nvcc "CUDA_PATH='a b'; \"\$CUDA_PATH/bin/nvcc\"" \
        '"a b/bin/nvcc" one; sh -c "exec \"a b/bin/nvcc\" \"\$@\"" -'; do
        run $emu sh -c "$command "'"$@"' - -arch=sm_35 'c d'
        says "[-arch=sm_75] [c d] "
    done
    # A makefile gets an nvcc that is not in PATH.
    run env PATH=/usr/bin:/bin CUDA_HOME="$PWD/a b" $emu sh -c 'nvcc -arch=sm_35; echo "$CUDA_PATH"'
    says "[-arch=sm_75] $PWD/a b"
}

# ---- old.cu, compiled ----------------------------------------------------------------------------

# copy_old: makes files of 2012 here, unless what nvcc makes could not be linked with this emulator.
copy_old() {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    cp "$old" .
    cat >Makefile <<'END'
# A makefile of 2012: its GPUs are older than any that CUDA 13 compiles for, and it knows where nvcc
# is.
CUDA_HOME ?= /usr/local/cuda
NVCC       = $(CUDA_HOME)/bin/nvcc
FERMI      = -gencode arch=compute_20,code=sm_20 -gencode arch=compute_20,code=sm_21
KEPLER     = -gencode=arch=compute_35,code=\"sm_35,compute_35\"

all: old host
	./old

old: old.o
	g++ $^ -o $@ -L$(CUDA_HOME)/lib64 -lcudart_static -lpthread -ldl -lrt

old.o: old.cu
	$(NVCC) -O2 $(FERMI) $(KEPLER) -c $< -o $@

host: host.cpp
	$(NVCC) -arch sm_13 $< -o $@
END
    # As projects were in 2012; with -DLANGUAGE=1, as they have been since CMake 3.8.
    cat >CMakeLists.txt <<'END'
if(LANGUAGE)
    cmake_minimum_required(VERSION 3.18)
    project(old LANGUAGES CXX CUDA)
    add_executable(old old.cu)
else()
    cmake_minimum_required(VERSION 2.8)
    project(old)
    find_package(CUDA REQUIRED)
    set(CUDA_NVCC_FLAGS ${CUDA_NVCC_FLAGS};-O2;-arch=sm_20)
    cuda_add_executable(old old.cu)
endif()
END
    # For the host's compiler, which nvcc only hands on: `texture` and `float4` are the file's own.
    cat >host.cpp <<'END'
struct texture { int wide; };
struct float4 { texture of; };
int main() { return float4{{0}}.of.wide; }
END
}

# bats test_tags=slow
@test "a makefile of 2012 makes a program that runs" {
    copy_old
    run -0 $emu make
    says $'\n0 wrong\n'
    for removed in 13 20 21 35; do says "in place of $removed, which this toolkit"; done
    rm old.o
    run -2 $emu --unchanged make
    says "Unsupported gpu architecture 'compute_20'"
}

# bats test_tags=slow
@test "standards of C++, and removed functions that nothing can replace" {
    copy_old
    run -0 $emu "$CUDA_HOME/bin/nvcc" -std=c++11 -Xcompiler -Wall -Werror all-warnings \
        -default-stream per-thread old.cu -o old
    run $emu ./old
    [ "$output" = "0 wrong" ]
    echo 'texture<float, 1> t; int main() { cudaUnbindTexture(t); }' >texture.cu
    run ! $emu "$CUDA_HOME/bin/nvcc" -c texture.cu
    says "texture is not a template"
    says "cudaUnbindTexture was removed from CUDA; use a texture object (cudaCreateTextureObject)"
    echo 'typedef struct { int x; } float4; int main(void) { float4 v = {0}; return v.x; }' >c.c
    run -0 $emu "$CUDA_HOME/bin/nvcc" -Xcompiler -ansi,-pedantic-errors,-Wall,-Werror -c c.c
    printf -- '-arch sm_35\n-O2' >options
    echo '__global__ void k() {} int main() { return cudaThreadSynchronize(); }' >k.cu
    run -0 $emu "$CUDA_HOME/bin/nvcc" -std=c++03 -Werror all-warnings -c k.cu
    run -0 $emu "$CUDA_HOME/bin/nvcc" --options-file options -ptx k.cu -o -
    says ".target sm_75"
}

# bats test_tags=slow
@test "a CMakeLists of 2012, and one with the language CUDA" {
    need cmake
    copy_old
    for language in 0 1; do
        if [ "$language" = 0 ] && ! cmake --help-policy CMP0146 2>&1 | grep -q 'OLD.*NEW\|WARN' &&
            ! cmake --help-module FindCUDA >/dev/null 2>&1; then
            continue # this CMake no longer has FindCUDA
        fi
        CUDAARCHS=35-real run -0 $emu cmake -DLANGUAGE=$language -B $language .
        run -0 $emu make -C $language
        says "in place of $((language ? 35 : 20)), which this toolkit no longer knows"
        run $emu $language/old
        [ "$output" = "0 wrong" ]
    done
}
