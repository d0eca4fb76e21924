"""test_emulator.py -- the emulator in WebAssembly answers every request as the native one does, to
the last byte: results, counters of each line, findings and traces."""
import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from browser import BUILT, TOP, need, node

EMULATOR = str(BUILT / "emulator.js")
ENVIRONMENT = {**os.environ, "EMU_THREADS": "1"}


def native(request):
    answer = subprocess.run([str(BUILT / "native")], input=request, capture_output=True, text=True,
                            check=True).stdout
    return answer


def in_wasm(requests):
    return json.loads(node("--answers", EMULATOR, given=json.dumps(requests)))


def exclusive_sums(values):
    return [0, *itertools.accumulate(values)][:len(values)]


def values_of(answer, name):
    buffer = next(b for b in answer["buffers"] if b["name"] == name)
    return [float(text) for text in buffer["values"].split()]


def counted(document):
    """What does not depend on where a kernel was compiled: counters of launches and of lines."""
    return [(launch["mangled"], launch["grid"], launch["block"], launch["counters"],
             sorted((os.path.basename(line["file"]), line["line"], str(line["counters"]))
                    for line in launch["lines"])) for launch in document["launches"]]


def counted_as_played(counters):
    """A launch's counters as sumsOf (trace.js) adds them up."""
    found = {}
    for name, key in (("ld", "load"), ("st", "store")):
        shared, far = counters["shared_" + key], counters["global_" + key]
        found[name] = {"wavefronts": shared["wavefronts"], "instructions": shared["instructions"],
                       "conflicts": shared["wavefronts"] - shared["ideal_wavefronts"],
                       "requests": far["requests"], "sectors": far["sectors"]}
    return found


def by_program(case):
    """The document of the step's own program, which `make` has built."""
    command = [str(TOP / "build/emu/emu"), "--json", "--log-file", "/dev/stdout", "./step%d"
               % case["step"], "--n", str(case["n"])]
    if case["variant"] != "-":
        command += ["--variant", case["variant"]]
    out = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, cwd=TOP,
                         check=True).stdout
    return json.loads(out[out.index('{\n  "format"'):])


class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        need("emcc", "pandoc", "node")
        cls.cases = json.loads(node("--requests", str(BUILT / "ptx")))
        cls.answers = in_wasm([case["request"] for case in cls.cases])

    def test_every_answer_is_that_of_the_native_emulator(self):
        for case, answer in zip(self.cases, self.answers):
            with self.subTest(step=case["step"], variant=case["variant"], n=case["n"]):
                self.assertEqual(answer, native(case["request"]))

    def test_every_result_is_right_and_nothing_is_found(self):
        for case, text in zip(self.cases, self.answers):
            with self.subTest(step=case["step"], variant=case["variant"], n=case["n"]):
                answer = json.loads(text)
                self.assertEqual((answer["error"], answer["message"]), (0, ""))
                self.assertEqual(values_of(answer, "out"), exclusive_sums(values_of(answer, "in")))
                self.assertEqual(json.loads(answer["document"])["findings"], [])

    def test_a_line_that_orders_nothing_is_judged_as_by_the_tool(self):
        # notes/more/barriers.md: step 3's third barrier is not needed.
        source = next((TOP / "steps").glob("03-*/scan.cu")).read_text(encoding="utf-8")
        lines = [k for k, text in enumerate(source.split("\n"), 1) if "__syncthreads();" in text]
        request = next(one["request"] for one in self.cases if (one["step"], one["n"]) == (3, 512))
        asked = ["unordered scan.cu:%d\n%s" % (line, request) for line in lines]
        answers = in_wasm(asked)
        self.assertEqual(answers, [native(one) for one in asked])
        found = [json.loads(json.loads(one)["document"])["findings"] for one in answers]
        self.assertEqual([bool(one) for one in found], [True, True, False])

    def test_counters_are_those_of_the_steps(self):
        """A step verifies its scan and may run it more than once: its first launches count."""
        for case, text in zip(self.cases, self.answers):
            if case["n"] not in (512, 1024, 2048) or case["variant"] == "none" or case["choice"]:
                continue
            with self.subTest(step=case["step"], variant=case["variant"], n=case["n"]):
                here = counted(json.loads(json.loads(text)["document"]))
                self.assertEqual(here, counted(by_program(case))[:len(here)])

    def test_the_trace_adds_up_to_the_counters(self):
        """What the page plays is what it counts: events of shared and global memory."""
        answers = [json.loads(text) for text in self.answers]
        played = json.loads(node("--sums", given=json.dumps([one["trace"] for one in answers])))
        for case, answer, sums in zip(self.cases, answers, played, strict=True):
            with self.subTest(step=case["step"], variant=case["variant"], n=case["n"],
                              choice=case["choice"]):
                launches = json.loads(answer["document"])["launches"]
                self.assertEqual(sums, [counted_as_played(one["counters"]) for one in launches])


