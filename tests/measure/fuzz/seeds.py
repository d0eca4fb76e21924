#!/usr/bin/env python3
"""seeds.py NAME FOLDER FILE... -- what the fuzzer NAME begins with: inputs that once broke a
reader, others that are wrong in a way of their own, and right ones, of which $NVCC makes some. For
`cuda` they are copies of the files."""
import os
import shutil
import struct
import subprocess
import sys
import zlib

TWO = [word for sm in ("75", "90")
       for word in ("-gencode", "arch=compute_%s,code=compute_%s" % (sm, sm))]
# Its machine code for three GPUs is compared with the PTX in emulator.c, line by line.
CUBIN = """extern "C" __global__ void k(float *p)
{
    __shared__ float words[64];
    words[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = words[2 * threadIdx.x] + /* a line for each load */
                     words[2 * threadIdx.x + 1];
    asm volatile("red.global.add.f32 [%0], 1.0;" ::"l"(p) : "memory");
}
"""


def nvcc(*options):
    """What it writes into a file; of CUBIN if no option is a file."""
    made, source = os.path.join(sys.argv[2], "made"), os.path.join(sys.argv[2], "cubin.cu")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CUBIN)
    subprocess.run([*os.environ["NVCC"].split(), "-I.", "-o", made, *options,
                    *([] if options[-1].endswith(".cu") else [source])], check=True)
    with open(made, "rb") as file:
        data = file.read()
    os.remove(made)
    os.remove(source)
    return data


# ---- PTX -----------------------------------------------------------------------------------------

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
PROGRAMS = "tests/cases/fixtures/"
WRONG_PTX = {
    "a function as a register, declared twice": HEAD + """.extern .func g();\n.extern .func g();
.visible .entry k()\n{\n.reg .b32 %l<, g;}""",
    "more initial values than elements": HEAD + ".global .u32 v[2] = {1, 2, 3};\nt; }",
    "a statement that is none, after a parameter": HEAD + """.func f(.param .b32 x)
{\n.reg .b64 %l<2>;\nmov.b64 %l0, x;\nret;\n}
.visible .entry k()
{\n.reg .b32 %r<2>;\n{\n.local .b32 a;\nst.param.b32 [a], %r0;\nc;\n}\nret;\n}""",
    "a string without its end": HEAD + '.visible .entry k() { ret; }\n.file 1 "never closed',
    "a call through a prototype": HEAD + """.extern .func g();\n.visible .entry k()
{\n.reg .b64 %l<2>;\nmov.u64 %l0, g;
prototype: .callprototype ()_ ();\ncall %l0, (), prototype;\nret;\n}""",
    "four thousand million registers":
        ".version 9.0\n.target sm_90e .entry k() {\n.reg .b64 %l<4000000000>;\nret;\n}",
    "a directive with four sizes":
        HEAD + ".visible .entry k()\n.maxntid 28, 1,  1, 1\n{\nre\x01\0`{\nret;\n}",
    "a function without its end": HEAD + """.func f(.param .b32 x)\n{\n.reg .b64 %let;\n}
.visible .entry k()
{\n.reg .b32 %r<2>;\n{\n.param .b32 a;\nst.param.b32 [a], !r0;\ncall f, (a);\n}\nizt;\n}""",
    "ld into a list that is too short": """.version 9.0.target sm_90\n.address_size 64
.visible .entry k(.param .u64 p) {\n.reg .pred %l<4>;\nld.global.v4.u32 {%r0}, [%l0];\nret;\n}""",
    "a comment without its end": ".version 9.0\n.target sm_90i/* mov.u32 %r0, 1;\nret;\n}"}


def ptx():
    return {**{title: text.encode() for title, text in WRONG_PTX.items()}, **{
        title: nvcc("-ptx", *options) for title, options in (
            ("kernels.75", ["-arch=compute_75", "-lineinfo", PROGRAMS + "programs/kernels.cu"]),
            ("kernels.O0", ["-arch=compute_90", "-Xcicc", "-O0",
                            PROGRAMS + "programs/kernels.cu"]),
            ("cudart_kernels.100", ["-arch=compute_100", PROGRAMS + "cudart_kernels.cu"]),
            ("scan.100", ["-arch=compute_100", "steps/02-naive/scan.cu"]))}}


# ---- machine code and containers -----------------------------------------------------------------

MAGIC, HEADERS = b"P\xedU\xba\x01\0\x10\0", 16 + 64  # bytes: of the container's and an entry's
ENTRY_SIZE, PACKED_SIZE, FLAGS, TEXT_SIZE = 24, 32, 56, 72  # where they are, in the first entry
ZSTD = 0x8000


