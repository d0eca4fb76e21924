#!/usr/bin/env bats
# release.bats — what `make release` has written into dist/, and the files for GitHub's services, as
# far as they can be tried without these. It needs PyPI, and is run by `make test-release`.
load ../common

setup_file() {
    unset CUDA_HOME CUDA_PATH
    export TREE=$PWD WHEEL ENVIRONMENT=$BATS_FILE_TMPDIR/environment
    WHEEL=$(echo "$PWD"/dist/upsweep-*-py3-none-manylinux_2_34_x86_64.whl)
    export PATH=$BATS_FILE_TMPDIR/tools/bin:$PATH
    python3 -m venv "$BATS_FILE_TMPDIR/tools"
    pip install -q --disable-pip-version-check check-jsonschema ipykernel nbclient pyyaml
    python3 -m venv "$ENVIRONMENT"
    "$ENVIRONMENT/bin/pip" install -q --disable-pip-version-check "$WHEEL[nvcc]"
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cat >my.cu <<'CODE'
#include <cstdio>
#include <cstdlib>
__global__ void reverse(int *p, bool synchronize)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (synchronize) __syncthreads();
    p[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
    int *p, first;
    cudaMalloc(&p, 256);
    reverse<<<1, 64>>>(p, getenv("HAZARD") == NULL);
    cudaMemcpy(&first, p, sizeof first, cudaMemcpyDeviceToHost);
    cudaFree(p);
    printf("first %d\n", first);
}
CODE
}

@test "the checksums are right, and name all files" {
    cd "$TREE/dist"
    sha256sum --quiet -c SHA256SUMS
    [ "$(wc -l <SHA256SUMS)" -eq 3 ]
    for file in upsweep.html upsweep-emu-*-x86_64-linux.tar.gz "${WHEEL##*/}"; do
        grep -q "  $file$" SHA256SUMS
    done
}

@test "the wheel's emu takes its environment's nvcc, whatever PATH has, and finds a hazard" {
    mkdir old
    printf '#!/bin/sh\nexit 1\n' >old/nvcc && chmod +x old/nvcc
    export PATH=$PWD/old:/usr/bin:/bin
    run -0 "$ENVIRONMENT/bin/emu" --tool racecheck --log-file /dev/null run my.cu
    says "emu: $ENVIRONMENT/lib/python"
    says $'\nfirst 63'
    HAZARD=1 run -9 "$ENVIRONMENT/bin/emu" --tool racecheck --error-exitcode 9 run my.cu
    says "RAW hazard at __shared__ address"
}

@test "the wheel's emu compiles CUB, Thrust and cuBLAS for the emulator, also below make" {
    cat >all.cu <<'CODE'
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cuda/std/array>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
int main()
{
    thrust::device_vector<int> v(100, 2);
    cublasHandle_t handle;
    return cublasCreate(&handle) || thrust::reduce(v.begin(), v.end()) != 200;
}
CODE
    printf 'all:\n\tnvcc -o all all.cu -lcublas\n\t./all\n' >Makefile
    PATH=/usr/bin:/bin run -0 "$ENVIRONMENT/bin/emu" --log-file /dev/null make
}

@test "the program and the commands of the wheel's description run" {
    "$ENVIRONMENT/bin/python" -c 'import importlib.metadata
print(importlib.metadata.metadata("upsweep")["Description"])' >description
    awk '/^```cuda/ { inside = 1; next } /^```/ { inside = 0 } inside' description >my.cu
    for options in "" "--tool all"; do
        # shellcheck disable=SC2086
        run -0 "$ENVIRONMENT/bin/emu" $options --error-exitcode 9 run my.cu
        says "63 62 ... 0"
        grep -qxF "emu $options${options:+ }run my.cu" description
    done
    grep -qxF "pip install \"./${WHEEL##*/}[nvcc]\"" description
}

@test "the wheel's package scans, and its library needs what the wheel's name says" {
    "$ENVIRONMENT/bin/pip" install -q --disable-pip-version-check numpy
    run "$ENVIRONMENT/bin/python" -c 'import numpy, upsweep
print(upsweep.cumsum(numpy.arange(4)))'
    [ "$output" = "[0 1 3 6]" ]
    site=$(echo "$ENVIRONMENT"/lib/python*/site-packages/upsweep)
    "$TREE/common/build/portable.sh" "$site/bin/emu" "$site/lib/libupsweep.so"
}

# ---- GitHub's files ------------------------------------------------------------------------------

