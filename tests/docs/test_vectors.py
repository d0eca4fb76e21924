"""The emulator's operations of up to 32 bits are compiled to vector instructions.

A loop over the 32 lanes that the compiler leaves scalar is three to ten times slower, and no test
of results notices it. Times would depend on what else the machine does, so this test reads the
machine code for AVX2: each such operation has instructions with 256-bit registers.
"""
import os
import platform
import re
import shutil
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OBJECTS = os.path.join(ROOT, "build/common/emu/ops")
FILES = ["bits", "convert", "door", "float", "integer", "move", "rules"]
OPERATION = re.compile(r"_(u16|s16|u32|s32|f32)(_flushed|_rounded|_clamped)?$")
FEWEST = 8  # vector instructions of an operation: two for each vector of eight lanes

# Functions that are scalar, and why.
SCALAR = [
    (r"carry_", "the carry of a lane is one bit of a word"),
    (r"^fns_", "a search of a different length in each lane"),
    (r"^prmt_", "its modes look up selectors; prmt itself is not one of these"),
    (r"^(ex2|lg2|sin|cos|tanh)_f32$", "the C library's functions, computed in double"),
    (r"^cvt_.*_[us]64$|^(rni|rzi|rmi|rpi)_.*64|^cvt_f(32|64)_[us]64", "64 bits"),
    (r"^clamp_", "conversions with .sat between integers, which programs rarely have"),
    (r"bf?16_|_b?f16", "16-bit floats"),
]


def scalar_reason(name):
    if name == "prmt_u32":
        return None
    return next((why for pattern, why in SCALAR if re.search(pattern, name)), None)


def functions(path):
    """The number of vector instructions of each function, and where a function only jumps to."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-w", path], check=True,
                          capture_output=True, text=True).stdout
    vectors, alias, name = {}, {}, None
    for line in text.splitlines():
        begin = re.match(r"[0-9a-f]+ <(.+)>:", line)
        if begin:
            name, first = begin.group(1), True
            vectors[name] = 0
        elif name and "\t" in line:
            code = line.split("\t", 1)[1]
            jump = re.match(r"jmp +[0-9a-f]+ <([^+>]+)>", code)
            if first and jump:
                alias[name] = jump.group(1)
            vectors[name] += "%ymm" in code
            first = False
    return {name: vectors.get(alias.get(name, name), 0) for name in vectors}


@unittest.skipUnless(platform.machine() == "x86_64", "the operations have AVX2 only on x86-64")
@unittest.skipUnless(shutil.which("objdump"), "objdump is not installed")
class Vectors(unittest.TestCase):
    def test_operations_are_vectors(self):
        checked, scalar = 0, []
        for file in FILES:
            path = os.path.join(OBJECTS, f"ops_{file}.v3.o")
            if not os.path.exists(path):
                self.skipTest(f"{path} is not built: make emu")
            for name, count in functions(path).items():
                if OPERATION.search(name) and not scalar_reason(name):
                    checked += 1
                    if count < FEWEST:
                        scalar.append(f"ops_{file}.c: {name}: {count} vector instructions")
        self.assertEqual(scalar, [], "left scalar by the compiler")
        self.assertGreater(checked, 150)


if __name__ == "__main__":
    unittest.main()
