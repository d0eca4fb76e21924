"""test_sources.py -- the files that comments and notes name exist, no line is too long, no function
of common/ is public without need, and no two structures of the emulator have one tag; headers that
users include define macros by the names of their step only; and the emulator's operations of up to
32 bits are compiled to vector instructions."""
import platform
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from step_table import steps_with

TOP = Path(__file__).resolve().parents[2]
NAME = re.compile(r"[\w/.-]*\w\.(?:cuh|cu|c|h|py|sh|md|mk|bats)(?![\w*…])")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)
SCRIPT_COMMENT = re.compile(r"(?<![\w$\"'{(\\])#[^\n]*")
TEXTS = ("steps", "common", "tests", "profiles", "notes", "README.md", "Makefile")
NO_TEXTS = ("tests/unit/errata/upstream/",)
SOURCES = (".c", ".h", ".cu", ".cuh", ".inc", ".py", ".sh", ".mk", ".bash", ".bats", "Makefile")
COLUMNS = 100

# Files of CUDA, of the C library and of LZ4, a repository, and examples of what a file may be
# called.
FOREIGN = {"cuda_occupancy.h", "driver_types.h", "fatbinary_section.h", "fenv.h",
           "host_config.h", "cublas_names.h", "curand_kernel.h", "cuda.h", "cudaTypedefs.h",
           "lz4_Block_format.md", "reduce.h", "version.cuh", "llm.c", "cuda_fp16.h",
           "A.c", "A.cu", "FILE.cu", "firstN.cu", "SOURCE.cu", "bug1.cu", "bugN.cu", "labN.cu",
           "step3.cu", "stepN.cu", "exerciseN.cu",
           *(name % lab for lab in steps_with("lab", "yes")
             for name in ("exercise%d.cu", "lab%d.cu")),
           "HEADER.cuh", "NAME.cu", "NAME.mk", "stencil.cu",
           "spin.cu", "file.cu", "lab.cu", "my.cu", "sum.py", "reference2.cu", "reference3.cu"}

# Called by programs: CUDA's own names, those of emu.h and of the library, and what stands in the
# place of the C library's (runtime/process.c).
PUBLIC = re.compile(r"main$|cu[A-Z]|cuda[A-Z]|__cuda|emu_|upsweep_|cudart__[eE]xit$"
                    r"|.*@GLIBC_")


def own_files():
    """The repository's files, and those that are to be added."""
    listing = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                              "--exclude-standard"], cwd=TOP,
                             capture_output=True, check=True, text=True).stdout
    return [path for path in listing.split("\0") if path and (TOP / path).exists()]


def comments(path, text):
    """The parts of a file that are written for people."""
    if path.endswith((".c", ".h", ".cu", ".cuh", ".inc")):
        return [match for match in COMMENT.findall(text) if match[0] == "/"]
    return [page_text(text)] if path.endswith(".md") else SCRIPT_COMMENT.findall(text)


def page_text(text):
    """A page without programs, and without the files that its commands make in build/ and that the
    first lines of its programs name."""
    named = re.findall(r"^```\S+\n(?://|#) (\S+)$", text, re.M)
    text = re.sub(r"^```c\n.*?^```$", "", text, flags=re.M | re.S)
    for made in named + re.findall(r">build/(\S+)", text):
        text = text.replace(made, "")
    return text


def sources(files):
    for path in files:
        if path.startswith(TEXTS) and not path.startswith(NO_TEXTS) and \
                path.endswith((".c", ".h", ".cu", ".cuh", ".py", ".sh", ".md", ".mk", ".bash",
                               "Makefile")):
            yield path


class Names(unittest.TestCase):
    def test_files_that_are_mentioned_exist(self):
        if not (TOP / ".git").exists():
            self.skipTest("not a checkout of git")
        files = own_files()
        known = {Path(path).name for path in files}
        foreign = set()
        for path in sources(files):
            for part in comments(path, (TOP / path).read_text(encoding="utf-8")):
                for name in {Path(name).name for name in NAME.findall(part)} - known:
                    foreign.add(name)
                    with self.subTest(path=path):
                        self.assertIn(name, FOREIGN, "%s mentions %s, which is no file here"
                                      % (path, name))
        self.assertEqual(FOREIGN - foreign, set(), "not mentioned any more: take it out of FOREIGN")


class Lines(unittest.TestCase):
    def test_lines_have_at_most_100_columns(self):
        if not (TOP / ".git").exists():
            self.skipTest("not a checkout of git")
        for path in own_files():
            if not path.endswith(SOURCES) or path.startswith(NO_TEXTS):
                continue
            lines = (TOP / path).read_text(encoding="utf-8").split("\n")
            long = [number for number, line in enumerate(lines, 1) if len(line) > COLUMNS]
            with self.subTest(path=path):
                self.assertEqual(long, [], "lines over %d columns in %s" % (COLUMNS, path))


class Tags(unittest.TestCase):
    def test_a_tag_of_the_emulator_names_one_thing(self):
        defined = {}
        for path in sorted((TOP / "common/tools/emu").rglob("*.[ch]")):
            code = COMMENT.sub("", path.read_text(encoding="utf-8"))
            for tag in re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", code):
                defined.setdefault(tag, []).append(path.relative_to(TOP).as_posix())
        self.assertGreater(len(defined), 200, "most definitions are not found")
        for tag, paths in defined.items():
            with self.subTest(tag=tag):
                self.assertEqual(len(paths), 1, "%s is defined in %s: give each thing its own tag"
                                 % (tag, paths))


