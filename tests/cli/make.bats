#!/usr/bin/env bats
# make.bats — the Makefile and the scripts of common/build, as far as they can be tested quickly and
# without a network. Each test works in its own folder with a copy of them. Programs in PATH
# simulate other machines: without a compiler, without root, without Linux.
load common

TOOLS="make sh cat cp mv rm ln ls mkdir mktemp chmod touch head tail cut paste tr wc df sed grep awk
    find env timeout dirname readlink uname nproc id setpriv sha256sum python3
    sort tee uniq"

# stand_in NAME LINE: puts a shell script of one line into bin/, which `bare` makes the whole PATH.
stand_in() {
    rm -f "bin/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"
}

# toolkit FOLDER RELEASE: a toolkit of this release, as far as toolkit.sh looks at it.
toolkit() {
    mkdir -p "$1/bin" "$1/include/crt" "$1/lib64"
    echo '#if __GNUC__ > 15' >"$1/include/crt/host_config.h"
    touch "$1/include/cuda.h" "$1/include/cuda_runtime.h" "$1/lib64/libcudart.so"
    printf '#!/bin/sh\necho release %s, V%s.1\n' "$2" "$2" >"$1/bin/nvcc" && chmod +x "$1/bin/nvcc"
}

# no_toolkit: no toolkit is found, even if this machine has one in /usr/local.
no_toolkit() { printf '#!/bin/sh\nexit 1\n' >common/build/toolkit.sh; }

# bare [VARIABLE=VALUE …] COMMAND: runs a command with only bin/ in PATH. It holds the basic tools
# of every Debian, but no compiler and no tool that gets packages.
bare() { env PATH="$PWD/bin" CUDA_HOME="$PWD/cuda" CUDA_PATH= "$@"; }

# sources FOLDER…: empty sources of the emulator and the harness, and steps in these folders, for
# `make -n`.
sources() {
    mkdir -p common/tools/emu/ptx common/tools/emu/command common/files common/harness
    touch common/harness/main.c common/tools/emu/command/{main,audit}.c common/tools/emu/cudart.map
    touch common/tools/emu/ptx/program_elf.c common/tools/emu/ptx/elf.c common/tools/emu/removed.h \
        common/tools/emu/command/dap.py
    touch common/files/visible.c
    mkdir -p common/tools/emu/libs/include
    touch common/tools/emu/libs/include/curand.h
    mkdir -p common/tools/emu/runtime
    for part in libs/library runtime/driver; do
        printf '#!/bin/sh\n' >common/tools/emu/${part}_names.sh &&
            chmod +x common/tools/emu/${part}_names.sh
    done
    for step; do
        mkdir "steps/$step"
        touch "steps/$step/scan.cu" "steps/$step/driver.c"
    done
}

