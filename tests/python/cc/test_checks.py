"""test_checks.py -- the kernels of cases/checks: our compiler makes PTX in which the checkers find
what they find with nvcc, or it refuses them with a sentence. These are the pairs whose host only
launches a kernel, PAIR(kernel<right>, blocks, threads, arguments)."""
import json
import re
import unittest

from own import BUILT, CUDA, TOP, answer, compile_own, run

PAIR = re.compile(r"^PAIR\(\{?(\w+)<right>, (\d+), (\d+)(?:, (.*?))?\}?\)$", re.M | re.S)
FILLS = {"zeros": "zero", "numbers": "ramp", "unwritten": "none"}
TYPES = {"int": "s32", "unsigned": "u32", "float": "f32", "char": "s8", "double": "f64"}
ERROR = re.compile(r"error: .{10,}", re.S)
# Which of two accesses comes later depends on how many instructions there are.
RACES = ("race-loop", "race-up-sweep", "race-lock-reader", "race-slot-ring")
# nvcc moves the load of a function before its call, where it stands on no line.
MOVED = ("race-poll-call",)
NOT_SENTENCES = re.compile(r"internal|assert|abort|segmentation", re.I)


class Pair:
    """A pair: its kernel as a text of its own, and how it is launched."""

    def __init__(self, name, text, macros):
        self.name = name
        launch = PAIR.search(text)
        self.kernel, self.blocks, self.threads, arguments = launch.groups()
        self.arguments = re.findall(r"(\w+)<(\w+)>\((\d+)\)|(\d+)", arguments or "")
        self.is_simple = arguments is None or not re.sub(
            r"(\w+)<(\w+)>\((\d+)\)|(\d+)|[, \n]", "", arguments)
        text = macros + text[:launch.start()]
        parameters = re.search(rf"void {self.kernel}\((.*?)\)", text, re.S)
        self.text = None
        if self.is_simple and parameters and text.count("__global__ void") == 1:
            self.text = text + "\n".join(
                f"template __global__ void {self.kernel}<{right}>({parameters[1]});"
                for right in ("true", "false")) + "\n"

    def request(self, ptx, is_right):
        marks = f"{self.kernel}ILb{int(is_right)}"
        entry = next(name for name in re.findall(r"\.entry\s+(\w+)", ptx) if marks in name)
        buffers, words = [], []
        for k, (fill, kind, count, number) in enumerate(self.arguments):
            if number:
                words.append(f"s32:{number}")
            else:
                buffers.append(f"buffer b{k} {TYPES[kind]} {count} {FILLS[fill]}")
                words.append(f"@b{k}")
        return "\n".join(["check 15", "limit 1000000", *buffers,
                          f"launch {entry} {self.blocks},1,1 {self.threads},1,1 0 "
                          + " ".join(words), "ptx", ptx])


def findings(reply, has_lines):
    """Whether it ended, and what was found: tool, kind and line."""
    found = {(f["tool"], f["kind"], f["place"]["line"] if has_lines and f.get("place") else 0)
             for f in json.loads(reply["document"])["findings"]}
    return reply["error"], sorted(map(str, found))


def pairs():
    for path in sorted(TOP.glob("tests/cases/checks/*.cu")):
        head, *texts = re.split(r"^(?=/\* [a-z]+-[a-z-]+ — )", path.read_text(encoding="utf-8"),
                                flags=re.M)
        macros = "".join(re.findall(r"^#define (?:.*\\\n)*.*\n", head, re.M))
        for text in texts:
            if PAIR.search(text):
                pair = Pair(re.match(r"/\* (\S+)", text)[1], text, macros)
                if pair.text and all(not a[1] or a[1] in TYPES for a in pair.arguments):
                    yield pair


class Checks(unittest.TestCase):
    def compile_all(self):
        """(pair, PTX) of those that the compiler takes; the others are refused with a sentence."""
        taken, refused = [], 0
        for pair in pairs():
            path = BUILT / f"{pair.name}.cu"
            path.write_text(pair.text, encoding="utf-8")
            ptx, said = compile_own(path)
            if ptx is not None:
                taken.append((pair, ptx))
                continue
            refused += 1
            with self.subTest(pair=pair.name):
                self.assertRegex(said, ERROR)
                self.assertNotRegex(said, NOT_SENTENCES)
        print(f"\n{len(taken)} pairs are compiled, {refused} are refused")
        return taken

    def by_nvcc(self, taken):
        """The PTX of all pairs, each with its own line numbers."""
        text = "".join(f"#line 1 \"{pair.name}.cu\"\n{pair.text}" for pair, _ in taken)
        path = BUILT / "pairs.cu"
        path.write_text(text, encoding="utf-8")
        done = run(f"{CUDA}/bin/nvcc", "-w", "-g", "-lineinfo", "-ptx", "-arch=compute_90",
                   "-I", "tests/cases/checks", path, "-o", BUILT / "pairs.ptx")
        self.assertEqual(done.returncode, 0, done.stderr)
        return (BUILT / "pairs.ptx").read_text(encoding="utf-8")

    def test_kernels_are_compiled_right_or_refused_slow(self):
        taken = self.compile_all()
        self.assertGreater(len(taken), 0)
        theirs = self.by_nvcc(taken)
        for pair, ptx in taken:
            for is_right in (True, False):
                with self.subTest(pair=pair.name, right=is_right):
                    has_lines = pair.name not in MOVED
                    ours = findings(answer(pair.request(ptx, is_right)), has_lines)
                    nvcc = findings(answer(pair.request(theirs, is_right)), has_lines)
                    if pair.name not in RACES:
                        self.assertEqual(ours, nvcc)


if __name__ == "__main__":
    unittest.main()
