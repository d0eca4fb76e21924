"""test_random.py -- random kernels, compiled by nvcc and by our compiler, on the emulator: integers
are equal, and so are floats but for their last bits, since which product and sum become one fma is
left to a compiler. CC_SEEDS has the seeds of the files, a hundred kernels each."""
import json
import math
import os
import random
import re
import unittest

from own import BUILT, answer, compile_own
from random_kernels import OWN, TABLE

SEEDS = os.environ.get("CC_SEEDS", "1 2").split()
LAUNCH = re.compile(r"^// launch kernel(\d+) (\d+) (\d+) (\d+) (\d+)$", re.M)
AT_ONCE = 15        # kernels of a request: each has two of its 32 buffers
CLOSE = 1e-4        # relative, of floats
LIMIT = 1 << 24     # warp instructions of a kernel: its loops end long before


def table(kind, count):
    """The fill of a buffer: integers below TABLE, or reals that are no sums of few powers of 2."""
    numbers = random.Random(1)
    words = [numbers.randrange(TABLE) for _ in range(count)]
    return " ".join(str(w if kind == "s32" else (w - TABLE // 2) / 300) for w in words)


def request(launches, ptx):
    lines = ["check 15", f"limit {LIMIT}"]
    lines += [f"buffer {name} {kind} {TABLE} values {table(kind, TABLE)}"
              for name, kind in (("given", "s32"), ("reals", "f32"))]
    for number, blocks, threads, dynamic, n in launches:
        words = OWN * int(blocks) * int(threads)
        lines += [f"buffer {kind}{number} {kind} {words} values {table(kind, words)}"
                  for kind in ("s32", "f32")]
        name = re.search(rf"\.entry (\w*?\d+kernel{number}(?!\d)\w*)", ptx)[1]
        lines.append(f"launch {name} {blocks},1,1 {threads},1,1 {dynamic} "
                     f"@s32{number} @f32{number} @given @reals s32:{n}")
    return "\n".join([*lines, "ptx", ptx])


def is_close(one, other):
    one, other = float(one), float(other)
    return one == other or (math.isnan(one) and math.isnan(other)) or \
        math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


class RandomKernels(unittest.TestCase):
    def check(self, ours, theirs):
        """The answers to two requests; returns how many floats differ in their last bits."""
        for reply in (ours, theirs):
            self.assertEqual((reply["error"], reply["message"]), (0, ""))
            self.assertEqual(json.loads(reply["document"])["findings"], [])
        near = 0
        for one, other in zip(ours["buffers"], theirs["buffers"], strict=True):
            differing = [(a, b) for a, b in zip(one["values"].split(), other["values"].split())
                         if a != b]
            with self.subTest(buffer=one["name"]):
                self.assertEqual([pair for pair in differing if one["type"] != "f32"
                                  or not is_close(*pair)], [])
            near += bool(differing)
        return near

    def test_results_are_those_of_nvcc_slow(self):
        near = 0
        for seed in SEEDS:
            text = (BUILT / f"{seed}.cu").read_text(encoding="utf-8")
            theirs = (BUILT / f"{seed}.nvcc.ptx").read_text(encoding="utf-8")
            ours, said = compile_own(BUILT / f"{seed}.cu")
            self.assertIsNotNone(ours, said[:2000])
            launches = LAUNCH.findall(text)
            self.assertEqual(len(launches), 100)
            for k in range(0, 100, AT_ONCE):
                with self.subTest(seed=seed, first=k):
                    some = launches[k:k + AT_ONCE]
                    near += self.check(answer(request(some, ours)), answer(request(some, theirs)))
        print(f"\nfloats of {near} of {100 * len(SEEDS)} kernels differ in their last bits")


if __name__ == "__main__":
    unittest.main()
