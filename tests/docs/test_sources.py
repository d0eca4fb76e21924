"""test_sources.py -- the files that comments and notes name exist, no line is too long, no function
of common/ is public without need, and no two structures of the emulator have one tag."""
import re
import subprocess
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NAME = re.compile(r"[\w/.-]*\w\.(?:cuh|cu|c|h|py|sh|md|mk|bats)(?![\w*…])")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)
SCRIPT_COMMENT = re.compile(r"(?<![\w$\"'{(\\])#[^\n]*")
TEXTS = ("steps", "common", "tests", "profiles", "notes", "README.md", "Makefile")
NO_TEXTS = ("tests/errata/upstream/",)
SOURCES = (".c", ".h", ".cu", ".cuh", ".inc", ".py", ".sh", ".mk", ".bash", ".bats", "Makefile")
COLUMNS = 100

# Files of CUDA, of the C library and of LZ4, a repository, and examples of what a file may be
# called.
FOREIGN = {"cuda_occupancy.h", "driver_types.h", "fatbinary_section.h", "fenv.h",
           "host_config.h", "cublas_names.h", "curand_kernel.h", "cuda.h", "cudaTypedefs.h",
           "lz4_Block_format.md", "reduce.h", "llm.c", "cuda_fp16.h",
           "A.c", "A.cu", "FILE.cu", "firstN.cu", "SOURCE.cu", "bug1.cu", "bugN.cu", "labN.cu",
           "step3.cu", "stepN.cu", "exerciseN.cu",
           *("exercise%d.cu" % number for number in (2, 3, 4, 5, 6, 7, 9, 11, 13)),
           *("lab%d.cu" % number for number in (2, 3, 4, 5, 6, 7, 9, 11, 13)),
           "HEADER.cuh", "NAME.cu", "NAME.mk", "stencil.cu",
           "file.cu", "lab.cu", "my.cu", "sum.py", "reference2.cu", "reference3.cu", "20.md"}

# Called by programs: CUDA's own names, those of emu.h and of the library, and what stands in the
# place of the C library's (runtime/process_end.c).
PUBLIC = re.compile(r"main$|cu[A-Z]|cuda[A-Z]|__cuda|emu_|upsweep_|cudart_f?exec|cudart__[eE]xit$"
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
        for path in sorted((TOP / "common/emu").rglob("*.[ch]")):
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
        for folder in "steps", "tests/ranks":
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


if __name__ == "__main__":
    unittest.main()