# An operation of each kind that rounds or flushes: the result's type, the operation, and the types
# of its operands.
ROUNDED = [("f32", "%s.%s.f32" % (op, mode), ["f32"] * count)
           for mode in ("rn", "rz", "rm", "rp", "rz.ftz", "rm.ftz", "rp.ftz", "rn.ftz")
           for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("div", 2),
                             ("sqrt", 1), ("rcp", 1))]
ROUNDED += [("f64", "%s.%s.f64" % (op, mode), ["f64"] * count)
            for mode in ("rn", "rz", "rm", "rp")
            for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("div", 2),
                              ("sqrt", 1), ("rcp", 1))]
ROUNDED += [(to, "cvt.%s.%s.%s" % (mode, to, source), [source])
            for mode in ("rn", "rz", "rm", "rp") for to in ("f32", "f64")
            for source in ("s32", "u32", "s64", "u64")]
ROUNDED += [("f32", "cvt.%s.f32.f64" % mode, ["f64"])
            for mode in ("rn", "rz", "rm", "rp", "rn.ftz", "rz.ftz")]
ROUNDED += [("f32", op, ["f32"] * count) for op, count in
            (("min.ftz.f32", 2), ("max.ftz.f32", 2), ("abs.ftz.f32", 1), ("neg.ftz.f32", 1),
             ("ex2.approx.ftz.f32", 1), ("lg2.approx.ftz.f32", 1), ("rsqrt.approx.ftz.f32", 1),
             ("sin.approx.ftz.f32", 1), ("div.approx.ftz.f32", 2), ("add.rz.ftz.sat.f32", 2))]
ROUNDED += [("s32", "cvt.rzi.ftz.s32.f32", ["f32"]), ("u32", "set.gt.ftz.u32.f32", ["f32", "f32"]),
            ("f64", "cvt.ftz.f64.f32", ["f32"])]

BYTES = {"f32": 4, "f64": 8, "s32": 4, "u32": 4, "s64": 8, "u64": 8}
LETTERS = {"f32": "f", "f64": "g", "s32": "r", "u32": "r", "s64": "q", "u64": "q"}
REGISTERS = ".reg .f32 %f<4>;\n.reg .f64 %g<4>;\n.reg .b32 %r<4>;\n.reg .b64 %q<4>;\n"
THREADS = 512


def ptx_of(cases):
    """A kernel that carries out all operations on each thread's values. Results are stored as
    64 bits, one array behind the other."""
    lines = [".version 8.0", ".target sm_90", ".address_size 64",
             ".visible .entry k(.param .u64 out, .param .u64 in) {", REGISTERS,
             ".reg .b64 %a<4>;\n.reg .b32 %t;", "ld.param.u64 %a0, [out];",
             "ld.param.u64 %a1, [in];", "mov.u32 %t, %tid.x;", "mul.wide.u32 %a2, %t, 8;",
             "add.u64 %a0, %a0, %a2;", "mul.wide.u32 %a2, %t, 96;", "add.u64 %a1, %a1, %a2;"]
    places = {"f32": 0, "s32": 0, "u32": 0, "f64": 24, "s64": 48, "u64": 48}
    for k, (to, operation, sources) in enumerate(cases):
        names = []
        for i, source in enumerate(sources):
            name = "%%%s%d" % (LETTERS[source], i + 1)
            at = places[source] + 8 * i if source != "f32" else 4 * i + 72
            lines.append("ld.global.%s %s, [%%a1+%d];" % (source, name, at))
            names.append(name)
        result = "%%%s0" % LETTERS[to]
        lines.append("%s %s, %s;" % (operation, result, ", ".join(names)))
        lines.append("st.global.%s [%%a0+%d], %s;" % (to, k * THREADS * 8, result))
    return "\n".join(lines + ["ret;", "}"])


def hard_floats(random_numbers, count):
    """Bit patterns of floats, often denormal, and near the smallest normal number."""
    kept = ((0x807fffff, 0), (0x80ffffff, 0x3f000000), (0x807fffff, 0x00800000),
            (0xff80000f, 0), (0xffffffff, 0))
    for _ in range(count):
        keep, put = random_numbers.choice(kept)
        yield (random_numbers.getrandbits(32) & keep) | put


def operands(random_numbers):
    """96 bytes for each thread: small integers, doubles, 64-bit integers, floats."""
    for _ in range(THREADS):
        yield from (random_numbers.getrandbits(random_numbers.randint(1, 32)) for _ in range(3 * 2))
        for bits in hard_floats(random_numbers, 3):
            value = random_numbers.uniform(-4, 4) * 2.0 ** random_numbers.randint(-160, 130)
            yield from struct.unpack("<II", struct.pack("<d", value))
            del bits
        for _ in range(3):
            wide = random_numbers.getrandbits(random_numbers.randint(1, 64))
            yield from (wide & 0xffffffff, wide >> 32)
        yield from hard_floats(random_numbers, 6)


