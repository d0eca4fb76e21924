"""test_sources.py -- the sources speak of what is there: file names in comments and pages exist, and every function that
a file offers to others is used by one."""
import os
import re
import shutil
import subprocess
import unittest
from collections import defaultdict
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SOURCES = (".c", ".h", ".cu", ".cuh", ".py", ".sh", ".bats", ".md", ".mk")
NAME = re.compile(r"(?<![\w*<.-])[\w/.-]*\w\.(?:c|h|cu|cuh|py|sh|md)\b(?![\w*/(])")
# Files of others, and names that stand for a reader's own.
FOREIGN = re.compile(r"(my|now|before|after|a|b|x|i|n|s|file|kernel|lab|foo|name|NAME|NN-name|FILE)\.\w+$|.*_(runtime|api|fp16|bf16|"
                     r"groups|pipeline|occupancy)\w*\.h$|(cub|crt|std|cooperative_groups|bits|sys)/.*|fatbinary_section\.h$|"
                     r"(elf|fenv|driver_types|criterion|host_config|zstd|memcpy_async|reduce)\.h$")


def tracked():
    if not (TOP / ".git").exists():
        raise unittest.SkipTest("this tree is no git checkout")
    return subprocess.run(["git", "ls-files"], cwd=TOP, capture_output=True, encoding="utf-8", check=True).stdout.split("\n")


def comments(path, text):
    """What a file says to a reader: all of a page, the comments of C and CUDA, of scripts those that begin a line."""
    if path.endswith(".md"):
        return text
    if path.endswith((".c", ".h", ".cu", ".cuh")):
        return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", text, re.S))
    return "\n".join(re.findall(r"^#.*|^\"\"\".*?\"\"\"", text, re.M | re.S))


class Names(unittest.TestCase):
    maxDiff = None

    def test_files_that_are_named_exist(self):
        files = tracked()
        names = {os.path.basename(file) for file in files}
        missing = defaultdict(set)
        for path in files:
            if not path.endswith(SOURCES) or path.startswith("tests/fuzz/corpus") or not (TOP / path).is_file():
                continue
            text = comments(path, (TOP / path).read_text(encoding="utf-8", errors="replace"))
            for name in NAME.findall(text):
                if os.path.basename(name) not in names and not FOREIGN.match(name):
                    missing[name].add(path)
        self.assertEqual({}, dict(missing), "named, but no file of this repository")


class Functions(unittest.TestCase):
    maxDiff = None

    # Called by programs and by nvcc's code, or by way of a name that is put together.
    OFFERED = re.compile(r"(__)?cuda|emu_|_Z|main$|\w+_v3$|\w+_base$")

    def test_functions_that_are_offered_are_used(self):
        """A global function of common/ that no other file uses is dead, or should be static."""
        if not shutil.which("nm"):
            self.skipTest("nm is not installed")
        objects = [str(path) for part in ("common", "steps", "tests", "main", "cub")
                   for path in (TOP / "build" / part).rglob("*.o")]
        if not objects:
            self.skipTest("nothing is built")
        symbols = subprocess.run(["nm", "-A", *objects], capture_output=True, encoding="utf-8", check=True).stdout
        defined, used = {}, set()
        for line in symbols.splitlines():
            place, rest = line.split(":", 1)
            kind, name = rest.split()[-2:]
            if kind == "U":
                used.add(name)
            elif kind == "T" and "/build/common/" in place:
                defined[name] = os.path.relpath(place, TOP / "build")
        unused = {name: place for name, place in defined.items() if name not in used and not self.OFFERED.match(name)}
        self.assertEqual({}, unused, "no other file uses these functions")


if __name__ == "__main__":
    unittest.main()