# blocks FILE: writes the shell commands of its steps into 1.sh, 2.sh, …
blocks() {
    python3 - "$1" <<'END_OF_PYTHON'
import itertools, re, sys, yaml
with open(sys.argv[1], encoding="utf-8") as file:
    content = yaml.safe_load(file)
groups = content["jobs"].values() if "jobs" in content else [content["runs"]]
steps = itertools.chain.from_iterable(group["steps"] for group in groups)
for number, text in enumerate((step["run"] for step in steps if "run" in step), 1):
    with open("%d.sh" % number, "w", encoding="utf-8") as file:
        file.write("set -e\n" + re.sub(r"\$\{\{.*?\}\}", "EXPRESSION", text))
END_OF_PYTHON
}

@test "GitHub's schemas accept the workflows and the action, and shellcheck their commands" {
    need shellcheck
    check-jsonschema --builtin-schema vendor.github-workflows "$TREE"/.github/workflows/*.yml
    check-jsonschema --builtin-schema vendor.github-actions "$TREE"/.github/actions/*/action.yml
    python3 -m json.tool "$TREE/.devcontainer/devcontainer.json" >parsed
    for file in "$TREE"/.github/workflows/*.yml "$TREE"/.github/actions/*/action.yml; do
        rm -f [1-9].sh
        blocks "$file"
        shellcheck -s bash [1-9].sh
    done
}

# act: runs the action's commands as GitHub does; the release is dist/.
act() {
    for number in 1 2; do
        env REPOSITORY=owner/project RUNNER_TEMP="$PWD/temporary" OPTIONS='--tool all' \
            COMMAND='run my.cu' NVCC_APPEND_FLAGS=-lineinfo PATH="$PWD/bin:/usr/bin:/bin" \
            bash --noprofile --norc -eo pipefail $number.sh || return
    done
}

@test "the action passes a right program, and fails for a hazard, beside its line" {
    blocks "$TREE/.github/actions/emu/action.yml"
    mkdir bin temporary
    printf '#!/bin/sh\ncp "$WHEEL" .\n' >bin/gh && chmod +x bin/gh
    run -0 act
    says "ERROR SUMMARY: 0 errors"
    HAZARD=1 run -1 act
    says "::error file=my.cu,line="
}

# ---- the notebook --------------------------------------------------------------------------------

@test "the notebook's cells run, and its programs are those of the first chapter" {
    UPSWEEP_WHEEL=file://$WHEEL python3 - "$TREE" <<'END_OF_PYTHON'
import os, re, sys
from pathlib import Path
import nbclient, nbformat
book = nbformat.read(sys.argv[1] + "/notes/colab.ipynb", 4)
programs = [cell for cell in book.cells if cell.source.startswith("%%emu")]

def outputs():
    """What the cells that have some print and show."""
    nbclient.NotebookClient(book, timeout=300).execute()
    return ["".join(output.get("text", "") + output.get("data", {}).get("text/html", "")
                    for output in cell.outputs)
            for cell in book.cells if cell.cell_type == "code"][1:]

def has(said, *texts):
    assert len(said) == len(texts)
    for output, text in zip(said, texts):
        assert text in output, "expected %s in:\n%s" % (text, output)

def line_of(cell, text):
    """The line of a text as the cell's gutter counts."""
    return 1 + cell.source.split(text)[0].count("\n")

made = book.cells[:]
book.cells += map(nbformat.v4.new_code_cell, ("%emu --page raw", "%emu --html x.html", "%emu run"))
load = "cell.cu:%d (" % line_of(programs[1], "if (i < n) part[")
said = outputs()
has(said, "out[0] is 0, and should be 250000", load, "wrong", "<iframe",
    "l1tex__data_bank_conflicts", "<iframe", '"run" is no option')
assert not any("Warning" in output or "/tmp" in output for output in said)
book.cells = made
for cell, name in zip(programs, ("first1", "neighbours")):
    with open("%s/steps/first-kernel/%s.cu" % (sys.argv[1], name), encoding="utf-8") as file:
        solution = file.read()
    first, text = cell.source.split("\n", 1)
    other = set(re.sub(r" *//.*", "", text).split("\n")) - set(
        re.sub(r" *//.*", "", solution).split("\n"))
    assert not other, "not in %s.cu: %s" % (name, other)
    cell.source = first + "\n" + solution
has(outputs(), "all 1024 numbers are right", "0 hazards", "1997, 0 wrong\n", "<iframe")
assert Path("x.html").read_text().startswith("<!DOCTYPE")
del os.environ["UPSWEEP_WHEEL"]
book.cells = book.cells[:2] * 2  # outputs() leaves out the first
has(outputs(), "Write the repository's name in the first line")
END_OF_PYTHON
}
