#!/usr/bin/env python3
"""alone.py N -- prints step N as one file: its kernels, what they include, and a visible main.

Headers of the step and of common/ are copied in. Lines that end in `// lab: left out` choose among
variants, and are dropped; other marks of `make lab` are removed. main is alone_main.cu, or for step
1, which has no kernel, alone_main.c.
"""
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
# The workspace in bytes, and the call, where they are not stepNN_workspace(n, 0) and stepNN_scan.
FIRST, LAST = 0, 12
COPY, ON_HOST = 0, 1
NO_WORKSPACE = (0, 2, 3, 4)
TWO_PHASES = 12  # scan.h: the first call says how large the workspace is
DEFAULT_N = {2: "512", 3: "512", 4: "512", 12: "1 << 24"}
TRY = r"""#define CUDA_TRY(call) \
    do { \
        cudaError_t error_ = (call); \
        if (error_ != cudaSuccess) return error_; \
    } while (0)
"""


def inlined(path, seen):
    """The lines of a file, with those of the headers that it includes by name."""
    for line in path.read_text(encoding="utf-8").splitlines():
        include = re.match(r'#include "(.*)"', line)
        if line.endswith("// lab: left out") or re.match(r' *// lab: ', line):
            continue
        if re.match(r'extern "C" scan_fn ', line):
            continue
        if not include:
            yield line
            continue
        name = include[1]
        found = TOP / name if name.startswith("common/") else path.parent / name
        if found in seen:
            continue
        seen.add(found)
        if name == "common/step/step.h":
            yield from ("#include <cuda_runtime.h>", "#include <stdbool.h>", "#include <stddef.h>",
                        "#include <stdint.h>")
        elif name == "common/step/cuda_check.h":
            yield TRY
        else:
            yield from inlined(found, seen)


def on_host(folder):
    """Step 1: a C file, up to the function that the harness calls."""
    print("// cc step1.c && ./a.out")
    lines = list(inlined(folder / "scan.c", {TOP / "common/step/step.h", folder / "scan.h"}))
    exclusive = lines[:lines.index("/* Also n - 1 additions. */")]
    print("\n".join(["#include <stddef.h>", *exclusive]))
    print((TOP / "common/build/alone_main.c").read_text(encoding="utf-8"), end="")


def main(number):
    if not FIRST <= number <= LAST:
        sys.exit("alone.py: step %d is not one of %d to %d, which are written as one file."
                 % (number, FIRST, LAST))
    folder, = TOP.glob("steps/%02d-*" % number)
    if number == ON_HOST:
        return on_host(folder)
    call = "step%02d_scan(d_out, d_in, n, 0, workspace, 0)" % number
    workspace = "0" if number in NO_WORKSPACE else "step%02d_workspace(n, 0)" % number
    if number == TWO_PHASES:
        call = "scan_exclusive_f32(workspace, &needed, d_out, d_in, n, 0)"
        workspace = "needed"
    text = (TOP / "common/build/alone_main.cu").read_text(encoding="utf-8")
    if number == COPY:
        call = call.replace(", 0, workspace", ", FLOAT4, workspace")
        text = text.replace("want += in[i];", "").replace("float want = 0;\n    for", "for")
        text = text.replace("float want = 0;\n", "").replace("want)", "in[i])")
    for mark, value in (("@K@", str(number)), ("@N@", DEFAULT_N.get(number, "1 << 20")),
                        ("@WORKSPACE@", workspace), ("@CALL@", call)):
        text = text.replace(mark, value)
    if number == TWO_PHASES:
        asks = call.replace("workspace, &needed, d_out, d_in",
                            "NULL, &needed, (float *)NULL, (float *)NULL")
        text = text.replace("    void *workspace;\n",
                            "    void *workspace;\n    size_t needed;\n    CHECK(%s);\n" % asks)
    print("// nvcc %sstep%d.cu && ./a.out     (without a GPU: emu run step%d.cu)"
          % ("-arch=sm_90 " if number >= 10 else "", number, number))
    print("\n".join(inlined(folder / "scan.cu", {folder / "scan.cu"})))
    print(text, end="")


if __name__ == "__main__":
    main(int(sys.argv[1]))
