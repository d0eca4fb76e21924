#!/usr/bin/env bats
# book.bats — commands that the book prints: those of chapters run in reading order, in a folder
# where nothing has been written into labs/ (what they print is compared by
# tests/docs/test_commands.py); those of notes/own-step.md print what the page shows; and the loop
# of notes/instructor.md over students' programs ends.
# bats file_tags=slow
load common

setup() {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    unset MAKEFLAGS MAKELEVEL MFLAGS
}

# commands PAGE: the commands in its blocks, without `$ ` and comments.
commands() {
    awk '/^```/ { inside = !inside; next } inside' "$1" |
        sed -nE 's/^\$ //; s/ +# .*//; /^(make|\.\/step|(common\/)?build\/|printf|echo|EMU_)/p' |
        grep -v '^make setup'
}

# A folder like the repository, with a labs/ of its own.
clone() {
    export EMU_PROGRESS=0 NO_COLOR=1
    local top=$PWD
    cd "$BATS_TEST_TMPDIR" || return
    ln -s "$top"/{Makefile,README.md,common,profiles,tests,notes,steps,build} .
    ln -s "$top"/step[0-9]* .
}

@test "the commands of the first chapters, and of those with a lab, run one after the other" {
    clone
    local page command count=0
    for page in notes/{first-kernel,0[1-7]-*,09-*,11-*,13-*}.md; do
        while IFS= read -r command; do
            count=$((count + 1))
            run timeout 300 sh -c "$command" </dev/null
            # A program with a fault may end with the fault's exit code; make may not fail.
            if [ "$status" -ge 124 ] || [[ $command == make* && $status -ne 0 ]]; then
                printf '%s: %s ends with %s:\n%s\n' "$page" "$command" "$status" "$output"
                return 1
            fi
        done < <(commands "$page")
    done
    [ "$count" -ge 30 ]
}

# ---- the other chapters: `make test-book` --------------------------------------------------------

# They build experiments, and run large scans on the emulator. Their commands stand in blocks and in
# sentences.

# in_sentences PAGE: commands that a sentence names; not programs alone, and no placeholders.
in_sentences() {
    awk '/^```/ { inside = !inside; next } !inside' "$1" | grep -oE '`[^`]+`' | tr -d '`' |
        grep -E '^(make [a-z0-9-]+|(EMU_[A-Z]+=[a-z0-9]+ )?(\./step[0-9]+|build/(emu/emu|exp)))' |
        grep -vE '^make (setup|test|docs|doctor)|FILE|NAME|[A-Z]=?$'
}

# Is a file to be read that is the reader's own: that is not here, and that no command has written?
reads_own_file() {
    local word option=
    for word in ${1//\"/}; do
        case $option in
        *--input | --second | --depth) [ "$word" = - ] || [ -e "$word" ] || return 0 ;;
        esac
        option=$word
    done
    return 1
}

# Does it run a program that needs a GPU, as the next line of the page says, and is there none?
needs_gpu() { [[ $1 =~ (^|\&\& )build/example ]] && ! nvidia-smi >/dev/null 2>&1; }

# follow PAGE: runs its commands; all have to succeed. Adds to $count.
follow() {
    local page=$1 command
    while IFS= read -r command; do
        ! reads_own_file "$command" && ! needs_gpu "$command" || continue
        count=$((count + 1))
        run timeout 900 sh -c "$command" </dev/null
        [ "$status" -eq 0 ] || {
            printf '%s: %s ends with %s:\n%s\n' "$page" "$command" "$status" "$output"
            return 1
        }
    done < <(commands "$page"; in_sentences "$page")
}

# bats test_tags=apart
@test "the commands of chapters 0, 1, 8, 10, 12 and 14 to 16 run one after the other" {
    clone
    local page count=0
    for page in notes/{00,01,08,10,12,12b,12c,12d,12e,14,15,16}-*.md; do follow "$page"; done
    [ "$count" -ge 28 ]
}

# bats test_tags=apart
@test "the commands of chapter 17 run one after the other" {
    command -v mpirun >/dev/null || skip "Open MPI is missing: make setup-mpi installs it"
    clone
    local count=0
    follow notes/17-many-gpus.md
    [ "$count" -ge 8 ]
}

# ---- a step of one's own -------------------------------------------------------------------------

# lines OUTPUT SHOWN: the lines of the page, in their order, in the output; … stands for anything.
lines() {
    local rest=$1
    while IFS= read -r line; do
        line=${line%…}
        [ -n "$line" ] || continue
        [[ "$rest" == *"$line"* ]] || { printf 'expected: %s\nin:\n%s\n' "$line" "$1"; return 1; }
        rest=${rest#*"$line"}
    done <<<"$2"
}

@test "a step of one's own can be built, run, checked and removed" {
    local count=0 command shown top=$PWD
    # steps/ may be changed: its files are copies.
    cd "$BATS_TEST_TMPDIR"
    ln -s "$top"/{Makefile,common,profiles,tests,notes} .
    mkdir build && cp -rp "$top"/steps .
    cp -rs "$top"/build/{common,emu} build
    [ ! -e "$top/build/cuda" ] || ln -s "$top/build/cuda" build
    while IFS= read -r -d $'\x01' part; do
        [ -n "$part" ] || continue
        command=${part%%$'\n'*} shown=${part#*$'\n'}
        run sh -c "$command"
        lines "$output" "$shown"
        count=$((count + 1))
    done < <(sed -n '/^```console/,/^```$/p' notes/own-step.md | grep -v '^```' |
        sed 's/^\$ /\x01/'; printf '\x01')
    [ "$count" -eq 8 ]
    [ ! -e steps/20-mine ]
}

# ---- students' programs --------------------------------------------------------------------------

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

@test "the loop of notes/instructor.md ends" {
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
