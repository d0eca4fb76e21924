"""test_steps.py -- steps 2 to 11 as the page runs them, every variant and size, under every seed
and rule that the tests of the page use: values are equal in bits, and so are counters, but in a
random order: there the lanes of a warp may arrive at a barrier or a store in several parts, each
part counts, and which instruction the order parts depends on how many there are."""
import json
import re
import shutil
import unittest

from own import BUILT, TOP, answer, compile_own, counters, run

STEPS = (2, 3, 4, 5, 6, 7, 9, 11)
FOLDERS = {"02-naive": "scan", "03-work-efficient": "scan", "04-conflict-free": "scan variants",
           "05-arbitrary-size": "scan variants", "06-vectorized": "scan", "07-unrolled": "scan",
           "09-warp-shuffle": "scan", "11-single-pass": "scan"}
OFFERED = 113  # sizes of all variants of these steps in common/tools/page/kernels.js


UNIFORM_ADD = re.compile(r"^static __global__ void uniform_add.*?^}$", re.M | re.S)


def source_of(folder, name):
    """A step's source. Step 5's variants are launched with a kernel of scan.cu, which is added."""
    path = TOP / f"steps/{folder}/{name}.cu"
    if folder != "05-arbitrary-size" or name != "variants":
        return path
    kernel = UNIFORM_ADD.search(path.with_name("scan.cu").read_text(encoding="utf-8"))[0]
    both = BUILT / "05-variants.cu"
    both.write_text(f'#include "{path.relative_to(TOP)}"\n{kernel}\n', encoding="utf-8")
    return both


class Sources(unittest.TestCase):
    def test_they_are_compiled(self):
        for folder, names in FOLDERS.items():
            for name in names.split():
                ptx, said = compile_own(source_of(folder, name))
                self.assertIsNotNone(ptx, f"steps/{folder}/{name}.cu: {said[:2000]}")


@unittest.skipUnless(shutil.which("node"), "node not found: make setup-page installs it")
class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = run("node", "tests/page/answers.js", "--requests", "build/page/ptx")
        cls.cases = [case for case in json.loads(made.stdout) if case["step"] in STEPS]
        cls.own = {}
        for folder, names in FOLDERS.items():
            for name in names.split():
                cls.own[folder, name] = compile_own(source_of(folder, name))

    def own_ptx(self, case):
        """The PTX of the same file: the request's names the file by its kernels only."""
        theirs = case["request"].split("\nptx\n", 1)[1]
        for (folder, name), (ptx, said) in self.own.items():
            path = TOP / "build/page/ptx" / folder / f"{name}.ptx"
            if path.read_text(encoding="utf-8") == theirs:
                self.assertIsNotNone(ptx, f"steps/{folder}/{name}.cu: {said[:2000]}")
                return ptx
        raise AssertionError("no file has this PTX")

    def test_all_that_the_page_offers_is_here_slow(self):
        self.assertEqual(len([case for case in self.cases if not case["choice"]]), OFFERED)

    def test_values_and_counters_are_equal_slow(self):
        for case in self.cases:
            choice = "".join(f"/{key} {value}" for key, value in case["choice"].items())
            name = f"{case['step']}/{case['variant']}/{case['n']}{choice}"
            with self.subTest(case=name):
                head = case["request"].split("\nptx\n", 1)[0]
                theirs = answer(case["request"])
                ours = answer(f"{head}\nptx\n{self.own_ptx(case)}")
                self.assertEqual((ours["error"], ours["message"]), (0, ""))
                self.assertEqual(ours["buffers"], theirs["buffers"])
                documents = [json.loads(one["document"]) for one in (ours, theirs)]
                self.assertEqual(documents[0]["findings"], [])
                counts = [[counters(one["counters"]) for one in d["launches"]] for d in documents]
                if "seed" not in case["choice"]:
                    self.assertEqual(*counts)


if __name__ == "__main__":
    unittest.main()