def cubin():
    """The first byte for the reader of machine code is the architecture."""
    return {"sm_%d" % sm: bytes([sm]) + nvcc("-cubin", "-lineinfo", "-arch=sm_%d" % sm)
            for sm in (75, 90, 100)}


def containers():
    """By LZ4 and by zstd."""
    return {mode: nvcc("-fatbin", "--compress-mode=" + mode, *TWO)
            for mode in ("speed", "size")}


def number(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def changed(data, at, new):
    return data[:at] + new + data[at + len(new):]


def fatbin():
    seeds = {"beyond its end, version 6": b'P\xedU\xba\x06\0\x01\0 @"\xd8\xd8\x98\xd8\xd8',
             "no entry": MAGIC + bytes(9),
             "a header cut off": MAGIC + struct.pack("<Q4sI7s", 32, b"\xff" * 4, 0, b"\xff" * 7),
             "not compressed": nvcc("-fatbin", "--compress-mode=none", *TWO)}
    for mode, data in containers().items():
        seeds[mode] = data
        seeds[mode + " wrong"] = changed(data, HEADERS + 80, b"\xff\xff`\x90\0\n\xb4\x80")
        seeds[mode + " beyond the end"] = changed(data, ENTRY_SIZE, struct.pack("<Q", 1 << 16))
        seeds[mode + " of an impossible size"] = changed(data, TEXT_SIZE,
                                                         struct.pack("<Q", 1 << 46))
    return seeds


def unpack():
    """The choice, three bytes of the text's length, and what is packed."""
    return {**{mode: bytes([number(data, FLAGS) == ZSTD]) + data[TEXT_SIZE:TEXT_SIZE + 3]
               + data[HEADERS:HEADERS + number(data, PACKED_SIZE)]
               for mode, data in containers().items()},
            "zstd, 48 bytes of few": b"\x010\0\0(\xb5/\xfd\0h=\0\0\x08a\x01\0D@\x08",
            "zstd of nothing": b"\x01\0\0\0(\xb5/\xfd \0\x01\0\0"}


# ---- pictures ------------------------------------------------------------------------------------

def png(width, height, bits, colour, rows, interlaced=0, **chunks):
    """The rows begin with their filters. Chunks come before them."""
    chunks = {"IHDR": struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced),
              **chunks, "IDAT": zlib.compress(rows, 0), "IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name.encode() + data
        + struct.pack(">I", zlib.crc32(name.encode() + data)) for name, data in chunks.items())


def picture():
    return {
        "grey": b"P5 3 2 255\nabcdef", "two": b"P5 1 1 255\naP5 1 1 255\nb",
        "huge": b"P5 99999999 99999999 255\n",
        "rgb16": b"P6\n2 1\n300\n\0\x01\x01\x02\0\x03\0\x04\0\x05\x01\x06",
        "pfm": b"Pf\n2 2\n-1\n" + struct.pack("<4f", 1, 2, 3, 4),
        "pfm-rgb": b"PF 1 1 1.0\n" + struct.pack(">3f", 1, 2, 3),
        "npy": b"\x93NUMPY\x01\0>\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }"
               + struct.pack("<6f", 1, 2, 3, 4, 5, 6),
        "png-grey": png(3, 2, 8, 0, b"\0abc\x01def"),
        "png-grey-alpha": png(2, 1, 8, 4, b"\x03abcd"),
        "png-rgba16": png(1, 2, 16, 6, b"\x02abcdefgh\x04ijklmnop"),
        "png-bits": png(5, 2, 1, 0, b"\0\xa0\0P", tRNS=b"\0\x01"),
        "png-interlaced": png(2, 2, 8, 2, b"\0abc\0def\0ghijkl", interlaced=1),
        "png-palette": png(4, 1, 2, 3, b"\0\x1b", PLTE=bytes(range(12)), tRNS=b"\0\x80"),
        "png-colour-missing": png(4, 1, 2, 3, b"\0\x1b", PLTE=bytes(range(9))),
        "png-huge": png(2**31 - 1, 2**31 - 1, 16, 6, bytes(9))}


def main():
    name, folder, *files = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for path in files if name == "cuda" else ():
        shutil.copy(path, os.path.join(folder, path.replace("/", "-")))
    if name != "cuda":
        for title, data in globals()[name]().items():
            with open(os.path.join(folder, title.replace(" ", "-")), "wb") as file:
                file.write(data)


main()
