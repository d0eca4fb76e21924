#!/usr/bin/env bats
# submissions.bats — README's loop over students' programs, as printed there: it ends even if a
# program does not, and prints the result of each.
load common

# hand_in NAME: stores a student's program, read from standard input. Some folders have blanks in
# their names.
hand_in() {
    mkdir -p "submissions/$1"
    cat >"submissions/$1/lab.cu"
    printf 'lab: lab.cu\n\tnvcc -lineinfo -arch=compute_90 lab.cu -o lab\n' \
        >"submissions/$1/Makefile"
}

# programs: five of them.
programs() {
    hand_in "1 endless kernel" <<'END'
__global__ void k(int *p) { for (;;) atomicAdd(p, 1); }
int main() { int *p; cudaMalloc(&p, 4); cudaMemset(p, 0, 4); k<<<1, 32>>>(p);
             cudaDeviceSynchronize(); cudaFree(p); }
END
    hand_in "2-endless-host" <<'END'
__global__ void k() {}
int main() { k<<<1, 1>>>(); cudaDeviceSynchronize();
             for (volatile int i = 0;; i = 0) continue; }
END
    hand_in "3 does not compile" <<'END'
__global__ void k() { a syntax error }
int main() {}
END
    hand_in "4  a hazard" <<'END'
__global__ void k(int *p) { __shared__ int s[64]; s[threadIdx.x] = 1;
                            p[threadIdx.x] = s[63 - threadIdx.x]; }
int main() { int *p; cudaMalloc(&p, 256); k<<<1, 64>>>(p); cudaDeviceSynchronize(); }
END
    hand_in "5-right" <<'END'
__global__ void k(int *p) { *p = 7; }
int main() { int *p, x = 0; cudaMalloc(&p, 4); k<<<1, 1>>>(p);
             cudaMemcpy(&x, p, 4, cudaMemcpyDefault); cudaFree(p); return x - 7; }
END
}

# compile: compiles the programs before the loop does, because a busy machine may take longer for
# that than the time limit of this test.
compile() {
    for lab in submissions/*/; do
        NVCC_PREPEND_FLAGS=$(build/emu/emu --nvcc-flags) make -C "$lab" lab >/dev/null 2>&1 &
    done
    wait
}

# ended NAME STATUS [FINDING]: the loop has printed this status of a program, and its log has this
# finding.
ended() {
    says "submissions/$1/: $2"$'\n'
    [ $# -eq 2 ] && return
    grep -qF -e "$3" "submissions/$1/findings" && return
    echo "$1: $3 is not among its findings"
    return 1
}

# bats test_tags=slow
@test "the loop of notes/instructor.md ends" {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    unset MAKEFLAGS MAKELEVEL
    PATH=$(common/build/toolkit.sh)/bin:$PATH
    local top=$PWD
    cd "$BATS_TEST_TMPDIR"
    programs
    ln -s "$top/build" build
    printf 'emu:\n\t@:\n' >Makefile
    compile

    # The lines of instructor.md from `make emu` to the end of the block, with shorter limits.
    sed -n '/^make emu && export/,/^```/p' "$top/notes/instructor.md" | grep -v '^```' >loop
    [ "$(grep -c 'EMU_KERNEL_TIMEOUT=60$\|timeout -k 5 300 ' loop)" = 2 ]
    sed -i 's/TIMEOUT=60/TIMEOUT=1/; s/ 300 build/ 10 build/' loop
    EMU_TIMEOUT=1 run -0 sh ./loop </dev/zero
    ended "1 endless kernel" 9 "its grid has run for 1 seconds"
    ended "2-endless-host" 124
    ended "3 does not compile" 2
    ended "4  a hazard" 9 "hazard"
    ended "5-right" 0 "ERROR SUMMARY: 0 errors"
}