# The copy that each test starts from.
setup_file() {
    local copy=$BATS_FILE_TMPDIR/copy
    mkdir -p "$copy/common" "$copy/bin" "$copy/steps"
    cp -rL common/build "$copy/common/"
    cp -L --parents Makefile ./*/*.mk common/*/*.mk common/tools/*/*.mk "$copy"
    for tool in $TOOLS; do ln -s "$(command -v "$tool")" "$copy/bin/$tool" || return; done
    toolkit "$copy/cuda" 13.0
}

# Runs make as a user would: without the variables that an outer make has put into the environment.
setup() {
    unset MAKEFLAGS MAKELEVEL MFLAGS CI V
    cp -a "$BATS_FILE_TMPDIR/copy" "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR/copy" || return
}

@test "help lists every target" {
    local count=0 targets
    targets=$(sed -n '/\$/d; s/^.PHONY: //p' Makefile ./*/*.mk ./*/*/*.mk ./*/*/*/*.mk)
    run -0 make help
    for target in $targets; do
        says "make $target "
        count=$((count + 1))
    done
    [ $count -ge 8 ] # at least this number of targets are .PHONY
    says "make stepN "
    says "make V=1 "
}

# A step needs only its folder; make -n lists what would be built.
@test "a new step adds no line to the Makefile" {
    export CUDA_HOME=$PWD/cuda
    sources 08-new 12-newer
    run -0 make -n step8
    says "-c steps/08-new/scan.cu -o build/steps/08-new/scan.cu.o"
    says "-c steps/08-new/driver.c -o build/steps/08-new/driver.o"
    says "-DSTEP=step08"
    says $'.new step8\n'
    says $'.new build/emu/libcudart.so.13\n'
    says_not "12-newer"

    run -0 make -n
    says $'.new step8\n'
    says "-DSTEP=step12"
    says $'.new step12\n'
}

# CUB is compiled again after a change of CCCL; `make -n` writes what it was, too.
@test "CCCL=DIR takes CUB from there" {
    export CUDA_HOME=$PWD/cuda
    mkdir -p common/bench/baseline cccl/{cub,thrust}/cub cccl/libcudacxx/include
    touch common/bench/baseline/cub.cu cccl/cub/cub/version.cuh
    run -0 make -n build/cub/cub_f32.o CCCL=cccl
    says " -I$PWD/cccl/cub -I$PWD/cccl/thrust -I$PWD/cccl/libcudacxx/include "
    touch build/cub/cub_f32.o
    run -0 make -n build/cub/cub_f32.o
    says nvcc
    says_not cccl
    run -2 make -n build/cub/cub_f32.o CCCL=bin
    says "CCCL=bin has no cub/version.cuh; give a checkout of CCCL, or "
}

# Does a line of `make -n` contain each of the other arguments?
in_line() {
    local line=$1
    for part in "${@:2}"; do
        [[ "$line" == *"$part"* ]] || { echo "expected $part in: $line"; return 1; }
    done
}

# The user's CFLAGS come last, but do not change the language or the flags that the emulator needs.
# bats test_tags=slow
@test "flags of the user" {
    sources
    mkdir -p common/tools/emu/ops steps/03-x
    touch common/tools/emu/ops/ops_x.c steps/03-x/driver.c
    export CUDA_HOME=$PWD/cuda
    run -0 make -n step3 CFLAGS="-O0 -DX=1" LDFLAGS=-Wl,-z,now
    for line in "${lines[@]}"; do
        case $line in *" -c "*) in_line "$line" " -std=c11 -Wall " " -O0 -DX=1 -c " ;; esac
        case $line in *" -c "*) [[ "$line" != *" -O2"* && "$line" != *" -O3"* ]] ;; esac
        case $line in *" -c "*ops_x*) in_line "$line" -fPIC -ffp-contract=off ;; esac
        case $line in "g++ "*) in_line "$line" -Wl,-z,now ;; esac
    done
    run -0 make -n step3
    says " -O2 -g -O3 -c common/tools/emu/ops/ops_x.c"
    says " -O2 -g -c steps/03-x/driver.c"
}

@test "missing tools are named with the cure" {
    no_toolkit
    mkdir steps/03-x
    run -2 bare make step3
    says "gcc ("
    says "g++ ("
    says "nvcc of a CUDA 13 toolkit ("
    says "\`make setup\` installs what is missing"
    says_not criterion
    [ ! -e build ]
}

@test "clean keeps the toolkit" {
    mkdir -p build/cuda build/common
    touch step3 step12 stepping
    make clean
    [ "$(ls -d step* build/*)" = $'build/cuda\nstepping\nsteps' ]
}

@test "a toolkit of release 13 only" {
    toolkit old 12.9
    toolkit new 13.1
    CUDA_HOME=$PWD/old CUDA_PATH=$PWD/new run -0 common/build/toolkit.sh
    says $'/new\n'
    CUDA_HOME=$PWD/cuda CUDA_PATH=$PWD/new run -0 common/build/toolkit.sh
    says $'/cuda\n'
    rm cuda/lib64/libcudart.so
    CUDA_HOME=$PWD/cuda CUDA_PATH=$PWD/new run -0 common/build/toolkit.sh
    says $'/new\n'
}

# lists_each_tool: doctor's output has a line for each tool.
lists_each_tool() {
    [ "$status" -eq 0 ]
    says "make       "
    for tool in gcc g++ toolkit zstd libpng Criterion bats cmake pkg-config bwrap mpi NCCL NumPy \
        GPU driver ncu counters; do
        says $'\n'"$(printf '%-10s ' $tool)"
    done
}

# bats test_tags=slow
@test "doctor has a line for each tool" {
    CUDA_HOME=$PWD/cuda run make doctor
    lists_each_tool
    says "toolkit    13.0 in "
    no_toolkit
    run bare make doctor
    lists_each_tool
    says "toolkit    not found"
    says "make setup installs what is missing"
}

# python_with FOLDER: the python3 in PATH has its packages there. wheel FOLDER: NCCL, as pip unpacks
# it, without a link for the linker. With NCCL_HOME no other place is looked at.
python_with() {
    unset NCCL_HOME
    stand_in python3 "echo; echo $1/..; echo $1"
}
wheel() {
    mkdir -p "$1/nvidia/nccl/include" "$1/nvidia/nccl/lib"
    printf '#define NCCL_%s\n' 'MAJOR 2' 'MINOR 28' 'PATCH 9' >"$1/nvidia/nccl/include/nccl.h"
    touch "$1/nvidia/nccl/lib/libnccl.so.2"
}

@test "NCCL of pip is found after the toolkit's, and doctor says where" {
    local packages=$PWD/venv/lib/python3.11/site-packages found
    python_with "$packages"
    run bare common/build/nccl.sh
    [ -z "$output" ]
    run bare make doctor
    says "NCCL       not found "
    says $'\n'"           looked for in $PWD/cuda $packages/nvidia/nccl"$'\n'
    wheel "$packages"
    found=$packages/nvidia/nccl
    run bare common/build/nccl.sh
    [ "$output" = "-I$found/include $found/lib/libnccl.so.2 \
-Wl,-rpath,$found/lib -Wl,-z,lazy" ]
    run bare make doctor
    says $'\n'"NCCL       2.28.9 in $found"
    says_not "looked for"
    run bare NCCL_HOME="$PWD/none" make doctor
    says $'\n'"           looked for in $PWD/none"$'\n'
    touch cuda/include/nccl.h cuda/lib64/libnccl.so
    run bare common/build/nccl.sh
    says "$PWD/cuda/lib64/libnccl.so "
}

@test "setup lists, then installs what is missing and nothing else" {
    stand_in id "echo 0"
    stand_in apt-get 'case "$*" in
        *--print-uris*) echo uri file 2000000 sum; echo uri file 3000000 sum ;;
        *) echo "$@" >>called ;; esac'
    stand_in apt-cache "echo Package: x; echo Size: 123000"
    run -0 bare make setup
    says $'  gcc                           123 kB\n'
    says $'  g++                           123 kB\n'
    says "with what they need: 2          5 MB to fetch"
    [[ "$output" == *"  gcc "*Installing* ]] # listed before
    says_not CUDA
    [ "$(cat called)" = "install -y --no-install-recommends gcc g++ bats cmake pkg-config" ]
}

@test "setup of a part adds what only this part needs" {
    stand_in id "echo 0"
    stand_in apt-get 'case "$*" in *--print-uris*) ;; *) echo "$@" >>called ;; esac'
    stand_in apt-cache "echo Package: x; echo Size: 123000"
    echo "raise ImportError" >numpy.py
    while read -r part packages; do
        : >called
        PYTHONPATH=$PWD run -0 bare make "setup-$part"
        [[ "$(cat called)" == *" gcc g++ bats cmake pkg-config $packages"* ]]
    done <<END
labs bubblewrap
page emscripten pandoc
page-tests emscripten pandoc chromium chromium-driver
mpi openmpi-bin libopenmpi-dev
python python3-numpy
END
}

# Where pkg-config does not know of Open MPI, its compiler tells the flags.
@test "step 17 is built where Open MPI is, and skipped by name elsewhere" {
    stand_in gcc "exit 0"
    stand_in g++ "exit 0"
    sources 08-new 17-many
    run -0 bare make -n
    says "step17 is skipped: Open MPI is missing; "
    says "make setup-mpi"
    says $'.new step8\n'
    says_not "-o build/steps/17-many/driver.o"
    run ! bare make step17
    says 'step17 needs Open MPI; `make setup-mpi` installs it.'
    [ ! -e step17 ]

    stand_in mpirun "exit 0"
    stand_in mpicc \
        'case $1 in *compile) echo -I/opt/mpi/include;; *) echo -L/opt/mpi -lmpi;; esac'
    run -0 bare make -n
    says_not "is skipped"
    says "-isystem /opt/mpi/include"
    says "-o build/steps/17-many/driver.o"
    says "-L/opt/mpi -lmpi"
    [ "$(grep -c -e "-isystem /opt/mpi" <<<"$output")" -eq 2 ] # no other source sees MPI
    says $'.new step17\n'
}

# The tests themselves are stand-ins.
@test "make test ends with what was skipped, what failed, and how to run it alone" {
    mkdir -p build/test tests/{docs,python/{cc,debug,labs,order},cli}
    printf '1\n0m0s 0m0s\n1m1.5s 0m0.5s\n' >build/test/began
    ln -s ../../tests build/test/tests
    echo "@test \"it's (b)\" {" >tests/cli/some.bats
    touch tests/cli/structured.bats
    stand_in bats 'case $* in *structured*) exit 0 ;; esac
        echo "1..2"; echo "ok 1 bits # skip groff is not installed"
        echo "not ok 2 it'"'"'s (b)"; echo "# it failed"; exit 1'
    cat >build/test/run <<'END'
#!/bin/sh
echo "[PASS] steps::sizes: (0.01s)"
echo "[SKIP] experiments::ranks: Open MPI is missing: make setup-mpi installs it"
echo "[----] test.c:5: Assertion Failed"
echo "[FAIL] steps::large: (0.01s)"
echo "[====] Synthesis: Tested: 3"
exit 1
END
    chmod +x build/test/run
    run -1 env PATH="$PWD/bin:$PATH" common/build/test.py quick
    says "  C: FAILED
[----] test.c:5: Assertion Failed
[FAIL] steps::large: (0.01s)
    to run it alone: (cd build/test && ./run --filter 'steps/large')
"
    alone=$(sed -n 's,.*run it alone: (cd build/test && bats tests/\(.*\))$,\1,p' <<<"$output")
    [ "$(eval "printf '%s ' $alone")" = "cli/some.bats --filter ^it's \(b\)$ " ]
    says "  skipped: 1 x Open MPI is missing: make setup-mpi installs it
    experiments/ranks"
    says "  failed:
    steps/large
    it's (b)
[====] Synthesis: Tested: 3
"
}

@test "make run17 takes 1 to 64 ranks" {
    stand_in mpirun 'echo "mpirun $*"'
    for number in 0 65 x ""; do
        run -2 bare common/build/run17.sh "$number"
        [ "$output" = "make run17: P has to be a number of ranks from 1 to 64." ]
    done
    stand_in id "echo 0"
    run -0 bare common/build/run17.sh 64 --n 5
    says " --allow-run-as-root "
    says " -np 64 ./step17 --n 5"
}

@test "setup without root tells the administrator's command, or goes on if one can learn" {
    stand_in id "echo 1000"
    stand_in apt-get 'echo "$@" >>called'
    run -2 bare make setup
    says "ask an administrator to run \
'apt-get update && apt-get install -y --no-install-recommends gcc g++ bats cmake pkg-config'"
    for name in gcc g++; do stand_in $name "exit 0"; done
    run -0 bare make setup
    says "You can learn without them; tests and pictures need them: bats cmake pkg-config"
    [ ! -e called ]
}

@test "setup on other systems is one sentence" {
    run -2 bare make setup
    says "setup: this is neither Debian nor Ubuntu: install what Debian calls gcc g++ bats"

    stand_in uname 'case $1 in -s) echo Darwin;; *) echo arm64;; esac'
    run -2 bare make setup
    says "setup: this is Darwin, and the build needs Linux: use a container (.devcontainer "
    stand_in uname 'case $1 in -s) echo Linux;; *) echo aarch64;; esac'
    run -2 bare make setup
    says "setup: this is Linux on aarch64, and setup knows only Linux on x86-64;"
    says "Without nvcc, COMPILER=own judges the first puzzles and the labs: "
}

# fetch: `make setup` on a machine where only the toolkit is missing. pip is this machine's, and has
# the index of a user who set PIP_INDEX_URL.
fetch() {
    no_toolkit
    for name in gcc g++ bats cmake pkg-config unzip; do stand_in $name "exit 0"; done
    stand_in python3 "exec $(python3 -c 'import pip, sys; print(sys.executable)') \"\$@\""
    run -2 bare PIP_INDEX_URL="file://$PWD/index" PIP_FIND_LINKS="" PIP_NO_CACHE_DIR=1 make setup
}

# The index has the first wheel only, which is not fetched again, until it is another file there.
# bats test_tags=slow
@test "setup fetches by pip, goes on where it was interrupted, refuses another checksum" {
    mkdir -p index/nvidia-cuda-nvcc
    wheel=index/nvidia-cuda-nvcc/nvidia_cuda_nvcc-13.0.88-py3-none-any.whl
    python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in ("METADATA", "Metadata-Version: 2.1\nName: nvidia-cuda-nvcc\nVersion: 13.0.88"
                       ), ("WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any"):
        wheel.writestr("nvidia_cuda_nvcc-13.0.88.dist-info/" + name, text + "\n")' $wheel
    echo "<a href=\"${wheel##*/}\">wheel</a>" >index/nvidia-cuda-nvcc/index.html
    sed -i "s/^\(nvidia-cuda-nvcc.*:\).*/\1$(sha256sum $wheel | cut -d ' ' -f 1)/" \
        common/build/toolkit.txt
    for _ in 1 2; do
        fetch
        says "pip could not fetch nvidia-cuda-crt==13.0.88"
        echo other >$wheel
    done
    rm build/download/*.whl
    fetch
    says "DO NOT MATCH THE HASHES"
    says "pip could not fetch nvidia-cuda-nvcc==13.0.88"
    run ! ls build/cuda build/download/*.whl
}
