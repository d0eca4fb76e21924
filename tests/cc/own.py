"""own.py -- what the tests of the compiler in common/cc use: compiling with it, running PTX from a
request of the page (common/page/face/face.h), and the list of explained differences."""
import fnmatch
import json
import os
import subprocess
from pathlib import Path

TOP = Path.cwd()  # of a built tree: the sanitizers have one of their own
UPCC = str(TOP / "build/cc/upcc")
BUILT = TOP / "build/tests/cc"
CUDA = subprocess.run(["common/build/toolkit.sh"], cwd=TOP, capture_output=True, text=True,
                      check=False).stdout.strip()
ENVIRONMENT = {**os.environ, "EMU_THREADS": "1"}


def run(*command, given=None):
    """A finished command: its exit code, its stdout and its stderr."""
    return subprocess.run([str(word) for word in command], input=given, capture_output=True,
                          text=True, env=ENVIRONMENT, cwd=TOP, check=False)


def compile_own(source):
    """(PTX, what the compiler says): PTX is None if it refuses the source."""
    done = run(UPCC, source)
    return (done.stdout if done.returncode == 0 else None), done.stderr


def answer(request):
    """The answer, and what was printed before it."""
    printed, brace, text = run(TOP / "build/page/native", given=request).stdout.partition('{\n  "')
    return {**json.loads(brace + text), "printed": printed}


def counters(launch):
    """What is compared of a launch's counters: shared and global memory, additions, barriers."""
    found = {"barriers": launch["barriers"], "additions": launch["adds"]["f32"]}
    for name in ("shared_load", "shared_store"):
        found[name] = (launch[name]["instructions"], launch[name]["wavefronts"])
    for name in ("global_load", "global_store", "local_load", "local_store"):
        found[name] = (launch[name]["requests"], launch[name]["sectors"])
    return found


class Explained:
    """The lines of differences.txt of one kind: `KIND PATTERN: REASON`."""

    def __init__(self, kind):
        lines = (TOP / "tests/cc/differences.txt").read_text(encoding="utf-8").splitlines()
        self.patterns = [line.split(":")[0].split(" ", 1)[1] for line in lines
                         if line.startswith(kind + " ") and ": " in line]
        self.used = set()

    def has(self, name):
        """Is a difference of this name explained?"""
        found = [p for p in self.patterns if fnmatch.fnmatchcase(name, p)]
        self.used.update(found)
        return bool(found)

    def stale(self):
        """Patterns that explain no difference any more."""
        return sorted(set(self.patterns) - self.used)