class Symbols(unittest.TestCase):
    def objects(self):
        """Object files whose source is there: a build folder may hold older ones. X.v3.o
        and X.base.o are X.o for a kind of CPU."""
        for path in sorted((TOP / "build").rglob("*.o")):
            name = re.sub(r"(\.v3|\.base)?\.o$", "", str(path.relative_to(TOP / "build")))
            if any((TOP / (name + end)).exists() for end in ("", ".c", ".cu")):
                yield str(path.relative_to(TOP))

    def words_of_what_is_not_built(self, objects):
        """The words of sources without an object: without Open MPI, step 17 is not built."""
        built = {re.sub(r"\.o$", "", path.removeprefix("build/")) for path in objects}
        words = set()
        for folder in "steps", "tests/cli/ranks":
            for path in (TOP / folder).rglob("*.c*"):
                name = path.relative_to(TOP).as_posix()
                if name.endswith((".c", ".cu")) and not built & {name, name.removesuffix(".c")}:
                    words.update(re.findall(r"\w+", COMMENT.sub("", path.read_text("utf-8"))))
        return words

    def test_what_is_public_is_used_elsewhere_slow(self):
        if not (TOP / "build/tests/run").exists():
            self.skipTest("the tests, which use some of the functions, are not built")
        objects = list(self.objects())
        listing = subprocess.run(["nm", "-A", *objects], cwd=TOP, capture_output=True, check=True,
                                 text=True).stdout
        used, defined = set(), {}
        for line in listing.splitlines():
            match = re.match(r"(\S+?):\s*[0-9a-f]*\s+([TU]) (\S+)$", line)
            if match and match[2] == "U":
                used.add(match[3])
            elif (match and match[1].startswith("build/common/")
                  and not match[1].endswith((".v3.o", ".base.o"))):
                defined[match[3]] = match[1]
        elsewhere = self.words_of_what_is_not_built(objects)
        for name, where in sorted(defined.items()):
            if name not in used and name not in elsewhere and not PUBLIC.match(name):
                with self.subTest(name=name):
                    self.fail("%s in %s is used by no other file: make it static, or remove it"
                              % (name, where))


def printed(script):
    """What a script of the build prints, or nothing."""
    return subprocess.run([TOP / "common/build" / script], cwd=TOP, capture_output=True,
                          text=True).stdout.strip()


CUDA = printed("toolkit.sh")
MPI = [flag for flag in printed("mpi.sh").split() if flag.startswith("-I")]

# The headers, and how their macros may begin. STEP is for the guards of includes.
HEADERS = {
    "steps/12-pipeline/scan.h": "SCAN_",
    "steps/13-compaction/compact.h": "COMPACT_",
    "steps/14-summed-area-table/sat.h": "SAT_",
    "steps/15-radix-sort/sort.h": "SORT_",
    "common/tools/library/scan/scan.h": "SCAN_|UPSWEEP_",
    "common/tools/library/scan/check.cuh": "SCAN_",
}
if MPI:
    HEADERS["steps/17-many-gpus/scan.h"] = "MANY_|FAULT_" # its errors are those of fault.h
SYSTEM = ("cuda_runtime.h", "stdbool.h", "stdint.h", "string.h", "math.h",
          "limits", "stdio.h", "type_traits") + (("mpi.h",) if MPI else ())


def macros(names):
    """The names of all macros behind these includes."""
    text = "".join("#include <%s>\n" % name for name in names)
    run = subprocess.run(["g++", "-E", "-dM", "-x", "c++", "-I.", "-I%s/include" % CUDA,
                          *MPI, "-D__CUDACC__", "-include", "cuda_runtime.h", "-"], cwd=TOP,
                         input=text,
                         capture_output=True, check=True, text=True)
    return set(re.findall(r"^#define (\w+)", run.stdout, re.M))


@unittest.skipUnless(CUDA, "the CUDA toolkit is not found: make setup installs it")
class Macros(unittest.TestCase):
    def test_macros_begin_with_the_step(self):
        known = macros(SYSTEM)
        for header, prefix in HEADERS.items():
            own = macros(SYSTEM + (header,)) - known
            self.assertTrue(own, "%s has no guard" % header)
            for name in sorted(own):
                with self.subTest(header=header):
                    self.assertRegex(name, r"^(STEP\d+_|CODE_CAPABILITY_CUH$|LAUNCH_KERNEL_CUH$"
                                           r"|%s)" % prefix)


# A loop over the 32 lanes that the compiler leaves scalar is three to ten times slower, and no test
# of results notices it. Times would depend on what else the machine does, so this test reads the
# machine code for AVX2: each such operation has instructions with 256-bit registers.
OBJECTS = TOP / "build/common/tools/emu/ops"
FILES = ["bits", "convert", "door", "float", "integer", "move", "rules"]
OPERATION = re.compile(r"_(u16|s16|u32|s32|f32)(_flushed|_rounded|_clamped)?$")
GCC = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True).stdout.strip()
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
@unittest.skipUnless(GCC.startswith("12"), "gcc %s may choose otherwise than gcc 12" % GCC)
class Vectors(unittest.TestCase):
    def test_operations_are_vectors(self):
        checked, scalar = 0, []
        for file in FILES:
            path = OBJECTS / f"ops_{file}.v3.o"
            if not path.exists():
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
