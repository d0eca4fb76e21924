"""test_language.py -- tests/cases/fixtures/language.cu by both compilers: the values of each kernel
are equal in bits, and so are its counters but for those of NOT_COUNTED."""
import json
import re
import shutil
import unittest

from own import BUILT, CUDA, TOP, answer, compile_own, counters, run

SOURCE = TOP / "tests/cases/fixtures/language.cu"
# nvcc keeps other parts of an array with variable indices in local memory.
NOT_COUNTED = {"_Z6arraysPjPKj"}
REQUEST = """buffer out u32 1024 zero
buffer in u32 1024 values %s
launch %s 2,1,1 64,1,1 0 @out @in
ptx
%s"""


class Language(unittest.TestCase):
    def test_each_kernel_computes_what_nvcc_computes(self):
        ptx, said = compile_own(SOURCE)
        self.assertIsNotNone(ptx, said)
        theirs = BUILT / "language.ptx"
        done = run(f"{CUDA}/bin/nvcc", "-arch=compute_90", "-lineinfo", "-ptx", SOURCE,
                   "-o", theirs)
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = " ".join(str(k * k * 2654435761 % 2**32) for k in range(1024))
        kernels = re.findall(r"\.entry (_Z\w+)\(", theirs.read_text(encoding="utf-8"))
        self.assertEqual(sorted(kernels), sorted(re.findall(r"\.entry (_Z\w+)\(", ptx)))
        for kernel in kernels:
            with self.subTest(kernel=kernel):
                made = [answer(REQUEST % (numbers, kernel, text))
                        for text in (ptx, theirs.read_text(encoding="utf-8"))]
                self.assertEqual([one["message"] for one in made], ["", ""])
                self.assertEqual(made[0]["buffers"], made[1]["buffers"])
                launches = [json.loads(one["document"])["launches"][0] for one in made]
                if kernel not in NOT_COUNTED:
                    self.assertEqual(*(counters(one["counters"]) for one in launches))

    def test_the_compiler_is_plain_c11_slow(self):
        sources = sorted(TOP.glob("common/tools/cc/**/*.c"))
        self.assertGreater(len(sources), 20)
        for compiler in filter(shutil.which, ("gcc", "clang", "emcc")):
            done = run(compiler, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror",
                       "-fsyntax-only", "-I.", *sources)
            self.assertEqual((done.returncode, done.stderr), (0, ""), compiler)


if __name__ == "__main__":
    unittest.main()