class Rounding(unittest.TestCase):
    def test_every_operation_rounds_and_flushes_as_natively(self):
        need("emcc", "pandoc", "node")
        numbers = " ".join(str(word) for word in operands(random.Random(1)))
        count = THREADS * len(ROUNDED)
        request = ("buffer in u32 %d values %s\nbuffer out u64 %d zero\n"
                   "launch k 1,1,1 %d,1,1 0 @out @in\nptx\n%s"
                   % (THREADS * 24, numbers, count, THREADS, ptx_of(ROUNDED)))
        here, there = json.loads(native(request)), json.loads(in_wasm([request])[0])
        self.assertEqual((here["error"], here["message"]), (0, ""))
        found = [b["values"].split() for b in here["buffers"] if b["name"] == "out"][0]
        other = [b["values"].split() for b in there["buffers"] if b["name"] == "out"][0]
        self.assertGreater(len(set(found)), count // 5)
        for k, (_, operation, _) in enumerate(ROUNDED):
            part = slice(k * THREADS, (k + 1) * THREADS)
            self.assertEqual(found[part], other[part], operation)


class Faults(unittest.TestCase):
    def test_errors_are_those_of_the_native_emulator(self):
        need("emcc", "pandoc", "node")
        kernel = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { %s }"
        requests = ["", "ptx\n", "ptx\nnot PTX", "wrong line\nptx\n", "buffer a f32 0 zero\nptx\n",
                    "launch k 1,1,1 2000,1,1 0\nptx\n" + kernel % "ret;",
                    "launch k 1,1,1 1,1,1 0 u32:1\nptx\n" + kernel % "ret;",
                    "launch k 1,1,1 1,1,1 0\nptx\n" + kernel % "bogus.u32 %r1;",
                    "launch missing 1,1,1 1,1,1 0\nptx\n" + kernel % "ret;",
                    "limit 100000\nlaunch k 1,1,1 1,1,1 0\nptx\n" + kernel % "L: bra L;",
                    "buffer a f32 99999999 zero\nptx\n" + kernel % "ret;",
                    "buffer a f32 2 values 1 x\nptx\n" + kernel % "ret;",
                    *("buffer a %s 1 values %s\nptx\n" % one + kernel % "ret;" for one in
                      (("u32", "-1"), ("u32", "4294967296"), ("s32", "2147483648"),
                       ("s32", "-2147483649"), ("u64", "18446744073709551616"), ("s8", "128"),
                       ("s64", "-9223372036854775809"), ("u8", "256"), ("u32", "1e3"),
                       ("u32", "0x10"), ("u32", "--1"), ("u32", "-"))),
                    *("launch k %s 1,1,1 0\nptx\n" % one + kernel % "ret;" for one in
                      ("4294967297,1,1", "1,-1,1", "1,1", "1,1,1,1", "1,1,1x", ",1,1",
                       "99999999999999999999,1,1"))]
        for request, answer in zip(requests, in_wasm(requests)):
            with self.subTest(request=request):
                message = json.loads(answer)["message"]
                self.assertNotEqual(message, "")
                self.assertEqual(message, json.loads(native(request))["message"])


class Traces(unittest.TestCase):
    def test_a_trace_ends_after_as_many_events_as_are_wanted(self):
        need("emcc", "pandoc", "node")
        case = next(one for one in json.loads(node("--requests", str(BUILT / "ptx")))
                    if one["step"] == 3 and one["n"] == 64 and not one["choice"])
        whole = json.loads(native(re.sub("\ntrace .*\n", "\ntrace\n", case["request"])))
        lines = whole["trace"].splitlines(True)
        self.assertEqual(whole["events"], len(lines) - 1)
        for most in (1, 17, len(lines) - 1, len(lines) + 5):
            request = re.sub("\ntrace .*\n", "\ntrace %d\n" % most, case["request"])
            answer = json.loads(in_wasm([request])[0])
            self.assertEqual(answer["trace"], "".join(lines[:most + 1]))
            self.assertEqual(answer["events"], whole["events"])
            self.assertEqual(answer["document"], whole["document"])


class Sources(unittest.TestCase):
    def refused(self, change):
        """What it says of one PTX text after a change."""
        ptx = (BUILT / "ptx/02-naive/scan.ptx").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "02-naive" / "scan.ptx"
            path.parent.mkdir()
            path.write_text(change(ptx), encoding="utf-8")
            ran = subprocess.run(
                [sys.executable, "-B", str(TOP / "common/tools/page/build_page.py"), folder,
                 str(BUILT / "emulator.js"), str(Path(folder) / "out.html")],
                capture_output=True, text=True, check=False)
            self.assertFalse((Path(folder) / "out.html").exists())
        self.assertEqual(ran.returncode, 1)
        return ran.stderr

    def test_ptx_that_was_compiled_elsewhere_is_named(self):
        need("emcc", "pandoc")
        said = self.refused(lambda ptx: ptx.replace(str(TOP), "/home/other/upsweep"))
        self.assertRegex(said, "^build_page.py: 02-naive/scan.ptx names /home/other/upsweep/steps/"
                         "02-naive/scan.cu, which is not in .*: it was compiled elsewhere. Remove "
                         "build/page/ptx and call make page again$")

    def test_ptx_without_lines_is_named(self):
        need("emcc", "pandoc")
        self.assertIn("names no file", self.refused(lambda ptx: ptx.replace(".file", "//")))


if __name__ == "__main__":
    unittest.main()
